"""ELECTRA is transformers' ELECTRA, number for number and name for name; its loss is the paper's, worked by hand."""

import json
from dataclasses import replace

import pytest
import torch
import transformers
from safetensors.torch import load_file
from torch.nn import functional as F

from minibert import checkpoint
from minibert.corruption import MaskVocabulary
from minibert.count import FAMILY, parameters
from minibert.heads import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining
from minibert.objectives import Masking, losses, objective_for
from minibert.pretrain import PretrainSettings, fill, pretrain
from minibert.relatives.electra import ElectraConfig
from minibert.replaced_tokens import VARIANTS, CopyingGenerator, Discriminator, Generator, ReplacedTokens, sample
from minibert.tokenizer import Tokenizer
from minibert.toy.world import documents, vocabulary
from minibert.train import Saved, Step
from tests.minibert.relatives.test_every_relative import SETTINGS
from tests.minibert.relatives.their_heads import assert_equal, rows

SIZES = {"vocab_size": 61, "hidden_size": 48, "embedding_size": 20, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 72, "max_position_embeddings": 24, "initializer_range": 0.2}
CONFIG = ElectraConfig(**SIZES)
NO_PROJECTION = {**SIZES, "embedding_size": 48}
both_widths = pytest.mark.parametrize("sizes", [SIZES, NO_PROJECTION], ids=["E < H", "E = H"])


PAIRS = {
    transformers.ElectraForPreTraining: lambda config: Discriminator(config),
    transformers.ElectraForMaskedLM: lambda config: Generator(config),
    transformers.ElectraForSequenceClassification: lambda config: BertForSequenceClassification(config),
    transformers.ElectraForTokenClassification: lambda config: BertForTokenClassification(config),
    transformers.ElectraForQuestionAnswering: lambda config: BertForQuestionAnswering(config),
    transformers.ElectraForMultipleChoice: lambda config: BertForMultipleChoice(config),
}
every_class = pytest.mark.parametrize("theirs", PAIRS, ids=lambda kind: kind.__name__)


@both_widths
@every_class
def test_theirs_in_ours(theirs, sizes, tmp_path):
    torch.manual_seed(0)
    model = theirs(transformers.ElectraConfig(**sizes))
    model.save_pretrained(tmp_path)
    ours = checkpoint.load(tmp_path)
    assert type(ours) is type(PAIRS[theirs](ElectraConfig(**sizes)))
    assert_equal(ours, model)


@both_widths
@every_class
def test_ours_in_theirs(theirs, sizes, tmp_path):
    torch.manual_seed(0)
    ours = PAIRS[theirs](ElectraConfig(**sizes))
    checkpoint.save(tmp_path, ours)
    model, report = theirs.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(report.values()), report
    assert_equal(ours, model)
    assert json.loads((tmp_path / "config.json").read_text())["architectures"] == [theirs.__name__]


def test_the_published_sizes():
    config = ElectraConfig.preset("small")
    with torch.device("meta"):
        encoder, theirs = Bert(config), transformers.ElectraModel(transformers.ElectraConfig())
        discriminator = transformers.ElectraForPreTraining(transformers.ElectraConfig())
    assert sum(weight.numel() for weight in encoder.parameters()) == theirs.num_parameters() == 13_483_008
    assert parameters(config).encoder == parameters(config).with_pooler == 13_483_008
    assert parameters(config).pretraining == parameters(FAMILY["ELECTRA-small"]).pretraining
    assert parameters(config).pretraining == discriminator.num_parameters()
    generator = config.generator()
    assert (generator.hidden_size, generator.num_attention_heads, generator.intermediate_size) == (64, 1, 256)
    assert (generator.num_hidden_layers, generator.embedding_size) == (12, 128)
    assert ElectraConfig.preset("base").generator().hidden_size == 256 == ElectraConfig.preset("base").hidden_size // 3
    assert ElectraConfig.preset("large").embedding_size == 1024


def test_the_generator_has_the_width_that_is_asked_for():
    config = replace(CONFIG, generator_hidden_size=24)
    assert objective_for(config).model(config).generator.config.hidden_size == 24
    assert CONFIG.generator().hidden_size == 12


# --- the pair ---------------------------------------------------------------------------------------------------------


def asked(variant: str = "electra"):
    torch.manual_seed(0)
    objective = ReplacedTokens(Masking(rate=0.4), variant=variant)
    pair = objective.model(CONFIG).eval()
    batch, _ = rows()
    special = torch.zeros_like(batch.padding) | ~batch.padding
    vocabulary = MaskVocabulary(4, torch.tensor([4]), 61)
    batch = objective.corrupt(batch, special, special, vocabulary, torch.Generator().manual_seed(0))
    return objective, pair, batch


def test_all_that_is_hidden_becomes_mask():
    _, _, batch = asked()
    hidden = batch.labels != IGNORE
    assert hidden.any() and (batch.ids[hidden] == 4).all()
    assert torch.equal(batch.ids[~hidden], rows()[0].ids[~hidden])


