"""How the class answered a question: a bar for each option."""

from collections.abc import Mapping, Sequence

import streamlit as st


def show(options: Sequence[str], counts: Mapping[int, int], right: int | None) -> None:
    """options: Markdown · counts: index of an option → how many chose it · right: the option to mark, if any."""
    total = sum(counts.values()) or 1
    for index, option in enumerate(options):
        count = counts.get(index, 0)
        words = f"**{option}** ✓" if index == right else option
        st.progress(min(count / total, 1.0), text=f"{words} – **{count}**")
