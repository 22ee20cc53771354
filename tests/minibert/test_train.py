"""The training loop: what it does to weights and what it tells."""

import json
import math
from types import SimpleNamespace

import pytest
import torch
from transformers import get_linear_schedule_with_warmup

from minibert.config import BertConfig
from minibert.model import Batch, BertForPreTraining
from minibert.train import Done, Optimization, Step, TrainingError, optimizer_for, train
from minibert.training.precision import has_bfloat16

CONFIG = BertConfig(
    vocab_size=50,
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=16,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return BertForPreTraining(CONFIG)


def batches(count: int):
    rng = torch.Generator().manual_seed(0)
    for _ in range(count):
        ids = torch.randint(5, 50, (4, 8), generator=rng)
        yield Batch(ids, labels=ids, next_labels=torch.tensor([0, 1, 0, 1]))


def test_the_rate_rises_and_falls_as_in_transformers():
    parameter = torch.nn.Parameter(torch.zeros(1))
    theirs = torch.optim.SGD([parameter], lr=3e-4)
    schedule = get_linear_schedule_with_warmup(theirs, num_warmup_steps=100, num_training_steps=1000)
    ours = Optimization(learning_rate=3e-4, warmup=0.1)
    for step in range(1000):
        assert ours.rate_at(step / 1000) == pytest.approx(theirs.param_groups[0]["lr"], abs=1e-12)
        theirs.step()
        schedule.step()
    assert Optimization(learning_rate=1.0, warmup=0.0).rate_at(0.25) == 0.75
    assert Optimization(learning_rate=1.0, warmup=1.0).rate_at(0.25) == 0.25


def test_decay_spares_biases_and_layernorm(model):
    decayed, spared = optimizer_for(model, Optimization()).param_groups
    names = {id(weight): name for name, weight in model.named_parameters()}
    assert decayed["weight_decay"] == 0.01 and spared["weight_decay"] == 0.0
    assert all(names[id(weight)].endswith("weight") and "norm" not in names[id(weight)] for weight in decayed["params"])
    assert all("norm" in names[id(w)] or names[id(w)].endswith("bias") for w in spared["params"])
    assert len(decayed["params"]) + len(spared["params"]) == len(list(model.parameters()))


def test_one_step_is_the_step_written_out(model):
    """Against a step taken with nothing of ours but the model: AdamW by the book on clipped gradients."""
    torch.manual_seed(0)
    twin = BertForPreTraining(CONFIG)
    batch = next(batches(1))
    optimization = Optimization(learning_rate=1e-2, warmup=0.0, clip=0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("minibert.training.precision.has_bfloat16", lambda device: False)
        list(train(model, [batch], optimization, steps=1))
    twin.train()(batch).loss.backward()
    norm = math.sqrt(sum(w.grad.square().sum().item() for w in twin.parameters()))
    rate = 1e-2 * 0.5  # the middle of the only step
    for ours, weight in zip(model.parameters(), twin.parameters(), strict=True):
        gradient = weight.grad * min(1.0, 0.5 / norm)
        decay = 0.01 if weight.dim() >= 2 else 0.0
        moved = weight * (1 - rate * decay) - rate * gradient / (gradient.abs() + 1e-6)
        torch.testing.assert_close(ours, moved, atol=2e-6, rtol=1e-4)


def test_loss_falls_and_events_tell_it(model):
    def losses(output, part, whole):
        return {"loss": output.loss, "mlm_loss": output.mlm_loss, "nsp_loss": output.nsp_loss}

    recipe = Optimization(learning_rate=3e-3)
    *steps, done = train(model, batches(60), recipe, steps=60, report_every=20, losses_of=losses)
    assert [event.step for event in steps] == [20, 40, 60]
    assert all(isinstance(event, Step) for event in steps) and isinstance(done, Done)
    assert steps[-1].loss < steps[0].loss
    assert [event.progress for event in steps] == pytest.approx([1 / 3, 2 / 3, 1])
    assert done.tokens == steps[-1].tokens == 60 * 4 * 8
    for event in steps:
        assert event.loss == pytest.approx(event.parts["mlm_loss"] + event.parts["nsp_loss"], rel=1e-5)
        assert json.loads(json.dumps(event.as_dict()))["event"] == "step"


@pytest.fixture
def clock(monkeypatch):
    """Stands still unless a test lets it go on."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("minibert.train.time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


def slow_batches(clock, number, seconds):
    for batch in batches(number):
        clock.now += seconds
        yield batch


def test_a_run_by_the_clock_ends_by_the_clock(model, clock):
    optimization = Optimization(learning_rate=1e-3, warmup=0.0)
    *steps, done = train(model, slow_batches(clock, 100, 0.25), optimization, seconds=2.0)
    assert done.step == len(steps) == 8 and done.seconds == 2.0
    assert [event.progress for event in steps] == [step / 8 for step in range(1, 9)]
    assert [event.lr for event in steps] == [optimization.rate_at(step / 8) for step in range(8)]


def test_the_clock_sees_batches_being_made_and_not_what_the_caller_does(model, clock):
    for event in train(model, slow_batches(clock, 3, 0.25), Optimization(), steps=3):
        if isinstance(event, Step):
            assert event.tokens_per_second == event.tokens / event.seconds
        clock.now += 100
    assert event.seconds == 0.75


def test_batches_used_up_end_the_run_and_stopping_is_not_asking_for_more(model):
    events = list(train(model, batches(3), Optimization(), steps=10))
    assert [type(event) for event in events] == [Step, Step, Step, Done]
    assert events[-1].step == 3
    source = batches(100)
    run = train(model, source, Optimization(), steps=100)
    assert [next(run).step for _ in range(5)] == [1, 2, 3, 4, 5]
    run.close()
    assert len(list(source)) == 95


def test_a_loss_that_is_no_number_stops_the_run(model):
    with torch.no_grad():
        model.nsp.bias[0] = float("nan")
    with pytest.raises(TrainingError, match="the loss became nan at step 1: try a lower learning rate"):
        list(train(model, batches(5), Optimization(), steps=5))


def test_impossible_settings_are_refused(model):
    with pytest.raises(ValueError, match="either steps or seconds"):
        next(train(model, batches(1), Optimization()))
    for wrong, says in (({"learning_rate": 0}, "must be a positive number"), ({"warmup": 2}, "warm-up is a share")):
        with pytest.raises(ValueError, match=says):
            Optimization(**wrong)


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"cpu_name": "Intel Xeon", "avx512_bf16": True, "amx_bf16": True}, True),
        ({"cpu_name": "Intel Xeon", "avx512_bf16": True, "amx_bf16": False}, False),
        ({"cpu_name": "AMD EPYC", "avx512_bf16": True, "amx_bf16": False}, True),
        ({"cpu_name": "AMD Ryzen 7 5800X", "avx512_bf16": False, "amx_bf16": False}, False),
        ({"architecture": "ARM64", "bf16": True}, False),
    ],
)
def test_bfloat16_only_where_it_is_the_faster_one(monkeypatch, capabilities, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert has_bfloat16(torch.device("cpu")) is expected
