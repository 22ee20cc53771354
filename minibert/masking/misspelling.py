"""Misspellings as training data: tokens are replaced by easily confused ones (Zhang et al. 2020, §3.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from minibert.model import IGNORE
from minibert.text.documents import DataError

Confusions = Mapping[str, Sequence[str]]  # a token → tokens it is easily confused with
KINDS = ("sound", "shape")


def edits(a: str, b: str) -> int:
    """Edit distance from `a` to `b`: letters inserted, left out, replaced, or swapped with their neighbour."""
    rows = [list(range(len(b) + 1))]
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]


def confusable_words(words: Sequence[str]) -> dict[str, list[str]]:
    """Each word's neighbours among `words`: one edit away, or two where both have five letters or more."""
    words = [word for word in words if word.isalpha()]
    found = defaultdict(list)
    for word in words:
        for other in words:
            most = 2 if min(len(word), len(other)) >= 5 else 1
            if word != other and abs(len(word) - len(other)) <= most and edits(word, other) <= most:
                found[word].append(other)
    return dict(found)


def read_confusions(path: str | Path) -> dict[str, list[str]]:
    """A table of characters: lines of a kind (sound, shape), a tab, and characters that are easily
    confused. Raises DataError with file and line."""
    found: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, _tab, characters = line.strip().partition("\t")
        if kind not in KINDS or len(set(characters)) < 2:
            raise DataError(f"{path}, line {number}: needs {' or '.join(KINDS)}, a tab, and two characters or more")
        for one in characters:
            found[one] += [other for other in characters if other != one and other not in found[one]]
    return dict(found)


@dataclass(frozen=True)
class Misspeller:
    """alike: id → ids it is confused with · rate: share of the tokens in `alike` that are replaced · any: share of the
    replaced ones that get a random token of `words` (the paper's 20 %)."""

    alike: Mapping[int, Sequence[int]]
    words: Sequence[int]
    rate: float = 0.15
    any: float = 0.2

    @classmethod
    def of(cls, alike: Confusions, ids: Mapping[str, int], **options) -> Misspeller:
        known = {
            ids[token]: [ids[other] for other in others if other in ids]
            for token, others in alike.items()
            if token in ids
        }
        return cls({token: others for token, others in known.items() if others}, sorted(known), **options)

    def misspell(self, ids: Sequence[int], rng: torch.Generator) -> list[int]:
        """A row with some of its tokens replaced."""
        row = list(ids)
        chances = torch.rand(len(row), 2, generator=rng).tolist()
        for place, (is_wrong, which) in enumerate(chances):
            if row[place] not in self.alike or is_wrong >= self.rate:
                continue
            choices = self.words if which < self.any else self.alike[row[place]]
            row[place] = choices[int(torch.randint(len(choices), (1,), generator=rng))]
        return row


def correction_labels(right: Tensor, special: Tensor) -> Tensor:
    """A corrector's labels: the right token everywhere but at special ones. (B, T) each."""
    return right.masked_fill(special, IGNORE)


@dataclass(frozen=True)
class CorrectionCounts:
    """Sentence-level counts (Zhang et al. 2020, §3.2). detected: sentences with errors in which exactly the wrong
    positions were changed · corrected: sentences with errors whose output is right throughout · wrong: sentences with
    errors · marked: sentences in which something was changed · right: sentences whose output is right throughout, with
    errors or without · sentences: all."""

    detected: int = 0
    corrected: int = 0
    wrong: int = 0
    marked: int = 0
    right: int = 0
    sentences: int = 0

    def add(self, read: Sequence[int], said: Sequence[int], truth: Sequence[int]) -> CorrectionCounts:
        errors = {i for i, (a, b) in enumerate(zip(read, truth, strict=True)) if a != b}
        changed = {i for i, (a, b) in enumerate(zip(read, said, strict=True)) if a != b}
        return CorrectionCounts(
            self.detected + (bool(errors) and errors == changed),
            self.corrected + (bool(errors) and list(said) == list(truth)),
            self.wrong + bool(errors),
            self.marked + bool(changed),
            self.right + (list(said) == list(truth)),
            self.sentences + 1,
        )

    def f1(self, hits: int) -> float:
        """2PR / (P + R): P of `hits` among the sentences with a change, R among those with errors."""
        return 2 * hits / (self.marked + self.wrong) if self.marked + self.wrong else 0.0

    def as_dict(self) -> dict[str, float]:
        return {
            "detection_f1": self.f1(self.detected),
            "correction_f1": self.f1(self.corrected),
            "sentences_right": self.right / max(1, self.sentences),
        }
