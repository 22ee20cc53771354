"""The tree: which model descends from which, and details of one model."""

from functools import partial

import streamlit as st

from minibert.inside.relatives.family import KINDS, FamilyMember, children_of, line_of
from sections.family.subject import Inputs, kind_names
from ui.figures import figure, legend
from ui.inputs import clicked, state
from ui.lesson import Lesson
from ui.navigation import find_page, link_to
from ui.page import picture
from ui.predict import predict
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.family import LOOKS, tree

    words = kind_names()
    with picture():
        revealed = _guessed(inputs)
        kind = inputs.kind if revealed else ""
        if revealed:
            legend([(LOOKS[name][0], SYMBOLS[LOOKS[name][1]], words[name]) for name in KINDS])
        line = " → ".join(line_of(inputs.members, inputs.chosen))
        alt = _("{n} models in the order in which they came. {name}: {line}. From it came: {children}.").format(
            n=len(inputs.members),
            name=inputs.chosen,
            line=line,
            children=_(", ").join(children_of(inputs.members, inputs.chosen)) or _("none of these"),
        )
        figure(
            partial(tree, dict(inputs.members), inputs.chosen, revealed, kind, words),
            alt,
            "family-tree",
            on_select=lambda: clicked("family-tree", state("model")),
            wide=True,
        )
        _card(inputs.members[inputs.chosen], line, words, revealed)


SYMBOLS = {"circle": "●", "square": "■", "hexagon": "⬢", "diamond": "◆", "triangle-up": "▲", "star": "★", "cross": "✚"}


def from_bert(inputs: Inputs) -> list[FamilyMember]:
    """BERT's descendants."""
    return [one for one in inputs.members.values() if "BERT" in line_of(inputs.members, one.name)[:-1]]


def _guessed(inputs: Inputs) -> bool:
    """Ask how many of BERT's descendants changed its network; True if the kinds of change may be shown."""
    later = from_bert(inputs)
    number = sum("network" in one.changed for one in later)
    options = [str(n) for n in (number, len(later) // 2 + 1, len(later) - 3)]
    question = _("Of {n} models that came from BERT, how many changed its network?")
    return predict("network", question.format(n=len(later)), options, 0, about=str(len(later)))


def _card(member: FamilyMember, line: str, words: dict[str, str], revealed: bool) -> None:
    """Details of one model: its line of descent, what it changed, its sizes."""
    with st.container(border=True, key="family-card"):
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.markdown(
                f"**{literal(member.name)}** · {literal(member.by)} · {member.date}  \n{literal(_(member.what))}"
            )
            st.caption(f"{literal(line)} · {literal(member.paper)}")
            if member.page and find_page(member.page):
                link_to(member.page)
        with right:
            if revealed:
                kinds = _(", ").join(words[kind] for kind in member.changed)
                st.markdown(_("**Changed:** {kinds}").format(kinds=kinds))
            sizes = [f"{literal(size.name)} **{size.weights:,}**" for size in member.sizes]
            st.markdown(" · ".join(sizes) or _("No size of its own: it stands on another model, or comes in many."))
            counted = next((size for size in member.sizes if size.counted), None)
            if counted is not None:
                st.caption(f"{literal(counted.name)}{_(': ')}{literal(counted.formula)}")
            elif member.sizes:
                st.caption(_("The number is the paper’s."))
