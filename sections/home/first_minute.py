"""The first minute: one sentence, a word of it hidden, and what three models of the same code make of it."""

import time
import tomllib
from pathlib import Path

import streamlit as st

from plots.side_by_side import Bar, Card, Part, side_by_side
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.models import FRONT_PAGE, UNTRAINED, available_models, load, loaded, outline_of, version_of
from ui.navigation import link_to
from ui.projector import projecting
from ui.state import follow_link, set_url, url_int
from ui.text import literal, shorten, visible
from ui.translations import _

MAX_CHARS = 400
MAX_WORDS = 24  # more would not stand in a third of a page
LONGEST = 18  # characters of a word that are shown
LOOK_AGAIN = 1.0  # seconds between two looks whether the models are there
SHOWN, PATIENCE = 2.0, 30.0  # seconds before the first look that counts; and after which nobody else is waited for
_TIRED = "_first-minute-tired"  # session_state key
LITTLE = 0.01  # the likeliest word of a model that expects nothing is less likely
MUCH = 0.2  # attention on a word that is worth its name in the title
UNSURE = 0.1  # so near to one half a judgement is none
MOSTLY = 0.5


def show(lesson: Lesson) -> None:
    """The sentence with a word hidden, and the models' answers beside each other.

    torch takes seconds to import, and the page shows before that: the frame first, filled as soon as the models that
    `warm_up` loads are there.
    """
    st.html(Path(__file__).with_name("first_minute.css"))
    examples = tomllib.loads((lesson.folder / "first_minute.toml").read_text(encoding="utf-8"))["example"]
    waiting = not loaded(_models()) and not st.session_state.get(_TIRED)
    with st.container(key="first-minute"):
        _first_minute(examples, waiting)
    if waiting:
        # Apart from the fields: one that is drawn again before the browser has shown it forgets what stands in it.
        st.fragment(_look_again, run_every=LOOK_AGAIN)(time.monotonic())


def _look_again(since: float) -> None:
    waited = time.monotonic() - since
    st.session_state[_TIRED] = waited > PATIENCE
    if waited > PATIENCE or (waited > SHOWN and loaded(_models())):
        st.rerun()


@st.fragment
def _first_minute(examples: list[dict], waiting: bool) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        typed = sentence_input("text", [], default=examples[0]["text"], label=_("Your sentence"), max_chars=MAX_CHARS)
    chosen = next((example for example in examples if example["text"] == typed), None)
    with right:
        second = _second_sentence((chosen or examples[0])["next"])
    _offer(examples, chosen)
    text, words = _words(typed)
    if not words:
        st.info(_("Type at least one word."), icon=":material/edit:")
        return
    shown = [shorten(text[start:end], LONGEST) for start, end in words]
    blank = _blank(text, shown, chosen["hide"] if chosen else None)
    cards = [_card(name, text, words, shown, blank, second, waiting) for name in _models()]
    st.html(side_by_side(cards, _("What each model makes of it"), waiting=waiting))
    _ways_on(text, words[blank], second)


def _models() -> list[str]:
    """Those of the front page that ship here."""
    there = {info.name for info in available_models()}
    return [name for name in FRONT_PAGE if name in there]


def _offer(examples: list[dict], chosen: dict | None) -> None:
    """The examples by their names: whole sentences would not stand side by side."""
    st.session_state["example"] = examples.index(chosen) if chosen else None
    st.pills(
        _("Examples"),
        range(len(examples)),
        format_func=lambda index: literal(examples[index]["name"]),
        key="example",
        label_visibility="collapsed",
        on_change=_take,
        args=(examples,),
    )


def _take(examples: list[dict]) -> None:
    chosen = st.session_state["example"]
    if chosen is not None:
        st.session_state["text"] = examples[chosen]["text"]


def _second_sentence(offered: str) -> str:
    """The field for it. What was offered with one sentence gives way to what is offered with the next; what the reader
    has typed stays."""
    state = st.session_state
    before = state.get("_first-minute-offered")
    if offered != before and state.get("next") == before:
        state.pop("next", None)
    state["_first-minute-offered"] = offered
    return sentence_input("next", [], default=offered, label=_("Does this follow?"), max_chars=MAX_CHARS)


def _words(typed: str) -> tuple[str, list[tuple[int, int]]]:
    """The text as far as it is used, and where its words stand."""
    words = outline_of(UNTRAINED).tokenizer.encode(typed, add_special=False).word_spans()
    if len(words) <= MAX_WORDS:
        return typed, words
    st.caption(_("The models read the first {n} of {total} words.").format(n=MAX_WORDS, total=len(words)))
    return typed[: words[MAX_WORDS - 1][1]], words[:MAX_WORDS]


