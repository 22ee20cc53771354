"""Single examples of a dev set: text, ground truth and prediction, as safe HTML for `st.html`."""

import html
from collections.abc import Sequence

from ui.highlights import marked_html
from ui.text import visible

WRONG, RIGHT = "✗", "✓"


def safe(text: object) -> str:
    return html.escape(visible(str(text), spaces=False))


def paragraph(text: str) -> str:
    return marked_html(text, [])


def case(body: str, rows: Sequence[tuple[str, str]]) -> str:
    """One list item. body: safe HTML · rows: (term, safe HTML of its value) listed below it."""
    said = "".join(f"<dt>{safe(term)}</dt><dd>{value}</dd>" for term, value in rows)
    return f'<li>{body}<dl class="mb-said">{said}</dl></li>'


def cases_html(items: Sequence[str]) -> str:
    return f'<ol class="mb-cases">{"".join(items)}</ol>'


def percent(probability: float) -> str:
    return f"{probability:.1%}"
