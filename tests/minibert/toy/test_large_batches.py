"""Batches of any size: the paper's rules for rate and warm-up, as many rows in every run, ratios as LAMB has them."""

from dataclasses import replace

import pytest
import torch

from minibert.experiments.events import Finished
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS, REQUIRED, BatchScale
from minibert.experiments.relatives import run_relative
from minibert.experiments.results import read_records
from minibert.toy.large_batches import RATES, BatchSettings, ratios, scaled, train_in_batches, warmup_of
from minibert.train import Done, Eval, Optimization, Started, optimizer_for

SMALL = {"rows_read": 64, "stories": 20, "measurements": 2, "hidden_size": 16, "layers": 1}


def test_the_papers_rules():
    """You et al. 2020, table 4: from a batch to its double, the rate grows by √2 and the warm-up's share by 2."""
    assert scaled(0.3, 64) / scaled(0.3, 32) == pytest.approx(2**0.5)
    assert scaled(0.3, 32 * 64) == pytest.approx(8 * 0.3)
    assert warmup_of(32) == pytest.approx(1 / 320) and warmup_of(2_048) == pytest.approx(1 / 5)
    assert warmup_of(10**6) == 0.5
    for rate, settings in [
        (RATES["adamw"], BatchSettings("adamw", 32)),
        (2 * RATES["lamb"], BatchSettings("lamb", 128)),
        (2e-3, BatchSettings("lamb", 128, base_rate=1e-3)),
        (0.5, BatchSettings("lamb", 128, rate=0.5)),
    ]:
        assert settings.optimization.learning_rate == pytest.approx(rate)
    for wrong in ({"optimizer": "sgd"}, {"rows": 0}, {"rows": 129, "rows_read": 128}, {"rate": -1.0}):
        with pytest.raises(ValueError, match=r"optimizer must be|a batch has from 1|learning rate must be"):
            BatchSettings(**wrong)


def test_every_run_reads_as_many_rows_from_the_same_start():
    seen = {}
    for optimizer in RATES:
        for rows in (8, 32):
            events = list(train_in_batches(BatchSettings(optimizer, rows, **SMALL)))
            seen[optimizer, rows] = evals = [event for event in events if isinstance(event, Eval)]
            begun, done = next(event for event in events if isinstance(event, Started)), events[-1]
            assert isinstance(done, Done) and done.step * rows == 64 and done.metrics == evals[-1].metrics
            assert begun.settings["steps"] == 64 // rows
            assert evals[0].details["ratios"] == {} and all(evals[-1].details["ratios"].values())
    assert len({evals[0].metrics["loss"] for evals in seen.values()}) == 1
    assert len({evals[-1].metrics["loss"] for evals in seen.values()}) == 4


def test_a_ratio_is_what_lamb_multiplies_by():
    """Before a step the ratios are asked of AdamW's state; LAMB then moves each matrix by the rate of its length."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Linear(4, 3))
    optimizer = optimizer_for(model, Optimization(optimizer="lamb", learning_rate=0.01))
    assert ratios(model, optimizer) == {}
    model(torch.randn(6, 5)).square().mean().backward()
    optimizer.step()
    told = ratios(model, optimizer)
    assert set(told) == {"0.weight", "1.weight"}
    weight = model[0].weight
    state, decay = optimizer.state[weight], Optimization().weight_decay
    m, v = state["exp_avg"] / (1 - 0.9), state["exp_avg_sq"] / (1 - 0.999)
    u = m / (v.sqrt() + 1e-6) + decay * weight
    assert told["0.weight"] == pytest.approx((weight.norm() / u.norm()).item(), rel=1e-4)


def test_it_is_recorded(tmp_path):
    experiment = RELATIVE_EXPERIMENTS["lamb"]
    few = replace(experiment, arms=dict(list(experiment.arms.items())[-2:]))
    scale = BatchScale(rows_read=1_024, stories=30)
    events = list(run_relative(few, tmp_path / "lamb.jsonl", seeds=1, scale=scale, command="x"))
    assert sum(isinstance(event, Finished) for event in events) == 2
    records = read_records(tmp_path / "lamb.jsonl", REQUIRED)
    assert [record["pretraining"]["rate"] for record in records] == [8e-3, 4e-2]
    for record in records:
        assert record["steps"] == 2 and record["curve"][-1] == [1_024, record["metrics"]] and record["ratios"]
