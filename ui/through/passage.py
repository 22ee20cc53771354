"""The user's input to the models: a sentence with one masked word, and optionally a second sentence."""

import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from ui.inputs import example_pills, sentence_input
from ui.languages import language_of
from ui.lesson import LESSONS
from ui.model_cache import loaded, outline_of
from ui.model_registry import FRONT_PAGE, UNTRAINED, available_models
from ui.projector import projecting
from ui.state import follow_link, set_url, url_int
from ui.text import literal, shorten
from ui.translations import _, first_language
from ui.window import around

MAX_CHARS = 2_500  # of each text; in English some 512 tokens
MAX_WORDS = 24  # drawn of the first text
MOST_TOKENS = 23  # drawn, one row each: more would be unreadable, and over 150 kB to send for three models
LONGEST = 18  # characters shown of a word
CHINESE = (UNTRAINED, "mini-zh")
LOOK_AGAIN = 1.0  # seconds between checks whether the models are loaded
SHOWN, PATIENCE = 2.0, 30.0  # seconds: minimum before the rerun; maximum to wait for `warm_up`
_TIRED = "_through-tired"  # session_state key


@dataclass(frozen=True)
class Passage:
    """text, second: as far as the models have positions; second may be "" · words: (start, end) of the words of text ·
    blank: index of the masked word · models: names of the models that read it."""

    text: str
    second: str
    words: tuple[tuple[int, int], ...]
    blank: int
    models: tuple[str, ...]

    @property
    def hidden(self) -> str:
        """The text with the masked word replaced by [MASK]."""
        start, end = self.words[self.blank]
        return f"{self.text[:start]}[MASK]{self.text[end:]}"

    @property
    def word(self) -> str:
        """The masked word."""
        start, end = self.words[self.blank]
        return self.text[start:end]

    @property
    def start(self) -> int:
        """Character offset of the masked word."""
        return self.words[self.blank][0]


@dataclass(frozen=True)
class PassageState:
    """The passage that the parts of a page show; waiting: the models are not loaded yet."""

    passage: Passage | None
    waiting: bool


def once_loaded(draw: Callable[[bool], Any]) -> Any:
    """Draw content that needs the models: `draw(True)`, without their numbers, while `warm_up` is loading them, as
    importing torch takes seconds; then the page reruns and calls `draw(False)`. Returns what `draw` returns."""
    front = _shipped(FRONT_PAGE)
    waiting = not loaded(front) and not st.session_state.get(_TIRED)
    drawn = draw(waiting)
    if waiting:
        # In a fragment without the fields: a field redrawn before the browser has shown it loses its text.
        st.fragment(_look_again, run_every=LOOK_AGAIN)(time.monotonic(), front)
    return drawn


def _look_again(since: float, front: tuple[str, ...]) -> None:
    waited = time.monotonic() - since
    st.session_state[_TIRED] = waited > PATIENCE
    if waited > PATIENCE or (waited > SHOWN and loaded(front)):
        st.rerun()


def _shipped(names: tuple[str, ...]) -> tuple[str, ...]:
    there = {info.name for info in available_models()}
    return tuple(name for name in names if name in there)


def read_passage() -> Passage | None:
    """The input fields, with examples → the passage; None, with a hint, if the first sentence has no word."""
    st.html(Path(__file__).with_name("fields.css"))
    with st.container(key="through-fields"):
        return _fields()


def _fields() -> Passage | None:
    lists = tomllib.loads((LESSONS / "through" / "passages.toml").read_text(encoding="utf-8"))
    examples = lists.get(first_language(), lists["en"])
    left, right = st.columns(2, gap="medium")
    with left:
        typed = sentence_input(
            "text", [], default=examples[0]["text"], label=_("Your sentence"), max_chars=MAX_CHARS, travels=True
        )
    chosen = next((example for example in examples if example["text"] == typed), None)
    with right:
        label = _("A second sentence: does it follow?")
        second = sentence_input(
            "next", [], default="", label=label, max_chars=MAX_CHARS, placeholder=_("may stay empty")
        )
    if not projecting():
        with st.container(horizontal=True, vertical_alignment="center", key="through-examples"):
            _offer(examples, chosen)
            if chosen and not second.strip():
                st.button(
                    chosen["next"],
                    key="add-next",
                    icon=":material/add:",
                    type="tertiary",
                    on_click=_add,
                    args=(chosen,),
                )
    models = _shipped(CHINESE if language_of(typed) == "zh" else FRONT_PAGE)
    text, second, words = _cut(typed, second.strip(), models)
    if not words:
        st.info(_("Type at least one word."), icon=":material/edit:")
        return None
    return Passage(text, second, words, _blank(text, words, chosen["hide"] if chosen else None), models)


