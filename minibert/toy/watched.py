"""A live run, as the toy world's tasks have them: it is measured as it learns, and says what it makes of the reader's
own texts, which may change meanwhile."""

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
    """Train with the `steps` and the `optimization` of `settings`, a dataclass; → the Done, with what was measured
    last: the caller yields it when the model is saved.

    `measure()` is asked before the first step, every `settings.evaluate_every` steps and behind the last (`Eval`); then
    `say(watch)`, whose answers are a `Sample` unless there are none. A message of `mailbox` replaces `watch` and is
    answered at once. Both are asked in eval mode. facts: of the `Started`, beside the number of parameters · training:
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
        learner, batches, settings.optimization, steps=settings.steps, report_every=report_every, also_every=every,
        **training,
    ):  # fmt: skip
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
