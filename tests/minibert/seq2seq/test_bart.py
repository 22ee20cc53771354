"""BART against transformers, in both directions, and what of a checkpoint is refused."""

import json
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
import transformers

from minibert.checkpoint import CheckpointError
from minibert.inside.relatives.family import family
from minibert.model import IGNORE, Batch
from minibert.seq2seq import bart
from minibert.seq2seq.bart import BartConfig, BartForConditionalGeneration, BartForSequenceClassification
from minibert.seq2seq.decoder import PairBatch, greedy
from minibert.training.skip_init import sizes_only
from ui.lesson import LESSONS

CONFIG = BartConfig(61, 24, 2, 3, 40, max_position_embeddings=20)
HEADS = {BartForConditionalGeneration: {}, BartForSequenceClassification: {"classes": 3}}


def theirs_of(kind: type, config: BartConfig) -> torch.nn.Module:
    sizes = transformers.BartConfig(**config.as_dict(), attn_implementation="eager", num_labels=3)
    return getattr(transformers, kind.__name__)(sizes).eval()


def shaken(model: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(3)
    biases = [bias for name, bias in model.named_buffers() if name == "final_logits_bias"]
    with torch.no_grad():
        for weight in [*model.parameters(), *biases]:
            weight.add_(0.2 * torch.randn(weight.shape))
    return model.eval()


@pytest.fixture
def batch() -> PairBatch:
    """Sources of 7, 5 and 4 tokens that end with eos, targets of 6."""
    rng = torch.Generator().manual_seed(1)
    ids, target = (torch.randint(4, CONFIG.vocab_size, (3, length), generator=rng) for length in (7, 6))
    lengths = torch.tensor([7, 5, 4])
    padding = torch.arange(7) < lengths[:, None]
    ids = ids.masked_fill(~padding, CONFIG.pad_token_id)
    ids[torch.arange(3), lengths - 1] = CONFIG.eos_token_id
    return PairBatch(ids, padding=padding, labels=target.roll(-1, 1), target=target)


@torch.no_grad()
def assert_same(ours: bart.Bart, theirs: torch.nn.Module, batch: PairBatch) -> None:
    if isinstance(ours, BartForConditionalGeneration):
        mine = ours(batch)
        their = theirs(batch.ids, batch.padding, decoder_input_ids=batch.target, labels=batch.labels)
    else:
        batch = Batch(batch.ids, padding=batch.padding, labels=torch.tensor([0, 2, 1]))
        mine = ours(batch)
        their = theirs(batch.ids, batch.padding, labels=batch.labels)
    torch.testing.assert_close(mine.logits, their.logits, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(mine.loss, their.loss, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", HEADS)
def test_theirs_is_read_and_ours_is_read_by_theirs(kind, tmp_path, batch):
    theirs = shaken(theirs_of(kind, CONFIG))
    theirs.save_pretrained(tmp_path / "theirs")
    assert_same(bart.load(tmp_path / "theirs"), theirs, batch)
    ours = shaken(kind(CONFIG, **HEADS[kind]))
    bart.save(tmp_path / "ours", ours)
    theirs, report = getattr(transformers, kind.__name__).from_pretrained(
        tmp_path / "ours", output_loading_info=True, attn_implementation="eager"
    )
    assert not any(report[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert_same(ours, theirs.eval(), batch)
    assert_same(bart.load(tmp_path / "ours"), theirs, batch)


@pytest.mark.parametrize("size", ["base", "large"])
def test_the_published_sizes_are_the_familys(size):
    """Which are those of transformers (test_family.py)."""
    with sizes_only():
        ours = BartForConditionalGeneration(BartConfig.preset(size))
    told = {one.name: one.weights for one in family(LESSONS / "family" / "models.toml")["BART"].sizes}
    assert sum(weight.numel() for weight in ours.parameters()) == told[size]


def test_what_is_written_is_what_generate_writes(tmp_path, batch):
    ours = shaken(BartForConditionalGeneration(CONFIG))
    bart.save(tmp_path, ours)
    theirs = transformers.BartForConditionalGeneration.from_pretrained(tmp_path)
    said = theirs.generate(
        batch.ids,
        attention_mask=batch.padding.long(),
        max_new_tokens=9,
        do_sample=False,
        num_beams=1,
        forced_bos_token_id=None,
        forced_eos_token_id=None,
    )
    rows = [[i for i in row[1:].tolist() if i != CONFIG.pad_token_id] for row in said]
    rows = [row[: row.index(2)] if 2 in row else row for row in rows]
    assert greedy(ours, batch, CONFIG.decoder_start_token_id, CONFIG.eos_token_id, 9) == rows


@torch.no_grad()
def test_the_explicit_path_is_the_fast_one_and_what_is_not_asked_costs_nothing(batch):
    model = shaken(BartForConditionalGeneration(CONFIG))
    names = []
    slow = model(batch, lambda name, x: names.append(name) or x).logits
    torch.testing.assert_close(model(batch).logits, slow, rtol=1e-4, atol=1e-5)
    assert {"encoder.embeddings.position", "decoder.blocks.1.cross.probs", "logits"} <= set(names)
    one = replace(batch, labels=batch.labels.clone())
    one.labels[:, 1:] = IGNORE
    expected = F.cross_entropy(model(one).logits[:, 0], one.labels[:, 0]).item()
    assert model(one).loss.item() == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="21 tokens, but there are only 20 positions"):
        model.encode(Batch(torch.ones(1, 21, dtype=torch.long)))


def test_a_classifier_without_names_has_as_many_classes_as_it_says(tmp_path):
    bart.save(tmp_path, BartForSequenceClassification(CONFIG, classes=3))
    values = json.loads((tmp_path / "config.json").read_text())
    named = {name: value for name, value in values.items() if name not in ("id2label", "label2id", "num_labels")}
    (tmp_path / "config.json").write_text(json.dumps({**named, "num_labels": 3}))
    assert bart.load(tmp_path)(Batch(torch.tensor([[0, 5, 2]]))).logits.shape == (1, 3)


def test_what_is_none_is_refused(tmp_path):
    bart.save(tmp_path, BartForConditionalGeneration(CONFIG))
    values = json.loads((tmp_path / "config.json").read_text())
    for change, message in (
        ({"scale_embedding": True}, "scale_embedding is true"),
        ({"decoder_layers": 1}, "encoder_layers is 2 and decoder_layers is 1"),
        ({"architectures": ["BartForQuestionAnswering"]}, "BartForQuestionAnswering is not one of"),
        ({"model_type": "bert"}, "bert"),
        ({"vocab_size": 60}, "final_logits_bias is missing, unknown, or of another shape"),
    ):
        (tmp_path / "config.json").write_text(json.dumps(values | change))
        with pytest.raises(CheckpointError, match=message):
            bart.load(tmp_path)
