"""ERNIE 2.0's pre-training tasks on the toy world, learned one after the other, all at once, or each new one together
with those before (Sun et al. 2020, §3 and §4)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import torch

from minibert.config import check_positive
from minibert.corruption import MaskVocabulary
from minibert.masking.units import draw_units, hide_units
from minibert.model import Batch
from minibert.relatives import build
from minibert.relatives.ernie import units
from minibert.relatives.ernie2 import Ernie2Config
from minibert.relatives.parts.continual_tasks import REGIMES, Ernie2, TaskedBatch, stages
from minibert.text.batches import padded_batch
from minibert.text.word_lists import between_phrases, names_in
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.world import Story
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

ORDERS = tuple(permutations(range(3)))
DISTANCES = ("neighbours", "same story", "another story")
RELATIONS = ("so", "but", "while", "and")
# Tasks in the order in which they are added → number of classes; 0: masked tokens.
TASKS: Mapping[str, int] = {"words": 0, "order": len(ORDERS), "distance": len(DISTANCES), "relation": len(RELATIONS)}
RATE, SPLIT = 0.25, (0.8, 0.1, 0.1)


@dataclass(frozen=True)
class TaskExample:
    """One example: its texts, and the class that is the answer."""

    texts: tuple[str, ...]
    answer: int = 0


# --- the questions ----------------------------------------------------------------------------------------------------


def words(stories: Sequence[Story], rng: random.Random) -> TaskExample:
    """Word level: a story in which phrases or names will be masked, as by ERNIE 1.0."""
    return TaskExample((rng.choice(stories).text,))


def order(stories: Sequence[Story], rng: random.Random) -> TaskExample:
    """Structure: the first three sentences of a story are shuffled; which of the six orders is it?"""
    sentences, answer = rng.choice(stories).sentences, rng.randrange(len(ORDERS))
    return TaskExample(tuple(sentences[i].text for i in ORDERS[answer]), answer)


def distance(stories: Sequence[Story], rng: random.Random) -> TaskExample:
    """Structure: are two sentences neighbours, of one story but not neighbours, or of two stories?"""
    answer, (one, other) = rng.randrange(len(DISTANCES)), rng.sample(range(len(stories)), 2)
    sentences = stories[one].sentences
    first = rng.randrange(len(sentences) - 1)
    if answer == 0:
        second = sentences[first + 1]
    elif answer == 1:
        second = sentences[rng.choice([i for i in range(len(sentences)) if abs(i - first) > 1])]
    else:
        second = rng.choice(stories[other].sentences)
    return TaskExample((sentences[first].text, second.text), answer)


def relation(stories: Sequence[Story], rng: random.Random) -> TaskExample:
    """Meaning: the word that joins two clauses is taken out; which was it?"""
    answer = rng.randrange(len(RELATIONS))
    while True:
        for sentence in rng.sample(rng.choice(stories).sentences, 4):
            clauses = split_clauses(sentence.text)
            if clauses and clauses[1] == RELATIONS[answer]:
                return TaskExample((clauses[0], clauses[2]), answer)


def split_clauses(text: str) -> tuple[str, str, str] | None:
    """A sentence of two clauses → (first clause, the word that joins them, second clause)."""
    for joint in (", so ", ", but ", " and "):
        first, there, second = text.rpartition(joint)
        if there and len(first.split()) >= 3:
            return first, joint.strip(", "), second
    if text.startswith("while ") and ", " in text:
        first, _, second = text.removeprefix("while ").partition(", ")
        return first, "while", second
    return None


QUESTIONS: Mapping[str, Callable[[Sequence[Story], random.Random], TaskExample]] = {
    "words": words,
    "order": order,
    "distance": distance,
    "relation": relation,
}


class TaskSampler:
    """Makes batches of a task, which depend on the seed alone, not on the batches of other tasks."""

    def __init__(self, stories: Sequence[Story], tokenizer: Tokenizer, seed: int):
        self.stories, self.tokenizer = stories, tokenizer
        self.vocabulary = replace(
            MaskVocabulary.of(tokenizer), between=between_phrases(tokenizer), names=names_in(tokenizer)
        )
        self.rngs = {task: random.Random(f"{seed} {task}") for task in TASKS}

    def batch(self, task: str, size: int) -> TaskedBatch:
        rng = self.rngs[task]
        rows = [QUESTIONS[task](self.stories, rng) for _ in range(size)]
        batch = self.read([row.texts for row in rows])
        labels = torch.tensor([row.answer for row in rows])
        ids = batch.ids
        if task == "words":
            ids, labels = self.hidden(batch, rng)
        tasks = torch.full((size,), list(TASKS).index(task))
        return TaskedBatch(ids, batch.segments, batch.padding, labels, tasks=tasks)

    def read(self, texts: Sequence[Sequence[str]]) -> Batch:
        """[CLS] text [SEP] text [SEP] …; all but the first text are segment 1."""
        rows, segments = [], []
        for some in texts:
            parts = [[*ids, self.tokenizer.sep_id] for ids in self.tokenizer.encode_bulk(some)]
            rows.append([self.tokenizer.cls_id, *(i for part in parts for i in part)])
            segments.append([0] * (len(parts[0]) + 1) + [1] * sum(map(len, parts[1:])))
        batch = padded_batch(rows, self.tokenizer.pad_id)
        return Batch(batch.ids, padded_batch(segments, 0).ids, batch.padding)

    def hidden(self, batch: Batch, rng: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
        """Mask phrases or names, drawn for the batch. → (ids, labels)"""
        special = torch.isin(batch.ids, torch.tensor(sorted(self.tokenizer.special_ids)))
        stage, dice = rng.choice(("phrase", "entity")), torch.Generator().manual_seed(rng.getrandbits(62))
        return hide_units(
            batch.ids,
            special,
            torch.zeros_like(special),
            self.vocabulary,
            dice,
            lambda row, words, budget, dice: draw_units(units(stage, row, words, self.vocabulary), budget, dice),
            RATE,
            SPLIT,
        )


# --- training ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steady(Optimization):
    """Constant learning rate after the warm-up, so that a late task is not learned more slowly."""

    def rate_at(self, progress: float) -> float:
        return self.learning_rate * min(1.0, progress / self.warmup if self.warmup else 1.0)


@dataclass(frozen=True)
class ContinualSettings:
    """regime: one of REGIMES · steps: of all tasks together, each on a batch of one task · asked: rows of each task for
    evaluation, of stories never trained on."""

    regime: str = REGIMES[0]
    steps: int = 800
    batch_size: int = 32
    stories: int = 3_000
    asked: int = 240
    evaluate_every: int = 50
    layers: int = 2
    heads: int = 2
    hidden_size: int = 96
    optimization: Optimization = field(
        default_factory=lambda: Steady(optimizer="muon", learning_rate=2e-3, warmup=0.05, beta2=0.98)
    )
    seed: int = 0

    def __post_init__(self) -> None:
        stages(self.regime, list(TASKS), self.steps)  # refuses an unknown regime
        check_positive(self, "batch_size", "asked", "evaluate_every")
        if self.steps < 2 * len(TASKS) or self.stories < 2:
            raise ValueError(f"there are {len(TASKS)} tasks: at least {2 * len(TASKS)} steps are needed, and 2 stories")

    @property
    def plan(self) -> list[dict[str, int]]:
        return stages(self.regime, list(TASKS), self.steps)

    def config(self, vocab_size: int) -> Ernie2Config:
        return Ernie2Config(
            vocab_size,
            self.hidden_size,
            self.layers,
            self.heads,
            4 * self.hidden_size,
            max_position_embeddings=96,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            task_type_vocab_size=len(TASKS),
        )


def task_schedule(plan: Sequence[Mapping[str, int]], seed: int) -> list[str]:
    """The task of each step: stage after stage, in random order within a stage."""
    rng, order = random.Random(seed), []
    for stage in plan:
        tasks = [task for task, steps in stage.items() for _ in range(steps)]
        order += rng.sample(tasks, len(tasks))
    return order


def train_continually(settings: ContinualSettings) -> Iterator[Event]:
    """Pre-train an ERNIE 2.0 in a regime; yield events. Each `Eval` holds the accuracy on each of TASKS, and their
    `mean`."""
    torch.manual_seed(settings.seed)
    tokenizer = Tokenizer(world.vocabulary())
    learner = build(settings.config(len(tokenizer.vocab)), Ernie2, classes=TASKS).to(best_device())
    sampler = TaskSampler(world.stories(settings.stories, settings.seed, "small"), tokenizer, settings.seed)
    held_out = TaskSampler(world.stories(200, 8_000_009, "small"), tokenizer, 8_000_009)
    questions = {task: held_out.batch(task, settings.asked) for task in TASKS}
    tasks = task_schedule(settings.plan, settings.seed)
    yield from train_and_evaluate(
        learner,
        (sampler.batch(task, settings.batch_size) for task in tasks),
        replace(settings, steps=len(tasks)),
        lambda: evaluate(learner, questions),
        facts={"plan": settings.plan},
        report_every=5,
    )


@torch.no_grad()
def evaluate(learner: Ernie2, questions: Mapping[str, TaskedBatch]) -> dict[str, float]:
    learner.eval()
    device = next(learner.parameters()).device
    outputs = {task: learner(batch.to(device)) for task, batch in questions.items()}
    shares = {task: output.right for task, output in outputs.items()}
    return shares | {"mean": sum(shares.values()) / len(shares)}
