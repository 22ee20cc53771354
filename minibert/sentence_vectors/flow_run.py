"""Training a flow on the vectors of a frozen encoder, by likelihood alone, with evaluation on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from minibert.config import check_positive
from minibert.inside.geometry.vectors import cosines, mean_cosine
from minibert.sentence_vectors.anisotropy import plane
from minibert.sentence_vectors.encoder import LAYERS, SentenceVectors
from minibert.sentence_vectors.flow import Flow
from minibert.sentence_vectors.run import HeldOut, nearest_lines
from minibert.train import Event, Optimization
from minibert.training.train_and_evaluate import train_and_evaluate


@dataclass(frozen=True)
class FlowSettings:
    """layers: a name of LAYERS · depth, hidden: see `Flow` · evaluate_every: steps between measurements."""

    layers: str = "first-last"
    pooling: str = "mean"
    depth: int = 4
    hidden: int = 256
    steps: int = 400
    batch_size: int = 128
    report_every: int = 10
    evaluate_every: int = 40
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=1e-3, weight_decay=0.0))
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "depth", "hidden", "steps", "batch_size", "report_every", "evaluate_every")
        if self.layers not in LAYERS:
            raise ValueError(f"layers must be one of {', '.join(LAYERS)}, not {self.layers!r}")


@dataclass(frozen=True)
class VectorBatch:
    """A batch for the loop in minibert/train.py, with vectors (B, H) instead of tokens."""

    u: Tensor

    @property
    def tokens(self) -> int:
        return len(self.u)

    def to(self, device: torch.device) -> VectorBatch:
        return VectorBatch(self.u.to(device))


class Likelihood(nn.Module):
    """The loss of a flow: −ln p(u) per dimension, the mean over the batch."""

    def __init__(self, flow: Flow):
        super().__init__()
        self.flow = flow

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        return {"loss": -self.flow.log_likelihood(batch.u).mean() / self.flow.width}


class FlowVectors:
    """The vectors of a frozen encoder, mapped by a flow. Each text is encoded once and cached."""

    def __init__(self, vectors: SentenceVectors, flow: Flow | None = None):
        self.vectors, self.flow = vectors, flow
        self.cache: dict[str, np.ndarray] = {}

    def plain(self, texts: Sequence[str]) -> np.ndarray:
        """(N, H) of the encoder."""
        if new := [text for text in dict.fromkeys(texts) if text not in self.cache]:
            self.cache.update(zip(new, self.vectors.embed(new), strict=True))
        width = self.vectors.encoder.bert.config.hidden_size
        return np.stack([self.cache[text] for text in texts]) if texts else np.zeros((0, width), np.float32)

    @torch.no_grad()
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(N, H) of the flow, or of the encoder if there is no flow."""
        u = self.plain(texts)
        return u if self.flow is None else self.flow(torch.from_numpy(u))[0].numpy()


def batches_of(table: Tensor, size: int, seed: int) -> Iterator[VectorBatch]:
    """Endless batches of rows of (N, H), shuffled anew each epoch; an incomplete last batch is left out."""
    size, epoch = min(size, len(table)), 0
    while True:
        order = np.random.default_rng([seed, epoch]).permutation(len(table))
        for start in range(0, len(table) - size + 1, size):
            yield VectorBatch(table[order[start : start + size]])
        epoch += 1


def learn_flow(
    settings: FlowSettings,
    model: str | Path | None,
    texts: Sequence[str],
    *,
    held: HeldOut | None = None,
    lines: Sequence[str] = (),
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
    into: FlowVectors | None = None,
) -> Iterator[Event]:
    """Train a flow on the vectors of the distinct `texts`; yields the events of the run. The encoder stays as it is.

    held: evaluated as in `run.HeldOut`, with the mean cosine of its texts and their mean log-likelihood per dimension ·
    probe_inputs: two texts; a `Sample` holds their cosine, the plane through both with all `lines`, and the lines
    nearest to each · into: an encoder instead of `model`, which is given the flow. Raises ValueError for unusable
    input.
    """
    rows = list(dict.fromkeys(texts))
    if len(rows) < 2:
        raise ValueError(f"a flow learns from how sentences differ: two are needed, not {len(rows)}")
    if into is None and model is not None:
        into = FlowVectors(SentenceVectors.from_directory(model, settings.pooling, LAYERS[settings.layers]))
    if into is None:
        raise ValueError("a flow needs an encoder: give a model")
    vectors = into
    table = torch.from_numpy(vectors.plain(rows))
    torch.manual_seed(settings.seed)
    vectors.flow = flow = Flow(table.size(1), settings.depth, settings.hidden, settings.seed)
    flow.start(table)
    held = held or HeldOut()
    held_texts = [text for pair in held.pairs for text in (pair.text, pair.pair)] or [q for q, _ in held.questions]

    def measure() -> dict[str, float]:
        metrics = held.measure(vectors)
        if len(held_texts) > 1:
            u = torch.from_numpy(vectors.plain(held_texts))
            with torch.no_grad():
                metrics["likelihood"] = float(flow.log_likelihood(u).mean()) / flow.width
            metrics["mean_cosine"] = mean_cosine(vectors.embed(held_texts))
        return metrics

    def say(texts: Sequence) -> list:
        pair = [str(text) for text in texts][:2]
        if len(pair) < 2:
            return []
        a, b = vectors.embed(pair)
        points = plane(vectors.embed(lines), a, b).round(4).tolist()
        nearest = nearest_lines(vectors, pair, lines)
        return [{"texts": pair, "cosine": float(cosines(a, b)), "plane": points, "found": nearest}]

    yield from train_and_evaluate(
        Likelihood(flow),
        batches_of(table, settings.batch_size, settings.seed),
        settings,
        measure,
        say,
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        facts={"documents": len(rows)},
        report_every=settings.report_every,
        losses_of=lambda losses, part, whole: losses,
    )
