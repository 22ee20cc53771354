"""The tries for one word: the choice of the word, and the steps of longest match first."""

from collections.abc import Sequence

import streamlit as st

from minibert.tokenizer import Part, Tokenizer
from plots.tokenization import ladder
from sections.tokenization.drawn import shown
from ui.state import follow_link, set_url, url_int
from ui.text import literal, shorten, visible
from ui.translations import _, ngettext

MOST_CHOICES = 60  # most words to choose from
WORD = "_word"  # session_state key: index of the word
_OF = "_word-of"  # session_state key: (text, id of the tokenizer) of that index


def read(text: str, tokenizer: Tokenizer, parts: Sequence[Part]) -> int:
    """Index of the shown word: from the link, else the user's choice, else the word with most tries."""
    state, most = st.session_state, min(len(parts), MOST_CHOICES)
    if follow_link("word"):
        state[WORD] = url_int("word", start_of(parts) + 1, 1, len(parts)) - 1
    if state.get(_OF) != (text, id(tokenizer)):
        if _OF in state:
            state.pop(WORD, None)
        state[_OF] = (text, id(tokenizer))
    if not 0 <= (state.get(WORD) or 0) < most:
        state.pop(WORD, None)
    if state.get(WORD) is None:
        state[WORD] = start_of(parts)
    return state[WORD]


def start_of(parts: Sequence[Part]) -> int:
    """Index of the default word, the one with most tries."""

    def effort(n: int) -> tuple:
        return len(parts[n].tries or ()), parts[n].unknown is not None, -n

    return max(range(min(len(parts), MOST_CHOICES)), key=effort)


def choose(text: str, tokenizer: Tokenizer, parts: Sequence[Part]) -> int:
    """The words as buttons; returns the index of the chosen one."""
    st.session_state["word-choice"] = read(text, tokenizer, parts)  # the widget loses its state while it is not drawn
    chosen = st.pills(
        _("The tries for one word (and how many there were)"),
        range(min(len(parts), MOST_CHOICES)),
        format_func=lambda n: literal(f"{shorten(parts[n].span.text, 24)} · {len(parts[n].tries or ())}"),
        required=True,
        key="word-choice",
        on_change=_take,
    )
    say(chosen, parts)
    if len(parts) > MOST_CHOICES:
        st.caption(_("The first {n} of {total:,} words can be chosen.").format(n=MOST_CHOICES, total=len(parts)))
    return chosen


def _take() -> None:
    st.session_state[WORD] = st.session_state["word-choice"]


def say(chosen: int, parts: Sequence[Part]) -> None:
    set_url("word", chosen + 1, default=start_of(parts) + 1)


def counted(part: Part) -> str:
    """The number of tries, and of pieces found."""
    tries = part.tries or []
    results = sum(one.found for one in tries)
    failed = ngettext("{n:,} try", "{n:,} tries", len(tries)).format(n=len(tries))
    found = ngettext("{n:,} piece found", "{n:,} pieces found", results).format(n=results)
    return _("{tries}, {found}").format(tries=failed, found=found)


def draw(part: Part, tokenizer: Tokenizer) -> None:
    """The tries, one row each."""
    st.html(
        ladder(
            shown(part.span.text),
            part.tries or [],
            ids=tokenizer.ids,
            words={
                "yes": _("id {id:,}"),
                "no": _("not there"),
                "skipped": _("{n:,} more tries, each one character shorter"),
                "unk": _("id {id:,}").format(id=tokenizer.unk_id),
            },
            unknown=why_unknown(part, tokenizer),
            label=counted(part),
        )
    )
    st.markdown(counted(part) + _("."))


def why_unknown(part: Part, tokenizer: Tokenizer) -> str:
    """Why the word became [UNK]; "" if it did not."""
    if part.unknown is None:
        return ""
    length = len(part.span.text)
    if part.unknown.reason == "too_long":
        return _(
            "This word has {length:,} characters, and WordPiece tries none longer than {limit} (Hugging Face’s limit; "
            "Google’s code: 200): the whole word becomes [UNK]."
        ).format(length=length, limit=tokenizer.max_word_chars)
    at = part.unknown.position
    return _(
        "At character {at} of {length}, not even {character} by itself is in the vocabulary: "
        "the whole word becomes [UNK]."
    ).format(at=at + 1, length=length, character=("##" if at else "") + visible(part.span.text[at]))
