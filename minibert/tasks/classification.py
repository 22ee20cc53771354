"""Classification of a text: SST-2, CoLA, reviews (Devlin et al. 2019, §4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from minibert.tasks.data import TaskDataError
from minibert.tasks.guess import Sureness
from minibert.tasks.sequences import ClassTask, class_examples
from minibert.tasks.tables import (
    LABEL_COLUMNS,
    TEXT_COLUMNS,
    Source,
    column,
    columns_found,
    header_of,
    table,
    with_header,
    without_names,
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


COLUMNS = {"text": TEXT_COLUMNS, "label": LABEL_COLUMNS}
examples_of = partial(class_examples, Example, ("text",))


def read_cola(source: Source) -> list[Example]:
    """CoLA: source, label, the author's mark (*, ? or nothing), sentence; no header."""
    rows = list(table(source.text, source.name, source))
    return examples_of(rows, {"label": 1, "text": 3}, source, ["source", "label", "mark", "sentence"], 4)


class Classification(ClassTask):
    name = "classification"
    order = 10
    example_type = Example
    given_texts = ("text",)
    two_texts = False
    example_input: ClassVar = {"text": "not a dull minute"}
    readers: ClassVar = {
        "header": with_header(COLUMNS, "label", examples_of),
        "label-first": without_names("label", "text", examples_of=examples_of),
        "label-last": without_names("text", "label", examples_of=examples_of),
        "cola": read_cola,
    }
    columns: ClassVar = COLUMNS

    def recognises(self, form) -> Sureness:
        return Sureness.ANY_TABLE if form.header else Sureness.NO

    def guess_format(self, text, name) -> str | None:
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

    def more_scores(self, truth, answers, labels) -> dict[str, float]:
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
