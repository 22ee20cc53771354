"""Heads switched off in the caller equal heads zeroed in the weights; two callers never meet; costs are paired."""

import copy
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from scipy.stats import sem

from minibert.heads import BertForSequenceClassification
from minibert.inside.explanations.interventions import mean_outputs, switched_off
from minibert.inside.heads import cost as head_cost
from minibert.inside.heads.arithmetic import record
from minibert.inside.heads.cost import answers, difference, hidden_words, labelled, layer_costs, without
from minibert.model import IGNORE, Batch

TEXTS = ["ab cde fgh.", "the cat sat, and sat.", "a b c d e f g h i j", "zz top", ""]


def real(batch) -> torch.Tensor:
    return batch.padding if batch.padding is not None else torch.ones_like(batch.ids, dtype=torch.bool)


@pytest.fixture(scope="module")
def batches(letters):
    return hidden_words(letters, TEXTS, 40, rate=0.3)


def zeroed(model, heads):
    """A copy whose output matrices do not read these heads: nothing of taps, the weights themselves."""
    changed = copy.deepcopy(model)
    for layer, head in heads:
        changed.bert.blocks[layer].attn.output.weight.data.view(24, 4, 6)[:, head] = 0
    return changed


@pytest.mark.parametrize("heads", [{(0, 0)}, {(2, 3)}, {(0, 1), (1, 2), (2, 0)}, {(1, a) for a in range(4)}, set()])
def test_switching_off_equals_zeroing_the_weights_by_hand(model, batches, heads):
    by_hand = zeroed(model, heads)
    for batch in batches:
        asked = Batch(batch.ids, padding=batch.padding)
        with torch.no_grad():
            ours, wanted = model(asked, switched_off(heads)).mlm_logits, by_hand(asked).mlm_logits
        torch.testing.assert_close(ours, wanted, atol=2e-4, rtol=0)
    losses = without(model, batches, heads).losses
    torch.testing.assert_close(losses, answers(by_hand, batches).losses, atol=2e-4, rtol=0)


def test_a_mean_takes_the_place_of_what_the_head_says_and_confidence_is_that_of_the_largest_weights(model, batches):
    means = mean_outputs(model, batches)
    assert means.shape == (3, 4, 6)
    rows = [record(model, batch)["blocks.1.attn.mixed"].transpose(1, 2)[real(batch)] for batch in batches]
    torch.testing.assert_close(means[1], torch.cat(rows).mean(0), atol=1e-5, rtol=0)
    seen = record(model, batches[0], switched_off({(1, 2)}, means))["blocks.1.attn.mixed"]
    assert torch.equal(seen[:, 2], means[1, 2].expand_as(seen[:, 2]))
    plain = record(model, batches[0])["blocks.1.attn.mixed"]
    assert torch.equal(seen[:, [0, 1, 3]], plain[:, [0, 1, 3]])
    rows = [record(model, batch)["blocks.2.attn.probs"].amax(-1).transpose(1, 2)[real(batch)] for batch in batches]
    torch.testing.assert_close(head_cost.confidence(model, batches)[2], torch.cat(rows).mean(0), atol=1e-5, rtol=0)


def test_two_at_once_never_meet(model, batches):
    choices = [{(0, 0)}, {(1, 1), (2, 3)}, set(), {(layer, head) for layer in range(3) for head in range(4)}]
    alone = [without(model, batches, heads).losses for heads in choices]
    assert not torch.allclose(alone[0], alone[1]) and not torch.allclose(alone[2], alone[3])
    with ThreadPoolExecutor(4) as students:
        together = list(students.map(lambda heads: without(model, batches, heads).losses, choices * 8))
    # Matrix products may differ in the last digit from thread to thread.
    torch.testing.assert_close(together, alone * 8, atol=1e-5, rtol=0)


def test_the_questions_are_always_the_same_and_hide_words_only(letters, batches):
    again = hidden_words(letters, TEXTS, 40, rate=0.3)
    for one, other in zip(batches, again, strict=True):
        assert torch.equal(one.ids, other.ids) and torch.equal(one.labels, other.labels)
    for batch in batches:
        asked = batch.labels != IGNORE
        assert asked.any(1).all() and (batch.ids[asked] == letters.mask_id).all()
        assert not torch.isin(batch.labels[asked], torch.tensor([letters.cls_id, letters.sep_id, letters.pad_id])).any()


def test_answers_are_the_models_loss_and_costs_what_it_rises_by(model, batches):
    got = answers(model, batches)
    assert len(got.losses) == sum(batch.num_targets for batch in batches)
    loss = sum(model(batch).mlm_loss.item() * batch.num_targets for batch in batches) / len(got.losses)
    assert got.loss == pytest.approx(loss, abs=1e-5) and 0 <= got.accuracy <= 1
    costs = layer_costs(model, batches, 1, got)
    assert len(costs) == 4
    for head, (loss, accuracy) in enumerate(costs):
        alone = without(model, batches, {(1, head)})
        assert loss.mean == pytest.approx(alone.loss - got.loss, abs=1e-6)
        assert accuracy.mean == pytest.approx(alone.accuracy - got.accuracy, abs=1e-9)


def test_a_classifier_is_asked_for_its_classes(model, letters):
    torch.manual_seed(1)
    model = BertForSequenceClassification(model.config, ["no", "yes"]).eval()
    batches = labelled(letters, TEXTS, [0, 1, 0, 1, 1], 40)
    got = answers(model, batches)
    with torch.no_grad():
        singles = [model(Batch(torch.tensor([letters.encode(text).ids]))).logits[0] for text in TEXTS]
    expected = [-one.log_softmax(-1)[label].item() for one, label in zip(singles, [0, 1, 0, 1, 1], strict=True)]
    assert got.losses.tolist() == pytest.approx(expected, abs=1e-4)
    after = without(model, batches, {(0, 0)})
    assert not torch.allclose(after.losses, got.losses)
    torch.testing.assert_close(after.losses, answers(zeroed(model, {(0, 0)}), batches).losses, atol=1e-4, rtol=0)


def test_a_difference_has_a_standard_error_and_all_heads_but_one_are_many():
    assert head_cost.all_but(2, 3, (1, 0), everywhere=False) == {(1, 1), (1, 2)}
    assert len(head_cost.all_but(2, 3, (1, 0), everywhere=True)) == 5
    after, before = torch.tensor([3.0, 5, 8, 1]), torch.tensor([1.0, 5, 5, 2])
    d = difference(after, before)
    assert d.mean == pytest.approx(1.0) and d.error == pytest.approx(sem((after - before).numpy()))
    assert math.isnan(difference(after[:1], before[:1]).error)
