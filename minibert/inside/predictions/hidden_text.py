"""One text masked in six ways, and a model's predictions for each: the corruptions of BERT, whole-word masking, ERNIE,
SpanBERT and MacBERT on the same tokens."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.masking.similar_words import SimilarWords
from minibert.masking.units import Unit, draw_units, entity_units, hide_units, phrase_units, word_units
from minibert.model import IGNORE, BertForPreTraining
from minibert.relatives.macbert import draw_ngrams
from minibert.relatives.parts.span_boundary import draw_spans
from minibert.text.batches import padded_batch
from minibert.text.store import continued
from minibert.text.word_lists import between_phrases, names_in
from minibert.tokenizer import Encoding, Tokenizer

SCORES = 20_000_000  # numbers of a batch's predictions: 80 MB
KINDS = ("piece", "word", "phrase", "entity", "span", "similar")
SPLIT = (0.8, 0.1, 0.1)
CAPITALS = re.compile(r"\b[A-Z][\w’']*(?:[ -][A-Z][\w’']*)*")
NAME_TAGS = ("nr", "ns", "nt", "nz")  # of jieba: persons, places, organisations, other names
NEAR = 0.25  # least cosine of similar words: of the 1,000 most frequent, all but one have a word as near
COMMON = 4_000  # most frequent Chinese words that may replace another


@dataclass(frozen=True)
class MaskedReading:
    """A text's tokens. kept: never masked, [UNK] as well as special tokens: a model that predicts [UNK] has not guessed
    a word · goes_on: whether a token continues the word before it · units: kind → spans of tokens that are
    masked as a whole; for "span" and "similar", the words these are made of · end: every masked token is before it."""

    encoding: Encoding
    kept: tuple[bool, ...]
    goes_on: tuple[bool, ...]
    units: dict[str, list[Unit]]
    end: int


@dataclass(frozen=True)
class Hidden:
    """A masked text and a model's predictions, all by place. read: the input · asked: the target token, or None · said:
    the most probable token there and its probability, or None without a target."""

    read: tuple[int, ...]
    asked: tuple[int | None, ...]
    said: tuple[tuple[int, float] | None, ...]

    @property
    def places(self) -> list[int]:
        return [place for place, token in enumerate(self.asked) if token is not None]

    def random(self, mask_id: int, similar: SimilarWords, words: Sequence[Unit]) -> list[int]:
        """Places that read a token neither masked, kept nor of a similar word."""
        places: list[int] = []
        for start, end in words:
            now, then = self.read[start:end], tuple(token for token in self.asked[start:end] if token is not None)
            if len(then) == end - start and now != then and mask_id not in now and now not in similar.of(then):
                places += range(start, end)
        return places

    @property
    def right(self) -> int:
        pairs = zip(self.said, self.asked, strict=True)
        return sum(prediction is not None and prediction[0] == target for prediction, target in pairs)


def vocabulary_of(model: BertForPreTraining, tokenizer: Tokenizer, chinese: bool) -> MaskVocabulary:
    """The mask vocabulary, with similar words by the model's own token embeddings after their mean is subtracted."""
    vectors = model.bert.embeddings.get_parameter("token.weight").detach().numpy()
    vectors = vectors - vectors.mean(axis=0)
    similar = SimilarWords(np.asarray(vectors), list(whole_words(tokenizer, chinese)), NEAR)
    return replace(
        MaskVocabulary.of(tokenizer), between=between_phrases(tokenizer), names=names_in(tokenizer), similar=similar
    )


def whole_words(tokenizer: Tokenizer, chinese: bool) -> Iterable[tuple[int, ...]]:
    """Possible substitutes: tokens that are words; in Chinese also the most frequent words of two characters."""
    between = between_phrases(tokenizer)
    for piece, number in tokenizer.ids.items():
        if piece.isalpha() and (chinese or len(piece) > 2) and (number,) not in between:
            yield (number,)
    if chinese:
        import jieba

        jieba.initialize()
        pairs = [word for word in jieba.dt.FREQ if len(word) == 2 and all(c in tokenizer.ids for c in word)]
        for word in sorted(pairs, key=lambda word: -jieba.dt.FREQ[word])[:COMMON]:
            yield tuple(tokenizer.ids[c] for c in word)


