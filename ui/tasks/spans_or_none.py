"""Extractive question answering with unanswerable questions (SQuAD 2.0)."""

from ui.tasks.base import DataSet, Values
from ui.tasks.spans import SpansView, squad_words
from ui.translations import _


class SpansOrNoneView(SpansView):
    name = "span-or-none"
    section = "An answer, or none"
    small = Values(3, 8, 1e-4, 256)

    def title(self) -> str:
        return _("… or no answer")

    def expected(self) -> str:
        return squad_words() + _(", and `is_impossible`.")

    def formats(self) -> dict[str, str]:
        return {"squad2": "SQuAD 2.0"}

    def floor_title(self) -> str:
        return _("never an answer")

    def sets(self) -> dict[str, DataSet]:
        note = _("every third question has no answer in its passage")
        return {"questions-or-none": DataSet(self.name, ".json", _("Questions or none"), note)}
