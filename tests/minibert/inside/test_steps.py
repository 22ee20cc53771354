"""What float16 loses, against numpy's; and how far a step moves each matrix, against the moved weights themselves."""

import copy

import numpy as np
import pytest
import torch

from minibert.config import BertConfig
from minibert.inside.costs.half_precision import SMALLEST, gradients, lost, repeated, spacing
from minibert.inside.layer_steps import layer_steps
from minibert.model import Batch
from minibert.objectives import MaskedLanguageModel
from minibert.train import Optimization, optimizer_for
from tests.minibert.inside.random_models import random_model

OBJECTIVE = MaskedLanguageModel(second=None)


def test_an_update_below_half_the_spacing_vanishes_and_both_ways_are_numpys():
    """Between 1 and 2 float16 has steps of 2⁻¹⁰: less than 2⁻¹¹ is rounded away, a little more is a whole step."""
    half, master = repeated(1.0, 2**-11 * 0.9, 1000)
    assert set(half) == {1.0} and master[-1] == pytest.approx(1 + 1000 * 2**-11 * 0.9, abs=1e-3)
    half, _master = repeated(1.0, 2**-11 * 1.1, 10)
    assert half[-1] == 1 + 10 * 2**-10 and len(half) == 11 and half[0] == 1
    for weight in (0.02, 0.1, 0.5, 1.0, 2.0, 700.0):
        assert spacing(weight) == float(np.spacing(np.float16(weight)))
    half, master = repeated(0.1, 3e-5, 50)
    h, m = np.float16(0.1), np.float32(0.1)
    for n in range(51):
        assert (half[n], master[n]) == (float(h), float(np.float16(m)))
        h, m = np.float16(h + np.float16(3e-5)), np.float32(m + np.float32(3e-5))


@pytest.fixture(scope="module")
def task():
    config = BertConfig(60, 16, 2, 2, 32, 32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model, ids = random_model(config), torch.randint(5, 60, (4, 12))
    return model, Batch(ids, labels=torch.where(torch.arange(12) == 3, ids, -100))


def test_gradients_are_those_of_backward_and_scaling_saves_small_ones(task):
    model, batch = task
    model(batch).mlm_loss.backward()
    wanted = torch.cat([w.grad.flatten() for w in model.parameters() if w.grad is not None])
    model.zero_grad()
    assert torch.allclose(gradients(model, batch, OBJECTIVE, 1.0, torch.float32), wanted)
    assert torch.allclose(gradients(model, batch, OBJECTIVE, 8.0, torch.float32), 8 * wanted, rtol=1e-4)
    assert all(weight.grad is None for weight in model.parameters())  # the model is left as it was
    tiny, plain, scaled, huge = lost(model, batch, OBJECTIVE, [2.0**-16, 1.0, 2.0**10, 2.0**30])
    assert tiny.zero > plain.zero >= scaled.zero
    assert tiny.overflow == plain.overflow == scaled.overflow == 0 < huge.overflow  # too much is infinite
    assert float(torch.tensor(SMALLEST).half()) == SMALLEST and float(torch.tensor(SMALLEST / 2.1).half()) == 0


def test_how_far_a_step_moves_a_matrix_is_what_an_optimizer_does(task):
    (model, batch), rate = task, 1e-2
    start = copy.deepcopy(model.state_dict())
    found = {one.name: one for one in layer_steps(model, [batch], OBJECTIVE, Optimization(learning_rate=rate))}
    assert all(torch.equal(start[name], value) for name, value in model.state_dict().items())
    for kind in ("adamw", "lamb"):
        twin = copy.deepcopy(model)
        twin(batch).mlm_loss.backward()
        optimizer_for(twin, Optimization(learning_rate=rate, optimizer=kind)).step()
        for name, weight in twin.named_parameters():
            if name not in found:
                assert weight.dim() < 2 or weight.grad is None
                continue
            moved = float((weight - start[name]).norm() / start[name].norm())
            assert getattr(found[name], kind) == pytest.approx(moved, rel=2e-2), (kind, name)
    for one in found.values():
        assert one.ratio == pytest.approx(one.weight / one.step, rel=1e-4)
        assert one.lamb == pytest.approx(rate, rel=1e-4)
