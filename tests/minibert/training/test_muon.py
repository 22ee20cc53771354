"""Muon, against a singular value decomposition and against the one in torch."""

import pytest
import torch
from torch import nn

from minibert.finetune.optimizer import finetuning_optimizer
from minibert.finetune.settings import FinetuneSettings
from minibert.train import Optimization, optimizer_for
from minibert.training.muon import MOMENTUM, Muon, orthogonal


@pytest.mark.parametrize("shape", [(24, 24), (16, 48), (48, 16)])
def test_all_directions_become_about_equally_long(shape):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    left, before, right = torch.linalg.svd(matrix, full_matrices=False)
    after = left.T @ orthogonal(matrix) @ right.T  # in the directions of the matrix: its new singular values
    lengths = after.diagonal()
    assert before.min() < before.max() / 2
    assert lengths.min() > 0.6 and lengths.max() < 1.3
    assert (after - torch.diag(lengths)).abs().max() < 0.05  # and the directions are the same
    assert orthogonal(torch.zeros(shape)).abs().max() == 0


def gradients(weights: list[nn.Parameter], seed: int) -> None:
    rng = torch.Generator().manual_seed(seed)
    for weight in weights:
        weight.grad = torch.randn(weight.shape, generator=rng)


@pytest.mark.parametrize("shape", [(32, 32), (16, 48), (48, 16)])
def test_steps_are_those_of_torch(monkeypatch, shape):
    monkeypatch.setattr("minibert.training.muon.has_bfloat16", lambda device: True)  # as torch's always does
    torch.manual_seed(0)
    ours = nn.Parameter(torch.randn(shape))
    theirs = nn.Parameter(ours.detach().clone())
    muon = Muon([{"params": [ours], "muon": True, "lr": 0.01, "weight_decay": 0.2}])
    # "match_rms_adamw" goes half as far as ours.
    torchs = torch.optim.Muon([theirs], lr=0.02, weight_decay=0.1, momentum=MOMENTUM, adjust_lr_fn="match_rms_adamw")
    for seed in range(5):
        gradients([ours], seed)
        gradients([theirs], seed)
        muon.step()
        torchs.step()
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)  # a step moves a weight by 0.004


def test_what_is_not_a_blocks_matrix_is_moved_by_adamw(twins):
    model, twin = twins
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    with_muon = optimizer_for(model, Optimization(optimizer="muon", learning_rate=1e-2))
    without = optimizer_for(twin, Optimization(learning_rate=1e-2))
    for _ in range(3):
        gradients(list(model.parameters()), 1)
        gradients(list(twin.parameters()), 1)
        with_muon.step()
        without.step()
    both = zip(model.named_parameters(), twin.parameters(), strict=True)
    moved_by_muon = {name for (name, one), other in both if not torch.equal(one, other)}
    assert moved_by_muon == {name for name in before if ".blocks." in name and before[name].dim() == 2}
    assert len(moved_by_muon) == 6 * model.config.num_hidden_layers
    assert not any(torch.equal(weight, before[name]) for name, weight in model.named_parameters())


def test_only_matrices_and_known_optimizers():
    with pytest.raises(ValueError, match="matrices only"):
        Muon([{"params": [nn.Parameter(torch.zeros(3))], "muon": True}])
    with pytest.raises(ValueError, match="one of adamw, muon, lamb, not 'sgd'"):
        Optimization(optimizer="sgd")


def test_fine_tuning_takes_it_with_its_rates_by_depth_or_says_why_not(twins):
    learner = nn.Module()
    learner.model, _ = twins
    optimization = Optimization(optimizer="muon")
    optimizer = finetuning_optimizer(learner, FinetuneSettings(optimization=optimization, layer_decay=0.5))
    assert isinstance(optimizer, Muon)
    names = {id(weight): name for name, weight in learner.named_parameters()}
    groups = optimizer.param_groups
    by_muon = [(group["scale"], names[id(w)]) for group in groups if group["muon"] for w in group["params"]]
    assert len(by_muon) == 6 * learner.model.config.num_hidden_layers
    assert {scale for scale, name in by_muon if ".blocks.0." in name} == {0.25}
    assert {scale for scale, name in by_muon if ".blocks.1." in name} == {0.5}
    with pytest.raises(ValueError, match="Muon does not go with it"):
        FinetuneSettings(optimization=optimization, bias_correction=False)
