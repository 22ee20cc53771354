"""The central picture: the sentence as a tree of facts, its visibility mask, and the predictions at the blank."""

import html
from functools import partial

import streamlit as st

from sections.knowledge.subject import Inputs, answers, ways
from ui.figures import bars_in_words, figure, figure_title, legend
from ui.inputs import numbered, pick
from ui.lesson import Lesson
from ui.page import picture
from ui.predict import predict
from ui.text import literal, visible
from ui.translations import _, ngettext

TOP = 3  # words shown per answer
NARROW = 16  # up to so many tokens the matrix fits a phone
SHOWN = ("none", "both", "positions", "neither")


def show(lesson: Lesson, inputs: Inputs) -> None:
    with picture():
        if not inputs.text.strip():
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        tree = inputs.tree
        with st.container(gap="xsmall"):
            st.markdown(f"**{_finding(inputs, tree)}**")
            st.html(tree_html(tree))
            if not tree.facts:
                words = _("A fact has two bars: subject | relation | object. Its subject must stand in the sentence.")
                st.caption(words)
        left, right = st.columns(2, gap="medium")
        with left.container(gap="xsmall"):
            _matrix(tree)
        with right.container(gap="xsmall"):
            _answers(inputs, tree)


def _finding(inputs: Inputs, tree) -> str:
    if not tree.facts:
        return _("No fact is attached to this sentence: it is read unchanged.")
    n, own = len(tree.facts), len(tree.sentence)
    num_added = len(tree.tokens) - own
    return ngettext(
        "{n} fact adds {hung} tokens, and no word of the sentence changes its position.",
        "{n} facts add {hung} tokens, and no word of the sentence changes its position.",
        n,
    ).format(n=n, hung=num_added)


def tree_html(tree) -> str:
    """The sentence's tokens in a row, each with its soft position, and the branches below their subject; safe HTML."""
    branches: dict[int, list[str]] = {}
    for token, position, branch in zip(tree.tokens, tree.positions, tree.branch, strict=True):
        if branch:
            branches.setdefault(branch, []).append(_box(token, position))
    under = {places[-1]: [] for places in tree.hangs_on.values()}
    for number, places in tree.hangs_on.items():
        under[places[-1]].append(f'<li class="branch">{"".join(branches[number])}</li>')
    columns = []
    for at in tree.sentence:
        branch_list = f"<ul>{''.join(under[at])}</ul>" if at in under else ""
        named = " named" if any(at in places for places in tree.hangs_on.values()) else ""
        columns.append(f'<li class="trunk{named}">{_box(tree.tokens[at], tree.positions[at])}{branch_list}</li>')
    label = html.escape(_("The sentence with its facts; the number is the soft position."))
    return f'<ol class="mb-tree" aria-label="{label}">{"".join(columns)}</ol>'


def _box(token: str, position: int) -> str:
    return f'<span class="box"><bdi>{html.escape(visible(token))}</bdi><small>{position + 1}</small></span>'


def _matrix(tree) -> None:
    from plots.knowledge import visible_matrix
    from plots.theme import BLUE, ORANGE

    words = [visible(token) for token in tree.tokens]
    mask = tree.visible().tolist()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        chosen = pick("token", _("Who is seen by"), numbered(words), min(1, len(words) - 1), width=130, bare=True)
        who = [words[at] for at, one in enumerate(mask[chosen]) if one]
        title = _("Row “{word}”: it sees {n} of {all}").format(word=words[chosen], n=len(who), all=len(words))
        figure_title(title, "visible")
    figure(
        partial(visible_matrix, words, tree.branch, mask, chosen),
        _("Which of {all} tokens may look at which. “{word}” sees {who}.").format(
            all=len(words), word=words[chosen], who=_(", ").join(who)
        ),
        "visible",
        wide=len(words) > NARROW,
    )
    legend([(BLUE, "■", _("within the sentence")), (ORANGE, "●", _("a branch, and its subject"))])


def _answers(inputs: Inputs, tree) -> None:
    """The predictions at the blank, shown after the user's own prediction."""
    from plots.masking import Blank, expected_tokens

    if inputs.blank is None or not tree.facts:
        st.info(_("With a [MASK] in the sentence and a fact on one of its words: which reading follows the fact more?"))
        return
    predictions = answers(inputs, TOP)
    moved = {way: predictions[way].moved for way in ("both", "neither")}
    question = _("Which changes the answer more?")
    options = [ways()["both"], ways()["neither"]]
    about = "\n".join((inputs.model, inputs.text, *map(str, tree.facts)))
    revealed = predict("believes", question, options, int(moved["neither"] > moved["both"]), about=about)
    panels = [
        Blank(ways()[way], [visible(word) for word in predictions[way].words], predictions[way].shares)
        for way in (SHOWN if revealed else SHOWN[:1])
    ]
    words = _("; ").join(map(bars_in_words, panels))
    title = ""
    if revealed:
        title = _("The fact moves {both:.0%} of the answer with the matrix, {neither:.0%} without").format(**moved)
    figure(
        partial(expected_tokens, panels, columns=1, title=title, axis=_("share of the answer")),
        _("What is expected at [MASK]. {words}.").format(words=words),
        "knowledge-answers",
    )
    if revealed and inputs.own is not None:
        st.caption(_("Attached: {facts}.").format(facts=_("; ").join(literal(str(fact)) for fact in tree.facts)))
