"""Sliders for shares of a whole: moving one adjusts the others, so that they always sum to 100 %."""

from collections.abc import Sequence

import streamlit as st

from ui.state import follow_link, set_url


def share_sliders(key: str, labels: Sequence[str], default: Sequence[int]) -> tuple[int, ...]:
    """One slider per share, side by side; returns whole percents that sum to 100.

    The link stores them as `key`=`80-10-10`; if they do not sum to 100 there, `default` is used.
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
    """`values` with the others rescaled to sum to 100 with `values[moved]`, in proportion (equally if all were 0).

    Whole numbers: units lost by rounding down go to the largest remainders; for ties, to the earlier.
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
    # Do not set the moved slider: values set here are sent to the browser and would undo later moves.
    st.session_state.update({name: values[index] for index, name in enumerate(sliders) if index != moved})


def _parse(link: str, count: int) -> list[int] | None:
    parts = link.split("-")
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) <= 3 for part in parts):
        return None
    values = [int(part) for part in parts]
    return values if sum(values) == 100 else None
