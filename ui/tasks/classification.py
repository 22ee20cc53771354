"""Classification of single texts."""

from typing import Any

from ui.tasks.base import DataSet, Values, header_words
from ui.tasks.classes import ClassView
from ui.tasks.forms import one_text
from ui.translations import _


class ClassificationView(ClassView):
    name = "classification"
    section = "A class for a text"
    small = Values(4, 32, 3e-4)
    fields = ("text",)
    not_shares = ("mcc",)

    def title(self) -> str:
        return _("A class")

    def expected(self) -> str:
        return _(
            "TSV or CSV with a header that names `sentence` or `text`, and `label`; or lines of label and text with a "
            "tab."
        )

    def formats(self) -> dict[str, str]:
        return {
            "header": header_words(),
            "label-first": _("label, then text"),
            "label-last": _("text, then label"),
            "cola": "CoLA",
        }

    def columns(self) -> dict[str, str]:
        return {"text": _("text"), "label": _("label")}

    def sets(self) -> dict[str, DataSet]:
        note = _("half positive, half negative; marked by kind: plain, negation, contrast, irony")
        judged = _("long reviews that judge in their last sentence, three in ten in their first; the rest only tells")
        easy = _("no animal and no thing of the dev set is among those to learn from")
        topics = _("titles about fashion (时尚), the home (家居) and games (游戏), as many of each")
        answered = _(
            "a question’s title, its text and an answer, half of them another question’s; under *What it is shown*, "
            "the two further columns can be read"
        )
        return {
            "reviews": DataSet(self.name, ".tsv", _("Reviews"), note),
            "reviews-zh": DataSet(self.name, ".tsv", _("Reviews, Chinese"), note, "zh"),
            "topics-zh": DataSet(self.name, ".tsv", _("Topics, Chinese"), topics, "zh", small=Values(10, 8, 3e-4, 32)),
            "verdicts": DataSet(self.name, ".tsv", _("Verdicts"), judged, small=Values(6, 16, 3e-4, 32)),
            "animals": DataSet(self.name, ".tsv", _("Animal or thing?"), easy, small=Values(6, 8, 3e-4, 32)),
            "answered": DataSet(self.name, ".tsv", _("Is it answered?"), answered, small=Values(10, 8, 3e-4)),
        }

    def form(self, example, key) -> dict[str, Any] | str | None:
        return one_text(example, key)
