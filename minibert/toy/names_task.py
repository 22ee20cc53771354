"""A BERT of the toy world is trained further, as BERT or as WKLM (Xiong et al. 2020, §2), on the same stories: which
replaced names each detects, and which name each prefers where the story determines it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.config import check_positive
from minibert.inside.relatives.name_probe import name_surprisal, names_in_text, replaced_probabilities
from minibert.masking.units import Tokens, Unit
from minibert.model import IGNORE, BertForPreTraining
from minibert.objectives import MaskedLanguageModel, Masking, Objective, losses
from minibert.relatives import build
from minibert.relatives.parts.replaced_names import NamesLm, ReplacedNames, others_of, replace_names
from minibert.relatives.wklm import WklmConfig
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.text.word_lists import names_in
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.files import load_masked_lm
from minibert.toy.name_probe import frequency_baseline, name_accuracy, name_questions
from minibert.toy.pretrain import choice_accuracy, questions
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.statistics import area
from minibert.training.train_and_evaluate import train_and_evaluate

LENGTH, HELD_OUT_SEED = 128, 9_000_109
GOES_ON = ("bert", "wklm", "names_too")


@dataclass(frozen=True)
class NamesSettings:
    """goes_on: "bert" masks a share `masked` of the tokens · "wklm" replaces names with probability `rate`, and masks a
    third as many tokens, none in a name (the paper's 5 % instead of 15 %) · "names_too" replaces names, and masks as
    BERT does among the other tokens · stories, held_out: for training, and for evaluation."""

    goes_on: str = "wklm"
    steps: int = 600
    masked: float = 0.15
    rate: float = 0.5
    batch_size: int = 48
    stories: int = 3_000
    held_out: int = 100
    evaluate_every: int = 50
    seed: int = 0
    optimization: Optimization = field(
        default_factory=lambda: Optimization(optimizer="muon", learning_rate=3e-3, warmup=0.1, beta2=0.98)
    )

    def __post_init__(self) -> None:
        if self.goes_on not in GOES_ON:
            raise ValueError(f"it goes on as one of {', '.join(GOES_ON)}, not {self.goes_on!r}")
        check_positive(self, "steps", "batch_size", "stories", "held_out", "evaluate_every")

    @property
    def objective(self) -> Objective:
        masking = Masking(rate=self.masked)
        if self.goes_on == "bert":
            return MaskedLanguageModel(masking, second=None)
        too = self.goes_on == "names_too"
        return ReplacedNames(masking, rate=self.rate, hidden=1.0 if too else 1 / 3, names_too=too)


def start_from(model: str | Path, objective: Objective) -> BertForPreTraining:
    """The objective's model with the weights of a BERT; a head that BERT lacks is random."""
    start = load_masked_lm(model)
    config = WklmConfig(**vars(start.config)) if isinstance(objective, ReplacedNames) else start.config
    learner = build(config, objective.model)
    learner.load_state_dict(start.state_dict(), strict=False)
    return learner


@dataclass(frozen=True)
class CorruptedRow:
    """A row of ids in which some names are replaced by others, the spans of all its names, and which are replaced."""

    ids: tuple[int, ...]
    names: tuple[Unit, ...]
    replaced: tuple[bool, ...]


def corrupt_names(
    rows: Sequence[Sequence[int]], tokenizer: Tokenizer, others: Mapping[Tokens, Sequence[Tokens]], rate: float
) -> list[CorruptedRow]:
    """Rows with replaced names, the same ones at every call; rows without a name are left out."""
    dice, found = random.Random(0), []
    for row in rows:
        ids = torch.tensor([list(row)])
        special = torch.isin(ids, torch.tensor(sorted(tokenizer.special_ids)))
        (read,), (wrong,), (behind,) = replace_names(ids, special, torch.zeros_like(special), others, dice, rate)
        starts = (wrong != IGNORE).nonzero().flatten().tolist()
        if starts:
            names = tuple((start, int(behind[start])) for start in starts)
            found.append(CorruptedRow(tuple(read.tolist()), names, tuple(bool(wrong[start]) for start in starts)))
    return found


def train_names(
    settings: NamesSettings,
    model: str | Path,
    *,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
    out: str | Path | None = None,
) -> Iterator[Event]:
    """Train the checkpoint `model`, a BERT of the toy world, further; yield events, save the model in `out`. Each
    `Eval` holds `evaluate` on held-out stories. `Sample`: how doubtful each name in the texts of `probe_inputs` is."""
    torch.manual_seed(settings.seed)
    tokenizer, objective = checkpoint.load_tokenizer(model), settings.objective
    learner = start_from(model, objective).to(best_device())
    store = TokenStore.build(world.documents(settings.stories, settings.seed + 51, "small"), tokenizer)
    held_out, others = world.stories(settings.held_out, HELD_OUT_SEED, "small"), others_of(names_in(tokenizer))
    name_targets = name_questions(questions(held_out, tokenizer, LENGTH), tokenizer)
    rows = corrupt_names([tokenizer.encode(story.text).ids for story in held_out], tokenizer, others, settings.rate)
    batches = PretrainingBatches(
        store,
        tokenizer,
        batch_size=settings.batch_size,
        max_length=LENGTH,
        seed=settings.seed,
        objective=objective,
        input_format="doc_sentences",
    )
    facts = {
        "names": sum(len(row.names) for row in rows),
        "replaced": sum(sum(row.replaced) for row in rows),
        "guessable": frequency_baseline(name_targets, tokenizer),
        "asked": len(name_targets),
    }
    yield from train_and_evaluate(
        learner,
        batches,
        settings,
        lambda: evaluate(learner, rows, name_targets, tokenizer, others),
        lambda texts: [doubt_sample(learner, tokenizer, others, str(text)) for text in texts],
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        facts=facts,
        losses_of=partial(losses, objective),
        save=lambda folder: checkpoint.save(folder, learner.cpu(), tokenizer),
        out=out,
    )


def evaluate(
    learner: BertForPreTraining, rows: Sequence[CorruptedRow], name_targets: Sequence, tokenizer: Tokenizer, others
) -> dict:
    """`found_blank`, `found_head`: area under the ROC curve for telling replaced names from true ones, by −ln P of each
    name where it is masked, and by WKLM's head · `found`: by the head if there is one, else by the mask · `names`,
    `names_believed` as in `name_accuracy`."""
    wrong = [one for row in rows for one in row.replaced]
    metrics = {
        "found_blank": area(
            [x for row in rows for x in name_surprisal(learner, tokenizer, row.ids, row.names, others)], wrong
        )
    }
    if isinstance(learner, NamesLm):
        metrics["found_head"] = area(
            [x for row in rows for x in replaced_probabilities(learner, row.ids, row.names)], wrong
        )
    return {
        "found": metrics.get("found_head", metrics["found_blank"]),
        **metrics,
        **name_accuracy(learner, name_targets, tokenizer, choice_accuracy),
    }


def doubt_sample(learner: BertForPreTraining, tokenizer: Tokenizer, others, text: str) -> dict:
    """As part of a `Sample`. tokens: without special ones · names: their spans in `tokens` · doubts: P(replaced) by
    WKLM's head; for a BERT, 1 − P(name) among the names of its kind."""
    encoding = tokenizer.encode(text, max_length=LENGTH, truncation="head")
    names = names_in_text(encoding, tokenizer)
    if isinstance(learner, NamesLm):
        doubts = replaced_probabilities(learner, encoding.ids, names)
    else:
        doubts = [1 - math.exp(-x) for x in name_surprisal(learner, tokenizer, encoding.ids, names, others)]
    return {
        "text": text,
        "tokens": encoding.tokens[1:-1],
        "names": [(start - 1, end - 1) for start, end in names],
        "doubts": [round(x, 4) for x in doubts],
    }
