"""SimBERT (Su 2020, ZhuiyiTechnology/simbert): one network that finds questions with the same meaning, and writes some.

A UniLM reads a question and writes its paraphrase, and the other way round. The question read does not attend to the
one written, so [CLS] is a vector of that question alone, which must find its partner among the questions of the batch.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.config import check_positive
from minibert.inside.geometry.vectors import nearest, unit
from minibert.inside.predictions.writing import READS, Rules, samples
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining
from minibert.relatives import build
from minibert.relatives.unilm import SEGMENTS, UnilmConfig
from minibert.seq2seq.rows import Seq2SeqExample, batch_of, source_of
from minibert.text.batches import length_batches, padded, padded_batch
from minibert.text.characters import is_cjk
from minibert.tokenizer import Tokenizer
from minibert.train import Optimization
from minibert.training.cross_entropy import cross_entropy

LONGEST = 32  # tokens of a question, [CLS] and [SEP] among them
ROWS = 64  # per batch, outside training


@dataclass(frozen=True)
class SimBertSettings:
    """finds, writes: which of the two losses to use, SimBERT has both · scale: 1/τ of the cosines · rate: share of
    masked tokens in the written question · batch_size: pairs, each read both ways."""

    finds: bool = True
    writes: bool = True
    scale: float = 20.0
    rate: float = 0.7
    steps: int = 200
    batch_size: int = 12
    evaluate_every: int = 25
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=5e-4, warmup=0.1))
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "steps", "evaluate_every")
        if self.batch_size < 2:
            raise ValueError(
                f"a question is told from those of other pairs: batch_size is at least 2, not {self.batch_size}"
            )
        if not (self.finds or self.writes):
            raise ValueError("finds or writes, or both: else nothing is learned")


def to_unilm(model: BertForPreTraining) -> BertForPreTraining:
    """A UniLM with the same weights; its six segment vectors are copies of BERT's two."""
    unilm = build(UnilmConfig(**{**vars(model.config), "type_vocab_size": 6}), BertForPreTraining)
    state = model.state_dict()
    segments = state["bert.embeddings.segment.weight"]  # (2, H): of the first and the second text
    copied = torch.tensor([0, 1, 0, 0, 0, 1]).clamp(max=len(segments) - 1)
    unilm.load_state_dict({**state, "bert.embeddings.segment.weight": segments[copied]})
    return unilm


def retrieval_loss(cls: Tensor, scale: float = 20.0) -> Tensor:
    """−ln of the partner's share of softmax(scale · cosines) over all other questions of the batch. cls: (2B, H), the
    two questions of a pair in neighbouring rows."""
    x = F.normalize(cls.float(), dim=-1)
    similar = (scale * x @ x.T).fill_diagonal_(float("-inf"))  # (2B, 2B)
    return F.cross_entropy(similar, torch.arange(len(x), device=x.device) ^ 1)


class SimBert(nn.Module):
    """A UniLM and its two losses."""

    def __init__(self, model: BertForPreTraining, settings: SimBertSettings):
        super().__init__()
        self.model, self.settings = model, settings

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        x, _ = self.model.bert(batch)  # (2B, T, H)
        losses = {}
        if self.settings.finds:
            losses["finding"] = retrieval_loss(x[:, 0], self.settings.scale)
        if self.settings.writes and batch.labels is not None:
            target_mask = batch.labels != IGNORE
            losses["writing"] = cross_entropy(self.model.mlm(x[target_mask]), batch.labels[target_mask])
        total: Any = sum(losses.values())
        return {"loss": total, **losses}


class ParaphraseBatches:
    """Endless batches of paraphrase pairs, at most one pair of a group, in both directions."""

    def __init__(self, groups: Sequence[Sequence[str]], tokenizer: Tokenizer, settings: SimBertSettings):
        self.groups = [group for group in map(list, map(dict.fromkeys, groups)) if len(group) > 1]
        if len(self.groups) < 2:
            raise ValueError("two questions that ask the same are needed, and two others: there are fewer")
        self.tokenizer, self.settings = tokenizer, settings
        self.rng, self.noise = random.Random(settings.seed), torch.Generator().manual_seed(settings.seed)

    def __iter__(self) -> Iterator[Batch]:
        while True:
            groups = self.rng.sample(self.groups, min(self.settings.batch_size, len(self.groups)))
            pairs = [self.rng.sample(group, 2) for group in groups]
            rows = [Seq2SeqExample(*pair) for a, b in pairs for pair in ((a, b), (b, a))]
            yield batch_of(rows, self.tokenizer, READS, self.noise, self.settings.rate, LONGEST)


