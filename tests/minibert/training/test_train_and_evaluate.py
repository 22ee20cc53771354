"""A run that is measured as it learns and says what it makes of texts, which may change meanwhile."""

from dataclasses import dataclass, field

import torch
from torch import nn

from minibert.model import Batch
from minibert.train import Done, Eval, Optimization, Sample, Saved, Started, Step
from minibert.training.train_and_evaluate import train_and_evaluate


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, batch):
        return (self.weight * batch.ids.float()).mean()


@dataclass(frozen=True)
class Settings:
    steps: int = 5
    evaluate_every: int = 2
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=0.1))


def run(learner, measure=None, **options) -> list:
    batches = (Batch(torch.ones(1, 2, dtype=torch.long)) for _ in range(100))
    options["losses_of"] = lambda output, part, whole: {"loss": output}
    measure = measure or (lambda: {"weight": learner.weight.item()})
    return list(train_and_evaluate(learner, batches, Settings(), measure, **options))


def test_it_is_measured_before_every_so_often_and_at_the_end():
    learner = Line()
    started, *events, done = run(learner, report_every=100)
    assert isinstance(started, Started) and started.details == {"parameters": 1}
    measured = [event for event in events if isinstance(event, Eval)]
    assert [event.step for event in measured] == [0, 2, 4, 5]
    assert measured[0].metrics == {"weight": 1.0}
    assert isinstance(done, Done) and done.metrics == measured[-1].metrics == {"weight": learner.weight.item()}


def test_a_message_replaces_what_is_watched_and_nothing_to_say_is_no_sample():
    learner, letters = Line(), iter([[], [["new"]]])

    def say(texts):
        return [(text, learner.training) for text in texts]

    events = run(learner, predict=say, probe_inputs=["old"], mailbox=lambda: next(letters, []), report_every=1)
    samples = [(event.step, *event.answers[0]) for event in events if isinstance(event, Sample)]
    assert samples == [(0, "old", False), *[(step, "new", False) for step in (2, 2, 4, 5)]]
    assert not any(isinstance(event, Sample) for event in run(Line(), predict=lambda texts: [], probe_inputs=["x"]))
    assert any(isinstance(event, Step) for event in run(Line()))


def test_details_are_told_and_it_is_saved_at_the_end(tmp_path):
    details = iter(range(4))
    options = {"measure": lambda: ({"x": 1.0}, {"n": next(details)}), "save": lambda folder: folder.mkdir()}
    *events, saved, done = run(Line(), **options, out=str(tmp_path / "kept"))
    assert [event.details["n"] for event in events if isinstance(event, Eval)] == [0, 1, 2, 3]
    assert saved == Saved(5, str(tmp_path / "kept")) and (tmp_path / "kept").is_dir() and done.metrics == {"x": 1.0}
    assert not any(isinstance(event, Saved) for event in run(Line(), save=None, out=tmp_path))
