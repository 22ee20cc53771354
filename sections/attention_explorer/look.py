"""All heads of the model on the sentence, the lines of the chosen one, and below them the numbers of a token."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from sections.attention_explorer import numbers, views
from sections.attention_explorer.subject import (
    Inputs,
    ModelText,
    Seen,
    choose_words,
    open_head,
    pick_head,
    seen,
    small_pictures,
)
from ui.inputs import choice, numbered, pick, state
from ui.inspected_model import HeadPlace, head_name
from ui.lesson import Lesson
from ui.page import picture
from ui.predict import predict
from ui.text import literal, one_by_one
from ui.translations import _

if TYPE_CHECKING:
    from torch import Tensor

SHARE = 60  # percent of each row's attention drawn by default
CELLS = {False: ("row", "column"), True: ("from_word", "to_word")}  # names in the link; True: of words
LEAST = 0.01  # least share that a title names beside the largest


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    stage, controls = picture(), st.container(key="look-settings")
    with controls:
        at, words, cell, settings = read_settings(inputs)
    shown = [seen(side, words) for side in inputs.sides]
    single = len(inputs.sides) == 1
    with stage:
        if single:
            left, right = st.columns(2, gap="medium")
            with left:
                if guessed(inputs.sides[0], shown[0]):
                    st.markdown(f"**{crowd(shown[0])}**")
                    small_pictures(inputs.sides[0], "explorer-heads", open_head, selected=at, words=words)
                    st.caption(_("Each picture is a head; click one to see its lines."))
            with right:
                one_side(shown[0], at, cell, settings, "a")
        else:
            for box, side, of, key in zip(st.columns(2, gap="medium"), inputs.sides, shown, "ab", strict=True):
                with box:
                    here = side.subject.head(*at)
                    text = literal(" ".join(side.reading.tokens[1:-1])[:120])
                    st.caption(f"**{literal(side.subject.title)}** · {text}")
                    one_side(of, here, cell, settings, key)
                    small_pictures(side, f"explorer-heads-{key}", open_head, selected=here, words=words)
    boxes = st.columns(len(inputs.sides), gap="medium")
    for box, side, of, key in zip(boxes, inputs.sides, shown, "ab", strict=False):
        with box:
            numbers.show(side, of, side.subject.head(*at), *within(of, cell), key, wide=single)
    lesson.show("Look", title=False)
    lesson.show("The question", level=3)


def read_settings(inputs: Inputs) -> tuple[HeadPlace, bool, tuple[int, int], dict[str, Any]]:
    """The widgets → (layer, head); whether between words; (row, column) of what is chosen, −1 for all; how to draw the
    head."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = pick_head(inputs)
        words = choose_words(inputs)
        of = seen(inputs.sides[0], words)
        tokens, first = [_("all"), *numbered(of.names)], default_row(of, inputs.default_row) + 1
        names = zip(CELLS[words], (_("From"), _("To")), (first, 0), strict=True)
        if st.session_state.get(state(CELLS[words][0])) == st.session_state.get("_row-before"):  # nobody chose it
            st.session_state[state(CELLS[words][0])] = first  # another text asks about another word
        st.session_state["_row-before"] = first
        cell = tuple(pick(name, label, tokens, row, width=views.wide(170)) - 1 for name, label, row in names)
        view = choice("view", _("View"), {"lines": _("lines"), "matrix": _("matrix")})
        if view == "matrix":
            return at, words, cell, {"view": view, "heads": "one"}
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
    return at, words, cell, {"view": view, "heads": heads, "share": share / 100, "hide": hide}


def default_row(of: Seen, token: int | None) -> int:
    """The place of the token, or of the word that it belongs to; −1 for all."""
    if token is None or of.pieces is None:
        return -1 if token is None else token
    return next(place for place, word in enumerate(of.pieces) if token in word)


def open_cell(words: bool, click: dict) -> None:
    """Handle a click on a token or word of the lines, a head or a matrix cell. The first option of a box is “all”."""
    if "head" in click:
        st.session_state[state("head")] = max(0, click["head"])
        st.session_state["heads"] = "one"
    for side, name in zip(CELLS[False], CELLS[words], strict=True):
        if side in click:
            now = st.session_state.get(state(name))
            again = len(click) == 1 and now == click[side] + 1  # a second click on the same token deselects it
            st.session_state[state(name)] = 0 if again else max(0, click[side] + 1)


def within(of: Seen, cell: tuple[int, int]) -> tuple[int | None, int | None]:
    """The chosen row and column, None for all or if the text is too short for them."""
    row, column = (place if 0 <= place < len(of.names) else None for place in cell)
    return row, column


def one_side(of: Seen, at: HeadPlace, cell: tuple[int, int], settings: dict[str, Any], key: str) -> None:
    """A sentence read by a model: the lines of a head, or its matrix."""
    from plots.attention_payloads import matrix_payload

    row, column = within(of, cell)
    layer, head = at
    open_this = partial(open_cell, of.pieces is not None)
    st.markdown(f"**{finding(of, at, row, settings['heads'])}**")
    if settings["view"] == "matrix":
        payload = matrix_payload(of.names, of.probs[layer, head], row=row, column=column)
        views.show("matrix", payload, f"explorer-matrix-{key}", open_this, file="attention-matrix")
    else:
        lines(of, at, (row, column), settings, f"explorer-lines-{key}", open_this)


