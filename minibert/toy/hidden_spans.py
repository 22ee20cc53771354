"""How a model does on runs of words of a toy story that are masked together, and on words that are replaced by others
of their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.relatives.parts.span_boundary import SpanLm
from minibert.text.batches import padded_batch
from minibert.tokenizer import Tokenizer
from minibert.toy.world import Story

Run = tuple[list[int], int]  # a story's ids, and where the run begins in them
ROWS = 128  # per batch


def hidden_runs(
    stories: Sequence[Story], tokenizer: Tokenizer, max_length: int, length: int = 3, most=300
) -> list[Run]:
    """Runs of `length` words of one sentence, of which at least one is determined by a word outside the run."""
    found: list[Run] = []
    for story in stories:
        ids = [tokenizer.cls_id, *(tokenizer.ids[word.text] for word in story.words), tokenizer.sep_id]
        if len(ids) > max_length:
            continue
        begun = 0
        for sentence in story.sentences:
            end = begun + len(sentence.words)
            for start in range(begun, end - length + 1):
                inside = range(start, start + length)
                if any(place not in inside for at in inside for place in story.words[at].determined_by):
                    found.append((ids, start + 1))
            begun = end
    return found[:: max(1, len(found) // most)][:most]


def predict(model: BertForPreTraining, batch: Batch) -> tuple[Tensor, Tensor | None]:
    """The token predicted at each place with a label, (M,), and from the boundaries alone, or None."""
    device = next(model.parameters()).device
    out = model(batch.to(device))
    by_boundary = out.sbo_logits.argmax(-1).cpu() if isinstance(model, SpanLm) else None
    return out.mlm_logits.argmax(-1).cpu(), by_boundary


@torch.no_grad()
def span_accuracy(
    model: BertForPreTraining, runs: Sequence[Run], tokenizer: Tokenizer, length: int = 3
) -> dict[str, float]:
    """All words of a run are masked: `span`, the accuracy on them; `span_whole`, the share of runs without a mistake;
    `span_boundary`, as `span`, from the boundaries alone, if the model has a head for that."""
    training = model.training
    model.eval()
    right, alone = [], []
    for start in range(0, len(runs), ROWS):
        chunk = runs[start : start + ROWS]
        batch = padded_batch([ids for ids, _ in chunk], tokenizer.pad_id)
        where = torch.arange(len(chunk))[:, None], torch.tensor([[at + n for n in range(length)] for _, at in chunk])
        labels = torch.full_like(batch.ids, IGNORE)
        labels[where] = batch.ids[where]
        answers = batch.ids[where].flatten()
        batch.ids[where] = tokenizer.mask_id
        predictions, boundary = predict(model, replace(batch, labels=labels))
        right.append((predictions == answers).view(-1, length))
        if boundary is not None:
            alone.append((boundary == answers).view(-1, length))
    model.train(training)
    all_right = torch.cat(right).float()
    found = {"span": all_right.mean().item(), "span_whole": all_right.prod(dim=1).mean().item()}
    return found | ({"span_boundary": torch.cat(alone).float().mean().item()} if alone else {})


@torch.no_grad()
def replaced_accuracy(
    model: BertForPreTraining,
    questions: Sequence[tuple[list[int], int, str]],
    rivals: Mapping[str, list[int]],
    pad_id: int,
) -> float:
    """Each determined word is replaced by another of its kind; nothing is masked, as in fine-tuning tasks. → the share
    for which the model predicts the original."""
    training = model.training
    model.eval()
    right = 0
    for start in range(0, len(questions), ROWS):
        chunk = questions[start : start + ROWS]
        batch = padded_batch([ids for ids, _, _ in chunk], pad_id)
        labels = torch.full_like(batch.ids, IGNORE)
        for row, (ids, place, kind) in enumerate(chunk):
            others = [word for word in rivals.get(kind, []) if word != ids[place]]
            labels[row, place] = ids[place]
            if others:
                batch.ids[row, place] = others[(start + row) % len(others)]
        predictions, _ = predict(model, replace(batch, labels=labels))
        right += int((predictions == labels[labels != IGNORE]).sum())
    model.train(training)
    return right / len(questions)
