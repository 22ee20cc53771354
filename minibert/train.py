"""The one training loop. It yields events; a page draws them, a notebook prints them, a terminal shows a bar.

The loop pauses between two events, so its caller may evaluate, save or stop there; to stop, just do not fetch the next
event.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import nn

from minibert.model import Batch
from minibert.training.data_parallel import ProcessGroup
from minibert.training.lamb import Lamb
from minibert.training.muon import Muon, in_a_block
from minibert.training.precision import autocast


class TrainingError(ValueError):
    """Training cannot go on; the message says why and what to change."""


@dataclass(frozen=True)
class Event:
    """Something that happened in a run. `as_dict` is what a log file and another process see."""

    def as_dict(self) -> dict:
        return {"event": type(self).__name__.lower(), **asdict(self)}


@dataclass(frozen=True)
class Preparing(Event):
    """A step of preparation that takes a while begins; `what` names it."""

    what: str


@dataclass(frozen=True)
class Started(Event):
    """A run begins: its settings, and in `details` what displaying the events needs besides (the dev examples)."""

    settings: dict
    details: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Step(Event):
    """Some optimizer steps went by. loss: mean over the steps since the last event; seconds: training time so far,
    evaluation not counted; progress: share of the run that is done; parts: the loss by objective."""

    step: int
    progress: float
    loss: float
    lr: float
    tokens: int
    tokens_per_second: float
    seconds: float
    epoch: float | None = None
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Eval(Event):
    """The model was measured on held-out data after `step` steps; `details` holds what a page draws (predictions)."""

    step: int
    metrics: dict[str, float]
    details: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Sample(Event):
    """The model's current predictions for some inputs of the user."""

    step: int
    answers: list[dict]


@dataclass(frozen=True)
class Saved(Event):
    """A checkpoint is complete at `path`."""

    step: int
    path: str


@dataclass(frozen=True)
class Done(Event):
    """The run is over; `metrics` are its last ones."""

    step: int
    tokens: int
    seconds: float
    metrics: dict[str, float] = field(default_factory=dict)


OPTIMIZERS = ("adamw", "muon", "lamb")


@dataclass(frozen=True)
class Optimization:
    """Settings of the optimizer (Devlin et al. 2019, §A.2 and A.3: AdamW, linear warm-up, linear decay).

    learning_rate: the peak · warmup: share of the run spent rising to it · clip: largest gradient norm · optimizer:
    "adamw", "muon" for the matrices of the blocks and AdamW for the rest, or "lamb" for large batches.
    """

    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    clip: float = 1.0
    optimizer: str = "adamw"

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"the optimizer must be one of {', '.join(OPTIMIZERS)}, not {self.optimizer!r}")
        if not (self.learning_rate > 0 and math.isfinite(self.learning_rate)):
            raise ValueError(f"the learning rate must be a positive number, not {self.learning_rate}")
        if not 0 <= self.warmup <= 1:
            raise ValueError(f"warm-up is a share of the run between 0 and 1, not {self.warmup}")

    def rate_at(self, progress: float) -> float:
        """The learning rate when `progress` (0…1) of the run is done."""
        rising = progress / self.warmup if self.warmup else 1.0
        falling = (1 - progress) / (1 - self.warmup) if self.warmup < 1 else 1.0
        return self.learning_rate * max(0.0, min(rising, falling, 1.0))


def optimizer_for(model: nn.Module, optimization: Optimization, groups: list[dict] | None = None) -> torch.optim.AdamW:
    """AdamW, Muon or LAMB, on these groups of the weights, by default those of `weight_groups`."""
    kind = {"muon": Muon, "lamb": Lamb}.get(optimization.optimizer, torch.optim.AdamW)
    return kind(
        groups or weight_groups(model, optimization),
        lr=optimization.learning_rate,
        betas=(optimization.beta1, optimization.beta2),
        eps=optimization.epsilon,
        fused=True,  # one kernel for all weights instead of several for each
    )


def weight_groups(
    model: nn.Module, optimization: Optimization, scale_of: Callable[[str], float] = lambda name: 1.0
) -> list[dict]:
    """The trainable weights in groups for an optimizer. Weight decay on matrices only, not on biases and LayerNorm.
    "muon": whether Muon updates the group · "scale": factor of the learning rate, `scale_of(name of the weight)`.
    """
    groups: dict[tuple[float, bool, bool], list[nn.Parameter]] = {}
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            by_muon = optimization.optimizer == "muon" and in_a_block(name, weight)
            groups.setdefault((scale_of(name), weight.dim() >= 2, by_muon), []).append(weight)
    return [
        {
            "params": weights,
            "scale": scale,
            "weight_decay": optimization.weight_decay if is_matrix else 0.0,
            "muon": by_muon,
        }
        for (scale, is_matrix, by_muon), weights in groups.items()
    ]


