"""All heads of the model on the sentence, the lines of the chosen one, and below them the numbers of a token."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from sections.attention_explorer import numbers, views
from sections.attention_explorer.subject import Inputs, ModelText, inside, open_head, pick_head, small_pictures
from ui.inputs import choice, numbered, pick, state
from ui.inspected_model import HeadPlace, head_name
from ui.lesson import Lesson
from ui.page import picture
from ui.predict import predict
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    from torch import Tensor

SHARE = 60  # percent of each row's attention drawn by default
LEAST = 0.01  # least share that a title names beside the largest


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    stage, controls = picture(), st.container(key="look-settings")
    with controls:
        at, cell, settings = read_settings(inputs)
    single = len(inputs.sides) == 1
    with stage:
        if single:
            left, right = st.columns(2, gap="medium")
            with left:
                if guessed(inputs.sides[0]):
                    st.markdown(f"**{crowd(inside_probs(inputs.sides[0]), inputs.sides[0])}**")
                    small_pictures(inputs.sides[0], "explorer-heads", open_head, selected=at)
                    st.caption(_("Each picture is a head; click one to see its lines."))
            with right:
                one_side(inputs.sides[0], at, cell, settings, "a")
        else:
            for box, side, key in zip(st.columns(2, gap="medium"), inputs.sides, "ab", strict=True):
                with box:
                    here = side.subject.head(*at)
                    words = literal(" ".join(side.reading.tokens[1:-1])[:120])
                    st.caption(f"**{literal(side.subject.title)}** · {words}")
                    one_side(side, here, cell, settings, key)
                    small_pictures(side, f"explorer-heads-{key}", open_head, selected=here)
    for box, side, key in zip(st.columns(len(inputs.sides), gap="medium"), inputs.sides, "ab", strict=False):
        with box:
            numbers.show(side, side.subject.head(*at), *within(side, cell), key, wide=single)
    lesson.show("Look", title=False)
    lesson.show("The question", level=3)


def read_settings(inputs: Inputs) -> tuple[HeadPlace, tuple[int, int], dict[str, Any]]:
    """The widgets → (layer, head); (row, column) of the chosen tokens, −1 for all; how to draw the head."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = pick_head(inputs)
        tokens = [_("all"), *numbered(inputs.reading.tokens)]
        names = (("row", _("From")), ("column", _("To")))
        cell = tuple(pick(name, label, tokens, width=views.wide(170)) - 1 for name, label in names)
        view = choice("view", _("View"), {"lines": _("lines"), "matrix": _("matrix")})
        if view == "matrix":
            return at, cell, {"view": view, "heads": "one"}
        heads = choice("heads", _("Lines of"), {"one": _("this head"), "all": _("all heads of the layer")})
        share = st.slider(
            _("Share of attention drawn"),
            *(10, 100, SHARE),
            key="share",
            format="%d %%",
            bind="query-params",
            width=views.wide(250),
        )
        hide = st.toggle(_("Hide [CLS] and [SEP]"), key="bare", bind="query-params")
    return at, cell, {"view": view, "heads": heads, "share": share / 100, "hide": hide}


def open_cell(click: dict) -> None:
    """Handle a click on a token of the lines, a head or a matrix cell. The first option of a token box is “all”."""
    if "head" in click:
        st.session_state[state("head")] = max(0, click["head"])
        st.session_state["heads"] = "one"
    for name in ("row", "column"):
        if name in click:
            now = st.session_state.get(state(name))
            again = len(click) == 1 and now == click[name] + 1  # a second click on the same token deselects it
            st.session_state[state(name)] = 0 if again else max(0, click[name] + 1)


def within(side: ModelText, cell: tuple[int, int]) -> tuple[int | None, int | None]:
    """The chosen row and column, None for all or if the text is too short for them."""
    row, column = (place if 0 <= place < side.reading.length else None for place in cell)
    return row, column


def one_side(side: ModelText, at: HeadPlace, cell: tuple[int, int], settings: dict[str, Any], key: str) -> None:
    """A sentence read by a model: the lines of a head, or its matrix."""
    from plots.attention_payloads import matrix_payload

    row, column = within(side, cell)
    probs, (layer, head) = inside_probs(side), at
    st.markdown(f"**{finding(probs, side, at, row, settings['heads'])}**")
    if settings["view"] == "matrix":
        payload = matrix_payload(side.reading.tokens, probs[layer, head], row=row, column=column)
        views.show("matrix", payload, f"explorer-matrix-{key}", open_cell, file="attention-matrix")
    else:
        lines(side, at, (row, column), settings, key)


