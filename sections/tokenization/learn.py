"""A vocabulary learned from a text, merge by merge, and how it cuts the class's sentence."""

import hashlib
from pathlib import Path

import streamlit as st

from minibert.text.vocab import Merge
from minibert.text.vocab import learn as minibert_learn
from minibert.text.vocab_growth import LearnedVocabulary
from minibert.tokenizer import Encoding
from plots.tokenization import size_against_length
from sections.tokenization.corpus import choose_corpus, learning
from sections.tokenization.subject import CHOOSE, Inputs
from sections.tokenization.vocabularies import LEARNED, explained, keep_learned, tokenizer_of
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.limits import count_unknown
from ui.player import controls, moving, reported_value
from ui.source import show_source
from ui.state import follow_link, set_url, url_choice, url_int
from ui.text import literal, show_tokens, visible
from ui.translations import _, ngettext, pgettext

START_MERGE = 12  # default number of merges
MOST_CHANGED = 8  # most changed words drawn per merge
MOST_OFTEN = 24  # most frequent words drawn
MOST_TOKENS = 60  # most tokens drawn of the sentence
KEY = "merging"
_HTML = """<div class="moving" role="group" tabindex="0"><p class="said" aria-live="polite"></p>
<div class="way"></div><p class="name"></p><div class="row changed mono"></div><p class="name"></p>
<div class="row often mono"></div></div>"""


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    text = choose_corpus()
    rules = {"frequency": _("frequency"), "ratio": _("frequency, divided by that of its parts")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="learning-choice"):
        scoring = choice("scoring", _("The best pair is chosen by"), rules, wrap=True)
        lowercase = _small_letters()
    if not text.strip():
        st.info(_("Paste a text: a page of anything will do."), icon=":material/edit:")
        return
    with st.spinner(_("Learning …"), show_time=True):
        learned = learning(text, lowercase, scoring)
    step = _step(len(learned.merges))
    with st.container(border=True, key="learning-stage"):
        _merging(learned, step, scoring, f"{text}\n{lowercase}")
    with st.container(border=True, key="learning-sentence"):
        _sentence(learned, step, lowercase, inputs)
    _length(learned, step)
    lesson.show("Where a vocabulary comes from")
    show_source(minibert_learn, find="left, right = best")


def _small_letters() -> bool:
    """Whether the text is lowercased without accents. Not bound to the link: a bound parameter disappears as soon as
    another part of the page is open."""
    key = "learn-lower-toggle"
    if follow_link("learn-lower") or key not in st.session_state:
        st.session_state[key] = url_choice("learn-lower", ["true", "false"], "true") == "true"
    on = st.toggle(_("lower case, no accents"), key=key)
    set_url("learn-lower", str(on).lower(), default="true")
    return on


def _step(last: int) -> int:
    state, start = st.session_state, min(START_MERGE, last)
    if follow_link("merge") or "merge" not in state:
        state["merge"] = url_int("merge", start, 0, last)
    step = state["merge"] = min(state["merge"], last)
    set_url("merge", step, default=start)
    return step


def _take() -> None:
    step = reported_value(KEY, "step")
    if step is not None:
        st.session_state["merge"] = step


def _merging(learned: LearnedVocabulary, step: int, scoring: str, text: str) -> None:
    if not learned.merges:
        st.info(
            _("No two pieces stand side by side twice, so nothing is merged: the vocabulary stays as it begins."),
            icon=":material/info:",
        )
        return
    first = learned.cuts(0)
    words = {word: n for n, word in enumerate(list(first)[:MOST_OFTEN])}
    merges = []
    for merge in learned.merges:
        changed = list(merge.words_changed)
        numbers = [words.setdefault(word, len(words)) for word in changed[:MOST_CHANGED]]
        pieces = [visible(piece) for piece in (merge.left, merge.right, merge.new)]
        merges.append([*pieces, _arithmetic(merge, scoring), numbers, len(changed)])
    begun = _("Before the first merge: {n:,} special tokens and characters").format(n=len(learned.start))
    rows = {
        "identity": hashlib.sha256(f"{scoring}\n{text}".encode("utf-8", "replace")).hexdigest(),
        "words": [[visible(piece) for piece in first[word]] for word in words],
        "often": list(range(min(MOST_OFTEN, len(first)))),
        "merges": merges,
        "step": step,
        "texts": {
            "start": begun,
            "changes": _("changes {n} different words"),
            "changed": _("Words that this merge changes"),
            "often": _("The most frequent words"),
        },
        "controls": controls(_("Merges so far"), _("merge {n} of {last}")),
        "alt": begun if not step else _merged(learned.merges[step - 1], scoring),
    }
    moving("merges", Path(__file__).parent, _HTML)(key=KEY, data=rows, on_step_change=_take)


