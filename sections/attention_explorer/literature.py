"""What Clark et al. 2019 report of BERT-base's heads, beside this model's number of heads of each kind."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from ui.inspected_model import InspectedModel
from ui.lesson import LESSONS
from ui.text import literal
from ui.translations import _, ngettext, pgettext

if TYPE_CHECKING:
    from minibert.inside.heads.kinds import HeadKinds

FOLDER = LESSONS / "attention_explorer"


@st.cache_data(show_spinner=False)
def literature(name: str) -> dict[str, dict[str, str]]:
    """A CSV file of the results of Clark et al. 2019: its first column → row, one per relation or kind."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        first = reader.fieldnames[0]
        return {row[first]: row for row in reader}


def show_kinds(subject: InspectedModel, kinds: HeadKinds) -> None:
    """Heads that attend mostly to one position, counted as the paper counts them."""
    from minibert.inside.heads.kinds import KINDS

    layers, heads = subject.shape
    names = {
        "previous": _("heads with over half on the previous token"),
        "next": _("heads with over half on the next token"),
        "sep": _("layers with over half on [SEP]"),
        "cls": _("layers with over half on [CLS]"),
    }

    def said(count: int, of: int, places: Sequence[int | str]) -> str:
        if not places:
            return pgettext("a count", "{n} of {all}").format(n=count, all=of)
        where = ngettext("layer {layers}", "layers {layers}", len(places))
        return _("{n} of {all} ({where})").format(
            n=count, all=of, where=where.format(layers=_(", ").join(map(str, places)))
        )

    lines = [f"| | {literal(subject.title)} | BERT-base (Clark et al. 2019) |", "|---|---|---|"]
    for kind, words in names.items():
        scores = kinds.scores[KINDS.index(kind)]  # (L, A)
        paper = literature("literature_kinds").get(kind)
        by_layer = kind in ("sep", "cls")
        of_all = layers if by_layer else layers * heads
        over = ((scores.mean(-1, keepdim=True) if by_layer else scores) > 0.5).nonzero()[:, 0].tolist()
        theirs = "–"
        if paper is not None:
            theirs = (
                said(int(paper["count"]), int(paper["of"]), paper["layers"].split())
                + pgettext("between clauses", ", ")
                + paper["where"]
            )
        lines.append(f"| {words} | {said(len(over), of_all, sorted({layer + 1 for layer in over}))} | {theirs} |")
    st.markdown("\n".join(lines))
