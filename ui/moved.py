"""Parts of pages that have moved: a link to the place that a part had in version 1.0.0 leads to where it is now."""

from collections.abc import Mapping

import streamlit as st

from ui.navigation import current_page, open_again

MOVED: dict[tuple[str, str], tuple[str, dict[str, str]]] = {  # (page, part) → page, what its link says instead
    ("nezha", "The arithmetic"): ("training_options", {"option": "half"}),
    ("nezha", "LAMB"): ("training_options", {"option": "lamb"}),
    ("nezha", "Batches"): ("training_options", {"option": "batches"}),
    ("nezha", "LAMB’s claim"): ("training_options", {"option": "batches"}),
    ("to_write", "The diff"): ("to_write", {"unilm": "diff"}),
    ("to_write", "Ask and answer"): ("to_write", {"unilm": "answers"}),
    ("to_write", "Train both"): ("to_write", {"unilm": "both"}),
    ("to_write", "The claim"): ("to_write", {"unilm": "claim"}),
    ("to_write", "Generator"): ("to_write", {"part": "BERT"}),
    ("to_write", "Corrector"): ("to_write", {"part": "BERT", "bert": "corrector"}),
    ("to_write", "BART’s noises"): ("to_write", {"part": "BART"}),
    ("to_write", "BART restores"): ("to_write", {"part": "BART", "bart": "restores"}),
}


def place_now(page: str, query: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """(page, link) where the part that a link names is now, with all else that the link says; None if it has not
    moved."""
    there = MOVED.get((page, query.get("part", "")))
    if there is None:
        return None
    name, now = there
    return name, {**{key: value for key, value in query.items() if key != "part"}, **now}


def follow() -> None:
    """Open the current page's link where its part is now."""
    if there := place_now(current_page(), st.query_params):
        open_again(*there)