def group_questions(questions: Sequence[tuple[str, str]]) -> list[list[str]]:
    """(question, standard question) → the questions of each standard question."""
    groups: dict[str, list[str]] = {}
    for question, standard in questions:
        groups.setdefault(standard, []).append(question)
    return list(groups.values())


# --- finding ----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def cls_vectors(bert: Bert, tokenizer: Tokenizer, texts: Sequence[str]) -> np.ndarray:
    """(N, H) float32, of length 1: [CLS] of each text, read like the first text of a pair."""
    device, segment = next(bert.parameters()).device, SEGMENTS[READS][0] if bert.config.model_type == "unilm" else 0
    rows = [source_of(text, tokenizer, LONGEST) for text in texts]
    vectors = np.zeros((len(rows), bert.config.hidden_size), np.float32)
    for indices in length_batches([len(row) for row in rows]):
        batch = padded_batch([rows[i] for i in indices], tokenizer.pad_id)
        batch = Batch(batch.ids, torch.full_like(batch.ids, segment), batch.padding)
        vectors[indices] = bert(batch.to(device))[0][:, 0].float().cpu().numpy()
    return unit(vectors)


def retrieval_accuracy(
    bert: Bert, tokenizer: Tokenizer, queries: Sequence[tuple[str, str]], candidates: Sequence[tuple[str, str]]
) -> float:
    """The share of `queries`, (question, meaning), whose nearest candidate has the same meaning."""
    x, table = (cls_vectors(bert, tokenizer, [text for text, _ in pairs]) for pairs in (queries, candidates))
    best = (x @ table.T).argmax(1)
    return float(np.mean([candidates[i][1] == meaning for i, (_, meaning) in zip(best, queries, strict=True)]))


# --- writing ----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def nats_per_token(model: BertForPreTraining, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> float:
    """−ln P of each pair's second text given the first, token by token, the mean over all tokens. Each token is
    predicted at a [MASK] after those before it, as in generation."""
    device, (first, second) = next(model.parameters()).device, SEGMENTS[READS]
    rows, segments, targets = [], [], []
    for a, b in pairs:
        source, target = (source_of(text, tokenizer, LONGEST) for text in (a, b))
        for position in range(1, len(target)):  # without [CLS]; [SEP] is a target
            rows.append([*source, *target[1:position], tokenizer.mask_id])
            segments.append([first] * len(source) + [second] * position)
            targets.append(target[position])
    total = 0.0
    for start in range(0, len(rows), ROWS):
        part = slice(start, start + ROWS)
        batch = padded_batch(rows[part], tokenizer.pad_id)
        batch = Batch(batch.ids, padded(segments[part], second), batch.padding)
        x, _ = model.bert(batch.to(device))
        last = x[torch.arange(len(x)), [len(row) - 1 for row in rows[part]]]  # (B, H): the [MASK]s
        labels = torch.tensor(targets[part], device=device)
        total += F.cross_entropy(model.mlm(last).float(), labels, reduction="sum").item()
    return total / max(1, len(rows))


def paraphrases(
    model: BertForPreTraining, tokenizer: Tokenizer, text: str, *, draws: int = 8, keep: int = 3, seed: int = 0
) -> list[tuple[str, float]]:
    """Generated paraphrases of `text`, with cosines: of `draws` samples, without repetitions of `text` and of each
    other, the `keep` nearest to `text`, best first."""
    rules = Rules(tokenizer.mask_id, {tokenizer.sep_id}, tokenizer.special_ids, LONGEST)
    source = source_of(text, tokenizer, LONGEST)
    rows = samples(model, source, rules, [1000 * seed + n for n in range(draws)], temperature=0.8, top=5)
    distinct = dict.fromkeys(detokenized(row.ids, tokenizer) for row in rows)
    texts = [written for written in distinct if written and written != detokenized(source, tokenizer)]
    if not texts:
        return []
    query, *table = cls_vectors(model.bert, tokenizer, [text, *texts])
    return [(texts[i], cosine) for i, cosine in nearest(np.stack(table), query, keep)]


def detokenized(ids: Sequence[int], tokenizer: Tokenizer) -> str:
    """Tokens as text, without special ones; no space before punctuation nor beside a Chinese character."""
    text = ""
    for word in tokenizer.decode(ids, skip_special=True).split():
        joined = not text or not any(map(str.isalnum, word)) or is_cjk(word[0]) or is_cjk(text[-1])
        text += word if joined else f" {word}"
    return text
