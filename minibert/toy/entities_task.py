"""ERNIE of Tsinghua on the toy world: a BERT of that world and the vectors of its graph, trained together to predict
masked words, and the entity of each word whose alignment was removed or replaced."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.config import check_positive
from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.knowledge.transe import Graph, learn
from minibert.model import IGNORE
from minibert.relatives.parts.entity_fusion import AlignedBatch, ErnieThu, FusedOutput, noisy
from minibert.text.batches import padded_batch
from minibert.tokenizer import Tokenizer
from minibert.toy import pronoun_probe, world
from minibert.toy.files import load_masked_lm
from minibert.toy.graph import toy_graph
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

LONGEST, TOP = 40, 3  # tokens per row; entities per word in a sample
MOST_ASKED = 1_200  # stories for questions about pronouns
TOLD = ("all", "no_naming", "nothing")


@dataclass(frozen=True)
class EntitySettings:
    """told: "all", alignments as input and the entity task in the loss · "no_naming", alignments as input alone ·
    "nothing", words alone · frozen: BERT's weights do not change · unread: BERT's vectors of names are reset, and rows
    with one of `pronoun_probe.STRANGERS` are left out · masked: share of tokens · entity: size of an entity vector ·
    stories, held_out: for training, and for evaluation."""

    steps: int = 300
    told: str = TOLD[0]
    frozen: bool = True
    unread: bool = True
    masked: float = 0.25
    batch_size: int = 16
    entity: int = 32
    stories: int = 1_500
    held_out: int = 100
    evaluate_every: int = 25
    seed: int = 0
    optimization: Optimization = field(
        default_factory=lambda: Optimization(optimizer="muon", learning_rate=2e-3, warmup=0.1, beta2=0.98)
    )

    def __post_init__(self) -> None:
        if self.told not in TOLD:
            raise ValueError(f"what is told is one of {', '.join(TOLD)}, not {self.told!r}")
        check_positive(self, "steps", "batch_size", "entity", "stories", "held_out", "evaluate_every")


def aligned(rows: Sequence[Sequence[int]], tokenizer: Tokenizer, graph: Graph) -> AlignedBatch:
    """Rows in which each token that is the name of an entity is aligned with it."""
    batch = padded_batch([list(row) for row in rows], tokenizer.pad_id)
    entity_of = torch.full((tokenizer.vocab_size,), IGNORE)
    for number, name in enumerate(graph.entities):
        if name in tokenizer.ids:
            entity_of[tokenizer.ids[name]] = number
    return AlignedBatch(batch.ids, padding=batch.padding, entities=entity_of[batch.ids])


def rows_of(count: int, seed: int, tokenizer: Tokenizer) -> list[list[int]]:
    """Rows of two consecutive sentences of a story; longer rows than LONGEST are left out."""
    rows = []
    for story in world.stories(count, seed, "small"):
        for first, second in zip(story.sentences[::2], story.sentences[1::2], strict=False):
            ids = tokenizer.encode(f"{first.text} {second.text}").ids
            if len(ids) <= LONGEST:
                rows.append(ids)
    return rows


def mask_batch(batch: AlignedBatch, vocabulary: MaskVocabulary, special: torch.Tensor, rng, rate=0.15) -> AlignedBatch:
    """Mask tokens as in BERT's pre-training."""
    ids, labels = mask_tokens(batch.ids, torch.isin(batch.ids, special), vocabulary, rng, rate)
    return replace(batch, ids=ids, labels=labels)


def loss_terms(output: FusedOutput, part: AlignedBatch, whole: AlignedBatch) -> dict[str, torch.Tensor]:
    losses = {name: getattr(output, name) for name in ("mlm_loss", "entity_loss")}
    losses = {name: loss for name, loss in losses.items() if loss is not None}
    return {"loss": torch.stack(list(losses.values())).sum(), **losses}


def no_alignments(entities: torch.Tensor) -> torch.Tensor:
    """No alignment at all."""
    return torch.full_like(entities, IGNORE)


