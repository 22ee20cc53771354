"""Training with evaluation: measured as it learns, with predictions for the user's own texts, which may change
meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from torch import nn

from minibert.train import Done, Eval, Event, Sample, Saved, Started, train
from minibert.training.disk_retry import save_with_retry

Measured = dict[str, float] | tuple[dict[str, float], dict]  # metrics, or metrics and the details of an `Eval`


def train_and_evaluate(
    learner: nn.Module,
    batches: Iterable,
    settings: Any,
    measure: Callable[[], Measured],
    predict: Callable[[Sequence], list] | None = None,
    *,
    probe_inputs: Sequence = (),
    mailbox: Callable[[], list] = list,
    facts: Mapping[str, Any] | None = None,
    save: Callable[[Path], Any] | None = None,
    out: str | Path | None = None,
    report_every: int = 10,
    **training: Any,
) -> Iterator[Event]:
    """Train with the `steps` and the `optimization` of `settings`, a dataclass, then `save(out)`, if `out` is given.

    `measure()` is called before the first step, every `settings.evaluate_every` steps and after the last (`Eval`); then
    `predict(probe_inputs)`, whose answers become a `Sample` if there are any. A message from `mailbox` replaces
    `probe_inputs` and is answered at once. All run in eval mode. The `Done` holds the last metrics. facts: for the
    `Started` event, beside the number of parameters · training: further arguments of `train`.
    """
    every, metrics = settings.evaluate_every, dict[str, float]()

    def sample(step: int) -> Iterator[Event]:
        learner.eval()
        if probe_inputs and predict is not None and (answers := predict(probe_inputs)):
            yield Sample(step, answers)

    def evaluate(step: int) -> Iterator[Event]:
        nonlocal metrics
        learner.eval()
        measured = measure()
        metrics, details = measured if isinstance(measured, tuple) else (measured, {})
        yield Eval(step, metrics, details)
        yield from sample(step)

    parameters = sum(weight.numel() for weight in learner.parameters())
    yield Started(asdict(settings) | {"steps": settings.steps}, {"parameters": parameters, **(facts or {})})
    yield from evaluate(0)
    training |= {"steps": settings.steps, "report_every": report_every, "also_every": every}
    for event in train(learner, batches, settings.optimization, **training):
        if isinstance(event, Done):
            if save is not None and out is not None:
                save_with_retry(save, Path(out))
                yield Saved(event.step, str(out))
            yield replace(event, metrics=metrics)
            return
        yield event
        for message in mailbox():
            probe_inputs = list(message)
            yield from sample(event.step)
        if event.step % every == 0 or event.step == settings.steps:
            yield from evaluate(event.step)
