"""How far a step moves each matrix: against the moved weights themselves."""

import copy

import pytest
import torch

from minibert.config import BertConfig
from minibert.inside.layer_steps import layer_steps
from minibert.model import Batch
from minibert.objectives import MaskedLanguageModel
from minibert.train import Optimization, optimizer_for
from tests.minibert.inside.random_models import random_model

RATE = 1e-2


def test_they_are_what_an_optimizer_does():
    config = BertConfig(60, 16, 2, 2, 32, 32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model, ids = random_model(config), torch.randint(5, 60, (4, 12))
    batch = Batch(ids, labels=torch.where(torch.arange(12) == 3, ids, -100))
    start = copy.deepcopy(model.state_dict())
    steps = layer_steps(model, [batch], MaskedLanguageModel(second=None), Optimization(learning_rate=RATE))
    found = {one.name: one for one in steps}
    assert all(torch.equal(start[name], value) for name, value in model.state_dict().items())
    for kind in ("adamw", "lamb"):
        twin = copy.deepcopy(model)
        twin(batch).mlm_loss.backward()
        optimizer_for(twin, Optimization(learning_rate=RATE, optimizer=kind)).step()
        for name, weight in twin.named_parameters():
            if name not in found:
                assert weight.dim() < 2 or weight.grad is None
                continue
            moved = float((weight - start[name]).norm() / start[name].norm())
            assert getattr(found[name], kind) == pytest.approx(moved, rel=2e-2), (kind, name)
    for one in found.values():
        assert one.ratio == pytest.approx(one.weight / one.step, rel=1e-4)
        assert one.lamb == pytest.approx(RATE, rel=1e-4)
