"""Classification of two texts: entailment, paraphrase, question matching (RTE, MRPC, QNLI, HANS, LCQMC)."""

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
    Source,
    column,
    columns_found,
    header_of,
    named_columns,
    names_its_columns,
    rows_of,
    table,
    unnamed,
    without_header,
)

FIRST_COLUMNS = ("sentence1", "question1", "text_a", "premise", "#1 string", "question", "query")
SECOND_COLUMNS = ("sentence2", "question2", "text_b", "hypothesis", "#2 string", "sentence", "title")
PAIR_COLUMNS = {"first text": FIRST_COLUMNS, "second text": SECOND_COLUMNS}
# Those among them that tables of single texts do not use.
TELLING_COLUMNS = {name for names in PAIR_COLUMNS.values() for name in (*names[:2], *names[3:5])}


@dataclass(frozen=True)
class PairExample:
    """Two texts with their class, None if unknown."""

    text: str
    pair: str
    label: str | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> tuple[str, ...]:
        return () if self.label is None else (self.label,)


def read_header(source: Source) -> list[PairExample]:
    """GLUE: a header that names two text columns and a label; not quoted."""
    rows, at, header = named_columns(source, Pairs.columns, "label")
    return examples_of(rows, at, source, header, len(header) or len(rows[0][1]))


def read_label_last(source: Source) -> list[PairExample]:
    at = {"first text": 0, "second text": 1, "label": 2}
    rows = list(table(source.text, source.name, source))
    return examples_of(without_header(rows, 2, source), at, source, width=3)


def read_label_first(source: Source) -> list[PairExample]:
    at = {"label": 0, "first text": 1, "second text": 2}
    rows = list(table(source.text, source.name, source))
    return examples_of(without_header(rows, 0, source), at, source, width=3)


def examples_of(rows, at, source, header=(), width=None) -> list[PairExample]:
    return [
        PairExample(row.cells["first text"], row.cells["second text"], row.cells["label"], row.extra)
        for row in rows_of(rows, at, source, header, width or len(header))
        if source.known(row.cells["label"], row.line, at["label"] + 1)
    ]


def names_two_texts(header: Sequence[str]) -> bool:
    return not TELLING_COLUMNS.isdisjoint(header)


class Pairs(ClassTask):
    name = "pair"
    order = 20
    example_type = PairExample
    example_input: ClassVar = {"text": "A boy plays in the snow.", "pair": "A child is outside."}
    readers: ClassVar = {"header": read_header, "label-last": read_label_last, "label-first": read_label_first}
    columns: ClassVar = {**PAIR_COLUMNS, "label": LABEL_COLUMNS}

    def recognises(self, form):
        if names_two_texts(form.header):
            return Sureness.NO if "score" in form.header else Sureness.HEADER
        return Sureness.COLUMNS if unnamed(form.header, 3) and not form.names_its_columns else Sureness.NO

    def guess_format(self, text, name):
        rows = list(table(text, name))
        first = rows[0][1]
        if any(column(header_of(first), names) is not None for names in (*PAIR_COLUMNS.values(), LABEL_COLUMNS)):
            return "header"
        if len(first) == 3 and not names_its_columns([cells for _, cells in rows]):
            three = [cells for _, cells in rows if len(cells) == 3]
            distinct = [len({cells[i] for cells in three}) for i in (0, 2)]
            return "label-first" if distinct[0] < distinct[1] else "label-last"
        raise TaskDataError(
            f"{name}, line {rows[0][0]}: expected a header with `sentence1`, `sentence2` and `label`, or lines of text"
            f"<TAB>text<TAB>label; {columns_found(first, len(self.columns))}"
        )

    def example(self, given):
        return PairExample(*text_given(given, *self.fields), extra=extra_given(given))

    def more_scores(self, truth, answers, labels):
        """F1 of class 1 if the classes are 0 and 1, as GLUE reports for MRPC."""
        from sklearn.metrics import f1_score

        return {"f1": float(f1_score(truth, answers, pos_label="1", zero_division=0.0))} if labels == ["0", "1"] else {}