def _merged(merge: Merge, scoring: str) -> str:
    """A merge in words: its pieces, its score, and the words it changes."""
    pieces = [visible(piece) for piece in (merge.left, merge.right, merge.new)]
    changes = ngettext("changes {n:,} word", "changes {n:,} words", len(merge.words_changed))
    return _("Merge {n:,}: {left} + {right} → {new}, {why}, {changes}.").format(
        n=merge.step,
        left=pieces[0],
        right=pieces[1],
        new=pieces[2],
        why=_arithmetic(merge, scoring),
        changes=changes.format(n=len(merge.words_changed)),
    )


def _arithmetic(merge: Merge, scoring: str) -> str:
    if scoring == "frequency":
        return ngettext("side by side {n:,} time", "side by side {n:,} times", merge.pair_count).format(
            n=merge.pair_count
        )
    return _("{pair:,} / ({left:,} · {right:,}) = {score:.3g}").format(
        pair=merge.pair_count, left=merge.left_count, right=merge.right_count, score=merge.score
    )


def _sentence(learned: LearnedVocabulary, step: int, lowercase: bool, inputs: Inputs) -> None:
    """The class's sentence in the pieces learned so far, and a button that makes them the page's vocabulary."""
    pieces = tuple(learned.pieces(step))
    digest, tokenizer = tokenizer_of(pieces, lowercase)
    encoding = explained(digest, inputs.text, tokenizer).encoding
    same = inputs.vocabulary.name == LEARNED and inputs.vocabulary.pieces == pieces
    said = _("**Your sentence with these {size:,} entries: {tokens}**")
    other = _("; with {name} {tokens}").format(
        name=literal(inputs.vocabulary.title), tokens=_tokens(inputs.steps.encoding)
    )
    st.markdown(said.format(size=len(pieces), tokens=_tokens(encoding)) + ("" if same else other) + _("."))
    show_tokens(encoding.tokens, under=encoding.ids, limit=MOST_TOKENS)
    if same:
        st.success(_("The whole page cuts your sentence with this vocabulary now."), icon=":material/check_circle:")
    elif st.button(_("Use this vocabulary on the whole page"), icon=":material/done_all:", key="use-learned"):
        keep_learned(pieces, lowercase)
        st.session_state[CHOOSE] = LEARNED
        st.rerun()


def _tokens(encoding: Encoding) -> str:
    """How many tokens, and how many of them say nothing of the word they stand for."""
    count = ngettext("{n:,} token", "{n:,} tokens", len(encoding)).format(n=len(encoding))
    unknown = count_unknown(encoding)[0]
    return count + (_(", {n:,} of them {unk}").format(n=unknown, unk=literal("[UNK]")) if unknown else "")


def _length(learned: LearnedVocabulary, step: int) -> None:
    curve = [(learned.size(n), tokens) for n, tokens in enumerate(learned.tokens)]
    size, tokens = curve[step]
    finding = _("{size:,} entries: {tokens:,} tokens, at first {first:,}").format(
        size=size, tokens=tokens, first=curve[0][1]
    )
    chart = size_against_length(
        {},
        curve,
        curve_name=_("a merge at a time"),
        here=(size, tokens, _("here")),
        x_title=_("vocabulary entries (log scale)"),
        y_title=_("tokens for the text"),
        title=finding,
    )
    figure(
        chart,
        _("The text's length falls from {first:,} to {last:,} tokens while the vocabulary grows to {size:,}.").format(
            first=curve[0][1], last=curve[-1][1], size=curve[-1][0]
        ),
        key="learning-figure",
        height=360,
        data=lambda: [
            {
                _("merge"): m.step,
                _("left"): m.left,
                pgettext("a side", "right"): m.right,
                _("new"): m.new,
                _("times"): m.pair_count,
            }
            for m in learned.merges
        ],
    )
