"""A BERT of the toy world goes on as BERT or as WKLM (Xiong et al. 2020), on the same stories: which names that were
replaced each finds, and which name each puts where the story determines one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from minibert import checkpoint
from minibert.hiding import Tokens, Unit, words_of
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import Masking, Objective, WithoutPairs, losses
from minibert.relatives.wklm import WklmConfig
from minibert.replaced_names import NamesBatch, NamesLm, ReplacedNames, names_of, others_of, replace_names
from minibert.text.batches import PretrainingBatches, padded_batch
from minibert.text.store import TokenStore
from minibert.text.word_lists import names_in
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.pretrain import chosen, questions
from minibert.toy.right_names import name_questions, names_chosen
from minibert.toy.watched import watched
from minibert.train import Event, Optimization, Saved
from minibert.training.precision import best_device

LENGTH, HELD_OUT_SEED = 128, 9_000_109


@dataclass(frozen=True)
class NamesSettings:
    """wklm: whether names are replaced and asked about · masked: of the tokens, by BERT; WKLM hides a third of that,
    and nothing of a name · rate: a name's chance to be replaced · stories, held_out: to learn from, to measure on."""

    steps: int = 600
    wklm: bool = True
    masked: float = 0.15
    rate: float = 0.5
    names_too: bool = False
    batch_size: int = 32
    stories: int = 3_000
    held_out: int = 100
    evaluate_every: int = 100
    seed: int = 0
    optimization: Optimization = field(
        default_factory=lambda: Optimization(optimizer="muon", learning_rate=2e-3, warmup=0.1, beta2=0.98)
    )

    def __post_init__(self):
        for name in ("steps", "batch_size", "stories", "held_out", "evaluate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")

    @property
    def objective(self) -> Objective:
        masking = Masking(rate=self.masked)
        return ReplacedNames(masking, rate=self.rate, names_too=self.names_too, hidden=1.0 if self.names_too else 1/3) if self.wklm else WithoutPairs(masking)


def begun_as(model: str | Path, objective: Objective) -> nn.Module:
    """What the objective trains, with the weights of a BERT; what BERT has not is random."""
    start = checkpoint.load(model)
    config = start.config
    if isinstance(objective, ReplacedNames):
        config = WklmConfig(**vars(config))
    learner = objective.model(config)
    learner.load_state_dict(start.state_dict(), strict=False)
    return learner


@dataclass(frozen=True)
class Altered:
    """Rows in which names have given way to others. names: (row, where it stands, whether it was replaced)"""

    batch: NamesBatch
    names: tuple[tuple[int, Unit, bool], ...]


def altered(rows: Sequence[Sequence[int]], tokenizer: Tokenizer, others: Mapping[Tokens, Sequence], rate: float, seed=0):
    batch = padded_batch([list(row) for row in rows], tokenizer.pad_id)
    special = torch.isin(batch.ids, torch.tensor(sorted(tokenizer.special_ids)))
    goes_on = torch.zeros_like(special)
    ids, wrong, behind = replace_names(batch.ids, special, goes_on, others, random.Random(seed), rate)
    found = [
        (row, (start, int(behind[row, start])), bool(wrong[row, start]))
        for row, start in (wrong != IGNORE).nonzero().tolist()
    ]
    return Altered(NamesBatch(ids, padding=batch.padding, replaced=wrong, behind=behind), tuple(found))


@torch.no_grad()
def found_by_head(model: NamesLm, rows: Altered) -> list[bool]:
    """Of each name, whether WKLM's own head takes it for a replaced one."""
    return (model(rows.batch.to(next(model.parameters()).device)).name_logits > 0).tolist()


@torch.no_grad()
def found_by_blank(
    model: BertForPreTraining, rows: Altered, others: Mapping[Tokens, Sequence[Tokens]], mask_id: int, size: int = 128
) -> list[bool]:
    """Of each name, masked alone, whether a masked LM expects another of its kind there."""
    device, found = next(model.parameters()).device, []
    for first in range(0, len(rows.names), size):
        some = rows.names[first : first + size]
        ids = rows.batch.ids[[row for row, _, _ in some]].clone()
        given = [tuple(ids[at, start:end].tolist()) for at, (_, (start, end), _) in enumerate(some)]
        for at, (_, (start, end), _) in enumerate(some):
            ids[at, start:end] = mask_id
        padding = rows.batch.padding[[row for row, _, _ in some]]
        logits = model(Batch(ids, padding=padding).to(device)).mlm_logits.float().log_softmax(-1).cpu()  # (N, T, V)
        for at, ((_, (start, end), _), name) in enumerate(zip(some, given, strict=True)):
            candidates = torch.tensor([name, *others[name]])  # (C, tokens)
            likely = logits[at, start:end].gather(1, candidates.T).sum(0)  # (C,)
            found.append(bool(likely.argmax() != 0))
    return found
