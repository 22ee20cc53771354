"""Input widgets whose value is stored in the link: sentence fields, seeds, choices, select boxes."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import count
from typing import Any, Literal

import streamlit as st

from ui.state import VISIT, fits_link, follow_link, hold, notes, set_url, url_choice, url_int, url_text, went_back
from ui.text import literal, shorten
from ui.toy_sentences import meaning
from ui.translations import _, first_language

MAX_SEED = 999_999
_TYPED = "_typed"  # session_state key
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
    travels: bool = False,
    examples_in: Any = None,
    live: bool = False,
    blanks: bool = False,
) -> str:
    """A text field with examples to click; returns the first `max_chars` characters of its text.

    The link stores the text as `key` if it is short. A text longer than `max_chars` stays in the field unchanged, and a
    line says how much of it is used. It starts with `default`, else with the first example; "" is a valid text.
    If `examples` change (for a model of another language, or a reader), an old one in the field becomes the first new
    one; so does a `default` without examples.

    The label says what an example of the toy world means, if the page is not in English.

    travels: text that the user typed into such a field on another page is carried over to this one · examples_in:
    container for the examples, if they do not fit under the field · live: a single-line field sends every keystroke ·
    blanks: three underscores or more are a [MASK] in what is returned.
    """
    state, shown = st.session_state, f"{key}-examples"
    new = notes("link").get(key) != state.get(VISIT, 0)  # first run of this field in this visit of the page
    start = default if default is not None else (examples[0] if examples else "")
    if linked := follow_link(key) or key not in state:
        brought = typed() if travels and new and key not in state and not went_back() else ""
        state[key] = url_text(key, (brought if multiline else " ".join(brought.split())) or start)
    offered = list(examples) or [start]
    if not linked and state[key] in state.get(shown, ()) and state[key] not in offered:
        state[key] = offered[0]
    state[shown] = offered
    field = st.text_area if multiline else st.text_input
    text = field(
        " · ".join(filter(None, (label or _("Your text"), literal(meaning(state[key]))))),
        key=key,
        placeholder=placeholder or _("Type a sentence"),
        help=help,
        on_change=_keep_typed if travels else None,
        args=(key,) if travels else None,
        **({"height": height} if multiline else {"live": live}),
    )
    set_url(key, text, default=start)
    if not fits_link(text):
        st.caption(_("The text is too long for the page’s address: a link to this page leaves it out."))
    if examples:
        with examples_in or nullcontext():
            example_pills(
                key,
                example_labels(examples),
                examples.index(text) if text in examples else None,
                partial(_use_example, key, list(examples)),
                label_visibility="collapsed" if examples_in is None else "visible",
            )
    if len(text) > max_chars:
        st.info(
            _("Your text has {n:,} characters. It is all kept; this page uses the first {max:,}.").format(
                n=len(text), max=max_chars
            ),
            icon=":material/content_cut:",
        )
    return with_blanks(text[:max_chars]) if blanks else text[:max_chars]


def with_blanks(text: str) -> str:
    """The text with a [MASK] for each run of three underscores or more, as blanks are typed."""
    return re.sub("_{3,}", "[MASK]", text)


def toy_sentence(examples: Sequence[str], max_chars: int, examples_in: Any) -> str:
    """`sentence_input` for a text in words of the toy world."""
    label = _("Text in words of the toy world")
    return sentence_input("text", examples, label=label, max_chars=max_chars, examples_in=examples_in)


def example_labels(examples: Sequence[str]) -> list[str]:
    """Each example shortened, or unshortened if two would get the same label: the browser identifies pills by label
    alone and would select the wrong one."""
    short = [shorten(example, _SHOWN) for example in examples]
    return [literal(one if short.count(one) == 1 else whole) for one, whole in zip(short, examples, strict=True)]


def typed() -> str:
    """The text the user last typed into a field with `travels=True`; "" if none."""
    return st.session_state.get(_TYPED, "")


def _keep_typed(key: str) -> None:
    if key in st.session_state:  # not if its value came late, when the page no longer had the field
        st.session_state[_TYPED] = st.session_state[key]


def _use_example(key: str, examples: list[str], index: int) -> None:
    st.session_state[key] = examples[index]


def example_pills(
    key: str,
    labels: Sequence[str],
    shown: int | None,
    use: Callable[[int], Any],
    *,
    title: str | None = None,
    suffix: str = "example",
    **look: Any,
) -> None:
    """Examples to click. shown: index of the one that the fields hold · use: called with the index of a clicked one ·
    title, look: label and further arguments of `st.pills` · suffix: of the widget's key; projector mode hides examples.

    When another becomes the shown one by other means than a click, they are other pills, with another key: until the
    browser has drawn them, it reports the old choice, which would be taken for a click and replace what was typed.
    """
    made = notes("examples")
    number, before = made.get(key, (0, shown))
    if shown != before and st.session_state.get(f"{key}-{number}-{suffix}") != shown:
        number += 1
    made[key] = number, shown
    pills = f"{key}-{number}-{suffix}"
    st.session_state[pills] = shown
    st.pills(
        title or _("Examples"),
        range(len(labels)),
        format_func=labels.__getitem__,
        key=pills,
        on_change=_use,
        args=(key, number, pills, shown, use),
        **{"label_visibility": "collapsed", **look},
    )


def _use(key: str, number: int, pills: str, shown: int | None, use: Callable[[int], Any]) -> None:
    chosen = st.session_state.get(pills)  # gone, where the browser's Back has left the page meanwhile
    if chosen is not None and (notes("examples")[key][0] == number or chosen != shown):
        use(chosen)


def seed_input(start: int) -> int:
    """A number field for the seed, stored in the link as `seed`, and a button that increments it."""
    st.button(_("Draw again"), key="draw", icon=":material/casino:", type="primary", on_click=next_seed)
    hold("seed")
    seed = st.number_input(_("Seed"), 0, MAX_SEED, start, key="seed", bind="query-params", width=150)
    return start if seed is None else int(seed)


def next_seed() -> None:
    st.session_state["seed"] = (int(st.session_state.get("seed") or 0) + 1) % (MAX_SEED + 1)


def counter(key: str, label: str, *, button: str, start: int = 1, first: int = 0, last: int = MAX_SEED) -> int:
    """A button that increments a number, from `last` back to `first`; the link stores the number as `key`. button: its
    widget key."""
    state = st.session_state
    if follow_link(key) or not first <= state.get(key, first - 1) <= last:
        state[key] = url_int(key, start, first, last)
    st.button(label, key=button, icon=":material/casino:", on_click=_increment, args=(key, first, last))
    set_url(key, state[key], default=start)
    return state[key]


def _increment(key: str, first: int, last: int) -> None:
    st.session_state[key] = st.session_state[key] + 1 if st.session_state[key] < last else first


def choice(
    key: str,
    label: str,
    names: Mapping[str, str],
    *,
    wrap: bool = False,
    box: int | None = None,
    default: str | None = None,
    bare: bool = False,
) -> str:
    """Choice of one option, shown side by side; the link stores its name as `key`. names: name → label.

    wrap: options may wrap onto several lines · box: use a select box of this width in pixels instead · default: the
    first if it is not one of the options; it may depend on `first_language` · bare: hide the label, except from screen
    readers, as the options are self-explanatory.
    """
    default = default if default in names else next(iter(names))
    chosen(key, names, default)
    hold(key)
    label_shown = "collapsed" if bare else "visible"
    options = {"format_func": lambda name: names.get(name, ""), "key": key, "label_visibility": label_shown}
    if box is not None:
        now = st.selectbox(label, list(names), width=box, **options)
    else:
        now = (st.pills if wrap else st.segmented_control)(label, list(names), required=True, **options)
    set_url(key, now, default=default)
    return now


def chosen(key: str, names: Mapping[str, Any], default: str) -> str:
    """The current value of `choice` with these names, even before it is drawn; does not change the link."""
    state, started = st.session_state, notes("started")
    # Not bind="query-params": that would put the words into the link, and words are translated.
    if follow_link(key) or state.get(key) not in names:
        state[key] = url_choice(key, list(names), default)
    elif started.get(key, (first_language(),))[0] != first_language() and started[key][1] == state[key]:
        state[key] = default  # nobody has chosen: it follows the language
    started[key] = first_language(), default
    return state[key]


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """Key → unique label, in the same order (newest first): a label that an older entry also has gets a number, because
    a select box cannot tell apart two options with the same label."""
    found: dict[str, str] = {}
    for key in reversed(names):
        others = {*names.values(), *found.values()}
        numbered = (f"{names[key]} ({n})" for n in count(2))
        found[key] = next(x for x in numbered if x not in others) if names[key] in found.values() else names[key]
    return {key: found[key] for key in names}


def state(name: str) -> str:
    """Session-state key of the choice that the link stores as `name`."""
    return f"choice-{name}"


def picked(name: str, count: int, default: int = 0) -> int:
    """The current value of `pick` with `count` options, even before it is drawn; does not change the link."""
    key, last = state(name), count - 1
    if follow_link(name) or key not in st.session_state:
        st.session_state[key] = url_int(name, max(0, min(default, last)) + 1, 1, count) - 1
    st.session_state[key] = min(st.session_state[key], last)
    return st.session_state[key]


def pick(
    name: str,
    label: str,
    options: Sequence[str],
    default: int = 0,
    *,
    width: int | Literal["stretch"] = "stretch",
    bare: bool = False,
) -> int:
    """A select box that returns the index of the option, from 0; the link counts from 1. bare: as of `choice`."""
    picked(name, len(options), default)
    chosen = st.selectbox(
        label,
        range(len(options)),
        format_func=lambda i: options[i],
        key=state(name),
        width=width,
        label_visibility="collapsed" if bare else "visible",
    )
    set_url(name, chosen + 1, default=max(0, min(default, len(options) - 1)) + 1)
    return chosen


def numbered(tokens: Sequence[str]) -> list[str]:
    """Tokens with their positions, counted from 1."""
    return [f"{index + 1} · {token}" for index, token in enumerate(tokens)]


def clicked(chart: str, *keys: str) -> None:
    """Callback of a figure: writes the customdata of the clicked point, as ints, to the session-state `keys`."""
    points = st.session_state[chart].selection.points
    if points:
        data = points[0]["customdata"]
        values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else [data]
        for key, value in zip(keys, values, strict=False):
            st.session_state[key] = int(value)
