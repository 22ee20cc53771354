"""Classification of two texts: entailment, paraphrase, question matching (RTE, MRPC, QNLI, HANS, LCQMC)."""

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
    column,
    columns_found,
    header_of,
    names_its_columns,
    table,
    unnamed,
    with_header,
    without_names,
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


COLUMNS = {**PAIR_COLUMNS, "label": LABEL_COLUMNS}
examples_of = partial(class_examples, PairExample, tuple(PAIR_COLUMNS))


def names_two_texts(header: Sequence[str]) -> bool:
    return not TELLING_COLUMNS.isdisjoint(header)


class Pairs(ClassTask):
    name = "pair"
    order = 20
    example_type = PairExample
    example_input: ClassVar = {"text": "A boy plays in the snow.", "pair": "A child is outside."}
    readers: ClassVar = {
        "header": with_header(COLUMNS, "label", examples_of),
        "label-last": without_names(*PAIR_COLUMNS, "label", examples_of=examples_of),
        "label-first": without_names("label", *PAIR_COLUMNS, examples_of=examples_of),
    }
    columns: ClassVar = COLUMNS

    def recognises(self, form) -> Sureness:
        if names_two_texts(form.header):
            return Sureness.NO if "score" in form.header else Sureness.HEADER
        return Sureness.COLUMNS if unnamed(form.header, 3) and not form.names_its_columns else Sureness.NO

    def guess_format(self, text, name) -> str | None:
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

    def more_scores(self, truth, answers, labels) -> dict[str, float]:
        """F1 of class 1 if the classes are 0 and 1, as GLUE reports for MRPC."""
        from sklearn.metrics import f1_score

        return {"f1": float(f1_score(truth, answers, pos_label="1", zero_division=0.0))} if labels == ["0", "1"] else {}
