"""The cost of each head: switch off one at a time on the whole set; beside it how sharply the head attends."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from sections.attention_explorer.asked import confidences, costs_of_layer, signed
from sections.attention_explorer.kinds import THRESHOLD, kind_names, measured
from sections.attention_explorer.subject import all_names, open_head
from ui import held_out
from ui.figures import figure
from ui.inputs import clicked
from ui.inspected_model import HeadPlace, InspectedModel
from ui.source import show_source
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.heads.cost import HeadCost

AT_ONCE = 80  # most heads that are ranked by default
IN_VIEW = 16  # heads shown of a longer ranking: costliest and cheapest
_OPENED = "explorer-opened"


def wanted(subject: InspectedModel) -> bool:
    """Whether to rank the heads: by default only if there are at most AT_ONCE."""
    layers, heads = subject.shape
    count = layers * heads
    label = _("Rank all {n} heads").format(n=count)
    return st.toggle(label, value=count <= AT_ONCE, key="rank", bind="query-params")


@st.fragment(parallel=True)  # slow for a model's first user; the rest of the page does not wait
def show(subject: InspectedModel, at: HeadPlace, mean: bool) -> None:
    from minibert.inside.heads.cost import layer_costs

    if st.session_state.pop(_OPENED, False):
        st.rerun()  # layer and head are chosen outside this fragment
    layers = subject.shape[0]
    done, rows = st.empty(), []
    for layer in range(layers):  # cached layer by layer: a user who returns resumes there
        done.progress(layer / layers, _("Layer {n} of {all}").format(n=layer + 1, all=layers) + so_far(subject, rows))
        rows += costs_of_layer(subject, layer, mean)
    done.empty()
    draw(subject, rows, at)
    show_source(layer_costs)


def so_far(subject: InspectedModel, rows: list[tuple[HeadCost, HeadCost]]) -> str:
    """The costliest head among those measured, shown while the rest is computed."""
    if not rows:
        return ""
    costly = max(range(len(rows)), key=lambda i: rows[i][0].mean)
    return " · " + _("most costly so far: {head}, {cost} nats").format(
        head=all_names(subject)[costly], cost=signed(rows[costly][0].mean, 2)
    )


def draw(subject: InspectedModel, rows: list[tuple[HeadCost, HeadCost]], at: HeadPlace) -> None:
    import torch

    heads = subject.shape[1]
    costs = torch.tensor([loss.mean for loss, _right in rows])
    sharp = confidences(subject).flatten()
    left, right = st.columns([10, 11], gap="medium")
    with left:
        most_costly(subject, rows, costs, sharp, at[0] * heads + at[1])
    with right:
        against(subject, costs, sharp)


def most_costly(
    subject: InspectedModel, rows: list[tuple[HeadCost, HeadCost]], costs: Any, sharp: Any, chosen: int
) -> None:
    """The ranking by cost; with many heads only both ends and the chosen head."""
    import torch

    from plots.head_kinds import ranking

    names, heads = all_names(subject), subject.shape[1]
    errors = torch.tensor([loss.error for loss, _right in rows])
    free = int((costs < 2 * errors).sum())
    first = costs.argmax().item()
    title = _("{head} costs most, {most} nats; {free} of {n} cost no more than chance explains").format(
        head=names[first].capitalize(), most=signed(costs[first].item(), 2), free=free, n=len(names)
    )
    st.markdown(f"**{title}**")

    def table() -> pd.DataFrame:
        on = "toy" if held_out.kind_of_text(subject.tokenizer) == "toy" else "text"
        kinds, words = measured(subject, on), kind_names()
        named = [kind for row in kinds.named(THRESHOLD / 100) for kind in row]
        return pd.DataFrame(
            {
                _("loss rises by"): costs,
                _("standard error"): errors,
                _("accuracy changes by"): [right.mean for _loss, right in rows],
                _("mean largest share"): sharp,
                _("kind"): ["–" if kind is None else words[kind] for kind in named],
            },
            index=names,
        )

    figure(
        partial(ranking, names, costs, errors, _("loss rises by, nats"), selected=chosen, most=IN_VIEW),
        _("Most costly: {dear}, {most:+.3f} nats. Least: {cheap}, {least:+.3f}.").format(
            dear=names[first], most=costs.max(), cheap=names[costs.argmin()], least=costs.min()
        ),
        "explorer-ranking",
        on_select=lambda: open_place("explorer-ranking", heads),
        data=table,
    )
    if len(names) > IN_VIEW + 1:
        st.caption(
            _("The most costly, the least costly and the chosen one of {n}; all are in the table.").format(n=len(names))
        )


def against(subject: InspectedModel, costs: Any, sharp: Any) -> None:
    """How sharply a head attends against its cost: the two need not agree."""
    from minibert.training.statistics import rank_correlation
    from plots.attention_experiments import weight_and_effect

    names, heads = all_names(subject), subject.shape[1]
    even, sure = disagreeing(sharp, costs)
    rho = rank_correlation(sharp, costs)
    title = _("Attention against effect")
    if not math.isnan(rho):
        title = _("Sharpness and cost: rank correlation {rho} (+1 is full agreement, 0 none)").format(
            rho=signed(rho, 2)
        )
    st.markdown(f"**{title}**")
    fig = weight_and_effect(
        names,
        sharp,
        costs,
        axes=(_("its mean largest share"), _("loss rises by, nats")),
        marked={even: names[even], sure: names[sure]},
    )
    # Most points form one cluster: the label of the costliest blunt head goes above it, of the cheapest sharp one below
    side, aside = ("right", 10) if sharp[even] > 0.4 else ("left", -10)
    fig.update_annotations(yshift=20, xshift=aside, xanchor=side, selector={"text": names[even]})
    fig.update_annotations(yshift=-20, xshift=0, xanchor="center", selector={"text": names[sure]})
    low, high = min(0, costs.min().item()), costs.max().item()
    fig.update_yaxes(range=[low - 0.14 * (high - low), high + 0.1 * (high - low)])
    figure(
        fig,
        _("{n} heads: how sharply each looks, and what its loss costs.").format(n=len(names)),
        "explorer-disagree",
        on_select=lambda: open_place("explorer-disagree", heads),
    )
    st.markdown(
        _(
            "Where they disagree: of the sharpest third, **{sure}** costs least: a mean largest share of {w:.0%}, "
            "and {a} nats. Of the least sharp third, **{even}** costs most: {v:.0%}, and {b} nats."
        ).format(
            sure=names[sure],
            w=sharp[sure].item(),
            a=signed(costs[sure].item()),
            even=names[even],
            v=sharp[even].item(),
            b=signed(costs[even].item()),
        )
    )


def disagreeing(sharp: Any, costs: Any) -> tuple[int, int]:
    """The costliest head of the least sharp third, and the cheapest head of the sharpest third."""
    order, third = sharp.argsort(), max(1, len(sharp) // 3)
    even, sure = order[:third], order[-third:]
    return even[costs[even].argmax()].item(), sure[costs[sure].argmin()].item()


def open_place(chart: str, heads: int) -> None:
    """Handle a click on a head in a figure; customdata is the head's index among all heads."""
    clicked(chart, "explorer-place")
    if (place := st.session_state.pop("explorer-place", None)) is not None:
        open_head({"layer": place // heads, "head": place % heads})
        st.session_state[_OPENED] = True
