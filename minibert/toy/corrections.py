"""Fine-tuning a BERT, plain or Soft-Masked, to correct spelling, on text that is misspelled anew for each batch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.config import check_positive
from minibert.masking.misspelling import Confusions, CorrectionCounts, Misspeller, confusable_words, correction_labels
from minibert.model import Batch
from minibert.seq2seq.corrector import Corrector, CorrectorOutput
from minibert.text.batches import padded_batch
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.files import load_masked_lm
from minibert.train import Event, Optimization
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate

KINDS = ("soft_masked", "plain")
CORRECTOR = "corrector"  # folder in the run's folder, so that nobody opens it as a BERT


@dataclass(frozen=True)
class CorrectorSettings:
    """kind: "soft_masked", or "plain", which has no detector · share: λ, weight of the correction loss · rate: share of
    the tokens that could be misspelled which are · stories: of the toy world, if no sentences are given."""

    kind: str = "soft_masked"
    steps: int = 300
    batch_size: int = 32
    rate: float = 0.15
    share: float = 0.8
    stories: int = 2_000
    held_out: int = 300
    longest: int = 40  # tokens of a sentence, with special ones
    evaluate_every: int = 50
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=1e-3, beta2=0.98))
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the corrector is one of {', '.join(KINDS)}, not {self.kind!r}")
        check_positive(self, "steps", "batch_size", "held_out", "evaluate_every")


def toy_text(stories: int, seed: int) -> list[str]:
    """Pairs of consecutive sentences of the toy world, so that every word has some context."""
    found = []
    for story in world.stories(stories, seed, "small"):
        texts = [sentence.text for sentence in story.sentences]
        found += [" ".join(texts[i : i + 2]) for i in range(0, len(texts) - 1, 2)]
    return found


def train_corrector(
    settings: CorrectorSettings,
    model: str | Path,
    *,
    sentences: Sequence[str] = (),
    alike: Confusions | None = None,
    out: str | Path | None = None,
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Fine-tune the checkpoint `model`; yield events, save the corrector in `out`/corrector.

    sentences: for training, the last of them held out; by default the toy world's · alike: word → words it is mistaken
    for; by default words of the vocabulary that are spelled alike. Each `Eval` holds `detection_f1`, `correction_f1`
    and `sentences_right` on held-out sentences, half of which have errors. `Sample`: the corrections of `probe_inputs`.
    """
    torch.manual_seed(settings.seed)
    learner = Corrector(
        load_masked_lm(model), checkpoint.load_tokenizer(model).mask_id, settings.kind == "soft_masked", settings.share
    ).to(best_device())
    tokenizer = checkpoint.load_tokenizer(model)
    if sentences:
        text, held_out_text = list(sentences[: -settings.held_out]), list(sentences[-settings.held_out :])
    else:
        text = toy_text(settings.stories, settings.seed + 11)
        held_out_text = toy_text(settings.held_out, 9_000_011)[: settings.held_out]
    rows, held_out = rows_of(text, tokenizer, settings.longest), rows_of(held_out_text, tokenizer, settings.longest)
    if not rows or not held_out:
        raise ValueError(
            f"{len(text) + len(held_out_text)} sentences are too few: {len(held_out_text)} are held out, and of both "
            f"parts only those of at most {settings.longest} tokens are read"
        )
    speller = Misspeller.of(alike or confusable_words(tokenizer.vocab), tokenizer.ids, rate=settings.rate)
    noise = torch.Generator().manual_seed(4_000_037)
    questions = [(row if n % 2 else misspelled(row, speller, noise), row) for n, row in enumerate(held_out)]
    yield from train_and_evaluate(
        learner,
        batches(rows, speller, tokenizer, settings),
        settings,
        lambda: evaluate(learner, questions, tokenizer.pad_id).as_dict(),
        lambda texts: [correction_sample(learner, tokenizer, str(one)) for one in texts],
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        facts={"sentences": len(rows)},
        losses_of=loss_terms,
        save=lambda folder: learner.cpu().save(folder / CORRECTOR, tokenizer),
        out=out,
    )


def rows_of(sentences: Sequence[str], tokenizer: Tokenizer, longest: int) -> list[list[int]]:
    return [ids for text in sentences if len(ids := tokenizer.encode(text).ids) <= longest]


def misspelled(row: Sequence[int], speller: Misspeller, rng: torch.Generator) -> list[int]:
    """The row with at least one error, where one is possible."""
    for _ in range(50):
        if (read := speller.misspell(row, rng)) != list(row):
            return read
    return list(row)


def batches(
    rows: Sequence[list[int]], speller: Misspeller, tokenizer: Tokenizer, settings: CorrectorSettings
) -> Iterator[Batch]:
    order, noise = random.Random(settings.seed), torch.Generator().manual_seed(settings.seed)
    special = torch.tensor(sorted(tokenizer.special_ids))
    while True:
        right = order.sample(rows, min(settings.batch_size, len(rows)))
        batch = padded_batch([speller.misspell(row, noise) for row in right], tokenizer.pad_id)
        truth = padded_batch(right, tokenizer.pad_id).ids
        yield Batch(batch.ids, padding=batch.padding, labels=correction_labels(truth, torch.isin(truth, special)))


def loss_terms(output: CorrectorOutput, part: Batch, whole: Batch) -> dict[str, torch.Tensor]:
    losses = {name: getattr(output, name) for name in ("loss", "correction_loss", "detection_loss")}
    return {name: loss for name, loss in losses.items() if loss is not None}


@torch.no_grad()
def evaluate(learner: Corrector, questions: Sequence[tuple[list[int], list[int]]], pad_id: int) -> CorrectionCounts:
    """questions: (input, target)"""
    found, device = CorrectionCounts(), next(learner.parameters()).device
    for start in range(0, len(questions), 64):
        some = questions[start : start + 64]
        said = learner(padded_batch([read for read, _ in some], pad_id).to(device)).logits.argmax(-1).tolist()
        for (read, truth), row in zip(some, said, strict=True):
            found = found.add(read[1:-1], row[1 : len(read) - 1], truth[1:-1])
    return found


@torch.no_grad()
def correction_sample(learner: Corrector, tokenizer: Tokenizer, text: str, longest: int = 60, top: int = 3) -> dict:
    """As part of a `Sample`. tokens: the input without special ones · said: for each, the most probable (token, P),
    best first · suspicion: P(wrong) of each; None without a detector · left_out: tokens beyond `longest`."""
    ids = tokenizer.encode(text, max_length=longest, truncation="head").ids
    left_out = len(tokenizer.encode(text)) - len(ids)
    output = learner(Batch(torch.tensor([ids], device=next(learner.parameters()).device)))
    best = output.logits[0, 1:-1].float().softmax(-1).topk(top, dim=-1)
    said = [
        [(tokenizer.vocab[i], round(p, 4)) for i, p in zip(row, shares, strict=True)]
        for row, shares in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    suspicion = (
        None if output.suspicion is None else [round(p, 4) for p in output.suspicion[0, 1:-1].sigmoid().tolist()]
    )
    tokens = [tokenizer.vocab[i] for i in ids[1:-1]]
    return {"text": text, "tokens": tokens, "said": said, "suspicion": suspicion, "left_out": left_out}
