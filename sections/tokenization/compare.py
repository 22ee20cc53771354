"""Words, pieces or characters: the cost and the benefit of a larger vocabulary."""

from dataclasses import astuple
from functools import partial

import numpy as np
import streamlit as st

from minibert.text.vocab import SPECIAL_TOKENS, alphabet_of, count_words
from minibert.text.vocab_growth import Segmentation, growing_vocabulary, kinds_so_far, learned_pieces, ways_to_cut
from plots.tokenization import growth_of_vocabulary, size_against_length
from sections.tokenization.corpus import bundled, chosen_corpus, corpora
from sections.tokenization.subject import Inputs
from ui.figures import figure
from ui.first_views import first_view
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    which = {"reviews": corpora()["reviews"], "above": _("the text of “Learn a vocabulary”")}
    name = choice("compare", _("Text to compare on"), which, wrap=True)
    text = chosen_corpus() if name == "above" else bundled("reviews")
    if not text.strip():
        st.info(_("There is no such text yet."), icon=":material/edit:")
        return
    _compare(lesson, text)


@st.cache_data(show_spinner=False, max_entries=32)
def _compared(text: str) -> tuple[dict[str, Segmentation], list[list[int]], list[list[int]]]:
    """Three ways to cut a text, WordPiece vocabularies of growing size, and the growth of distinct words."""

    def compute() -> dict[str, np.ndarray]:
        counted = count_words([text])
        pieces = learned_pieces([text], lowercase=True)
        start = len(SPECIAL_TOKENS) + len(alphabet_of(counted))
        ways = {way: np.array(astuple(found)) for way, found in ways_to_cut(text).items()}
        curve, kinds = growing_vocabulary(counted, pieces, start), kinds_so_far(text.lower().split())
        return ways | {"curve": np.array(curve), "kinds": np.array(kinds)}

    stored = first_view("tokenization", "compared", "", [text], compute)
    curve, kinds = stored.pop("curve").tolist(), stored.pop("kinds").tolist()
    return {way: Segmentation(*found.tolist()) for way, found in stored.items()}, curve, kinds


def _compare(lesson: Lesson, text: str) -> None:
    ways, curve, (read_words, kinds, letters) = _compared(text)
    pieces = _("pieces, all that can be learned")
    names = {"characters": _("characters"), "pieces": pieces, "words": _("words between spaces")}
    letters_, words_ = ways["characters"], ways["words"]
    figure(
        partial(
            size_against_length,
            {names[way]: (ways[way].entries, ways[way].tokens) for way in ("characters", "words")},
            curve,
            curve_name=_("pieces, more and more of them"),
            x_title=_("vocabulary entries (log scale)"),
            y_title=_("tokens for the whole text"),
            title=_("Characters make rows {times:.1f} times as long as words; pieces lie between").format(
                times=letters_.tokens / words_.tokens
            ),
        ),
        _(
            "The same text: {letters:,} different characters, {tokens:,} of them in a row; {words:,} different words, "
            "{row:,} in a row. WordPiece lies between: from {first:,} tokens with {small:,} entries to {last:,} with "
            "{large:,}."
        ).format(
            letters=letters_.entries,
            tokens=letters_.tokens,
            words=words_.entries,
            row=words_.tokens,
            first=curve[0][1],
            small=curve[0][0],
            last=curve[-1][1],
            large=curve[-1][0],
        ),
        key="size-figure",
        data=lambda: [{_("entries"): x, _("tokens"): y} for x, y in curve],
    )
    lesson.show("Words, pieces or characters?")
    if words_.words < 10:
        st.caption(_("The text is too short to be cut in halves."))
        return
    lesson.show("What unknown means")
    for column, (way, name) in zip(st.columns(3), names.items(), strict=True):
        share = ways[way].lost / ways[way].words
        column.metric(
            name,
            f"{share:.1%}",
            _("{lost:,} of {words:,} words").format(lost=ways[way].lost, words=ways[way].words),
            delta_color="off",
            delta_arrow="off",
        )
    figure(
        partial(
            growth_of_vocabulary,
            read_words,
            {_("different words"): kinds, _("different characters"): letters},
            x_title=_("words read"),
            y_title=_("different ones so far"),
            title=_("After {n:,} words {words:,} different ones, and still more; characters: {letters:,}").format(
                n=read_words[-1], words=kinds[-1], letters=letters[-1]
            ),
        ),
        _("After {n:,} words: {words:,} different words, {letters:,} different characters.").format(
            n=read_words[-1], words=kinds[-1], letters=letters[-1]
        ),
        key="growth-figure",
    )
    show_source(ways_to_cut)
