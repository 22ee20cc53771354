"""Stories cut into two consecutive rows: an XLNet predicts words of the second with the first in its memory, or without
(Dai et al. 2019, §3.2)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from minibert import checkpoint
from minibert.config import check_positive
from minibert.model import IGNORE, Batch, PreTrainingOutput
from minibert.relatives.parts.permutation import PermutationLanguageModel, PermutationLM
from minibert.relatives.parts.segment_memory import Memory, guess_on, read_on, whole
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.world import Story
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

LENGTH = 16  # tokens of a row
HELD_OUT_SEED = 9_000_067
CONTEXTS = ("before", "here")  # the row that determines a word: the one before, or its own


@dataclass(frozen=True)
class SegmentSettings:
    """memory: whether the second row has the first in its memory · share: of the tokens of each row that are targets ·
    stories, held_out: for training, and for evaluation."""

    steps: int = 300
    memory: bool = True
    batch_size: int = 32
    share: float = 0.25
    stories: int = 3_000
    held_out: int = 150
    evaluate_every: int = 25
    seed: int = 0
    optimization: Optimization = field(
        default_factory=lambda: Optimization(optimizer="muon", learning_rate=2e-3, warmup=0.1, beta2=0.98)
    )

    def __post_init__(self) -> None:
        check_positive(self, "steps", "batch_size", "stories", "held_out", "evaluate_every")

    @property
    def objective(self) -> PermutationLanguageModel:
        return PermutationLanguageModel(share=self.share)


@dataclass(frozen=True)
class TwoSegmentOutput(PreTrainingOutput):
    """The outputs for the second row, the loss for both. second_loss: for the second alone."""

    second_loss: Tensor | None = None


class TwoSegmentModel(nn.Module):
    """Reads batches of first rows followed by their second rows."""

    def __init__(self, model: PermutationLM, memory: bool):
        super().__init__()
        self.model, self.memory = model, memory

    def forward(self, batch: Batch) -> TwoSegmentOutput:
        first, second = batch.split(2)
        before, read = guess_on(self.model, first)
        behind, _read = guess_on(self.model, second, read if self.memory else None)
        loss = (before.loss + behind.loss) / 2
        return TwoSegmentOutput(behind.mlm_logits, behind.nsp_logits, loss, second_loss=behind.loss)


@dataclass(frozen=True)
class SegmentQuestion:
    """Two rows of LENGTH ids, the place of the target in the second, and which row determines it, one of CONTEXTS."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    place: int
    context: str


def two_rows(ids: Sequence[int], cut: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(ids[cut - LENGTH : cut]), tuple(ids[cut : cut + LENGTH])


def rows_of(stories: Sequence[Story], tokenizer: Tokenizer) -> list[list[int]]:
    """The ids of each story that is long enough for two rows."""
    rows = [[tokenizer.ids[word.text] for word in story.words] for story in stories]
    return [ids for ids in rows if len(ids) >= 2 * LENGTH]


def questions(stories: Sequence[Story], tokenizer: Tokenizer) -> list[SegmentQuestion]:
    """For each story, the rows around every LENGTH-th token, and the words of the second row that words of the two rows
    determine: those of the second row alone ("here"), or also some of the first ("before")."""
    targets = []
    for story in stories:
        ids = [tokenizer.ids[word.text] for word in story.words]
        for cut in range(LENGTH, len(ids) - LENGTH + 1, LENGTH):
            first, second = two_rows(ids, cut)
            for place in range(LENGTH):
                word = story.words[cut + place]
                if word.kind is None or not all(cut - LENGTH <= at < cut + LENGTH for at in word.determined_by):
                    continue
                context = CONTEXTS[min(word.determined_by) >= cut]
                targets.append(SegmentQuestion(first, second, place, context))
    return targets


@torch.no_grad()
def accuracy_and_loss(
    model: PermutationLM, targets: Sequence[SegmentQuestion], memory: bool, size: int = 128
) -> tuple[dict[str, float], float]:
    """One of CONTEXTS → the accuracy on its words, each predicted alone; and the mean loss of all."""
    device, losses = next(model.parameters()).device, []
    hits: dict[str, list[bool]] = {where: [] for where in CONTEXTS}
    for start in range(0, len(targets), size):
        chunk = targets[start : start + size]
        first, second = (
            torch.tensor([getattr(one, name) for one in chunk], device=device) for name in ("first", "second")
        )
        here = torch.arange(len(chunk)), torch.tensor([one.place for one in chunk])
        labels = torch.full_like(second, IGNORE)
        labels[here] = second[here]
        output, _read = guess_on(model, Batch(second, labels=labels), read(model, first) if memory else None)
        losses.append(float(output.loss) * len(chunk))
        for one, ok in zip(chunk, (output.mlm_logits.argmax(-1) == second[here]).tolist(), strict=True):
            hits[one.context].append(ok)
    return {where: sum(oks) / max(1, len(oks)) for where, oks in hits.items()}, sum(losses) / max(1, len(targets))


def read(model: PermutationLM, ids: Tensor) -> Memory:
    """The memory of rows without targets. ids: (B, T)"""
    return read_on(model.bert, whole(Batch(ids)))[1]


def train_on_segments(
    settings: SegmentSettings,
    model: str | Path,
    *,
    out: str | Path | None = None,
) -> Iterator[Event]:
    """Train the checkpoint `model`, an XLNet of the toy world, further, on two rows at a time; yield events, save the
    model in `out`. Each `Eval` holds, on words of held-out second rows, `loss` and the accuracies `before` and `here`
    (`accuracy_and_loss`), with memory if the run has it; and then also without it (`…_forgotten`)."""
    torch.manual_seed(settings.seed)
    tokenizer, start = checkpoint.load_tokenizer(model), checkpoint.load(model)
    if not isinstance(start, PermutationLM):
        raise ValueError(f"{model} is a {start.config.model_type} model; only XLNet has a memory here")
    learner = TwoSegmentModel(start, settings.memory).to(best_device())
    targets = questions(world.stories(settings.held_out, HELD_OUT_SEED, "small"), tokenizer)
    rows = rows_of(world.stories(settings.stories, settings.seed + 41, "small"), tokenizer)
    rng, orders = random.Random(settings.seed), torch.Generator().manual_seed(settings.seed)

    def batches() -> Iterator[Batch]:
        while True:
            chunk = [
                two_rows(ids, rng.randint(LENGTH, len(ids) - LENGTH))
                for ids in rng.choices(rows, k=settings.batch_size)
            ]
            ids = torch.tensor([pair[0] for pair in chunk] + [pair[1] for pair in chunk])
            yield settings.objective.corrupt(Batch(ids), torch.zeros_like(ids, dtype=torch.bool), None, None, orders)

    def measure() -> dict[str, float]:
        shares, loss = accuracy_and_loss(start, targets, settings.memory)
        metrics = {**shares, "loss": loss}
        if settings.memory:
            shares, loss = accuracy_and_loss(start, targets, False)
            metrics |= {f"{name}_forgotten": value for name, value in {**shares, "loss": loss}.items()}
        return metrics

    facts = {"asked": {where: sum(one.context == where for one in targets) for where in CONTEXTS}}
    yield from train_and_evaluate(
        learner,
        batches(),
        settings,
        measure,
        facts=facts,
        losses_of=lambda output, part, whole: {"loss": output.mlm_loss, "second_loss": output.second_loss},
        save=lambda folder: checkpoint.save(folder, start.cpu(), tokenizer),
        out=out,
    )
