"""A tag for every word."""

from typing import Any

import streamlit as st

from ui.tasks.base import DataSet, Review, TaskView, Values, least_right, window_title, wrong_of
from ui.tasks.entities import entities_sentence, entities_words, show_entities, show_outcomes, tag_table, tags_case
from ui.tasks.forms import one_text
from ui.translations import _


class TaggingView(TaskView):
    name = "tagging"
    section = "A tag for every word"
    head_lines = "self.classifier"
    small = Values(6, 16, 5e-4)
    fields = ("text",)

    def title(self) -> str:
        return _("A tag a word")

    def expected(self) -> str:
        return _("CoNLL columns: a word a line, its tag (`B-PER`, `O` …) last, a blank line between sentences.")

    def formats(self) -> dict[str, str]:
        return {"columns": _("CoNLL columns")}

    def metric_title(self) -> str:
        return _("F1 of entities")

    def sets(self) -> dict[str, DataSet]:
        note = _("four kinds of name, many of which are also ordinary words")
        chinese = _("tagged character by character; nearly every name of the dev set is new")
        return {
            "entities": DataSet(self.name, ".txt", _("Names"), note),
            "entities-zh": DataSet(self.name, ".txt", _("Names, Chinese"), chinese, "zh"),
        }

    def in_a_line(self, example) -> str:
        gap = "" if all(len(word) == 1 for word in example.words) else " "
        return gap.join(example.words)

    def form(self, example, key) -> dict[str, Any] | str | None:
        return one_text(example, key)

    def asked(self, example, labels, options) -> str:
        return _(
            "Predicted for each word: its tag, at its **first piece**. A later piece (–) is ignored by the loss: a "
            "word has one tag, and its first piece answers for it."
        )

    def row_title(self, rows, number) -> str:
        return window_title(rows, number, _("predicted for words {first}–{last} of {total}"))

    def headline(self, answer) -> tuple[str, float | None]:
        """The entities, and the probability of the least certain tag."""
        return entities_words(answer), min(answer["probabilities"], default=None)

    def show_answer(self, given, answer, key) -> None:
        st.markdown(entities_sentence(answer))
        show_entities(answer)
        tag_table(answer, answer["probabilities"])

    def review(self, pairs, evaluation, key) -> Review:
        show_outcomes([(example["tags"], said["tags"]) for example, said in pairs], evaluation["by_type"], key)
        items = [tags_case(example, example["tags"], said) for example, said in least_right(pairs)]
        return wrong_of(len(items), len(pairs), _("the least right first"), partly=True), items
