"""Step by step: clean, split, case, punctuation, WordPiece, ids."""

from collections import Counter

import streamlit as st

from minibert.text.characters import is_cjk, is_mark, is_punctuation
from minibert.tokenizer import (
    Explanation,
    Tokenizer,
    clean,
    decompose,
    space_out_cjk,
    split_off_punctuation,
    split_on_spaces,
)
from plots.tokenization import ChangedWord, boxes, cards, marked_text
from sections.tokenization import ids, tries
from sections.tokenization.drawn import caption, in_order, kind, more_words, shown
from sections.tokenization.subject import Inputs
from ui.errors import translated
from ui.lesson import Lesson
from ui.source import show_source
from ui.stepper import stepper
from ui.text import visible
from ui.translations import _, ngettext


def step_clean(e: Explanation, tokenizer: Tokenizer) -> None:
    changes = {change.position: change for change in e.changes}
    if not changes:
        st.info(
            _("Nothing to clean here: no control characters, no invisible ones, only plain spaces."),
            icon=":material/check:",
        )
    runs: list[tuple[str, str, str]] = []
    for position, c in enumerate(e.text):
        change = changes.get(position)
        if change is None:
            runs.append((visible(c, spaces=False), "", ""))
            continue
        name, why = f"{change.code_point} {change.name}".strip(), translated(change.why)
        if change.became:
            runs += [(change.code_point, "out", f"{name}{_(': ')}{why}"), ("␣", "new", _("a plain space"))]
        else:
            runs.append((change.code_point, "out", f"{name}{_(': ')}{why}"))
    caption(_("Your text, character by character"))
    st.html(marked_text(runs))
    caption(_("After cleaning"))
    st.html(marked_text([(visible(e.cleaned, spaces=False), "", "")]))
    if changes:
        kinds = Counter((c.code_point, c.name, c.became, c.why) for c in e.changes)
        rows = [
            {
                _("character"): f"{point} {name}".strip(),
                _("how often"): count,
                _("what happens"): _("becomes a plain space") if became else _("dropped"),
                _("why"): translated(why),
            }
            for (point, name, became, why), count in kinds.most_common(50)
        ]
        st.dataframe(rows, hide_index=True, width="content")
    show_source(clean)


def step_split(e: Explanation, tokenizer: Tokenizer) -> None:
    runs: list[tuple[str, str, str]] = []
    inserted = _("inserted beside a Chinese character")
    for c in e.cleaned:
        if c == " ":
            runs.append(("␣", "cut", ""))
        elif is_cjk(c):
            runs += [("␣", "new", inserted), (c, "", ""), ("␣", "new", inserted)]
        else:
            runs.append((visible(c, spaces=False), "", ""))
    caption(
        _("Spaces, and those inserted around {n} Chinese characters").format(n=len(e.cjk)) if e.cjk else _("Spaces")
    )
    st.html(marked_text(runs))
    caption(ngettext("{n:,} word", "{n:,} words", e.word_count).format(n=e.word_count))
    st.html(boxes([[word_box(one)] for one in in_order(e)], more_words(e)))
    show_source(split_on_spaces)
    show_source(space_out_cjk)


def word_box(one) -> tuple[str, str]:
    if hasattr(one, "token"):
        return visible(one.token), "special"
    text = one.split.text
    return visible(text), "cjk" if len(text) == 1 and is_cjk(text) else ""


def step_case(e: Explanation, tokenizer: Tokenizer) -> None:
    if not e.lowercase:
        st.info(
            _("This tokenizer is cased: capitals and accents stay. With an uncased vocabulary this step works."),
            icon=":material/match_case:",
        )
    rows = [[ChangedWord([visible(one.token)], {})] if hasattr(one, "token") else stages(one) for one in in_order(e)]
    changed = sum(len(lines) > 1 for lines in rows)
    if e.lowercase:
        caption(
            ngettext("{n:,} word changes", "{n:,} words change", changed).format(n=changed)
            if changed
            else _("No word changes: no capitals and no accents here.")
        )
    st.html(cards(rows, more_words(e)))
    show_source(decompose)
    show_source(Tokenizer.fold, find="if self.lowercase")


def stages(word) -> list[ChangedWord]:
    """The stages of a word that change it: original, decomposed, lowercased."""
    lines = [ChangedWord(shown(word.split.text), {})]
    if word.decomposed.text != word.split.text or word.dropped:
        lost = {n: "out" for n, c in enumerate(word.decomposed.text) if is_mark(c)} if word.dropped else {}
        lines.append(
            ChangedWord(shown(word.decomposed.text), lost, _("taken apart") if not lost else _("accents dropped"))
        )
    small = {n: "changed" for n, (a, b) in enumerate(zip(word.stripped.text, word.lowered.text, strict=True)) if a != b}
    if small or len(lines) > 1:
        lines.append(ChangedWord(shown(word.lowered.text) or ["∅"], small, _("lower case") if small else ""))
    return lines


def step_punctuation(e: Explanation, tokenizer: Tokenizer) -> None:
    groups = [
        [(visible(one.token), "special")]
        if hasattr(one, "token")
        else [(visible(part.span.text), "punct" if is_punctuation(part.span.text[0]) else "") for part in one.parts]
        for one in in_order(e)
    ]
    split = sum(len(group) > 1 for group in groups)
    caption(
        ngettext("{n:,} word is split", "{n:,} words are split", split).format(n=split)
        if split
        else _("Nothing to split off: no punctuation touches a word here.")
    )
    st.html(boxes([group for group in groups if group], more_words(e)))
    show_source(split_off_punctuation)
    show_source(is_punctuation)


# Section of the lesson, label in the stepper, function that draws the step.
def steps() -> list[tuple[str, str, object]]:
    return [
        ("Clean", _("Clean"), step_clean),
        ("Split", _("Split"), step_split),
        ("Case and accents", _("Case"), step_case),
        ("Punctuation", _("Punctuation"), step_punctuation),
        ("WordPiece", _("WordPiece"), step_wordpiece),
        ("Tokens and ids", _("Ids"), ids.show),
    ]


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """One step at a time: its text, then its effect on the sentence."""
    everything = steps()
    step = stepper("step", [label for _heading, label, _view in everything])
    heading, _label, view = everything[step]
    lesson.show(heading)
    with st.container(border=True, key="stage"):
        view(inputs.steps, inputs.tokenizer)


def step_wordpiece(e: Explanation, tokenizer: Tokenizer) -> None:
    parts = [part for word in e.words for part in word.parts]
    if not parts:
        st.info(_("No word has come this far."), icon=":material/edit:")
        return
    st.html(boxes([[(visible(piece), kind(piece)) for _s, _e, piece in part.pieces] for part in parts], more_words(e)))
    part = parts[tries.choose(e.text, tokenizer, parts)]
    tries.draw(part, tokenizer)
    show_source(Tokenizer.wordpiece, find="in self.pieces")
