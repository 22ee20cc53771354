"""Classification of a text: SST-2, CoLA, reviews (Devlin et al. 2019, §4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from minibert.tasks.data import TaskDataError
from minibert.tasks.given import extra_given, text_given
from minibert.tasks.guess import Sureness
from minibert.tasks.sequences import ClassTask
from minibert.tasks.tables import (
    LABEL_COLUMNS,
    TEXT_COLUMNS,
    Source,
    column,
    columns_found,
    header_of,
    named_columns,
    rows_of,
    table,
    without_header,
)


@dataclass(frozen=True)
class Example:
    """One text with its class, None if unknown; `extra` holds the other columns of its line."""

    text: str
    label: str | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        return () if self.label is None else (self.label,)


def read_header(source: Source) -> list[Example]:
    """A header that names a text and a label column; TSV unquoted, or CSV."""
    rows, at, header = named_columns(source, Classification.columns, "label")
    return examples_of(rows, at, source, header, len(header) or len(rows[0][1]))


def read_label_first(source: Source) -> list[Example]:
    rows = list(table(source.text, source.name, source))
    return examples_of(without_header(rows, 0, source), {"label": 0, "text": 1}, source, width=2)


def read_label_last(source: Source) -> list[Example]:
    rows = list(table(source.text, source.name, source))
    return examples_of(without_header(rows, 1, source), {"text": 0, "label": 1}, source, width=2)


def read_cola(source: Source) -> list[Example]:
    """CoLA: source, label, the author's mark (*, ? or nothing), sentence; no header."""
    rows = list(table(source.text, source.name, source))
    return examples_of(rows, {"label": 1, "text": 3}, source, ["source", "label", "mark", "sentence"])


def examples_of(rows, at: dict[str, int], source: Source, header: Sequence[str] = (), width: int | None = None) -> list:
    return [
        Example(row.cells["text"], row.cells["label"], row.extra)
        for row in rows_of(rows, at, source, header, width or len(header))
        if source.known(row.cells["label"], row.line, at["label"] + 1)
    ]


class Classification(ClassTask):
    name = "classification"
    order = 10
    example_type = Example
    fields = ("text",)
    example_input: ClassVar = {"text": "not a dull minute"}
    readers: ClassVar = {
        "header": read_header,
        "label-first": read_label_first,
        "label-last": read_label_last,
        "cola": read_cola,
    }
    columns: ClassVar = {"text": TEXT_COLUMNS, "label": LABEL_COLUMNS}

    def recognises(self, form):
        return Sureness.ANY_TABLE if form.header else Sureness.NO

    def guess_format(self, text, name):
        rows = list(table(text, name))
        first = rows[0][1]
        header = header_of(first)
        if column(header, TEXT_COLUMNS) is not None or column(header, LABEL_COLUMNS) is not None:
            return "header"
        if len(first) == 2:
            return label_place([cells for _, cells in rows if len(cells) == 2])
        if len(first) == 4 and first[1].strip() in ("0", "1") and len(first[2].strip()) <= 3:
            return "cola"
        raise TaskDataError(
            f"{name}, line {rows[0][0]}: expected a header with `sentence` and `label`, or lines of label<TAB>text; "
            f"{columns_found(first, len(self.columns))}"
        )

    def example(self, given):
        return Example(*text_given(given, *self.fields), extra=extra_given(given))

    def more_scores(self, truth, answers, labels):
        """Matthews correlation, CoLA's metric."""
        from sklearn.metrics import matthews_corrcoef

        return {"mcc": float(matthews_corrcoef(truth, answers))}


def label_place(rows: Sequence[Sequence[str]]) -> str:
    """Which of two columns is the label: the one with fewer distinct values; if equal, the much shorter one, or
    else the first."""
    first, second = ([cells[i].strip() for cells in rows] for i in (0, 1))
    distinct = len(set(first)) - len(set(second))
    if distinct:
        return "label-first" if distinct < 0 else "label-last"
    return "label-last" if 4 * sum(map(len, second)) <= sum(map(len, first)) else "label-first"