def test_token_and_position_embeddings_are_shared_and_the_rest_is_not():
    _, pair, _ = asked()
    ours, theirs = pair.generator.bert.embeddings, pair.main.bert.embeddings
    assert ours.token is theirs.token and ours.position is theirs.position
    assert pair.generator.mlm.decoder.weight is theirs.token.weight
    assert ours.segment is not theirs.segment and ours.norm is not theirs.norm


@torch.no_grad()
def test_the_loss_by_hand():
    objective, pair, batch = asked()
    output = pair(batch)
    hidden = batch.labels != IGNORE
    original = rows()[0].ids
    replaced = output.asked.ids != original
    assert replaced.any() and not replaced[~hidden].any()
    logits = pair.main(Batch(output.asked.ids, batch.segments, batch.padding)).logits
    terms = []
    for row in range(3):
        for place in range(17):
            if batch.padding[row, place]:
                p = torch.sigmoid(logits[row, place])
                terms.append(-torch.log(p) if replaced[row, place] else -torch.log(1 - p))
    guesses = pair.generator(Batch(batch.ids, batch.segments, batch.padding)).mlm_logits.log_softmax(-1)
    mlm = -torch.stack([guesses[place][original[place]] for place in map(tuple, hidden.nonzero().tolist())]).mean()
    found = losses(objective, output, batch, batch)
    assert found["rtd_loss"].item() == pytest.approx(torch.stack(terms).mean().item(), rel=1e-5)
    assert found["loss"].item() == pytest.approx((mlm + 50 * torch.stack(terms).mean()).item(), rel=1e-5)
    assert objective.number_asked(batch) == {"mlm": int(hidden.sum()), "rtd": 17 + 11 + 1}


@torch.no_grad()
def test_a_sample_that_is_right_counts_as_original():
    _, pair, batch = asked()
    right = torch.zeros(61)
    answers = iter(batch.labels[batch.labels != IGNORE].tolist())

    def knows(x):
        return torch.stack([F.one_hot(torch.tensor(next(answers)), 61) * 1e4 + right for _ in x])

    pair.generator.mlm.forward = knows
    output = pair(batch)
    assert not output.asked.labels[batch.padding].any()


def test_no_gradient_of_the_discriminator_reaches_the_guesses():
    objective, pair, batch = asked()
    pair.train()
    output = pair(batch)
    objective.questions(output, batch)["rtd"].loss.backward()
    own = [
        weight.grad
        for name, weight in pair.generator.named_parameters()
        if "token" not in name and "position" not in name
    ]
    assert own and all(grad is None for grad in own)
    assert pair.main.bert.blocks[0].attn.query.weight.grad.abs().sum() > 0


def test_samples_follow_the_softmax():
    logits = torch.log(torch.tensor([[0.7, 0.2, 0.1]])).expand(4000, 3)
    rng = torch.Generator().manual_seed(0)
    shares = torch.bincount(sample(logits, 1.0, rng), minlength=3) / 4000
    assert torch.allclose(shares, torch.tensor([0.7, 0.2, 0.1]), atol=0.03)
    hot = torch.bincount(sample(logits, 100.0, rng), minlength=3) / 4000
    assert torch.allclose(hot, torch.full((3,), 1 / 3), atol=0.03)
    assert sample(logits, 0).unique().tolist() == [0]


def test_measuring_takes_no_random_number_from_training():
    _, pair, batch = asked()
    torch.manual_seed(3)
    one = torch.rand(1)
    torch.manual_seed(3)
    first = pair(batch).asked.ids
    assert torch.equal(torch.rand(1), one) and torch.equal(pair(batch).asked.ids, first)
    pair.train()
    assert not torch.equal(pair(batch).asked.ids, pair(batch).asked.ids)


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_each_variant_asks(variant):
    objective, pair, batch = asked(variant)
    output = pair(batch)
    hidden, original = batch.labels != IGNORE, rows()[0].ids
    places = {"electra": batch.padding, "electra_15": hidden, "replace_mlm": hidden, "all_tokens_mlm": batch.padding}[
        variant
    ]
    labels = output.asked.labels
    assert torch.equal(labels != IGNORE, places)
    right = (output.asked.ids != original).long() if variant.startswith("electra") else original
    assert torch.equal(labels[places], right[places])
    assert objective.questions(output, batch)[objective.second].count == int(places.sum())


