"""Sliders for shares of a whole: move one and the others make room, so that together they are always 100 %."""

from collections.abc import Sequence

import streamlit as st

from ui.state import follow_link, set_url


def share_sliders(key: str, labels: Sequence[str], default: Sequence[int]) -> tuple[int, ...]:
    """A slider a share, side by side; returns whole percents that sum to 100.

    They are in the link under `key` as `80-10-10`; a link whose shares do not sum to 100 falls back to `default`.
    """
    sliders = [f"{key}-{index}" for index in range(len(labels))]
    if follow_link(key) or any(name not in st.session_state for name in sliders):
        start = _parse(st.query_params.get(key, ""), len(labels)) or default
        st.session_state.update(zip(sliders, start, strict=True))
    for index, column in enumerate(st.columns(len(labels))):
        column.slider(
            labels[index], 0, 100, key=sliders[index], format="%d %%", on_change=_make_room, args=(sliders, index)
        )
    values = tuple(st.session_state[name] for name in sliders)
    set_url(key, "-".join(map(str, values)), default="-".join(map(str, default)))
    return values


def set_shares(key: str, values: Sequence[int]) -> None:
    """Move the sliders of `share_sliders(key, …)`; for callbacks."""
    st.session_state.update({f"{key}-{index}": value for index, value in enumerate(values)})


def balanced(values: Sequence[int], moved: int) -> list[int]:
    """The others share what `values[moved]` leaves of 100 as they shared before (evenly if they had nothing).

    Whole numbers that sum to 100: what rounding down leaves over goes to the largest remainders, the earlier first.
    """
    rest = 100 - values[moved]
    others = [index for index in range(len(values)) if index != moved]
    weights = [values[index] for index in others]
    if not any(weights):
        weights = [1] * len(others)
    result = list(values)
    remainders = []
    for index, weight in zip(others, weights, strict=True):
        result[index], remainder = divmod(rest * weight, sum(weights))
        remainders.append((-remainder, index))
    for _remainder, index in sorted(remainders)[: 100 - sum(result)]:
        result[index] += 1
    return result


def _make_room(sliders: list[str], moved: int) -> None:
    values = balanced([st.session_state[name] for name in sliders], moved)
    # The moved one is left alone: what is set here is sent back, and would undo moves made since.
    st.session_state.update({name: values[index] for index, name in enumerate(sliders) if index != moved})


def _parse(link: str, count: int) -> list[int] | None:
    parts = link.split("-")
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) <= 3 for part in parts):
        return None
    values = [int(part) for part in parts]
    return values if sum(values) == 100 else None
