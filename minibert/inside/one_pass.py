"""One forward pass of a text with a masked word, or of a pair: every number of it that is shown.

The word becomes one [MASK], however many pieces a vocabulary makes of it: so models with different vocabularies answer
the same question. `values` are intermediates of `model(batch, tap=…)`, without the batch axis; nothing is computed
twice. Of a long text, which is read whole, a picture keeps some positions (`OnePass.near`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from minibert.text.truncation import longest_first
from minibert.tokenizer import MASK, Encoding, Tokenizer

if TYPE_CHECKING:
    from minibert.model import BertForPreTraining

Span = tuple[int, int]
EVEN = 1.5  # times a token's share under uniform attention: below that, no token stands out
PARTS = ("token", "segment", "position", "sum")
READ = re.compile(
    r"embeddings\.(token|segment|position|sum|out)|blocks\.\d+\.(attn\.(probs|norm|out)|mlp\.out|out)|nsp\.logits"
)


def hide(text: str, word: Span) -> str:
    """The text with [MASK] in the place of a word."""
    start, end = word
    return text[:start] + MASK + text[end:]


def fitting(tokenizers: Sequence[Tokenizer], text: str, second: str, most: int) -> tuple[str, str]:
    """Both texts, cut at their ends – the longer one first – until none of the tokenizers makes more than `most`
    tokens of the pair. Words are kept whole where that is possible."""
    for tokenizer in tokenizers:
        while len(tokenizer.encode(text, second or None)) > most:
            a, b = (tokenizer.encode(one, add_special=False) for one in (text, second))
            room = most - (3 if second else 2)  # without [CLS] and the [SEP] behind each
            stay, follow = longest_first([len(a), len(b)], room)
            text, second = _beginning(text, a, stay), _beginning(second, b, follow)
    return text, second


def _beginning(text: str, encoding: Encoding, count: int) -> str:
    """The text as far as its first `count` tokens, without a word that is cut, unless it is the first."""
    if count == len(encoding):
        return text
    first = encoding.words.index(encoding.words[count])  # the token that the cut word begins with
    return text[: encoding.offsets[first or count][0]].rstrip()


def blank_at(encoding: Encoding, start: int) -> int | None:
    """The position of the [MASK] that stands at an offset of the first text; None if none does."""
    rows = zip(encoding.tokens, encoding.offsets, encoding.segments, strict=True)
    return next((i for i, row in enumerate(rows) if (row[0], row[1][0], row[2]) == (MASK, start, 0)), None)


def intermediates(model: BertForPreTraining, encoding: Encoding) -> dict[str, np.ndarray]:
    """What the model computes for a text: the taps that READ matches, and `mlm.logits`, without the batch axis."""
    import torch

    from minibert.inside.heads.arithmetic import record
    from minibert.model import Batch

    values = record(model, Batch(torch.tensor([encoding.ids]), torch.tensor([encoding.segments])))
    read = (name for name in values if READ.fullmatch(name) or name == "mlm.logits")
    return {name: values[name].squeeze(0).detach().float().numpy().copy() for name in read}  # some are the weights


@dataclass(frozen=True)
class OnePass:
    """What a model computed for the tokens of a text. values: name of a tap that READ matches → array without the batch
    axis · blank: the position of the [MASK] to predict; None if there is none · logits: (V,) at the blank · rows: the
    T positions that `values` are about; None for all · from_blank: (A, all tokens), the last layer's weights from the
    blank, where `rows` are given."""

    encoding: Encoding
    values: Mapping[str, np.ndarray]
    blank: int | None
    logits: np.ndarray | None
    rows: tuple[int, ...] | None = None
    from_blank: np.ndarray | None = None

    @classmethod
    def of(cls, encoding: Encoding, values: Mapping[str, np.ndarray], start: int) -> OnePass:
        """values: of all taps · start: offset in the first text of the [MASK] to predict."""
        blank = blank_at(encoding, start)
        logits = None if blank is None else values["mlm.logits"][blank]
        return cls(encoding, {name: values[name] for name in values if READ.fullmatch(name)}, blank, logits)

    def near(self, rows: Sequence[int]) -> OnePass:
        """Of the vectors and weights those of these positions only; what the blank takes from any token stays."""
        at = list(rows)
        if at == list(range(len(self.encoding))):
            return self
        values = {
            name: x[:, at][:, :, at] if name.endswith("probs") else x if name == "nsp.logits" else x[at]
            for name, x in self.values.items()
        }
        return replace(self, values=values, rows=tuple(at), from_blank=self._blank_row)

    @property
    def _blank_row(self) -> np.ndarray:
        """(A, all tokens): the last layer's weights from the blank."""
        return self.attention[-1][:, self.blank] if self.from_blank is None else self.from_blank

    @property
    def layers(self) -> int:
        return sum(name.endswith("attn.probs") for name in self.values)

    @cached_property
    def attention(self) -> np.ndarray:
        """(L, A, T, T): row looks at column; rows sum to 1."""
        return np.stack([self.values[f"blocks.{layer}.attn.probs"] for layer in range(self.layers)])

    @cached_property
    def states(self) -> list[np.ndarray]:
        """L + 1 of (T, H): what enters the first block, and what leaves each."""
        return [self.values["embeddings.out"], *(self.values[f"blocks.{layer}.out"] for layer in range(self.layers))]

    @cached_property
    def parts(self) -> dict[str, np.ndarray]:
        """The three vectors that are added, and their sum: (T, H) each."""
        return {name: self.values[f"embeddings.{name}"] for name in PARTS}

    @cached_property
    def added(self) -> np.ndarray:
        """(L, 2, T): norm of the vector that attention, and then the feed-forward network, adds to a token's, relative
        to the norm of that token's vector."""
        rows = []
        for layer in range(self.layers):
            before = self.states[layer]
            between = self.values[f"blocks.{layer}.attn.norm"]
            by_heads = _length(self.values[f"blocks.{layer}.attn.out"]) / _length(before)
            by_network = _length(self.values[f"blocks.{layer}.mlp.out"]) / _length(between)
            rows.append([by_heads, by_network])
        return np.array(rows)

    @cached_property
    def expected(self) -> np.ndarray:
        """(V,) float64: the probability of every entry of the vocabulary at the blank; there must be one."""
        assert self.logits is not None
        return _softmax(self.logits)

    def guesses(self, vocab: Sequence[str], top: int) -> list[tuple[str, float]]:
        """The likeliest pieces at the blank and their probabilities, the likeliest first."""
        best = np.argsort(-self.expected, kind="stable")[:top]
        return [(vocab[i], float(self.expected[i])) for i in best.tolist()]

    def place_of(self, piece: int) -> int:
        """Rank of a piece at the blank; 1 for the most probable."""
        return int((self.expected > self.expected[piece]).sum()) + 1

    @property
    def follows(self) -> float | None:
        """The probability that the second text follows the first; None without a second, or without such a head."""
        if "nsp.logits" not in self.values or 1 not in self.encoding.segments:
            return None
        return float(_softmax(self.values["nsp.logits"])[0])

    @cached_property
    def words(self) -> list[list[int]]:
        """The positions of each word's pieces, and each [CLS] and [SEP] alone, in reading order."""
        groups: dict[object, list[int]] = {}
        for i, word in enumerate(self.encoding.words):
            groups.setdefault((self.encoding.segments[i], word) if word is not None else (None, i), []).append(i)
        return list(groups.values())

    def looks(self) -> list[float]:
        """For each of `words`, the largest weight that any head of the last layer gives it from the blank (the sum over
        its pieces)."""
        rows = self._blank_row
        return [float(rows[:, pieces].sum(1).max()) for pieces in self.words]

    @property
    def even(self) -> bool:
        """Whether no head of the last layer gives any token much more than uniform attention from the blank."""
        return bool(self._blank_row.max() < EVEN / len(self.encoding))

    def unknown(self, unk: int) -> float:
        """The share of the first text's words that became [UNK]."""
        word, segment = self.encoding.words, self.encoding.segments
        read = [pieces for pieces in self.words if word[pieces[0]] is not None and segment[pieces[0]] == 0]
        return sum(any(self.encoding.ids[i] == unk for i in pieces) for pieces in read) / max(len(read), 1)


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors.astype(np.float64), axis=-1)


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64) - logits.max())
    return powers / powers.sum()