def lines(
    side: ModelText, at: HeadPlace, cell: tuple[int | None, int | None], settings: dict[str, Any], key: str
) -> None:
    import torch

    from minibert.inside.heads.attention_summary import strongest_edges
    from plots.attention_payloads import lines_payload

    layer, head = at
    probs, reading, share, hide = inside_probs(side), side.reading, settings["share"], settings["hide"]
    chosen = [head] if settings["heads"] == "one" else list(range(probs.size(1)))
    words = set(reading.words)
    special = [place not in words for place in range(len(reading.tokens))]
    edges = strongest_edges(probs[layer, chosen], share, ~torch.tensor(special) if hide else None)
    payload = lines_payload(reading.tokens, edges, chosen, faint=special, row=cell[0], column=cell[1])
    views.show("lines", payload, f"explorer-lines-{key}", open_cell, file="attention-lines")
    if not len(edges.weights):
        st.caption(_("Nothing is left to draw."))
        return
    caption = _("{n:,} lines hold {drawn:.0%} of the attention among the tokens shown.").format(
        n=len(edges.weights), drawn=edges.drawn.nanmean().item()
    )
    if edges.drawn[~edges.drawn.isnan()].min() < share - 1e-4:
        caption += " " + _("More would not be told apart.")
    if hide:
        caption += " " + _("{hidden:.0%} of it goes to [CLS] and [SEP].").format(hidden=edges.hidden.nanmean().item())
    st.caption(caption)


# --- findings ---------------------------------------------------------------------------------------------------------


def inside_probs(side: ModelText) -> Tensor:
    return inside(side.subject, side.reading)["probs"]


def place_names() -> dict[str, str]:
    return {
        "sep": "[SEP]",
        "cls": "[CLS]",
        "itself": _("the token itself"),
        "previous": _("the token before"),
        "next": _("the token after"),
    }


def by_place(probs: Tensor, side: ModelText) -> Tensor:
    import torch

    from minibert.inside.heads.attention_summary import by_place

    tokens = side.reading.tokens
    cls, sep = (torch.tensor([token == special for token in tokens]) for special in ("[CLS]", "[SEP]"))
    return by_place(probs, cls, sep)


def heads_by_place(probs: Tensor, side: ModelText) -> list[int]:
    """How many heads give over half of their attention to each of `place_names`."""
    most, where = by_place(probs, side).flatten(0, 1).max(-1)
    return [int(((where == k) & (most > 0.5)).sum()) for k in range(len(place_names()))]


def guessed(side: ModelText) -> bool:
    """Ask where most heads attend; True if all of them may be shown."""
    counts = heads_by_place(inside_probs(side), side)
    if max(counts) == sorted(counts)[-2]:  # a tie: no answer is right
        return True
    question = _("Where do most of the {n} heads look in this sentence?").format(n=math.prod(side.subject.shape))
    about = f"{side.subject.title} {' '.join(side.reading.tokens)}"
    return predict("crowd", question, list(place_names().values()), counts.index(max(counts)), about=about)


def crowd(probs: Tensor, side: ModelText) -> str:
    """How many heads attend mostly to one position in this sentence, for the two commonest positions."""
    heads = math.prod(side.subject.shape)
    named = sorted(zip(heads_by_place(probs, side), place_names().values(), strict=True), key=lambda one: -one[0])
    (first, place), (second, other) = named[:2]
    if not first:
        return _("No head of {all} gives over half to one place").format(all=heads)
    summary = _("{n} of {all} heads give over half to {place}").format(n=first, all=heads, place=literal(place))
    return summary + (_(", {n} to {place}").format(n=second, place=literal(other)) if second else "")


def finding(probs: Tensor, side: ModelText, at: HeadPlace, row: int | None, heads: str) -> str:
    """Where the head attends in this sentence: from the chosen token, or from all tokens together if `row` is None."""
    layer, head = at
    if heads == "all":
        name, said, probs = (
            _("layer {n}").format(n=layer + 1),
            _("All heads of {head} give {told}"),
            probs[layer].mean(0),
        )
    else:
        name, said, probs = head_name(layer, head).capitalize(), _("{head} gives {told}"), probs[layer, head]
    if row is None:
        shares, places = by_place(probs, side).topk(2)
        names = [list(place_names().values())[place] for place in places.tolist()]
    else:
        tokens, words = side.reading.tokens, set(side.reading.words)
        shares, places = probs[row].topk(min(3, len(tokens)))
        names = [f"“{tokens[place]}”" if place in words else tokens[place] for place in places.tolist()]
        name, said = name[0].upper() + name[1:], _("{head}: “{word}” gives {told}")
    to = _("{share:.0%} to {place}")
    targets = ", ".join(
        to.format(share=share, place=literal(of))
        for n, (share, of) in enumerate(zip(shares.tolist(), names, strict=True))
        if n == 0 or share > LEAST
    )
    return said.format(head=name, told=targets, word="" if row is None else literal(side.reading.tokens[row]))