def _blank(text: str, words: list[str], hide: str | None) -> int:
    """Which word is hidden: a click or an arrow key moves the blank. In a new sentence it is a [MASK] that stands in
    it, else the word named `hide`, else the last one with a letter."""
    state, n = st.session_state, len(words)
    lettered = [i for i, word in enumerate(words) if any(map(str.isalnum, word))] or [n - 1]
    start = next((words.index(word) for word in ("[MASK]", hide) if word in words), lettered[-1])
    if follow_link("blank"):
        state["blank"] = url_int("blank", start + 1, 1, n) - 1
    elif state.get("_first-minute-text") != text or "blank" not in state:
        state["blank"] = start
    state["_first-minute-text"] = text
    blank = state["blank"] = min(state["blank"], n - 1)
    # Buttons, not a segmented control: that one keeps the arrow keys to itself once it has been clicked.
    with st.container(key="first-minute-words", horizontal=True, vertical_alignment="center", gap="xsmall"):
        for index, word in enumerate(words):
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
    """By so many words from where the blank then is: two quick presses are two steps."""
    st.session_state["blank"] = max(0, min(n - 1, st.session_state.get("blank", 0) + by))


# --- what a model says ------------------------------------------------------------------------------------------------


def _card(name: str, text: str, words: list, shown: list[str], blank: int, second: str, waiting: bool) -> Card:
    title, about = {
        UNTRAINED: (_("Random weights"), _("has read nothing")),
        "mini-en": ("mini-en", _("has read for an evening")),
        "minilm-en": ("minilm-en", _("has read a library")),
    }[name]
    if waiting:
        coming = (_("The word it expects"), _("Where it looks"), _("Does the second sentence follow?"))
        return Card(title, about, [Part(finding, "bars", note=_("Loading the model …")) for finding in coming])
    model, version = load(name), version_of(name)
    seen = _seen(name, version, text, tuple(words), blank, model)
    judged = _judged(_follows(name, version, text, second, model) if second.strip() else None)
    if seen is None:
        unread = _("The blank lies beyond what this model reads.")
        return Card(title, about, [Part(unread, "bars"), Part(unread, "words"), judged])
    return Card(title, about, [_guessed(seen, shown[blank]), _looked(seen, shown, blank), judged])


@st.cache_data(show_spinner=False, max_entries=512)
def _seen(name: str, version: int, text: str, words: tuple, blank: int, _model):
    from minibert.inside.one_blank import look

    return look(_model.model, _model.tokenizer, text, words, blank)


@st.cache_data(show_spinner=False, max_entries=512)
def _follows(name: str, version: int, text: str, second: str, _model) -> float:
    from minibert.inside.next_sentence import judge

    return float(judge(_model.model, _model.tokenizer, [(text, second)])[0])


def _guessed(seen, hidden: str) -> Part:
    bars = [
        Bar(visible(word, spaces=False), share, _percent(share), right=word == hidden.lower())
        for word, share in seen.guesses
    ]
    best = bars[0]
    said = _("Expects no word") if best.share < LITTLE else _("Expects “{word}”: {share}")
    unread = _("Most of these words are [UNK] to it.") if seen.unknown > MOSTLY else ""
    return Part(said.format(word=best.name, share=best.written), "bars", bars, unread)


def _looked(seen, shown: list[str], blank: int) -> Part:
    names = ["[CLS]", *shown, "[SEP]"]
    names[blank + 1] = "[MASK]"
    bars = [Bar(name, weight, _percent(weight)) for name, weight in zip(names, seen.weights, strict=True)]
    others = sorted((i for i in range(len(bars)) if i != blank + 1), key=lambda i: -bars[i].share)
    lettered = (i for i in others if 0 < i <= len(shown) and any(map(str.isalnum, shown[i - 1])))
    word = next((bars[i] for i in lettered if bars[i].share >= MUCH), None)
    most = word or bars[others[0]]
    if seen.even:
        said = _("Looks everywhere alike")
    else:
        said = _("Looks at “{word}”: {share}") if word else _("Rests on {word}: {share}")
    return Part(said.format(word=most.name, share=most.written), "words", bars, selected=blank + 1)


def _judged(share: float | None) -> Part:
    if share is None:
        return Part(_("Type a second sentence, and it is judged."), "answer")
    if abs(share - 0.5) < UNSURE:
        said = _("Follows? A toss-up: {share}")
    else:
        said = _("Follows? Yes: {share}") if share > 0.5 else _("Follows? No: {share}")
    return Part(said.format(share=_percent(share)), "answer", [Bar("", share, _percent(share))])


def _percent(share: float) -> str:
    """For the back row: no digits but those that tell a small share from none."""
    from plots.masking import percent

    return percent(share) if share < LITTLE else f"{100 * share:.0f}\u00a0%"


def _ways_on(text: str, word: tuple[int, int], second: str) -> None:
    """The lessons in which each of the three is taken apart, with this sentence."""
    if projecting():
        return
    blanked = f"{text[: word[0]]}[MASK]{text[word[1] :]}"
    best = {"model": _models()[-1]}
    with st.container(horizontal=True, gap="medium", key="first-minute-on"):
        link_to("masking", _("Blanks: Masking"), query_params={"cloze": blanked, **best})
        link_to("attention_explorer", _("Looks: Attention explorer"), query_params={"sentence": blanked, **best})
        link_to("next_sentence", _("What follows: Next sentence"), query_params={"a": text, "b": second, **best})
