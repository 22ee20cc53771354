"""Text from users is never markup. What is shown of it goes through here."""

import html
import json
import math
import unicodedata
from collections.abc import Sequence

import streamlit as st

# Everything that starts something in Markdown, in Streamlit's directives (:red[…], :material/…:) or in mathematics.
_MARKDOWN = set("\\`*_{}[]()<>#+-.!|~:$=^\"'&@/")


def literal(text: object) -> str:
    """The text so that st.markdown, and any widget label, shows exactly it: nothing in it is markup or HTML.

    Line breaks become spaces; NUL and other control characters become visible (⟨U+0000⟩).
    """
    parts = []
    for char in visible(str(text), spaces=False):
        # A numeric entity is literal in Markdown and in HTML alike; a backslash would show in HTML.
        parts.append(f"&#{ord(char)};" if char in _MARKDOWN else char)
    return "".join(parts)


def as_script(value: object) -> str:
    """A value as JSON that may stand in a <script>: no text in it can end the script or begin markup."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def visible(text: str, *, spaces: bool = True) -> str:
    """The text with what cannot be seen made visible: controls as ⟨U+0000⟩ and, if `spaces`, spaces as ␣."""
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


def shorten(text: str, most: int) -> str:
    """The text in a line of at most `most` characters, with what cannot be seen made visible; not yet `literal`."""
    line = visible(text, spaces=False)
    return line if len(line) <= most else line[: most - 1] + "…"


def tex(value: float, decimals: int = 4) -> str:
    """A number in a formula, in brackets if it is negative."""
    if math.isinf(value):
        return r"-\infty"
    text = f"{value:,.{decimals}f}".replace(",", "{,}")
    return f"({text})" if text.startswith("-") else text


# Characters that turn the direction of the text around them: shown by name, or one token could reorder its neighbours.
# Zero-width joiners are left alone: they hold emoji and many scripts together.
_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

KINDS = ("plain", "special", "piece", "unknown", "mask", "changed", "kept", "faded", "cut")
SEGMENTS = "AB"


def kind_of(token: str) -> str:
    """How a token is drawn when nothing else is asked: special, mask, unknown, continuation piece, or plain."""
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
    asked: Sequence[str] | None = None,
    selected: int | None = None,
    limit: int = 300,
    label: str = "",
) -> str:
    """A row of token chips as safe HTML for `st.html`; everything in it is escaped.

    under: small text below each token, such as its id. kinds: one of KINDS each (told apart by border as well as by
    colour), from `kind_of` if not given. titles: shown on hover. segments: 0 or 1, drawn as A or B. asked: what
    is asked at the token, in a line of its own. After `limit` tokens the rest is counted, not drawn.
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
        if asked is not None and asked[index]:
            segment += f'<small class="mb-asked">{html.escape(visible(asked[index], spaces=False))}</small>'
        shown = html.escape(visible(token)) or "∅"
        chips.append(f'<li class="mb-token mb-{kind}"{title}{current}><bdi>{shown}</bdi>{below}{segment}</li>')
    if len(tokens) > limit:
        chips.append(f'<li class="mb-token mb-faded">… +{len(tokens) - limit}</li>')
    name = f' aria-label="{html.escape(label)}"' if label else ""
    return f'<ol class="mb-tokens" dir="auto"{name}>{"".join(chips)}</ol>'


def show_tokens(tokens: Sequence[str], **options) -> None:
    """Draw `tokens_html`."""
    st.html(tokens_html(tokens, **options))
