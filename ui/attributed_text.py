"""A text with the attribution of each word, shown redundantly by colour, sign and number."""

import html
from collections.abc import Sequence

import streamlit as st

from ui.text import Signed, visible

_FOR, _AGAINST = "213, 94, 0", "0, 114, 178"  # the ends of plots.theme.DIVERGING


def attributed_html(
    words: Sequence[str], values: Sequence[float], *, label: str, breaks: Sequence[int] = (), titles: Sequence[str] = ()
) -> str:
    """Words with their values as safe HTML; the tint grows with |value| relative to the largest |value|.

    breaks: words that begin a new line (the second text of a pair) · titles: shown on hover.
    """
    largest = max(map(abs, values), default=0.0) or 1.0
    chips = []
    for i, (word, value) in enumerate(zip(words, values, strict=True)):
        if i in breaks:
            chips.append('<li aria-hidden="true" style="flex-basis: 100%; margin: 0"></li>')
        strength = abs(value) / largest
        tint = _FOR if value > 0 else _AGAINST
        style = (
            f"background: rgba({tint}, {0.6 * strength:.3f}); border-radius: 0.35rem; padding: 0.1rem 0.4rem;"
            f"border-bottom: 3px {'solid' if value > 0 else 'dotted'} rgba({tint}, {min(1.0, 0.25 + strength):.3f});"
            "display: inline-flex; flex-direction: column; align-items: center; margin: 0;"
        )
        title = f' title="{html.escape(visible(titles[i], spaces=False))}"' if titles else ""
        chips.append(
            f'<li style="{style}"{title}><bdi style="font-size: 1.25rem; overflow-wrap: anywhere">'
            f"{html.escape(visible(word, spaces=False))}</bdi>"
            f'<small style="font-size: 0.9rem; font-variant-numeric: tabular-nums">{Signed(value):+.2f}</small></li>'
        )
    return (
        '<ol dir="auto" style="list-style: none; display: flex; flex-wrap: wrap; gap: 0.35rem; padding: 0; margin: 0"'
        f' aria-label="{html.escape(visible(label, spaces=False))}">{"".join(chips)}</ol>'
    )


def show_attributed(words: Sequence[str], values: Sequence[float], **options) -> None:
    """Draw `attributed_html`."""
    st.html(attributed_html(words, values, **options))
