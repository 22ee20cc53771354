"""Intent and entities together."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.cases import RIGHT, WRONG, percent, safe
from ui.tasks.base import DataSet, Review, TaskView, Values, read_at, wrong_of
from ui.tasks.classes import class_bars, confusion_matrix
from ui.tasks.entities import entities_sentence, entities_words, show_entities, show_outcomes, tag_table, tags_case
from ui.tasks.forms import one_text
from ui.text import literal
from ui.translations import _


class IntentsView(TaskView):
    name = "intent"
    section = "Intent and entities together"
    head_lines = "_classifier"
    small = Values(8, 16, 1e-3)
    fields = ("text",)

    def title(self) -> str:
        return _("Intent and entities")

    def expected(self) -> str:
        return _("Rasa’s markdown: `## intent:name`, then `- words [entity](kind) words`.")

    def formats(self) -> dict[str, str]:
        return {"rasa": _("Rasa markdown")}

    def metric_title(self) -> str:
        return _("intent and entities both right")

    def sets(self) -> dict[str, DataSet]:
        note = _("eight intents, nine kinds of entity")
        return {
            "intents": DataSet(self.name, ".md", _("Requests"), note),
            "intents-zh": DataSet(self.name, ".md", _("Requests, Chinese"), note, "zh"),
        }

    def in_words(self, part) -> str:
        """An entity as type and position."""
        return f"{part.type} {part.start}–{part.end}" if hasattr(part, "type") else str(part)

    def form(self, example, key) -> dict[str, Any] | str | None:
        return one_text(example, key)

    def asked(self, example, labels, options) -> str:
        said = _("Predicted from {where}: the intent **{intent}**. ").format(
            where=read_at(options), intent=literal(example.intent or "?")
        )
        return said + _(
            "Predicted for each word: its tag, at its **first piece**; a later piece (–) is ignored by the loss."
        )

    def headline(self, answer) -> tuple[str, float | None]:
        return f"{answer['intent']} · {entities_words(answer)}", answer["probabilities"][answer["intent"]]

    def show_answer(self, given, answer, key) -> None:
        p = answer["probabilities"][answer["intent"]]
        intent = _("The intent is **{intent}**, with a probability of {p}.").format(
            intent=literal(answer["intent"]), p=f"{p:.1%}"
        )
        st.markdown(f"{intent} {entities_sentence(answer)}")
        show_entities(answer)
        class_bars(answer["probabilities"], answer["intent"], f"{key}-bars")
        tag_table(answer, answer["tag_probabilities"])

    def review(self, pairs, evaluation, key) -> Review:
        confusion_matrix(evaluation["confusion"], evaluation["labels"]["intents"], f"{key}-confusion")
        tags = [self.task.restored(example).tags for example, _said in pairs]
        rows = [(truth, said["tags"]) for truth, (_example, said) in zip(tags, pairs, strict=True)]
        show_outcomes(rows, evaluation["by_type"], key)
        wrong = [
            (example, truth, said) for truth, (example, said) in zip(tags, pairs, strict=True) if not said["grade"]
        ]
        wrong.sort(key=lambda one: (one[2]["intent"] == one[0]["intent"], -one[2]["probabilities"][one[2]["intent"]]))
        items = [mistake(*one) for one in wrong]
        order = _("wrong intents first, the surest of them at the top")
        return wrong_of(len(items), len(pairs), order, partly=True), items


def mistake(example: Mapping, truth: Sequence[str], said: Mapping) -> str:
    """truth: true tags."""
    sign = RIGHT if said["intent"] == example["intent"] else WRONG
    answer = f"{safe(said['intent'])} {sign} · {percent(said['probabilities'][said['intent']])}"
    return tags_case(example, truth, said, (safe(example["intent"]), answer))