def train_entities(
    settings: EntitySettings,
    model: str | Path,
    *,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Train the checkpoint `model`, a BERT of the toy world, with a layer for entities; yield events. Each `Eval` has
    the metrics of `evaluate` on held-out text. `Sample`: for each entity that a text of `probe_inputs` names, the
    predictions without its alignment."""
    torch.manual_seed(settings.seed)
    tokenizer, graph = checkpoint.load_tokenizer(model), toy_graph()
    vectors = learn(graph, settings.entity, seed=settings.seed).entities
    start = load_masked_lm(model)
    if settings.unread:
        pronoun_probe.reset_names(start, tokenizer)
    start.bert.requires_grad_(not settings.frozen)
    learner = ErnieThu(start, vectors).to(best_device())
    vocabulary, special = MaskVocabulary.of(tokenizer), torch.tensor(sorted(tokenizer.special_ids))
    rows, count = rows_of(settings.stories, settings.seed + 31, tokenizer), len(graph.entities)
    if settings.unread:
        unknown = {tokenizer.ids[name] for name in pronoun_probe.STRANGERS}
        rows = [row for row in rows if not unknown & set(row)]
    questions = pronoun_probe.questions(rows_of(MOST_ASKED, 8_000_021, tokenizer), tokenizer)
    held_out_rows = aligned(rows_of(settings.held_out, 8_000_019, tokenizer), tokenizer, graph)
    rng, noise = random.Random(settings.seed), torch.Generator().manual_seed(settings.seed)
    held_out = mask_batch(held_out_rows, vocabulary, special, torch.Generator().manual_seed(8_000_027))

    def batches() -> Iterator[AlignedBatch]:
        while True:
            batch = aligned(rng.sample(rows, min(settings.batch_size, len(rows))), tokenizer, graph)
            batch = noisy(batch, count, noise)
            if settings.told != "all":
                batch = replace(batch, named=None)
            if settings.told == "nothing":
                batch = replace(batch, entities=no_alignments(batch.entities))
            yield mask_batch(batch, vocabulary, special, noise, settings.masked)

    def measure() -> dict[str, float]:
        return evaluate(learner, held_out, count) | evaluate_pronouns(
            learner, questions, tokenizer, settings.told != "nothing"
        )

    yield from train_and_evaluate(
        learner,
        batches(),
        settings,
        measure,
        lambda texts: [entity_sample(learner, tokenizer, graph, str(text)) for text in texts],
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        losses_of=loss_terms,
    )


@torch.no_grad()
def evaluate_pronouns(
    learner: ErnieThu, questions: Sequence[pronoun_probe.PronounQuestion], tokenizer: Tokenizer, told: bool
) -> dict:
    """`pronoun_probe.pronoun_accuracy` with all gendered words masked and their alignments removed."""
    batch = aligned([one.ids for one in questions], tokenizer, toy_graph())
    is_gendered, labels = pronoun_probe.gendered(batch.ids, tokenizer), torch.full_like(batch.ids, IGNORE)
    for row, one in enumerate(questions):
        labels[row, one.place] = one.ids[one.place]
    entities = batch.entities.masked_fill(is_gendered, IGNORE) if told else no_alignments(batch.entities)
    ids = batch.ids.masked_fill(is_gendered, tokenizer.mask_id)
    inputs = AlignedBatch(ids, padding=batch.padding, labels=labels, entities=entities)
    return pronoun_probe.pronoun_accuracy(
        questions, learner(inputs.to(next(learner.parameters()).device)).mlm_logits.cpu(), tokenizer
    )


@torch.no_grad()
def evaluate(learner: ErnieThu, batch: AlignedBatch, count: int) -> dict[str, float]:
    """`masked`, `replaced`: accuracy on entities whose alignment was removed, and on those where it was replaced ·
    `masked_unread`: on removed ones whose word is masked too · `mlm`, `mlm_without`: accuracy on masked words that name
    no entity, with the alignments of the other words and without any."""
    if batch.labels is None:
        raise ValueError("accuracy on masked words needs labels")
    device = next(learner.parameters()).device
    found: dict[str, float] = {}
    unread = (batch.labels != IGNORE) & (batch.entities != IGNORE)
    for name, shares in (("masked", (0.0, 1.0)), ("replaced", (1.0, 0.0))):
        questions = noisy(batch, count, torch.Generator().manual_seed(0), *shares)
        predictions = learner(questions.to(device)).entity_logits.argmax(-1).cpu()
        right = predictions == questions.named
        read = (questions.named != IGNORE) & (batch.labels == IGNORE)
        found[name] = right[read].float().mean().item()
        if name == "masked":
            found["masked_unread"] = right[unread].float().mean().item()
    words = batch.labels[batch.labels != IGNORE]
    plain = ~unread[batch.labels != IGNORE]
    for name, entities in (("mlm", batch.entities), ("mlm_without", torch.full_like(batch.entities, IGNORE))):
        inputs = replace(batch, entities=entities.masked_fill(unread, IGNORE))
        predictions = learner(inputs.to(device)).mlm_logits.argmax(-1).cpu()
        found[name] = (predictions == words)[plain].float().mean().item()
    return found


@torch.no_grad()
def entity_sample(learner: ErnieThu, tokenizer: Tokenizer, graph: Graph, text: str) -> dict:
    """As part of a `Sample`. tokens: the input without special ones · entities: for each token, the one that it names,
    or None · said: for each that names one, the most probable (entity, P) when that alignment alone is removed."""
    ids = tokenizer.encode(text, max_length=LONGEST, truncation="head").ids
    batch = aligned([ids], tokenizer, graph)
    places = (batch.entities[0] != IGNORE).nonzero().flatten().tolist()
    predictions: list = [None] * len(ids)
    if places:
        rows = aligned([ids] * len(places), tokenizer, graph)
        rows.entities[torch.arange(len(places)), torch.tensor(places)] = IGNORE
        logits = learner.eval()(rows.to(next(learner.parameters()).device)).entity_logits.cpu()
        for row, place in enumerate(places):
            best = logits[row, place].float().softmax(-1).topk(TOP)
            predictions[place] = [
                (graph.entities[number], round(p, 4))
                for number, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            ]
    entities = [graph.entities[number] if number >= 0 else None for number in batch.entities[0].tolist()]
    return {
        "text": text,
        "tokens": [tokenizer.vocab[i] for i in ids[1:-1]],
        "entities": entities[1:-1],
        "said": predictions[1:-1],
    }
