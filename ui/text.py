"""Escapes and formats user text for display, so that it is never interpreted as markup."""

import html
import json
import math
import unicodedata
from collections.abc import Sequence

import streamlit as st

# Characters with a meaning in Markdown, in Streamlit's directives (:red[…], :material/…:) or in formulas.
_MARKDOWN = set("\\`*_{}[]()<>#+-.!|~:$=^\"'&@/")


def literal(text: object) -> str:
    """The text escaped for st.markdown and widget labels, which then show exactly this text: no markup, no HTML.

    Line breaks become spaces; NUL and other control characters become visible (⟨U+0000⟩).
    """
    parts = []
    for char in visible(str(text), spaces=False):
        # A numeric entity is literal in Markdown and in HTML alike; a backslash would show in HTML.
        parts.append(f"&#{ord(char)};" if char in _MARKDOWN else char)
    return "".join(parts)


class Signed(float):
    """A number for `format`: a negative one is written with a minus sign (−), not with a hyphen."""

    def __format__(self, spec: str) -> str:
        return super().__format__(spec).replace("-", "−")


def as_script(value: object) -> str:
    """A value as JSON for use in a <script>: escaped such that no text in it can end the script or begin markup."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def visible(text: str, *, spaces: bool = True) -> str:
    """The text with invisible characters made visible: controls as ⟨U+0000⟩ and, if `spaces`, spaces as ␣."""
    parts = []
    for char in text:
        code = ord(char)
        if char == " ":
            parts.append("␣" if spaces else " ")
        elif char in "\n\r\t":
            parts.append({"\n": "⏎", "\r": "␍", "\t": "⇥"}[char] if spaces else " ")
        elif unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn", "Zs", "Zl", "Zp") or char in _BIDI:
            parts.append(f"⟨U+{code:04X}⟩")
        else:
            parts.append(char)
    return "".join(parts)


def one_by_one(*parts: str) -> str:
    """One after the other, with a space between; none after a full-width mark."""
    return "".join(part if part.endswith(("。", "！", "？")) else f"{part} " for part in parts).rstrip()


def shorten(text: str, most: int) -> str:
    """The text as one line of at most `most` characters, invisible characters made visible; not escaped (`literal`)."""
    line = visible(text, spaces=False)
    return line if len(line) <= most else line[: most - 1] + "…"


def tex(value: float, decimals: int = 4) -> str:
    """A number for a TeX formula, in parentheses if it is negative; any infinity as −∞."""
    if math.isinf(value):
        return r"-\infty"
    text = f"{value:,.{decimals}f}".replace(",", "{,}")
    return f"({text})" if text.startswith("-") else text


# Bidirectional control characters: shown by code point, else one token could reorder its neighbours.
# Zero-width joiners are kept: emoji and many scripts need them.
_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

KINDS = ("plain", "special", "piece", "unknown", "mask", "changed", "kept", "faded", "cut")
SEGMENTS = "AB"


def kind_of(token: str) -> str:
    """Default kind of a token: special, mask, unknown, piece (continuation) or plain."""
    if token == "[MASK]":
        return "mask"
    if token == "[UNK]":
        return "unknown"
    if token.startswith("[") and token.endswith("]") and len(token) > 2:
        return "special"
    return "piece" if token.startswith("##") and len(token) > 2 else "plain"


def tokens_html(
    tokens: Sequence[str],
    *,
    under: Sequence[object] | None = None,
    kinds: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    segments: Sequence[int] | None = None,
    targets: Sequence[str] | None = None,
    selected: int | None = None,
    limit: int = 300,
    label: str = "",
) -> str:
    """A row of token chips as safe HTML for `st.html`; everything in it is escaped.

    under: small text below each token, such as its id. kinds: one of KINDS each (which differ by border as well as by
    colour), by default from `kind_of`. titles: shown on hover. segments: 0 or 1, drawn as A or B. targets: what is to
    be predicted at each token. After `limit` tokens only the number of the others is shown.
    """
    chips = []
    for index, token in enumerate(tokens[:limit]):
        kind = kinds[index] if kinds is not None else kind_of(token)
        if kind not in KINDS:
            raise ValueError(f"unknown kind of token {kind!r}; one of {KINDS}")
        title = f' title="{html.escape(visible(titles[index], spaces=False))}"' if titles is not None else ""
        current = ' aria-current="true"' if index == selected else ""
        below = f"<small>{html.escape(visible(str(under[index]), spaces=False))}</small>" if under is not None else ""
        segment = ""
        if segments is not None:
            letter = SEGMENTS[segments[index]]
            kind += f" mb-segment-{letter.lower()}"
            segment = f'<small class="mb-segment">{letter}</small>'
        if targets is not None and targets[index]:
            segment += f'<small class="mb-asked">{html.escape(visible(targets[index], spaces=False))}</small>'
        shown = html.escape(visible(token)) or "∅"
        chips.append(f'<li class="mb-token mb-{kind}"{title}{current}><bdi>{shown}</bdi>{below}{segment}</li>')
    if len(tokens) > limit:
        chips.append(f'<li class="mb-token mb-faded">… +{len(tokens) - limit}</li>')
    name = f' aria-label="{html.escape(label)}"' if label else ""
    return f'<ol class="mb-tokens" dir="auto"{name}>{"".join(chips)}</ol>'


def show_tokens(tokens: Sequence[str], **options) -> None:
    """Draw `tokens_html`."""
    st.html(tokens_html(tokens, **options))
