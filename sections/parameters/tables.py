"""Parts as a table, and the point clicked in a figure."""

from collections.abc import Iterable, Mapping

import streamlit as st

from minibert.count import CostTerm
from ui.translations import _


def part_table(parts: Iterable[CostTerm], names: Mapping[str, str] | None = None) -> list[dict]:
    """One row per part: its formula, number of copies, and parameter count."""
    return [
        {
            _("part"): (names or {}).get(part.name, part.name),
            _("formula"): part.formula,
            _("copies"): part.times,
            _("number"): part.total,
        }
        for part in parts
    ]


def clicked_name(chart: str) -> str | None:
    """The name attached to the clicked point of a figure."""
    points = st.session_state[chart].selection.points
    data = points[0].get("customdata") if points else None
    return data[0] if isinstance(data, list) else data
