"""ERNIE 2.0: the fourth embedding against transformers, the regimes by hand, the questions against the world."""

import random
from dataclasses import replace

import pytest
import torch

from minibert.experiments.events import Finished
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS, REQUIRED
from minibert.experiments.relatives import run_relative
from minibert.experiments.results import read_records
from minibert.model import IGNORE
from minibert.relatives import build
from minibert.relatives.ernie2 import Ernie2Config
from minibert.relatives.parts.continual_tasks import KEPT_UP, REGIMES, Ernie2, TaskedBatch, TaskedLm, stages
from minibert.tokenizer import Tokenizer
from minibert.toy import continual, world
from minibert.toy.continual import QUESTIONS, TASKS, ContinualSettings, TaskSampler, train_continually
from minibert.train import Done, Eval

CONFIG = Ernie2Config(61, 24, 2, 3, 40, max_position_embeddings=20, initializer_range=0.3)
TOKENIZER = Tokenizer(world.vocabulary())
SMALL = ContinualSettings(steps=16, batch_size=2, stories=20, asked=4, evaluate_every=4, layers=1, hidden_size=16)


@pytest.fixture(scope="module")
def told():
    return world.stories(60, 5, "small")


@torch.no_grad()
def test_it_reads_as_the_relative_that_is_saved_and_loaded():
    """Which agrees with transformers' (tests/minibert/relatives/test_ernie2.py)."""
    torch.manual_seed(0)
    ours, saved = build(CONFIG, Ernie2, classes={"a": 0, "b": 3, "c": 2}).eval(), build(CONFIG, TaskedLm).eval()
    saved.bert.load_state_dict(ours.bert.state_dict())
    batch = TaskedBatch(torch.randint(61, (2, 7)), tasks=torch.tensor([2, 2]))
    _hidden, pooled = ours.read(batch)
    torch.testing.assert_close(saved(batch).nsp_logits, saved.nsp(pooled))
    assert not torch.allclose(pooled, ours.read(replace(batch, tasks=torch.tensor([1, 1])))[1], atol=1e-3)


def test_the_regimes_by_hand():
    assert stages("one_by_one", "ab", 20) == [{"a": 10}, {"b": 10}]
    assert stages("together", "ab", 20) == [{"a": 10, "b": 10}]
    assert KEPT_UP == 0.2
    assert stages("continual", "abc", 30) == [{"a": 6}, {"a": 2, "b": 8}, {"a": 2, "b": 2, "c": 10}]
    with pytest.raises(ValueError, match="the regime is one of continual"):
        stages("<b>", "ab", 20)
    for regime in REGIMES:
        order = continual.task_schedule(stages(regime, list(TASKS), 400), 3)
        assert {task: order.count(task) for task in TASKS} == dict.fromkeys(TASKS, 100)
        assert (order[:100] == ["words"] * 100) == (regime == "one_by_one")


def test_the_answers_are_the_worlds(told):
    rng = random.Random(0)
    beginnings = {tuple(s.text for s in story.sentences[:3]) for story in told}
    where = {}
    for number, story in enumerate(told):
        for place, sentence in enumerate(story.sentences):
            where.setdefault(sentence.text, set()).add((number, place))
    for _ in range(200):
        row = QUESTIONS["order"](told, rng)
        placed = dict(zip(continual.ORDERS[row.answer], row.texts, strict=True))
        assert tuple(placed[i] for i in range(3)) in beginnings
        row = QUESTIONS["distance"](told, rng)
        gaps = {abs(i - j) for s, i in where[row.texts[0]] for t, j in where[row.texts[1]] if s == t}
        distance = continual.DISTANCES[row.answer]
        assert distance != "neighbours" or 1 in gaps
        assert distance != "same story" or any(gap > 1 for gap in gaps)
        row = QUESTIONS["relation"](told, rng)
        joint, (first, second) = continual.RELATIONS[row.answer], row.texts
        middle = " and " if joint == "and" else f", {joint} "
        assert (f"while {first}, {second}" if joint == "while" else first + middle + second) in where
    assert (
        continual.split_clauses("ben and mei danced together.") is None
        and continual.split_clauses("ben went home.") is None
    )


def test_a_batch_without_any_label_has_no_loss():
    ids = torch.randint(61, (2, 7))
    batch = TaskedBatch(ids, labels=torch.full_like(ids, IGNORE), tasks=torch.tensor([0, 0]))
    assert build(CONFIG, Ernie2, classes={"a": 0, "b": 3})(batch).loss == 0


def test_a_batch_asks_one_task_and_is_the_same_whatever_else_is_asked(told):
    one, other = TaskSampler(told, TOKENIZER, 1), TaskSampler(told, TOKENIZER, 1)
    other.batch("order", 3)
    for number, task in enumerate(TASKS):
        batch = one.batch(task, 4)
        assert batch.tasks.tolist() == [number] * 4
        if task == "words":
            assert (batch.labels != IGNORE).any(1).all() and (batch.labels != IGNORE).float().mean() < 0.3
        else:
            assert batch.labels.shape == (4,) and int(batch.labels.max()) < TASKS[task]
        if task != "order":
            assert torch.equal(batch.ids, other.batch(task, 4).ids)
    assert one.batch("order", 2).segments.max() == 1


def test_events_of_a_run():
    events = list(train_continually(SMALL))
    last = [event for event in events if isinstance(event, Eval)][-1]
    assert set(last.metrics) == {*TASKS, "mean"} and last.step == 16
    assert last.metrics["mean"] == pytest.approx(sum(last.metrics[task] for task in TASKS) / 4)
    assert isinstance(events[-1], Done) and events[-1].metrics == last.metrics
    with pytest.raises(ValueError, match="there are 4 tasks"):
        replace(SMALL, steps=3)


def test_right_answers_are_counted(told):
    torch.manual_seed(1)
    model = build(SMALL.config(len(TOKENIZER.vocab)), Ernie2, classes=TASKS).eval()
    batch = TaskSampler(told, TOKENIZER, 2).batch("distance", 6)
    with torch.no_grad():
        _, pooled = model.read(batch)
        said = model.heads["distance"](pooled).argmax(-1)
    assert continual.evaluate(model, {"distance": batch})["distance"] == (said == batch.labels).double().mean().item()


def test_the_experiment_records_every_regime_on_the_same_tokens(tmp_path):
    experiment, out = RELATIVE_EXPERIMENTS["ernie2"], tmp_path / "ernie2.jsonl"
    assert tuple(experiment.arms) == REGIMES
    scale = replace(experiment.scale, steps=8, batch_size=2, stories=20, asked=4)
    assert len([e for e in run_relative(experiment, out, seeds=1, scale=scale) if isinstance(e, Finished)]) == 3
    records = read_records(out, REQUIRED)
    assert {record["arm"] for record in records} == set(REGIMES) and len({r["tokens"] for r in records}) == 1
    assert records[0]["pretraining"]["plan"][0] == {"words": 2}


@pytest.mark.release
@pytest.mark.trains
def test_one_by_one_forgets_the_first_task():
    metrics = {}
    for regime in ("one_by_one", "together"):
        *_, done = train_continually(ContinualSettings(regime, 240, evaluate_every=240))
        metrics[regime] = done.metrics
    assert metrics["one_by_one"]["words"] < metrics["together"]["words"] - 0.05
