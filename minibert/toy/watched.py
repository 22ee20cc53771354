"""A live run of a task of the toy world: evaluated as it trains, with predictions for the user's own texts, which may
change meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from torch import nn

from minibert.train import Done, Eval, Event, Sample, Started, train


def watched(
    learner: nn.Module,
    batches: Iterable,
    settings: Any,
    measure: Callable[[], dict[str, float]],
    say: Callable[[Sequence], list] | None = None,
    *,
    watch: Sequence = (),
    mailbox: Callable[[], list] = list,
    facts: Mapping[str, Any] | None = None,
    report_every: int = 10,
    **training: Any,
) -> Generator[Event, None, Done]:
    """Train with the `steps` and the `optimization` of `settings`, a dataclass; → the Done event with the last metrics,
    which the caller yields after saving the model.

    `measure()` is called before the first step, every `settings.evaluate_every` steps and after the last (`Eval`); then
    `say(watch)`, whose answers become a `Sample` if there are any. A message from `mailbox` replaces `watch` and is
    answered at once. Both run in eval mode. facts: for the `Started` event, beside the number of parameters · training:
    further arguments of `train`.
    """
    every = settings.evaluate_every

    def said(step: int) -> Generator[Event, None, None]:
        learner.eval()
        if watch and say is not None and (answers := say(watch)):
            yield Sample(step, answers)

    yield Started(asdict(settings), {"parameters": sum(w.numel() for w in learner.parameters()), **(facts or {})})
    learner.eval()
    last = measure()
    yield Eval(0, last)
    yield from said(0)
    for event in train(
        learner,
        batches,
        settings.optimization,
        steps=settings.steps,
        report_every=report_every,
        also_every=every,
        **training,
    ):
        if isinstance(event, Done):
            return replace(event, metrics=last)
        yield event
        for message in mailbox():
            watch = list(message)
            yield from said(event.step)
        if event.step % every == 0 or event.step == settings.steps:
            learner.eval()
            last = measure()
            yield Eval(event.step, last)
            yield from said(event.step)
    raise RuntimeError("a training ends with its Done")
