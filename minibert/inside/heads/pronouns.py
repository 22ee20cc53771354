"""Pronouns and their antecedents: a table with the columns text, pronoun, antecedent, others, settled_by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from minibert.tasks.data import TaskDataError
from minibert.tasks.tables import decoded, lines_of
from minibert.tasks.tagging import word_offsets

FORM, GRAMMAR, MEANING = SETTLED_BY = ("form", "grammar", "meaning")
COLUMNS = ("text", "pronoun", "antecedent", "others", "settled_by")


@dataclass(frozen=True)
class Pronoun:
    """A pronoun in its text. pronoun, antecedent, others: places in `words`; the others are further candidates, judged
    by their place alone · settled_by: one of SETTLED_BY, what tells a reader which candidate is meant."""

    words: tuple[str, ...]
    pronoun: int
    antecedent: int
    others: tuple[int, ...]
    settled_by: str

    @property
    def candidates(self) -> tuple[int, ...]:
        """All it might stand for, in the order of the text."""
        return tuple(sorted((self.antecedent, *self.others)))

    @property
    def nearest(self) -> int:
        """The candidate that stands nearest before the pronoun."""
        return max(self.candidates)


def read_pronouns(content: bytes, name: str) -> list[Pronoun]:
    """The rows of a tab-separated file with the header of COLUMNS. Raises TaskDataError naming the line where a column
    is missing, a word does not occur exactly once in its text, or a candidate comes after the pronoun."""
    lines = [(number, line) for number, line in lines_of(decoded(content, name)) if line.strip()]
    if tuple(lines[0][1].split("\t")) != COLUMNS:
        raise TaskDataError(
            f"{name}, line {lines[0][0]}: the first line must be {', '.join(COLUMNS)}, separated by tabs"
        )
    found = [_row(line.split("\t"), f"{name}, line {number}") for number, line in lines[1:]]
    if not found:
        raise TaskDataError(f"{name} holds no pronoun: put one a line under the header")
    return found


def _row(cells: Sequence[str], where: str) -> Pronoun:
    if len(cells) != len(COLUMNS):
        raise TaskDataError(f"{where}: {len(cells)} columns where {len(COLUMNS)} are expected")
    text, pronoun, antecedent, others, settled_by = cells
    if settled_by not in SETTLED_BY:
        raise TaskDataError(f"{where}: settled_by is {settled_by!r}; write {', '.join(SETTLED_BY)}")
    if not others.split():
        raise TaskDataError(f"{where}: there must be another candidate beside the antecedent {antecedent!r}")
    words = tuple(text[a:b] for a, b in word_offsets(text))
    counts = Counter(word.lower() for word in words)

    def place(word: str) -> int:
        if counts[word.lower()] != 1:
            raise TaskDataError(
                f"{where}: {word!r} stands {counts[word.lower()]} times in the text; it must stand there exactly once"
            )
        return [other.lower() for other in words].index(word.lower())

    row = Pronoun(words, place(pronoun), place(antecedent), tuple(map(place, others.split())), settled_by)
    if row.nearest >= row.pronoun:
        raise TaskDataError(f"{where}: {words[row.nearest]!r} does not stand before the pronoun {pronoun!r}")
    if len(set(row.candidates)) != len(row.candidates):
        raise TaskDataError(f"{where}: a candidate is named twice")
    return row
