"""WordPiece's window over a word: the longest piece in the vocabulary, then the rest."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from minibert.tokenizer import Part, Tokenizer
from plots.tokenization import direction
from sections.tokenization import tries
from sections.tokenization.drawn import in_order, kind, shown
from sections.tokenization.subject import Inputs
from ui.lesson import Lesson
from ui.page import picture
from ui.player import controls, moving, reported_value
from ui.predict import predict
from ui.source import show_source
from ui.text import shorten, visible
from ui.translations import _, ngettext

MOST_TOKENS = 120  # most tokens drawn below the window
KEY = "wordpiece"
_HTML = """<div class="moving" role="group" tabindex="0"><div class="words mono"></div>
<p class="said" aria-live="polite"></p>
<div class="band"><div class="letters mono"></div></div>
<div class="foot"><ol class="pieces"></ol><div class="way"></div></div><ol class="tokens"></ol></div>"""


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    parts = [part for word in inputs.steps.words for part in word.parts]
    with picture():
        if not parts:
            words = _("No word reaches WordPiece here: the text becomes {tokens}.")
            st.info(
                words.format(tokens=" ".join(f"`{token}`" for token in inputs.steps.encoding.tokens[:4])),
                icon=":material/edit:",
            )
        else:
            part = parts[_window(inputs, parts, _guessed(inputs, len(parts)))]
    if parts:
        with st.expander(_("Every try: {counted}").format(counted=tries.counted(part)), icon=":material/stairs:"):
            tries.draw(part, inputs.tokenizer)
    lesson.show("WordPiece")
    show_source(Tokenizer.wordpiece, find="in self.pieces")
    lesson.show("When it fails")


def _guessed(inputs: Inputs, words: int) -> bool:
    """Ask for the number of tokens; True if the tokens may be shown."""
    right = inputs.tokens
    others = [len(inputs.text.split()), words + 2, len(inputs.text) + 2, right + 3, right + 7, right + 1]
    options = sorted([right, *[n for n in dict.fromkeys(others) if n != right][:3]])
    return predict(
        "tokens",
        _("How many tokens, `[CLS]` and `[SEP]` counted?"),
        [f"{n:,}" for n in options],
        options.index(right),
        about=f"{inputs.vocabulary.name} {inputs.steps.lowercase}\n{inputs.text}",
    )


def _window(inputs: Inputs, parts: Sequence[Part], whole: bool) -> int:
    """The moving picture; returns the index of its word. whole: show all tokens of the text below."""
    e = inputs.steps
    chosen = tries.read(e.text, inputs.tokenizer, parts)
    tries.say(chosen, parts)
    finding = _finding(parts[chosen])
    rows = {
        "identity": f"{e.text}\n{id(inputs.tokenizer)}",
        "words": [_word(part, inputs.tokenizer) for part in parts[: tries.MOST_CHOICES]],
        "word": chosen,
        "tokens": _tokens(inputs) if whole else [],
        "more": f"… +{inputs.tokens - MOST_TOKENS:,}" if whole and inputs.tokens > MOST_TOKENS else "",
        "unk": inputs.tokenizer.unk_id,
        "texts": {"no": _("“{piece}” is not there"), "yes": _("“{piece}” is there: id {id}")},
        "controls": controls(_("Steps so far"), _("step {n} of {last}")),
        "alt": _("WordPiece on one word. {finding}").format(finding=finding),
    }
    moving("window", Path(__file__).parent, _HTML)(key=KEY, data=rows, on_word_change=_take)
    return chosen


def _take() -> None:
    number = reported_value(KEY, "word")
    if number is not None:
        st.session_state[tries.WORD] = number


def _word(part: Part, tokenizer: Tokenizer) -> dict:
    """A word as data for the picture: pieces as [start, end, id], and the position where no piece fits."""
    text = part.span.text
    results = [[one.start, one.end, tokenizer.ids[one.piece]] for one in part.tries or [] if one.found]
    stuck = part.unknown.position if part.unknown and part.unknown.reason == "no_piece" else None
    return {
        "letters": shown(text),
        "found": results,
        "stuck": stuck,
        "unknown": tries.why_unknown(part, tokenizer),
        "question": _("Longest match first: is it in the vocabulary?"),
        "finding": _finding(part),
        "dir": direction(text),
    }


def _finding(part: Part) -> str:
    word, pieces = shorten(part.span.text, 30), len(part.pieces)
    if part.unknown is not None:
        return _("“{word}” becomes [UNK].").format(word=word)
    one = ngettext("“{word}” is {n:,} token", "“{word}” is {n:,} tokens", pieces).format(word=word, n=pieces)
    count = len(part.tries or [])
    return one + ngettext(", found at the first try", ", found in {n:,} tries", count).format(n=count)


def _tokens(inputs: Inputs) -> list[list]:
    """[token, id, CSS class, index of its word in the window or −1] for each token."""
    numbers: dict[int, int] = {}  # word index in the encoding (with special tokens) → in the window
    parts = unit = 0
    for one in in_order(inputs.steps):
        if hasattr(one, "token"):
            unit += 1
        for _part in getattr(one, "parts", ()):
            numbers[unit] = parts
            parts, unit = parts + 1, unit + 1
    encoding = inputs.steps.encoding
    rows = zip(encoding.tokens, encoding.ids, encoding.words, strict=True)
    return [[visible(t), i, kind(t), numbers.get(w, -1)] for t, i, w in list(rows)[:MOST_TOKENS]]
