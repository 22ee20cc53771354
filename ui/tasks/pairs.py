"""Classification of text pairs."""

from typing import Any

from ui.tasks.base import DataSet, Values, header_words
from ui.tasks.classes import ClassView
from ui.tasks.forms import two_texts
from ui.translations import _


class PairsView(ClassView):
    name = "pair"
    section = "A class for two texts"
    small = Values(4, 32, 3e-4)
    fields = ("text", "pair")

    def title(self) -> str:
        return _("Two texts")

    def expected(self) -> str:
        return _(
            "TSV or CSV with a header that names two texts and a `label`, such as GLUE’s `sentence1`, `sentence2`."
        )

    def formats(self) -> dict[str, str]:
        return {
            "header": header_words(),
            "label-first": _("label, then text"),
            "label-last": _("text, then label"),
        }

    def columns(self) -> dict[str, str]:
        return {"first text": _("first text"), "second text": _("second text"), "label": _("label")}

    def sets(self) -> dict[str, DataSet]:
        note = _("three hypotheses for each premise, one of each label")
        return {"pairs": DataSet(self.name, ".tsv", _("Does it follow?"), note)}

    def form(self, example, key) -> dict[str, Any] | str | None:
        return two_texts(example, key)