@torch.no_grad()
def test_copying_is_a_mixture_by_hand():
    torch.manual_seed(0)
    model = CopyingGenerator(CONFIG).eval()
    batch, _ = rows()
    labels = torch.where(batch.padding, torch.roll(batch.ids, 1, 1), IGNORE)
    labels[0, :4] = batch.ids[0, :4]
    x, _ = model.bert(batch)
    by_hand = []
    for place in map(tuple, (labels != IGNORE).nonzero().tolist()):
        d = torch.sigmoid(model.copy(x[place])).item()
        p = model.mlm(x[place]).softmax(-1)[labels[place]].item()
        by_hand.append(-torch.log(torch.tensor(d * (labels[place] == batch.ids[place]).item() + (1 - d) * p)))
    assert model(replace(batch, labels=labels)).mlm_loss.item() == pytest.approx(
        torch.stack(by_hand).mean().item(), rel=1e-4
    )


def test_an_unknown_variant_or_option_is_refused():
    with pytest.raises(ValueError, match="must be one of electra, electra_15, replace_mlm, all_tokens_mlm"):
        PretrainSettings(relative="electra", steps=1, objective_options={"variant": "electra_16"})
    with pytest.raises(ValueError, match="the objective of nezha has no option variant"):
        PretrainSettings(relative="nezha", steps=1, objective_options={"variant": "electra"})


# --- a run and what it leaves -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    (folder / "stories.txt").write_text("\n\n".join("\n".join(lines) for lines in documents(40, seed=0)))
    Tokenizer(vocabulary()).save(folder)
    return folder


def settings_of(variant: str) -> PretrainSettings:
    sizes = {**SETTINGS.sizes, "embedding_size": 16}
    return replace(SETTINGS, relative="electra", sizes=sizes, objective_options={"variant": variant})


@pytest.mark.release
@pytest.mark.trains
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_goes_on_bit_for_bit(variant, text, tmp_path):
    settings = settings_of(variant)
    run = {"data": [text / "stories.txt"], "vocabulary": text / "vocab.txt", "dev": [text / "stories.txt"]}
    run["watch"] = ["anna [MASK] ."]
    events = list(pretrain(settings, out=tmp_path / "whole", **run))
    cut = pretrain(settings, out=tmp_path / "cut", **run)
    next(event for event in cut if isinstance(event, Saved) and event.step == 3)
    cut.close()
    list(pretrain(settings, out=tmp_path / "cut", resuming=True, **run))
    for part in ("", "generator"):
        one, other = (tmp_path / side / part / "model.safetensors" for side in ("whole", "cut"))
        assert one.read_bytes() == other.read_bytes()
    kinds = {name for event in events if isinstance(event, Step) for name in event.parts}
    assert {"mlm_loss", f"{settings.objective.second}_loss"} <= kinds
    kept = checkpoint.load(tmp_path / "whole")
    expected = {"electra": Discriminator, "electra_15": Discriminator, "replace_mlm": Generator}
    assert type(kept) is expected.get(variant, CopyingGenerator)
    with pytest.raises(ValueError, match="has objective_options"):
        other = settings_of("electra_15" if variant == "electra" else "electra")
        events = pretrain(settings, out=tmp_path / "third", **run)
        next(event for event in events if isinstance(event, Saved) and event.step == 3)
        events.close()
        list(pretrain(other, out=tmp_path / "third", resuming=True, **run))


def test_going_on_takes_both_networks(text, tmp_path):
    run = {"data": [text / "stories.txt"]}
    settings = replace(settings_of("electra"), steps=3)
    list(pretrain(settings, out=tmp_path / "first", vocabulary=text / "vocab.txt", **run))
    quiet = replace(settings, steps=1, optimization=replace(settings.optimization, learning_rate=1e-12))
    list(pretrain(quiet, out=tmp_path / "second", model=tmp_path / "first", **run))
    for part in ("", "generator"):
        one, other = (load_file(tmp_path / side / part / "model.safetensors") for side in ("first", "second"))
        assert all(torch.allclose(one[name].float(), other[name].float(), atol=1e-3) for name in one)
    (tmp_path / "first" / "generator" / "model.safetensors").unlink()
    with pytest.raises(checkpoint.CheckpointError, match=r"generator has no model\.safetensors"):
        list(pretrain(quiet, out=tmp_path / "third", model=tmp_path / "first", **run))


def test_the_discriminator_fills_no_blanks_and_the_generator_does(text, tmp_path):
    settings = replace(settings_of("electra"), steps=2)
    list(pretrain(settings, [text / "stories.txt"], tmp_path / "run", text / "vocab.txt"))
    with pytest.raises(checkpoint.CheckpointError, match="this ELECTRA was not pre-trained by guessing hidden words"):
        checkpoint.load(tmp_path / "run", kind=BertForPreTraining)
    tokenizer = checkpoint.load_tokenizer(tmp_path / "run")
    with pytest.raises(ValueError, match=r"it fills no \[MASK\]"):
        fill(checkpoint.load(tmp_path / "run"), tokenizer, "anna [MASK] .")
    generator = checkpoint.load(tmp_path / "run" / "generator", kind=BertForPreTraining)
    assert len(fill(generator, tokenizer, "anna [MASK] .")[0]) == 5