def lines(
    of: Seen,
    at: HeadPlace,
    cell: tuple[int | None, int | None],
    settings: dict[str, Any],
    key: str,
    on_click: Callable[[dict], None],
) -> None:
    import torch

    from minibert.inside.heads.attention_summary import strongest_edges
    from plots.attention_payloads import lines_payload

    layer, head = at
    probs, share, hide = of.probs, settings["share"], settings["hide"]
    chosen = [head] if settings["heads"] == "one" else list(range(probs.size(1)))
    ordinary = set(of.ordinary)
    special = [place not in ordinary for place in range(len(of.names))]
    edges = strongest_edges(probs[layer, chosen], share, ~torch.tensor(special) if hide else None)
    payload = lines_payload(of.names, edges, chosen, faint=special, row=cell[0], column=cell[1])
    views.show("lines", payload, key, on_click, file="attention-lines")
    if not len(edges.weights):
        st.caption(_("Nothing is left to draw."))
        return
    said = (
        _("{n:,} lines hold {drawn:.0%} of the attention among the tokens shown.")
        if of.pieces is None
        else _("{n:,} lines hold {drawn:.0%} of the attention among the words shown.")
    )
    caption = said.format(n=len(edges.weights), drawn=edges.drawn.nanmean().item())
    if edges.drawn[~edges.drawn.isnan()].min() < share - 1e-4:
        caption = one_by_one(caption, _("More could not be distinguished."))
    if hide:
        special_share = _("{hidden:.0%} of it goes to [CLS] and [SEP].").format(hidden=edges.hidden.nanmean().item())
        caption = one_by_one(caption, special_share)
    st.caption(caption)


# --- findings ---------------------------------------------------------------------------------------------------------


def place_names(of: Seen) -> list[str]:
    """The names of `attention_summary.PLACES`."""
    if of.pieces is None:
        return ["[SEP]", "[CLS]", _("the token itself"), _("the token before"), _("the token after")]
    return ["[SEP]", "[CLS]", _("the word itself"), _("the word before"), _("the word after")]


def by_place(probs: Tensor, of: Seen) -> Tensor:
    import torch

    from minibert.inside.heads.attention_summary import by_place

    cls, sep = (torch.tensor([name == special for name in of.names]) for special in ("[CLS]", "[SEP]"))
    return by_place(probs, cls, sep)


def heads_by_place(of: Seen) -> list[int]:
    """How many heads give over half of their attention to each of `place_names`."""
    most, where = by_place(of.probs, of).flatten(0, 1).max(-1)
    return [int(((where == k) & (most > 0.5)).sum()) for k in range(len(place_names(of)))]


def guessed(side: ModelText, of: Seen) -> bool:
    """Ask where most heads attend; True if all of them may be shown."""
    counts = heads_by_place(of)
    if max(counts) == sorted(counts)[-2]:  # a tie: no answer is right
        return True
    question = _("Where do most of the {n} heads look in this sentence?").format(n=math.prod(side.subject.shape))
    about = f"{side.subject.title} {' '.join(of.names)}"
    return predict("crowd", question, place_names(of), counts.index(max(counts)), about=about)


def crowd(of: Seen) -> str:
    """How many heads attend mostly to one position in this sentence, for the two commonest positions."""
    heads = math.prod(of.probs.shape[:2])
    named = sorted(zip(heads_by_place(of), place_names(of), strict=True), key=lambda one: -one[0])
    (first, place), (second, other) = named[:2]
    if not first:
        return _("No head of {all} gives over half to one place").format(all=heads)
    summary = _("{n} of {all} heads give over half to {place}").format(n=first, all=heads, place=literal(place))
    return summary + (_(", {n} to {place}").format(n=second, place=literal(other)) if second else "")


def finding(of: Seen, at: HeadPlace, row: int | None, heads: str) -> str:
    """Where the head attends in this sentence: from the chosen token, or from all tokens together if `row` is None."""
    (layer, head), probs = at, of.probs
    if heads == "all":
        name, said, probs = (
            _("layer {n}").format(n=layer + 1),
            _("All heads of {head} give {told}"),
            probs[layer].mean(0),
        )
    else:
        name, said, probs = head_name(layer, head).capitalize(), _("{head} gives {told}"), probs[layer, head]
    if row is None:
        shares, places = by_place(probs, of).topk(2)
        names = [place_names(of)[place] for place in places.tolist()]
    else:
        shares, places = probs[row].topk(min(3, len(of.names)))
        names = [f"“{of.names[k]}”" if k in of.ordinary else of.names[k] for k in places.tolist()]
        name, said = name[0].upper() + name[1:], _("{head}: “{word}” gives {told}")
    to = _("{share:.0%} to {place}")
    targets = _(", ").join(
        to.format(share=share, place=literal(place))
        for n, (share, place) in enumerate(zip(shares.tolist(), names, strict=True))
        if n == 0 or share > LEAST
    )
    return said.format(head=name, told=targets, word="" if row is None else literal(of.names[row]))
