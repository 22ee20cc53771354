"""Seconds of an answer and of a training step, for models with random weights: what sharing weights does not save."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch

from minibert.config import BertConfig
from minibert.count import flops, parameters
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.relatives import build, shape_of

EVERY = 7  # tokens per target: about 15 % are targets


@dataclass(frozen=True)
class Speed:
    """weights: of the pre-training model · flops: of an answer · answer, step: seconds."""

    weights: int
    flops: int
    answer: float
    step: float


def measure(configs: Mapping[str, BertConfig], rows: int = 4, tokens: int = 64, repeats: int = 5) -> dict[str, Speed]:
    """Best of `repeats` rounds, models in turn: forward for an answer; forward, backward, AdamW for a step."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ids = torch.randint(5, min(config.vocab_size for config in configs.values()), (rows, tokens))
        models = {name: build(config, BertForPreTraining) for name, config in configs.items()}
        labels = torch.where(torch.arange(tokens) % EVERY == 0, ids, IGNORE)
        best = {name: [float("inf"), float("inf")] for name in configs}
        optimizers = {name: torch.optim.AdamW(model.parameters()) for name, model in models.items()}
        for turn in range(repeats + 1):  # the first is a warm-up
            for name, model in models.items():
                times = (
                    seconds(partial(model.eval().bert, Batch(ids)), torch.inference_mode),
                    seconds(partial(stepped, model, optimizers[name], Batch(ids, labels=labels))),
                )
                if turn:
                    best[name] = [min(pair) for pair in zip(best[name], times, strict=True)]
    shapes = {name: shape_of(config) for name, config in configs.items()}
    return {
        name: Speed(parameters(shape).pretraining, flops(shape, rows, tokens, 0, training=False).total, *best[name])
        for name, shape in shapes.items()
    }


def stepped(model: BertForPreTraining, optimizer: torch.optim.Optimizer, batch: Batch) -> None:
    model.train()(batch).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def seconds(work: Callable[[], object], within: Callable = torch.enable_grad) -> float:
    with within():
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
