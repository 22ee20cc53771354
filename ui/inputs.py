"""Text fields for sentences of the reader's own: any input is kept, none breaks a page."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Literal

import streamlit as st

from ui.state import follow_link, set_url, url_choice, url_int, url_text
from ui.text import literal, shorten
from ui.translations import _

MAX_SEED = 999_999
_SHOWN = 48  # characters of an example on its button


def sentence_input(
    key: str,
    examples: Sequence[str],
    *,
    label: str | None = None,
    max_chars: int = 5_000,
    multiline: bool = False,
    default: str | None = None,
    placeholder: str | None = None,
    help: str | None = None,
    height: int | Literal["content"] = 140,
) -> str:
    """An editable text with examples to click; returns the first `max_chars` characters of what is in it.

    The text is in the link under `key` while it is short. A longer text than `max_chars` stays in the field, whole, and
    a line says how much of it is used. Without `default` the first example is there at the start; "" is a valid text.
    """
    start = default if default is not None else (examples[0] if examples else "")
    if follow_link(key) or key not in st.session_state:
        st.session_state[key] = url_text(key, start)
    field = st.text_area if multiline else st.text_input
    text = field(
        label or _("Your text"),
        key=key,
        placeholder=placeholder or _("Type a sentence"),
        help=help,
        **({"height": height} if multiline else {}),
    )
    set_url(key, text, default=start)
    if examples:
        buttons = f"{key}-example"
        st.session_state[buttons] = examples.index(text) if text in examples else None
        st.pills(
            _("Examples"),
            range(len(examples)),
            format_func=lambda index: literal(shorten(examples[index], _SHOWN)),
            key=buttons,
            label_visibility="collapsed",
            on_change=_use_example,
            args=(key, buttons, list(examples)),
        )
    if len(text) > max_chars:
        st.info(
            _("Your text has {n:,} characters. It is all kept; this page uses the first {max:,}.").format(
                n=len(text), max=max_chars
            ),
            icon=":material/content_cut:",
        )
    return text[:max_chars]


def _use_example(key: str, buttons: str, examples: list[str]) -> None:
    chosen = st.session_state[buttons]
    if chosen is not None:
        st.session_state[key] = examples[chosen]


def seed_input(start: int) -> int:
    """A button to draw again and the number it changes, in the link as `seed`."""
    st.button(_("Draw again"), key="draw", icon=":material/casino:", type="primary", on_click=_next_seed)
    seed = st.number_input(_("Seed"), 0, MAX_SEED, start, key="seed", bind="query-params", width=150)
    return start if seed is None else int(seed)


def _next_seed() -> None:
    st.session_state["seed"] = (int(st.session_state.get("seed") or 0) + 1) % (MAX_SEED + 1)


def choice(key: str, label: str, names: Mapping[str, str], *, wrap: bool = False) -> str:
    """One of a few, side by side; its name is in the link under `key`. names: name → words, the default first.

    wrap: there may be too many for a row.
    """
    first = next(iter(names))
    # Not bind="query-params": that would put the words into the link, and words are translated.
    if follow_link(key) or st.session_state.get(key) not in names:
        st.session_state[key] = url_choice(key, list(names), first)
    buttons = st.pills if wrap else st.segmented_control
    chosen = buttons(label, list(names), format_func=lambda name: names.get(name, ""), key=key, required=True)
    set_url(key, chosen, default=first)
    return chosen


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """The same, newest first, with a number after a name that an older one has too: of two options with one name a
    select box can only tell the last."""
    found: dict[str, str] = {}
    for key in reversed(names):
        others = {*names.values(), *found.values()}
        numbered = (f"{names[key]} ({n})" for n in count(2))
        found[key] = next(x for x in numbered if x not in others) if names[key] in found.values() else names[key]
    return {key: found[key] for key in names}


def state(name: str) -> str:
    """The session's key of a choice that is in the link as `name`."""
    return f"choice-{name}"


def pick(
    name: str, label: str, options: Sequence[str], default: int = 0, *, width: int | Literal["stretch"] = "stretch"
) -> int:
    """A select box over numbered things: counted from 1 in the link, from 0 in what is returned."""
    key, last = state(name), len(options) - 1
    default = max(0, min(default, last))
    if follow_link(name) or key not in st.session_state:
        st.session_state[key] = url_int(name, default + 1, 1, len(options)) - 1
    st.session_state[key] = min(st.session_state[key], last)
    chosen = st.selectbox(label, range(len(options)), format_func=lambda i: options[i], key=key, width=width)
    set_url(name, chosen + 1, default=default + 1)
    return chosen


def numbered(tokens: Sequence[str]) -> list[str]:
    """Tokens with their positions, counted from 1."""
    return [f"{index + 1} · {token}" for index, token in enumerate(tokens)]


def clicked(chart: str, *keys: str) -> None:
    """Callback of a figure: what was clicked goes to the session's `keys`, in the order of its customdata."""
    points = st.session_state[chart].selection.points
    if points:
        data = points[0]["customdata"]
        values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else [data]
        for key, value in zip(keys, values, strict=False):
            st.session_state[key] = int(value)
