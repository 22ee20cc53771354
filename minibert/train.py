"""The one training loop. It yields events; a page draws them, a notebook prints them, a terminal shows a bar.

The loop stands still between two events, so its caller may evaluate, save or stop there, and stopping is just not
asking for the next one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any

import torch
from torch import nn

from minibert.model import Batch


class TrainingError(RuntimeError):
    """Training cannot go on; the message says why and what to change."""


@dataclass(frozen=True)
class Event:
    """Something that happened in a run. `as_dict` is what a log file and another process see."""

    def as_dict(self) -> dict:
        return {"event": type(self).__name__.lower(), **asdict(self)}


@dataclass(frozen=True)
class Started(Event):
    """A run begins: its settings, and in `details` what a reader of the events needs beside them (the dev examples)."""

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
    """What the model says now of some inputs of the user's."""

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


@dataclass(frozen=True)
class Optimization:
    """How weights move (Devlin et al. 2019, §A.2 and A.3: AdamW, linear warm-up, linear decay).

    learning_rate: the peak · warmup: share of the run spent rising to it · clip: largest gradient norm.
    """

    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    clip: float = 1.0

    def __post_init__(self):
        if not (self.learning_rate > 0 and math.isfinite(self.learning_rate)):
            raise ValueError(f"the learning rate must be a positive number, not {self.learning_rate}")
        if not 0 <= self.warmup <= 1:
            raise ValueError(f"warm-up is a share of the run between 0 and 1, not {self.warmup}")

    def rate_at(self, progress: float) -> float:
        """The learning rate when `progress` (0…1) of the run is done."""
        rising = progress / self.warmup if self.warmup else 1.0
        falling = (1 - progress) / (1 - self.warmup) if self.warmup < 1 else 1.0
        return self.learning_rate * max(0.0, min(rising, falling, 1.0))


def optimizer_for(model: nn.Module, optimization: Optimization) -> torch.optim.AdamW:
    """AdamW with weight decay on matrices only: biases and LayerNorm are left alone."""
    decayed = [p for p in model.parameters() if p.requires_grad and p.dim() >= 2]
    others = [p for p in model.parameters() if p.requires_grad and p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": optimization.weight_decay}, {"params": others, "weight_decay": 0.0}]
    betas = (optimization.beta1, optimization.beta2)
    # fused: one kernel for all weights instead of several for each.
    return torch.optim.AdamW(groups, lr=optimization.learning_rate, betas=betas, eps=optimization.epsilon, fused=True)


def autocast(device: torch.device) -> torch.autocast:
    """bfloat16 arithmetic where the processor has it, else plain float32. Weights stay float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=has_bfloat16(device))


def has_bfloat16(device: torch.device) -> bool:
    """True where bf16 matrix products are faster than float32: recent GPUs, and CPUs with AVX512-BF16 or AMX."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    return device.type == "cpu" and (
        torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()  # torch has no public name for it
    )


def best_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train(
    model: nn.Module,
    batches: Iterable[Batch],
    optimization: Optimization,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    report_every: int = 1,
    steps_per_epoch: int | None = None,
    loss_of: Callable[[Any], torch.Tensor] = attrgetter("loss"),
) -> Iterator[Event]:
    """Train `model` in place on `loss_of` its output; yields a `Step` every `report_every` steps and a last `Done`.

    The run ends after `steps` steps, after `seconds` of training time (the learning rate then follows the clock), or
    when `batches` are used up. Raises TrainingError when the loss is no longer a number.
    """
    if (steps is None) == (seconds is None):
        raise ValueError("give either steps or seconds")
    device = next(model.parameters()).device
    optimizer = optimizer_for(model, optimization)
    spent = window = 0.0
    step = tokens = window_tokens = 0
    losses: list[dict[str, torch.Tensor]] = []
    for batch in batches:
        model.train()
        started = time.perf_counter()
        # The middle of the step: neither its first nor its last rate is zero.
        lr = optimization.rate_at((step + 0.5) / steps if steps else spent / seconds)
        for group in optimizer.param_groups:
            group["lr"] = lr
        batch = batch.to(device)
        with autocast(device):
            output = model(batch)
            loss = loss_of(output)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), optimization.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append({"loss": loss.detach(), "gradient_norm": norm, **parts_of(output)})
        step += 1
        window_tokens += batch.tokens
        elapsed = time.perf_counter() - started
        spent, window = spent + elapsed, window + elapsed
        over = step == steps if steps else spent >= seconds
        if over or step % report_every == 0:
            means = {name: torch.stack([loss[name] for loss in losses]).mean().item() for name in losses[0]}
            if not math.isfinite(means["loss"]):
                raise TrainingError(f"the loss became {means['loss']} at step {step}: try a lower learning rate")
            tokens += window_tokens
            yield Step(
                step=step,
                progress=1.0 if over else (step / steps if steps else spent / seconds),
                loss=means.pop("loss"),
                lr=lr,
                tokens=tokens,
                tokens_per_second=window_tokens / window,
                seconds=spent,
                epoch=step / steps_per_epoch if steps_per_epoch else None,
                parts=means,
            )
            losses, window, window_tokens = [], 0.0, 0
        if over:
            break
    yield Done(step, tokens + window_tokens, spent)


def parts_of(output) -> dict[str, torch.Tensor]:
    """The loss by objective, for outputs that have several."""
    names = ("mlm_loss", "nsp_loss")
    return {name: getattr(output, name).detach() for name in names if getattr(output, name, None) is not None}
