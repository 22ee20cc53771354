"""Early stopping: judged as transformers does it, and the best epoch is what is measured, saved and answers."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from transformers import EarlyStoppingCallback, TrainerControl, TrainerState

from minibert.finetune.early_stopping import BestEpoch
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.train import Done, Eval, Sample, Step
from tests.minibert.finetune.runs import of, run, short
from tests.minibert.tasks.toys import toy

# scores by epoch, patience → (epochs trained, epoch kept)
BY_HAND = [
    ([0.5, 0.6, 0.6, 0.55, 0.7], 2, (4, 2)),  # an equal score is no gain
    ([0.5, 0.4, 0.6, 0.5, 0.5, 0.9], 2, (5, 3)),  # a gain begins the count anew
    ([0.5, 0.5], 1, (2, 1)),
    ([0.1, 0.2, 0.3], 1, (3, 3)),
    ([0.9, 0.8, 0.7, 0.6], 3, (4, 1)),
]


@pytest.mark.parametrize(("scores", "patience", "expected"), BY_HAND)
def test_it_stops_where_a_hand_and_transformers_do(scores, patience, expected):
    model, best = nn.Linear(1, 1, bias=False), BestEpoch(patience)
    for epoch, score in enumerate(scores, 1):
        model.weight.data.fill_(epoch)
        best.saw(epoch, score, model)
        if best.over:
            break
    assert (epoch, best.restore(model, epoch)) == expected == (stopped_by_transformers(scores, patience), expected[1])
    assert model.weight.item() == expected[1]


def stopped_by_transformers(scores, patience: int) -> int:
    callback, state, control = EarlyStoppingCallback(patience), TrainerState(), TrainerControl()
    arguments = SimpleNamespace(metric_for_best_model="eval_f1", greater_is_better=True)
    for epoch, score in enumerate(scores, 1):  # noqa: B007
        callback.on_evaluate(arguments, state, control, metrics={"eval_f1": score})
        state.best_metric = max(score, state.best_metric or 0.0)  # as the trainer does, afterwards
        if control.should_training_stop:
            break
    return epoch


def test_a_model_without_a_whole_epoch_stays_as_it_is():
    assert BestEpoch(2).restore(nn.Linear(1, 1), 7) == 7
    with pytest.raises(ValueError, match="patience"):
        short(patience=-1)


def scored(monkeypatch, scores) -> None:
    """Evaluations score these numbers, in turn, until the best epoch is measured again."""
    from minibert.finetune import run as module

    measure, left = module.Evaluator.measure, iter(scores)

    def measured(self, step, final=False):
        event = measure(self, step, final)
        if not final:
            event.metrics["accuracy"] = next(left)
        return event

    monkeypatch.setattr(module.Evaluator, "measure", measured)


def test_the_best_epoch_is_measured_saved_and_answers(small_checkpoint, tmp_path, monkeypatch):
    given = "the keys near the box"
    whole = run(small_checkpoint, epochs=2, evaluations_per_epoch=1, probe_inputs=[given])
    per_epoch = of(whole, Eval)[-1].step // 2
    scored(monkeypatch, [0.0, 0.5, 0.7, 0.6, 0.7])  # before the first step, then by epoch
    out = tmp_path / "kept"
    events = run(small_checkpoint, epochs=9, evaluations_per_epoch=1, patience=2, out=out, probe_inputs=[given])
    assert [event.step // per_epoch for event in of(events, Eval)] == [0, 1, 2, 3, 4, 2]
    assert of(events, Step)[-1].step == 4 * per_epoch
    done = of(events, Done)[0]
    assert (done.step, done.metrics) == (2 * per_epoch, of(events, Eval)[-1].metrics)
    answers = [event.answers[0]["probabilities"] for event in of(events, Sample)]
    assert answers[-1] == answers[2] != answers[-2]
    assert Predictor.from_directory(out).predict([given])[0]["probabilities"] == pytest.approx(answers[-1])


def test_a_run_that_is_stopped_keeps_its_best_epoch(small_checkpoint, tmp_path, monkeypatch):
    scored(monkeypatch, [0.0, 0.9, 0.1, 0.1, 0.1])
    settings = short(epochs=9, evaluations_per_epoch=1, patience=5)
    data = toy("classification", 64, 0), toy("classification", 16, 1)
    events = finetune(small_checkpoint, "classification", *data, settings, out=tmp_path / "run", probe_inputs=["a"])
    answers = []
    for event in events:
        answers += [event.answers[0]] if isinstance(event, Sample) else []
        if len(answers) == 4:  # after the third epoch
            break
    events.close()
    kept = Predictor.from_directory(tmp_path / "run").predict(["a"])[0]
    torch.testing.assert_close([*kept["probabilities"].values()], [*answers[1]["probabilities"].values()])
    assert answers[1]["probabilities"] != answers[3]["probabilities"]
