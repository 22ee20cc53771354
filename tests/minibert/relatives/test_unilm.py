"""UniLM's four masks by hand, what its objective asks, and which rows it is given."""

from collections import Counter

import numpy as np
import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.corruption import MaskVocabulary
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import Masking
from minibert.pretrain import PretrainSettings
from minibert.relatives import build, objective_for
from minibert.relatives.unilm import SEGMENTS, SHARES, FourMasks, UnilmConfig, by_segments, following_pairs
from minibert.text.batches import assemble
from minibert.text.segment_pairs import SegmentPair
from tests.minibert.relatives.toy_world import TOKENIZER

VOCABULARY = MaskVocabulary.of(TOKENIZER)
CONFIG = UnilmConfig(40, 16, 2, 2, 32, max_position_embeddings=24, initializer_range=0.3)


def batch(mask: str, source: int = 3, target: int = 2, padding: int = 0) -> Batch:
    first, second = SEGMENTS[mask]
    segments = torch.tensor([[first] * source + [second] * target + [first] * padding])
    real = torch.arange(segments.size(1)) < source + target
    return Batch(torch.zeros_like(segments), segments, real[None] if padding else None)


@pytest.mark.parametrize(
    ("mask", "rows"),
    [
        ("both_ways", ["11111", "11111", "11111", "11111", "11111"]),
        ("left_to_right", ["10000", "11000", "11100", "11110", "11111"]),
        ("right_to_left", ["11111", "01111", "00111", "00011", "00001"]),
        ("seq2seq", ["11100", "11100", "11100", "11110", "11111"]),
    ],
)
def test_the_masks_by_hand(mask, rows):
    wanted = torch.tensor([[cell == "1" for cell in row] for row in rows])
    assert torch.equal(by_segments(batch(mask))[0, 0], wanted)
    padded = by_segments(batch(mask, padding=2))[0, 0]
    assert torch.equal(padded[:5, :5], wanted) and not padded[:5, 5:].any()
    assert padded.any(1).all()  # a row that sees nothing would make all of its batch no numbers
    assert by_segments(Batch(torch.zeros(1, 4, dtype=torch.long))) is None


@torch.no_grad()
@pytest.mark.parametrize("mask", list(SEGMENTS))
def test_it_is_the_reference_bert_under_that_mask(mask, tmp_path):
    """transformers has no UniLM; its BERT takes a mask for each pair of tokens, and six segments."""
    torch.manual_seed(0)
    model = build(CONFIG, BertForPreTraining).eval()
    ids = torch.randint(5, 40, (2, 9))
    first, second = SEGMENTS[mask]
    segments = torch.tensor([first] * 5 + [second] * 4).expand(2, -1)
    checkpoint.save(tmp_path, model)
    (tmp_path / "config.json").write_text((tmp_path / "config.json").read_text().replace("unilm", "bert"))
    theirs = transformers.BertForPreTraining.from_pretrained(tmp_path, attn_implementation="eager").eval()
    looks = by_segments(Batch(ids, segments)).expand(2, 1, 9, 9)
    added = torch.zeros(looks.shape).masked_fill(~looks, torch.finfo(torch.float32).min)
    there = theirs(input_ids=ids, token_type_ids=segments, attention_mask=added)
    assert torch.allclose(model(Batch(ids, segments)).mlm_logits, there.prediction_logits, atol=1e-5)


def drawn(pairs, masks=tuple(SHARES), seed=0):
    rng = torch.Generator().manual_seed(seed)
    objective = FourMasks(Masking(rate=0.3, split=(1, 0, 0)), masks=masks)
    return objective.corrupt(*assemble(pairs, TOKENIZER), VOCABULARY, rng)


def test_each_mask_has_its_share_of_the_batches():
    pairs = [SegmentPair([7, 8, 9], [10, 11], None)]
    counts = Counter(tuple(drawn(pairs, seed=seed).segments[0, [1, -2]].tolist()) for seed in range(600))
    assert all(counts[SEGMENTS[name]] / 600 == pytest.approx(share, abs=0.05) for name, share in SHARES.items())


def test_two_texts_keep_their_border_and_one_is_cut():
    pairs = [SegmentPair([7, 8, 9], [10, 11], None), SegmentPair([7], [8, 9, 10, 11, 12], None)]
    asked = drawn(pairs, ("seq2seq",))
    assert asked.segments.tolist() == [[4, 4, 4, 4, 4, 5, 5, 5, 4], [4, 4, 4, 5, 5, 5, 5, 5, 5]]
    assert (asked.labels != IGNORE).any(1).all() and asked.next_labels is None
    one = [SegmentPair(list(range(7, 17)), [], None)]
    cuts = {int((drawn(one, ("seq2seq",), seed).segments == 5).sum()) for seed in range(40)}
    assert len(cuts) > 4 and min(cuts) >= 1 and max(cuts) <= 10  # [CLS] and a token are always read
    assert drawn(one, ("both_ways",)).segments.tolist() == [[0] * 12]
    assert drawn(one, ("right_to_left",)).segments.tolist() == [[3] * 12]


def test_what_is_written_follows_what_is_read():
    document = [[i] * 3 for i in range(1, 9)]
    pairs = following_pairs(document, lambda: iter([]), 15, np.random.default_rng(0), short_probability=0.0)
    assert pairs and all(pair.next_label is None for pair in pairs)
    assert all(pair.a[-1] + 1 == pair.b[0] or pair.a[-1] == pair.b[0] for pair in pairs)


def test_of_the_objective_some_masks_may_be_left_out():
    settings = PretrainSettings(relative="unilm", steps=1, objective_options={"masks": ["both_ways"]})
    assert list(settings.objective.masks) == ["both_ways"]
    assert objective_for(CONFIG).name == "mlm+masks" and set(objective_for(CONFIG).masks) == set(SEGMENTS)
    assert UnilmConfig.preset("large", vocab_size=28_996).type_vocab_size == 6
