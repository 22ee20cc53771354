"""SemBERT on the toy world: which of the story's people each pronoun stands for, learned with role labels and without,
from the same BERT on the same stories."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.config import check_positive
from minibert.model import IGNORE
from minibert.relatives.parts.semantic_roles import RolesBatch, SemBert
from minibert.text.batches import padded_batch
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.files import load_masked_lm
from minibert.toy.pronoun_task import tagged
from minibert.toy.roles import MOST, ROLES, role_rows, words_in
from minibert.toy.world import Story
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

PERSONAL = frozenset(["he", "she", "him", "her", "his", "himself", "herself", "they", "them", "themselves"])
MEANT = ("FIRST", "SECOND", "BOTH")  # the people in the order in which the story names them


@dataclass(frozen=True)
class RoleExample:
    """A text's words, their roles, and the person each word stands for: a place in MEANT, or −100."""

    words: tuple[str, ...]
    roles: tuple[tuple[str, ...], ...]
    meant: tuple[int, ...] = ()


@dataclass(frozen=True)
class RolesSettings:
    """roles: whether they are an input · shuffled: each word gets another word's roles, so that they carry no
    information · stories, held_out: for training, and for evaluation · longest: words of a story; its last sentences
    are left out if it has more."""

    steps: int = 200
    roles: bool = True
    shuffled: bool = False
    batch_size: int = 16
    stories: int = 600
    held_out: int = 150
    longest: int = 38
    evaluate_every: int = 25
    seed: int = 0
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=1e-3))

    def __post_init__(self) -> None:
        check_positive(self, "steps", "batch_size", "stories", "held_out", "longest", "evaluate_every")


def role_example(story: Story, longest: int) -> RoleExample:
    """The first sentences of a story that fit into `longest` words."""
    length = 0
    for sentence in story.sentences:
        if length + len(sentence.words) > longest:
            break
        length += len(sentence.words)
    example = tagged(story)
    words = example.words[:length]
    meant = [IGNORE if tag == "O" else MEANT.index(tag[2:]) for tag in (example.tags or ())[:length]]
    return RoleExample(words, tuple(map(tuple, role_rows(words))), tuple(meant))


def shuffled(text: RoleExample) -> RoleExample:
    """The roles permuted among the words, in the same way for the same text."""
    order = random.Random(" ".join(text.words)).sample(range(len(text.words)), len(text.words))
    return replace(text, roles=tuple(tuple(row[at] for at in order) for row in text.roles))


def batch_of(texts: Sequence[RoleExample], tokenizer: Tokenizer) -> RolesBatch:
    """A batch of texts, their words split into pieces; with labels if all texts have `meant`."""
    rows, numbers = [], []
    for text in texts:
        pieces = [tokenizer.encode(word, add_special=False).ids for word in text.words]
        rows.append([tokenizer.cls_id, *(i for word in pieces for i in word), tokenizer.sep_id])
        numbers.append([IGNORE, *(n for n, word in enumerate(pieces) for _ in word), IGNORE])
    batch, most = padded_batch(rows, tokenizer.pad_id), max(len(text.words) for text in texts)
    words, labels = torch.full_like(batch.ids, IGNORE), torch.full((len(texts), most), IGNORE)
    roles = torch.full((len(texts), MOST, most), IGNORE)
    for row, (text, own) in enumerate(zip(texts, numbers, strict=True)):
        words[row, : len(own)] = torch.tensor(own)
        roles[row, :, : len(text.words)] = torch.tensor([[ROLES.index(role) for role in line] for line in text.roles])
        if text.meant:
            labels[row, : len(text.words)] = torch.tensor(text.meant)
    known = all(text.meant for text in texts)
    return RolesBatch(batch.ids, padding=batch.padding, labels=labels if known else None, words=words, roles=roles)


def train_roles(
    settings: RolesSettings,
    model: str | Path,
    *,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Fine-tune the checkpoint `model`, a BERT of the toy world; yield events. Each `Eval` holds `meant`: the accuracy
    on the pronouns of held-out stories; `commonest`: that of always giving the commonest answer. `Sample`: the
    predictions for the words of `probe_inputs`."""
    torch.manual_seed(settings.seed)
    tokenizer, start = checkpoint.load_tokenizer(model), load_masked_lm(model)
    learner = SemBert(start.bert, len(MEANT), len(ROLES) if settings.roles else 0, MOST).to(best_device())
    texts = [
        role_example(story, settings.longest) for story in world.stories(settings.stories, settings.seed + 21, "small")
    ]
    texts = [text for text in texts if any(one != IGNORE for one in text.meant)]
    held_out = [role_example(story, settings.longest) for story in world.stories(settings.held_out, 8_000_009, "small")]
    held_out = [text for text in held_out if any(one != IGNORE for one in text.meant)]
    if settings.shuffled:
        texts, held_out = ([shuffled(text) for text in some] for some in (texts, held_out))
    rng = random.Random(settings.seed)

    def batches() -> Iterator[RolesBatch]:
        while True:
            yield batch_of(rng.sample(texts, min(settings.batch_size, len(texts))), tokenizer)

    yield from train_and_evaluate(
        learner,
        batches(),
        settings,
        lambda: evaluate(learner, held_out, tokenizer),
        lambda texts: [role_sample(learner, tokenizer, str(text), settings.shuffled) for text in texts],
        probe_inputs=probe_inputs,
        mailbox=mailbox,
    )


@torch.no_grad()
def evaluate(learner: SemBert, texts: Sequence[RoleExample], tokenizer: Tokenizer) -> dict[str, float]:
    device = next(learner.parameters()).device
    all_predictions, all_labels = [], []
    for start in range(0, len(texts), 64):
        batch = batch_of(texts[start : start + 64], tokenizer)
        if batch.labels is None:
            raise ValueError("accuracy needs texts with `meant`")
        targets = batch.labels != IGNORE
        all_predictions.append(learner(batch.to(device)).logits.argmax(-1).cpu()[targets])
        all_labels.append(batch.labels[targets])
    predictions, labels = torch.cat(all_predictions), torch.cat(all_labels)
    return {
        "meant": (predictions == labels).float().mean().item(),
        "commonest": (labels == labels.mode().values).float().mean().item(),
    }


@torch.no_grad()
def role_sample(learner: SemBert, tokenizer: Tokenizer, text: str, permuted: bool = False) -> dict:
    """P of each of MEANT for each word of a text, as part of a `Sample`; empty for a text that cannot be parsed.

    permuted: read other words' roles, as a model that was trained so."""
    try:
        words = words_in(text)
        one = RoleExample(tuple(words), tuple(map(tuple, role_rows(words))))
        one = shuffled(one) if permuted else one
    except ValueError:
        return {"text": text, "words": [], "shares": []}
    device = next(learner.parameters()).device
    shares = learner.eval()(batch_of([one], tokenizer).to(device)).logits[0].softmax(-1).cpu()
    return {"text": text, "words": list(words), "shares": [[round(p, 4) for p in row] for row in shares.tolist()]}