def read(
    tokenizer: Tokenizer, vocab: MaskVocabulary, text: str, most: int, chinese: bool, within: int | None = None
) -> MaskedReading:
    """A text's first `most` tokens and its units. Where it is Chinese, a segmenter finds the words. within: only the
    first so many, as far as words are whole, are ever masked; the others are context."""
    encoding = tokenizer.encode(text, max_length=most, truncation="head")
    goes_on = [
        one == other and one is not None
        for one, other in zip(encoding.words, [None, *encoding.words[:-1]], strict=True)
    ]
    if chinese:
        inside = [place for place, special in enumerate(encoding.special) if not special]
        for place, more in zip(inside, continued([encoding.offsets[place] for place in inside], text), strict=True):
            goes_on[place] |= more
    end = len(encoding) if within is None else min(within + 1, len(encoding))
    end = next((n for n in range(end, 1, -1) if n == len(encoding) or not goes_on[n]), end)
    ordinary = zip(encoding.special, encoding.tokens, strict=True)
    kept = [s or token == "[UNK]" or place >= end for place, (s, token) in enumerate(ordinary)]
    words = word_units(goes_on, kept)
    ids = encoding.ids
    phrases = phrase_units(words, lambda unit: tuple(ids[unit[0] : unit[1]]) in vocab.between)
    entities = with_names(entity_units(ids, words, vocab.names), encoding, list(names(text, chinese)))
    units = {"word": words, "phrase": phrases, "entity": entities, "span": words, "similar": words}
    return MaskedReading(encoding, tuple(kept), tuple(goes_on), units, end)


def names(text: str, chinese: bool) -> Iterable[tuple[int, int]]:
    """Spans of a text that look like names: in English capitalized words, but not a single one that begins a sentence;
    in Chinese words that a tagger calls names."""
    if chinese:
        import jieba.posseg

        at = 0
        for word, tag in jieba.posseg.cut(text):
            if tag.startswith(NAME_TAGS):
                yield at, at + len(word)
            at += len(word)
        return
    for match in CAPITALS.finditer(text):
        first = not text[: match.start()].rstrip() or text[: match.start()].rstrip()[-1] in ".!?\n"
        if not first or " " in match.group():
            yield match.span()


def with_names(units: Sequence[Unit], encoding: Encoding, spans: Sequence[tuple[int, int]]) -> list[Unit]:
    """The units, neighbours merged that lie in the same one of `spans`."""
    merged: list[Unit] = []
    of_last = None
    for start, end in units:
        a, b = encoding.offsets[start][0], encoding.offsets[end - 1][1]
        span = next((span for span in spans if span[0] <= a and b <= span[1]), None)
        if span is not None and span == of_last and merged[-1][1] == start:
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
        of_last = span
    return merged


def hide(
    reading: MaskedReading, kind: str, vocab: MaskVocabulary, rate: float, seed: int
) -> tuple[list[int], list[int]]:
    """→ (ids, labels) of the row, masked in one of KINDS."""
    ids = torch.tensor([reading.encoding.ids])
    special = torch.tensor([reading.kept])
    joined = torch.tensor([reading.goes_on])
    rng = torch.Generator().manual_seed(seed)
    if kind == "piece":
        rows = mask_tokens(ids, special, vocab, rng, rate, SPLIT)
    else:
        put = vocab.similar.draw if vocab.similar and kind == "similar" else None
        rows = hide_units(ids, special, joined, vocab, rng, drawing(kind, reading.units[kind]), rate, SPLIT, put)
    return rows[0][0].tolist(), rows[1][0].tolist()


def drawing(kind: str, units: Sequence[Unit]) -> Callable[[list[int], list[Unit], int, random.Random], list[Unit]]:
    """A function for `minibert.masking.units.hide_units` that draws units to mask within a budget."""

    def draw(_row, _words, budget: int, rng: random.Random) -> list[Unit]:
        how = {"span": draw_spans, "similar": draw_ngrams}.get(kind, draw_units)
        return how(list(units), budget, rng)

    return draw


@torch.no_grad()
def guessed(model: BertForPreTraining, rows: Sequence[tuple[list[int], list[int]]], pad_id: int) -> list[Hidden]:
    """Each row with the model's most probable token at every target; equal rows are read once."""
    texts = [(tuple(ids), tuple(labels)) for ids, labels in rows]
    distinct = list(dict.fromkeys(texts))
    most = max((sum(label != IGNORE for label in labels) for _, labels in distinct), default=0)
    if not most:
        return [Hidden(ids, (None,) * len(ids), (None,) * len(ids)) for ids, _ in texts]
    size = max(1, SCORES // (most * model.config.vocab_size))
    best: list[tuple[int, float]] = []  # at each target, in reading order
    for start in range(0, len(distinct), size):
        some = distinct[start : start + size]
        batch = padded_batch([ids for ids, _ in some], pad_id)
        labels = padded_batch([labels for _, labels in some], IGNORE).ids
        found = model(replace(batch, labels=labels)).mlm_logits.float().softmax(-1).max(-1)
        best += zip(found.indices.tolist(), found.values.tolist(), strict=True)
    answers = iter(best)
    hidden = {
        (ids, wanted): Hidden(
            ids,
            tuple(None if label == IGNORE else label for label in wanted),
            tuple(None if label == IGNORE else next(answers) for label in wanted),
        )
        for ids, wanted in distinct
    }
    return [hidden[text] for text in texts]
