"""ELECTRA: its loss is the paper's, worked by hand, and a run of it keeps two networks."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional as F

from minibert import checkpoint
from minibert.corruption import MaskVocabulary
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import Masking, losses
from minibert.pretrain import PretrainSettings, fill, pretrain
from minibert.relatives import build, objective_for
from minibert.relatives.electra import ElectraConfig
from minibert.relatives.parts.replaced_token_detection import (
    VARIANTS,
    CopyingGenerator,
    Discriminator,
    Generator,
    ReplacedTokens,
    sample,
)
from minibert.train import Step
from tests.minibert.relatives.their_heads import rows
from tests.minibert.relatives.toy_world import SETTINGS, assert_goes_on_bit_for_bit, cut_off, texts_in

CONFIG = ElectraConfig(61, 48, 3, 4, 72, embedding_size=20, max_position_embeddings=24, initializer_range=0.2)


def test_the_size_of_the_generator():
    small, base = (ElectraConfig.preset(name) for name in ("small", "base"))
    generator = small.generator()
    assert (generator.hidden_size, generator.num_attention_heads, generator.intermediate_size) == (64, 1, 256)
    assert (generator.num_hidden_layers, generator.embedding_size) == (12, 128)
    assert base.generator().hidden_size == 256 == base.hidden_size // 3 and CONFIG.generator().hidden_size == 12
    assert ElectraConfig.preset("large").embedding_size == 1024
    asked_for = replace(CONFIG, generator_hidden_size=24)
    assert build(asked_for, objective_for(asked_for).model).generator.config.hidden_size == 24


def asked(variant: str = "electra"):
    torch.manual_seed(0)
    objective = ReplacedTokens(Masking(rate=0.4), variant=variant)
    pair = build(CONFIG, objective.model).eval()
    batch, _ = rows()
    vocabulary, rng = MaskVocabulary(4, torch.tensor([4]), 61), torch.Generator().manual_seed(0)
    return objective, pair, objective.corrupt(batch, ~batch.padding, ~batch.padding, vocabulary, rng)


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
    hidden, original = batch.labels != IGNORE, rows()[0].ids
    assert torch.equal(batch.ids, original.masked_fill(hidden, 4))  # all that is hidden becomes [MASK]
    replaced = output.inputs.ids != original
    assert replaced.any() and not replaced[~hidden].any()
    p = pair.main(Batch(output.inputs.ids, batch.segments, batch.padding)).logits.sigmoid()
    rtd = -torch.where(replaced, p.log(), (1 - p).log())[batch.padding].mean()
    guesses = pair.generator(Batch(batch.ids, batch.segments, batch.padding)).mlm_logits.log_softmax(-1)
    mlm = -torch.stack([guesses[place][original[place]] for place in map(tuple, hidden.nonzero().tolist())]).mean()
    found = losses(objective, output, batch, batch)
    assert found["rtd_loss"].item() == pytest.approx(rtd.item(), rel=1e-5)
    assert found["loss"].item() == pytest.approx((mlm + 50 * rtd).item(), rel=1e-5)
    assert objective.target_counts(batch) == {"mlm": int(hidden.sum()), "rtd": 17 + 11 + 1}


@torch.no_grad()
def test_a_sample_that_is_right_counts_as_original():
    _, pair, batch = asked()
    right = F.one_hot(batch.labels[batch.labels != IGNORE], 61) * 1e4
    pair.generator.mlm.forward = lambda x: right
    assert not pair(batch).inputs.labels[batch.padding].any()


def test_no_gradient_of_the_discriminator_reaches_the_guesses():
    objective, pair, batch = asked()
    pair.train()
    objective.prediction_stats(pair(batch), batch)["rtd"].loss.backward()
    assert pair.generator.mlm.dense.weight.grad is None
    assert all(weight.grad is None for weight in pair.generator.bert.blocks.parameters())
    assert pair.main.bert.blocks[0].attn.query.weight.grad.abs().sum() > 0


def test_samples_follow_the_softmax():
    shares = torch.tensor([0.7, 0.2, 0.1])
    logits, rng = shares.log().expand(4000, 3), torch.Generator().manual_seed(0)
    for temperature, expected in ((1.0, shares), (100.0, torch.full((3,), 1 / 3))):
        found = torch.bincount(sample(logits, temperature, rng), minlength=3) / 4000
        assert torch.allclose(found, expected, atol=0.03)
    assert sample(logits, 0).unique().tolist() == [0]


def test_measuring_takes_no_random_number_from_training():
    _, pair, batch = asked()
    torch.manual_seed(3)
    one = torch.rand(1)
    torch.manual_seed(3)
    first = pair(batch).inputs.ids
    assert torch.equal(torch.rand(1), one) and torch.equal(pair(batch).inputs.ids, first)
    pair.train()
    assert not torch.equal(pair(batch).inputs.ids, pair(batch).inputs.ids)


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_each_variant_asks(variant):
    objective, pair, batch = asked(variant)
    output = pair(batch)
    hidden, original = batch.labels != IGNORE, rows()[0].ids
    places = batch.padding if variant in ("electra", "all_tokens_mlm") else hidden
    labels = output.inputs.labels
    assert torch.equal(labels != IGNORE, places)
    right = (output.inputs.ids != original).long() if variant.startswith("electra") else original
    assert torch.equal(labels[places], right[places])
    assert objective.prediction_stats(output, batch)[objective.second].count == int(places.sum())


@torch.no_grad()
def test_copying_is_a_mixture_by_hand():
    torch.manual_seed(0)
    model = build(CONFIG, CopyingGenerator).eval()
    batch, _ = rows()
    labels = torch.where(batch.padding, torch.roll(batch.ids, 1, 1), IGNORE)
    labels[0, :4] = batch.ids[0, :4]
    given = labels != IGNORE
    x, right = model.bert(batch)[0][given], labels[given]
    d = torch.sigmoid(model.copy(x)).flatten()
    p = model.mlm(x).softmax(-1).gather(1, right[:, None])[:, 0]
    by_hand = -torch.log(d * (right == batch.ids[given]) + (1 - d) * p).mean()
    assert model(replace(batch, labels=labels)).mlm_loss.item() == pytest.approx(by_hand.item(), rel=1e-4)


def settings_of(variant: str) -> PretrainSettings:
    sizes = {**SETTINGS.sizes, "embedding_size": 16}
    return replace(SETTINGS, relative="electra", sizes=sizes, objective_options={"variant": variant})


@pytest.mark.release
@pytest.mark.trains
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_goes_on_bit_for_bit(variant, tmp_path):
    text = texts_in(tmp_path)
    settings, other = settings_of(variant), settings_of("electra_15" if variant == "electra" else "electra")
    run = {**text, "dev": text["data"], "probe_inputs": ["anna [MASK] ."]}
    events = assert_goes_on_bit_for_bit(settings, tmp_path, **run)
    assert (tmp_path / "whole" / "generator" / "model.safetensors").exists()
    kinds = {name for event in events if isinstance(event, Step) for name in event.parts}
    assert {"mlm_loss", f"{settings.objective.second}_loss"} <= kinds
    expected = {"electra": Discriminator, "electra_15": Discriminator, "replace_mlm": Generator}
    assert type(checkpoint.load(tmp_path / "whole")) is expected.get(variant, CopyingGenerator)
    cut_off(settings, tmp_path / "third", **run)
    with pytest.raises(ValueError, match="has objective_options"):
        list(pretrain(other, out=tmp_path / "third", resuming=True, **run))


def test_a_run_leaves_two_networks_that_go_on_and_one_that_fills_blanks(tmp_path):
    text = texts_in(tmp_path)
    settings = replace(settings_of("electra"), steps=3)
    list(pretrain(settings, out=tmp_path / "first", **text))
    quiet = replace(settings, steps=1, optimization=replace(settings.optimization, learning_rate=1e-12))
    go_on = {"data": text["data"], "model": tmp_path / "first"}
    list(pretrain(quiet, out=tmp_path / "second", **go_on))
    for part in ("", "generator"):
        one, other = (load_file(tmp_path / side / part / "model.safetensors") for side in ("first", "second"))
        assert all(torch.allclose(one[name].float(), other[name].float(), atol=1e-3) for name in one)
    model, tokenizer = checkpoint.load(tmp_path / "first"), checkpoint.load_tokenizer(tmp_path / "first")
    with pytest.raises(checkpoint.CheckpointError, match="this ELECTRA was not pre-trained by guessing hidden words"):
        checkpoint.load(tmp_path / "first", kind=BertForPreTraining)
    with pytest.raises(ValueError, match=r"it fills no \[MASK\]"):
        fill(model, tokenizer, "anna [MASK] .")
    generator = checkpoint.load(tmp_path / "first" / "generator", kind=BertForPreTraining)
    assert len(fill(generator, tokenizer, "anna [MASK] .")[0]) == 5

    (tmp_path / "first" / "generator" / "model.safetensors").unlink()
    with pytest.raises(checkpoint.CheckpointError, match=r"generator has no model\.safetensors"):
        list(pretrain(quiet, out=tmp_path / "third", **go_on))