def _offer(examples: list[dict], chosen: dict | None) -> None:
    """Choice of an example by its name: whole sentences would not fit side by side."""
    names = [literal(example["name"]) for example in examples]
    shown = examples.index(chosen) if chosen else None
    example_pills("through", names, shown, partial(_take, examples), width="content")


def _take(examples: list[dict], index: int) -> None:
    offered = [example["next"] for example in examples]
    st.session_state["text"] = examples[index]["text"]
    if st.session_state.get("next") in offered:  # that of another example; what the user typed stays
        st.session_state["next"] = examples[index]["next"]


def _add(example: dict) -> None:
    st.session_state["next"] = example["next"]


def _cut(typed: str, second: str, models: tuple[str, ...]) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    """Both texts, as far as all models have positions, and the (start, end) of the words of the first."""
    from minibert.inside.one_pass import fitting

    outlines = [outline_of(name) for name in models]
    read = outlines[-1].tokenizer
    total = [len(read.encode(one, add_special=False).word_spans()) for one in (typed, second)]
    most = min(outline.config.longest for outline in outlines)
    text, second = fitting([outline.tokenizer for outline in outlines], typed, second, most=most)
    if not read.encode(second, add_special=False).ids:
        second = ""
    words, others = (read.encode(one, add_special=False).word_spans() for one in (text, second))
    if len(words) + len(others) < sum(total):
        said = _("The models read the first {n} of {total} words.")
        if total[1]:
            said = _("The models read the first {n} of {total} words, and of the second sentence {others} of {all}.")
        st.caption(said.format(n=len(words), total=total[0], others=len(others), all=total[1]))
    return text, second, tuple(words)


def _blank(text: str, spans: tuple[tuple[int, int], ...], hide: str | None) -> int:
    """Index of the masked word; a click or an arrow key changes it. Initially a literal [MASK] in the sentence, else
    the word `hide`, else the last word with a letter or digit."""
    state, n = st.session_state, len(spans)
    words = [shorten(text[start:end], LONGEST) for start, end in spans]
    lettered = [i for i, word in enumerate(words) if any(map(str.isalnum, word))] or [n - 1]
    start = next((words.index(word) for word in ("[MASK]", hide) if word in words), lettered[-1])
    if follow_link("blank"):
        state["blank"] = url_int("blank", start + 1, 1, n) - 1
    elif state.get("_through-text") != text or "blank" not in state:
        state["blank"] = start
    state["_through-text"] = text
    blank = state["blank"] = min(state["blank"], n - 1)
    # Buttons, because a segmented control captures the arrow keys once it has been clicked.
    with st.container(key="mask-word", horizontal=True, vertical_alignment="center", gap="xsmall"):
        for index in around(n, MAX_WORDS, blank):
            word = words[index]
            st.button(
                "[MASK]" if index == blank else literal(word),
                key=f"hide-{index}",
                type="primary" if index == blank else "secondary",
                on_click=_move,
                args=(index - blank, n),
            )
        for side, name, by in (("Left", _("Word before"), -1), ("Right", _("Next word"), 1)):
            st.button(name, key=f"hide-{side}", type="tertiary", shortcut=side, on_click=_move, args=(by, n))
    set_url("blank", blank + 1, default=start + 1)
    return blank


def _move(by: int, n: int) -> None:
    """Move the blank relative to its position at callback time, so that two quick presses are two steps."""
    st.session_state["blank"] = max(0, min(n - 1, st.session_state.get("blank", 0) + by))