@dataclass
class TrainingState:
    """The progress of a run and the state of its optimizer, saved to resume from.

    `seconds` counts the training steps, not what the caller does between two events.
    """

    optimizer: torch.optim.Optimizer
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


def mean_loss(output: Any, part: Batch, whole: Batch) -> dict[str, torch.Tensor]:
    """The loss of an output that has one `loss`, the mean over its rows; a part counts by its share of the rows."""
    return {"loss": output.loss if part is whole else output.loss * (len(part.ids) / len(whole.ids))}


def train(
    model: Any,
    batches: Iterable[Batch],
    optimization: Optimization,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    report_every: int = 1,
    also_every: int | None = None,
    steps_per_epoch: int | None = None,
    losses_of: Callable[[Any, Batch, Batch], dict[str, torch.Tensor]] = mean_loss,
    accumulate: int = 1,
    group: ProcessGroup | None = None,
    state: TrainingState | None = None,
) -> Iterator[Step | Done]:
    """Train `model` in place; yields a `Step` every `report_every` and every `also_every` steps, and a last `Done`.

    The run ends after `steps` steps, after `seconds` of training time (the learning rate then follows the clock), or
    when `batches` are used up. Raises TrainingError when the loss is no longer a number.

    losses_of(output, part, whole): the terms of the loss, "loss" is their sum; of a part of a batch each must be
    weighted so that the parts add up to the whole. accumulate: parts a batch is computed in, one after another, to
    save memory · group: processes that share every batch · state: of a run to resume; else a new one begins.
    """
    if (steps is None) == (seconds is None):
        raise ValueError("give either steps or seconds")
    device = next(model.parameters()).device
    step_limit = math.inf if steps is None else steps  # progress is measured by the finite one
    time_limit = math.inf if seconds is None else seconds
    group = group or ProcessGroup()
    state = state or TrainingState(optimizer_for(model, optimization))
    window, window_tokens = 0.0, 0
    reported: list[dict[str, torch.Tensor]] = []
    started = time.perf_counter()
    for batch in batches:  # the clock includes making it, not what the caller does between two events
        model.train()
        # The middle of the step: neither its first nor its last rate is zero.
        lr = optimization.rate_at(max((state.step + 0.5) / step_limit, state.seconds / time_limit))
        for weights in state.optimizer.param_groups:
            weights["lr"] = lr * weights["scale"]
        terms: dict[str, torch.Tensor] = {}
        parts = [batch] if accumulate * group.size == 1 else batch.split(accumulate * group.size)
        # A last, small batch may have no part for this process, which then computes one with weight 0.
        for part, counts in [(part, 1.0) for part in parts[group.rank :: group.size]] or [(parts[0], 0.0)]:
            with autocast(device):
                losses = losses_of(model(part.to(device)), part, batch)
            (losses["loss"] * counts).backward()
            for name, value in losses.items():
                terms[name] = terms.get(name, 0.0) + value.detach() * counts
        group.add_up(model, terms)
        norm = nn.utils.clip_grad_norm_(model.parameters(), optimization.clip)
        state.optimizer.step()
        state.optimizer.zero_grad(set_to_none=True)
        reported.append({**terms, "gradient_norm": norm})
        state.step += 1
        window_tokens += batch.tokens
        due = state.step % report_every == 0 or (also_every is not None and state.step % also_every == 0)
        if device.type == "cuda" and due:
            torch.cuda.synchronize(device)  # else the clock would miss the GPU work still queued
        elapsed, started = time.perf_counter() - started, time.perf_counter()
        if seconds is not None:
            elapsed = group.first(elapsed)  # all must stop at the same step, so one clock counts
        state.seconds, window = state.seconds + elapsed, window + elapsed
        over = state.step >= step_limit or state.seconds >= time_limit
        if over or due:
            names = dict.fromkeys(name for one in reported for name in one)  # not every batch has every term
            means = {name: torch.stack([one[name] for one in reported if name in one]).mean().item() for name in names}
            if not math.isfinite(means["loss"]):
                raise TrainingError(f"the loss became {means['loss']} at step {state.step}: try a lower learning rate")
            state.tokens += window_tokens
            yield Step(
                step=state.step,
                progress=1.0 if over else max(state.step / step_limit, state.seconds / time_limit),
                loss=means.pop("loss"),
                lr=lr,
                tokens=state.tokens,
                tokens_per_second=window_tokens / window,
                seconds=state.seconds,
                epoch=state.step / steps_per_epoch if steps_per_epoch else None,
                parts=means,
            )
            reported, window, window_tokens = [], 0.0, 0
            started = time.perf_counter()
        if over:
            break
    state.tokens += window_tokens
    yield Done(state.step, state.tokens, state.seconds)
