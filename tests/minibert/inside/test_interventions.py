import math
from dataclasses import replace
from itertools import product

import pytest
import torch

from minibert.inside.explanations import interventions
from minibert.inside.explanations.interventions import (
    edited,
    evened,
    fill_in,
    head_effects,
    removed,
    shuffled,
    total_variation,
)
from minibert.inside.heads.arithmetic import record
from minibert.inside.model_input import ModelInput
from minibert.model import Batch, no_tap

PADDING = torch.tensor([[True] * 6 + [False] * 2])


@pytest.fixture(scope="module")
def batch():
    ids = torch.randint(5, 60, (1, 8), generator=torch.Generator().manual_seed(1))
    return Batch(ids, segments=torch.tensor([[0, 0, 0, 1, 1, 1, 0, 0]]), padding=PADDING)


@pytest.fixture(scope="module")
def reading(batch):
    ids = tuple(batch.ids[0, :6].tolist())
    return ModelInput(tuple(map(str, ids)), ids, (0, 0, 0, 0, 1, 1), pad_id=0, mask_id=4)


def test_scaling_by_root_d_undoes_the_division_and_one_pattern_is_the_mean_of_all_heads(model, batch):
    plain = record(model, batch)
    name = "blocks.0.attn."
    scaled = record(model, batch, interventions.scale_scores(math.sqrt(model.config.head_size)))
    products = plain[name + "query"] @ plain[name + "key"].transpose(-1, -2)
    assert torch.allclose(scaled[name + "scores"], products, atol=1e-4)
    assert torch.equal(record(model, batch, interventions.scale_scores(1.0))["mlm.logits"], plain["mlm.logits"])
    alike, mean = record(model, batch, interventions.one_pattern), plain[name + "probs"].mean(1, keepdim=True)
    assert torch.allclose(alike[name + "probs"], mean.expand_as(plain[name + "probs"]))
    assert torch.equal(alike[name + "value"], plain[name + "value"])
    assert not torch.allclose(alike["mlm.logits"], plain["mlm.logits"], atol=1e-3)


def test_without_positions_order_does_not_matter_and_with_them_it_does(model, reading):
    order, taps = [2, 0, 3, 1, 5, 4], (no_tap, interventions.without_positions)
    with_, without = (interventions.order_effect(model, reading, order, 3, tap) for tap in taps)
    assert with_.moved.min() > 1e-2 and without.moved.max() < 1e-5
    assert total_variation(with_.here, with_.there) > 1e-3
    assert total_variation(without.here, without.there) < 1e-5
    assert torch.allclose(with_.here, fill_in(model, reading.batch(), 3)[0], atol=1e-6)
    same = interventions.order_effect(model, reading, list(range(6)), 3)
    assert torch.equal(same.moved, torch.zeros(6)) and torch.equal(same.here, same.there)


def test_padding_leaks_without_the_mask_and_only_then(model, reading):
    leak = interventions.padding_leak(model, reading, 3, 4)
    assert torch.allclose(leak.masked, leak.masked[0].expand_as(leak.masked), atol=1e-5)
    assert torch.allclose(leak.unmasked[0], leak.masked[0], atol=1e-6)
    assert total_variation(leak.unmasked[4], leak.masked[0]) > 1e-3
    assert leak.share[0] == 0 and (leak.share.diff() > 0).all()
    probs = record(model, replace(reading.padded(4).batch(), padding=None))
    share = torch.stack([probs[f"blocks.{i}.attn.probs"][0, :, :6, 6:].sum(-1) for i in range(3)]).mean()
    assert leak.share[4] == pytest.approx(share.item(), abs=1e-6)


def test_each_copy_runs_with_its_own_edit_only(model, batch):
    edits = [
        removed(0, 1),
        interventions.HeadEdit(1, 2, "probs", lambda p: p),
        evened(1, 0, PADDING[0]),
        shuffled(0, 2, PADDING[0], torch.Generator().manual_seed(3)),
    ]
    together = interventions.fill_in_edited(model, batch, 3, edits)
    for row, edit in enumerate(edits):
        assert torch.allclose(together[row], fill_in(model, batch, 3, edited([edit]))[0], atol=1e-5)
    intact = fill_in(model, batch, 3)
    with torch.no_grad():
        assert torch.allclose(intact, model(batch).mlm_logits[:, 3].softmax(-1), atol=1e-6)
    assert total_variation(torch.tensor([0.5, 0.5, 0]), torch.tensor([0, 0.5, 0.5])) == 0.5
    assert torch.allclose(together[1], intact[0], atol=1e-6)  # an edit that changes nothing changes nothing
    assert (total_variation(together[[0, 2, 3]], intact) > 1e-4).all()
    assert torch.equal(fill_in(model, batch, 3), intact)  # and nothing stays behind on the model


def test_edits_change_the_head_they_name_as_they_say(model, batch):
    name, plain = "blocks.1.attn.", record(model, batch)
    even = record(model, batch, edited([evened(1, 0, PADDING[0])]))[name + "probs"]
    assert torch.allclose(even[0, 0], torch.tensor([1 / 6] * 6 + [0, 0]).expand(8, 8))
    assert torch.equal(even[0, 1:], plain[name + "probs"][0, 1:])
    edit = shuffled(1, 2, PADDING[0], torch.Generator().manual_seed(0))
    dealt = record(model, batch, edited([edit]))[name + "probs"][0, 2]
    assert torch.equal(dealt.sort(-1).values, plain[name + "probs"][0, 2].sort(-1).values)
    assert (dealt[:, 6:] == 0).all()
    assert not torch.equal(dealt, plain[name + "probs"][0, 2])
    gone = record(model, batch, edited([removed(1, 2)]))[name + "mixed"]
    assert (gone[0, 2] == 0).all() and torch.equal(gone[0, :2], plain[name + "mixed"][0, :2])


def test_head_effects_are_those_of_the_edits_one_by_one(model, batch):
    effects = head_effects(model, batch, 3, deals=2)
    intact, seen = fill_in(model, batch, 3), record(model, batch)
    for layer, head in product(range(3), range(4)):
        alone = fill_in(model, batch, 3, edited([removed(layer, head)]))
        assert effects.removed[layer, head] == pytest.approx(total_variation(alone, intact).item(), abs=1e-5)
        weight = seen[f"blocks.{layer}.attn.probs"][0, head, 3].max()
        assert effects.weight[layer, head] == pytest.approx(weight.item())
    assert torch.equal(head_effects(model, batch, 3, deals=2).shuffled, effects.shuffled)  # seeded


def test_hiding_a_token_is_running_without_it_in_the_mask(model, batch):
    weight, effect = interventions.token_effects(model, batch, 3)
    assert weight.sum() == pytest.approx(1, abs=1e-5)
    assert torch.isnan(effect).nonzero().flatten().tolist() == [3, 6, 7]
    padding = PADDING.clone()
    padding[0, 1] = False
    alone = total_variation(fill_in(model, replace(batch, padding=padding), 3), fill_in(model, batch, 3))
    assert effect[1] == pytest.approx(alone.item(), abs=1e-5)
    weight, effect = interventions.token_effects(model, Batch(torch.tensor([[7]])), 0)  # nothing to hide
    assert weight.tolist() == [1] and torch.isnan(effect).all()
