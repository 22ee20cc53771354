"""The data of figure 4: an input's tokens as columns, the vectors that the head reads, and its output at each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minibert.tasks import Options, Task

WIDEST = 840  # pixels for tokens side by side
LETTER, NARROWEST, GAP = 10, 36, 9  # pixels: width of a letter, least width of a column, gap
AROUND = 4  # tokens kept on either side of the answer when others are left out


@dataclass(frozen=True)
class Column:
    """A token: its text, segment, whether the head reads its vector ("C", "T" or ""), and the head's output for it."""

    text: str
    segment: int = 0
    read: str = ""
    said: str = ""
    strong: bool = False  # an output worth highlighting: a tag other than O, an end of the answer
    left_out: int = 0  # number of tokens that this column replaces
    at: int = 0  # position in the row

    def as_dict(self) -> dict:
        return vars(self)


def columns_of(task: Task, tokenizer: Any, example: Any, labels: Any, options: Options, answer: Mapping | None) -> list:
    """For each row of the input (multiple choice has several) its columns; of several windows the one with the answer.
    answer: of a `Predictor`, or None. Raises ValueError if the input does not fit."""
    rows = task.input_rows(tokenizer, example, labels, options)
    architecture = task.architecture
    if architecture == "BertForQuestionAnswering":
        return [_passage(task, rows, tokenizer, example, labels, options, answer)]
    pooled = task.pooled or architecture == "BertForIntentAndEntities"
    drawn = []
    for number, row in enumerate(rows):
        columns = [
            Column(token, segment, _pooled(options, at) if pooled else "", at=at)
            for at, (token, segment) in enumerate(
                (token, segment)
                for token, segment, cut in zip(row.tokens, row.segments, row.cut, strict=True)
                if not cut
            )
        ]
        if architecture in ("BertForTokenClassification", "BertForIntentAndEntities"):
            window = task.features(tokenizer, [example], labels, options)[number]
            for at, word in window.words:
                tag = answer["tags"][word] if answer else ""
                columns[at] = replace(columns[at], read="T", said=tag, strong=tag not in ("", "O"))
        drawn.append(folded(columns))
        if architecture == "BertForTokenClassification":
            break  # only the first window of a long text
    return drawn


def _pooled(options: Options, at: int) -> str:
    """Label of the vector at this position if the head reads the pooled one: "C" at [CLS], "T" elsewhere, else ""."""
    if options.pooling == "cls":
        return "C" if at == 0 else ""
    return "T"


def _passage(task: Task, rows, tokenizer, example, labels, options, answer: Mapping | None) -> list[Column]:
    windows = task.features(tokenizer, [example], labels, options)
    ends = _ends(answer, windows)
    shown = next((n for n, w in enumerate(windows) if ends and w.tokens[0] <= ends[0] and ends[1] < w.tokens[1]), 0)
    window, row = windows[shown], rows[shown]
    kept = [i for i, cut in enumerate(row.cut) if not cut]
    columns = [Column(row.tokens[i], row.segments[i], at=at) for at, i in enumerate(kept)]
    for at in range(window.first, window.first + window.tokens[1] - window.tokens[0]):
        columns[at] = replace(columns[at], read="T")
    if task.may_be_none:
        columns[0] = replace(columns[0], read="C")
    at = [window.first + end - window.tokens[0] for end in ends or ()]
    if answer and not ends:
        at = [0, 0]  # no answer: both ends at [CLS]
    for letter, place in zip(("S", "E"), at, strict=False):
        said = f"{columns[place].said} {letter}".strip()
        columns[place] = replace(columns[place], said=said, strong=True)
    return folded(columns)


def _ends(answer: Mapping | None, windows) -> tuple[int, int] | None:
    """(first, last) passage token of an answer, found by characters: the predictor's tokenizer may differ."""
    if not answer or answer["start"] is None:
        return None
    from minibert.tasks.spans import token_span

    places = {n: place for window in windows for n, place in zip(range(*window.tokens), window.offsets, strict=True)}
    return token_span([places[n] for n in sorted(places)], (answer["start"], answer["end"]))


def folded(columns: Sequence[Column], widest: int = WIDEST) -> list[Column]:
    """The columns that fit side by side: the first, the last, and those near a highlighted one; each gap counts the
    columns left out."""

    def width(indices) -> int:
        return sum(max(NARROWEST, LETTER * len(columns[i].text)) + GAP for i in indices)

    if width(range(len(columns))) <= widest:
        return list(columns)
    last = len(columns) - 1
    shown = {0, last}
    marks = [i for i, column in enumerate(columns) if column.strong]
    wanted = [
        *marks,
        *(i + by for by in range(1, AROUND + 1) for i in marks for by in (by, -by)),
        *(i for pair in zip(range(last), range(last, 0, -1), strict=True) for i in pair),
    ]
    for i in wanted:
        if 0 <= i <= last and i not in shown and width({*shown, i}) <= widest:
            shown.add(i)
    found, before = [], -1
    for i in sorted(shown):
        if i > before + 1:
            found.append(Column(f"… {i - before - 1} …", columns[i - 1].segment, left_out=i - before - 1))
        found.append(columns[i])
        before = i
    return found
