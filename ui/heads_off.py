"""Switching attention heads off, for one reader: what happens to an answer, to a score, and what each head costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ui import held_out
from ui.explorer import (
    THRESHOLD,
    HeadPlace,
    Subject,
    all_names,
    head_name,
    kind_names,
    measured_kinds,
    open_head,
    pick_head,
    picked_head,
    signed,
    small_pictures,
)
from ui.figures import figure
from ui.inputs import choice, clicked, pick
from ui.models import can_fill
from ui.source import show_source
from ui.state import follow_link, set_url
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.head_cost import ClozeAnswers, HeadCost
    from minibert.inside.model_input import ModelInput


@st.cache_resource(show_spinner=False, max_entries=16)
def questions(subject: Subject) -> list | None:
    """What the model is asked to see what a head costs: hidden words of our sentences, or the classes of our reviews.

    None for a model whose answers we have no set for.
    """
    from minibert.heads import BertForSequenceClassification
    from minibert.inside import head_cost

    model, tokenizer = subject.model, subject.tokenizer
    kind, longest = held_out.kind_of_text(tokenizer), model.config.max_position_embeddings
    if can_fill(subject.name):
        return head_cost.hidden_words(tokenizer, held_out.texts(kind), longest)
    if isinstance(model, BertForSequenceClassification) and model.problem == "single_label_classification":
        rows = [(text, label) for text, label in held_out.reviews(kind) if label in model.labels]
        if rows and len(rows) == len(held_out.reviews(kind)):
            classes = [model.labels.index(label) for _text, label in rows]
            return head_cost.labelled(tokenizer, [text for text, _label in rows], classes, longest)
    return None


@st.cache_resource(show_spinner=False, max_entries=16)
def means(subject: Subject) -> Any:
    from minibert.inside.interventions import mean_outputs

    return mean_outputs(subject.model, questions(subject))


@st.cache_resource(show_spinner=False, max_entries=256)
def answers(subject: Subject, off: tuple[HeadPlace, ...], mean: bool) -> ClozeAnswers:
    """How the model answers all questions without these heads."""
    from minibert.inside.head_cost import without

    return without(subject.model, questions(subject), off, means(subject) if mean else None)


@st.cache_resource(show_spinner=False, max_entries=256)
def costs_of_layer(subject: Subject, layer: int, mean: bool) -> list[tuple[HeadCost, HeadCost]]:
    from minibert.inside.head_cost import layer_costs

    replaced = means(subject) if mean else None
    return layer_costs(subject.model, questions(subject), layer, answers(subject, (), mean), replaced)


@st.cache_resource(show_spinner=False, max_entries=16)
def confidences(subject: Subject) -> Any:
    from minibert.inside.head_cost import confidence

    return confidence(subject.model, questions(subject))


def heads_off(subject: Subject) -> tuple[HeadPlace, ...]:
    """The heads that are switched off, in the link as `off=1.2-3.4` (layer.head, from 1)."""
    layers, heads = subject.shape
    if follow_link("off"):
        st.session_state["heads-off"] = _parse(st.query_params.get("off", ""))
    off = st.session_state.setdefault("heads-off", frozenset())
    off = tuple(sorted((i, a) for i, a in off if 0 <= i < layers and 0 <= a < heads))
    set_url("off", "-".join(f"{i + 1}.{a + 1}" for i, a in off), default="")
    return off


def _parse(link: str) -> frozenset[HeadPlace]:
    pairs = [part.split(".") for part in link.split("-")]
    good = (pair for pair in pairs if len(pair) == 2 and all(p.isascii() and p.isdigit() and len(p) < 4 for p in pair))
    return frozenset((int(i) - 1, int(a) - 1) for i, a in good if int(i) and int(a))


def toggle_head(told: dict) -> None:
    open_head(told)
    head = (told["layer"], told["head"])
    st.session_state["heads-off"] = frozenset(st.session_state.get("heads-off", frozenset()) ^ {head})


def set_off(heads: Sequence[HeadPlace]) -> None:
    st.session_state["heads-off"] = frozenset(heads)


def switch_off(subject: Subject, reading: ModelInput) -> None:
    """All heads to switch off and on; beside them what becomes of the sentence's answer and of the score."""
    if questions(subject) is None:
        st.info(
            _(
                "This model neither fills blanks nor judges reviews, so there is no score of ours to lose. "
                "Choose another."
            ),
            icon=":material/help:",
        )
        return
    off = heads_off(subject)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        layer, head = pick_head(subject)
        silence = {"zero": _("zeros"), "mean": _("its mean")}
        mean = choice("silence", _("In the head's place"), silence) == "mean"
    left, right = st.columns([9, 11], gap="medium")
    with left:
        st.markdown(f"**{_('Click a head to switch it off or on')}**")
        small_pictures(subject, reading, "explorer-switches", toggle_head, selected=(layer, head), crossed=off)
        switches(subject, layer, head, off)
    with right:
        effect_on_answer(subject, reading, off, mean)
        effect_on_set(subject, off, mean)


def switches(subject: Subject, layer: int, head: int, off: tuple[HeadPlace, ...]) -> None:
    """Many heads at once."""
    from minibert.inside.head_cost import all_but

    layers, heads = subject.shape
    many = {
        _("All on"): [],
        _("Layer {n} off").format(n=layer + 1): [(layer, a) for a in range(heads)],
        _("All but {head} in its layer").format(head=head_name(layer, head)): all_but(
            layers, heads, (layer, head), everywhere=False
        ),
        _("All but {head}").format(head=head_name(layer, head)): all_but(layers, heads, (layer, head), everywhere=True),
        _("All off"): [(i, a) for i in range(layers) for a in range(heads)],
    }
    with st.container(horizontal=True, gap="small", key="many-switches"):
        for number, (label, chosen) in enumerate(many.items()):
            st.button(
                label, key=f"many-{number}", on_click=set_off, args=(tuple(chosen),), disabled=set(off) == set(chosen)
            )
    st.caption(_("{n} of {all} heads are off.").format(n=len(off), all=layers * heads))


def effect_on_answer(subject: Subject, reading: ModelInput, off: tuple[HeadPlace, ...], mean: bool) -> None:
    """The sentence's own answer with all heads and without those: a blank filled, or a class."""
    from minibert.inside.interventions import fill_logits, switched_off, total_variation
    from minibert.model import BertForPreTraining, no_tap
    from plots.attention import compared_words

    tap = switched_off(off, means(subject) if mean else None) if off else no_tap
    if isinstance(subject.model, BertForPreTraining):
        if not reading.words:
            st.info(_("There is no word to hide. Type a sentence above."), icon=":material/edit:")
            return
        words = [f"{i + 1} · {reading.tokens[i]}" for i in reading.words]
        with st.container(width=400):
            position = reading.words[pick("hide", _("Word to hide"), words, default=last_word(reading))]
        batch = reading.hiding(position).batch()
        before, after = (fill_logits(subject.model, batch, position, one)[0] for one in (no_tap, tap))
        entries = subject.tokenizer.vocab
    else:
        import torch

        with torch.inference_mode():
            before, after = (subject.model(reading.batch(), one).logits[0].float() for one in (no_tap, tap))
        entries = subject.model.labels
    p, q = before.softmax(-1), after.softmax(-1)
    count = min(4, len(entries))
    ids = list(dict.fromkeys(i for one in (p, q) for i in one.topk(count).indices.tolist()))
    shown, names = [entries[i] for i in ids], (_("all heads"), _("without them"))
    table = pd.DataFrame(
        {
            _("answer"): shown,
            _("logit"): before[ids].numpy(),
            _("logit without"): after[ids].numpy(),
            _("probability"): p[ids].numpy(),
            _("probability without"): q[ids].numpy(),
        }
    )
    told = ", ".join(f"{word} {p[i]:.1%} → {q[i]:.1%}" for word, i in zip(shown, ids, strict=True))
    figure(
        compared_words(shown, p[ids], q[ids], names),
        _("Answers with all heads and without {n} of them: {told}.").format(n=len(off), told=told),
        "explorer-answer",
        data=lambda: table,
    )
    st.dataframe(
        table[[_("answer"), _("logit"), _("logit without")]].assign(**{_("change"): (after - before)[ids].numpy()}),
        hide_index=True,
        key="explorer-logits",
        column_config={
            name: st.column_config.NumberColumn(format="%.4f") for name in (_("logit"), _("logit without"), _("change"))
        },
    )
    st.markdown(
        _("**{moved:.1%}** of the probability moved.").format(moved=total_variation(p.double(), q.double()).item())
    )


def last_word(reading: ModelInput) -> int:
    """Place among the words of a [MASK] that was typed, else of the last word with a letter in the first sentence."""
    first = [at for at, i in enumerate(reading.words) if reading.segments[i] == 0] or [0]
    typed = [at for at in first if reading.tokens[reading.words[at]] == "[MASK]"]
    named = [at for at in first if any(char.isalnum() for char in reading.tokens[reading.words[at]])]
    return (typed or named or first)[-1]


def task_name(subject: Subject) -> tuple[str, str]:
    """What the questions of `questions` are, and the name of their accuracy."""
    from minibert.model import BertForPreTraining

    if isinstance(subject.model, BertForPreTraining):
        kind = {"toy": _("stories of the toy world"), "zh": _("Chinese reviews"), "en": _("English sentences")}
        of = kind[held_out.kind_of_text(subject.tokenizer)]
        return _("hidden words of our {of}").format(of=of), _("Words filled in right")
    return _("reviews held back from training"), _("Reviews judged right")


def effect_on_set(subject: Subject, off: tuple[HeadPlace, ...], mean: bool) -> None:
    from minibert.inside.head_cost import difference

    with st.spinner(_("Asking the model …")):
        before, after = answers(subject, (), mean), answers(subject, off, mean)
    what, accuracy = task_name(subject)
    right = difference(after.right, before.right)
    loss = difference(after.losses, before.losses)
    with st.container(horizontal=True, gap="large", key="explorer-set"):
        st.metric(
            accuracy,
            f"{after.accuracy:.1%}",
            _("{change} points ± {error:.1f}").format(change=signed(100 * right.mean, 1), error=200 * right.error),
            delta_color="off",
            delta_arrow="off",
        )
        st.metric(
            _("Loss, in nats"),
            f"{after.loss:.3f}",
            f"{signed(loss.mean)} ± {2 * loss.error:.3f}",
            delta_color="off",
            delta_arrow="off",
        )
    st.caption(
        _("{n:,} {what}; with all heads {accuracy:.1%} and {loss:.3f}. ± is two standard errors of the change.").format(
            n=len(before.losses), what=what, accuracy=before.accuracy, loss=before.loss
        )
    )


def rank_heads(subject: Subject) -> None:
    """Each head off alone, on the whole set; beside it how sharply it looks."""
    from minibert.inside.head_cost import layer_costs

    if questions(subject) is None:
        return
    layers, heads = subject.shape
    mean = st.session_state.get("silence") == "mean"
    wanted = st.toggle(_("Rank all {n} heads").format(n=layers * heads), key="rank", bind="query-params")
    if not wanted:
        st.caption(_("Each is switched off alone and the model asked everything again. Switch off here to stop."))
        return
    done, rows = st.empty(), []
    for layer in range(layers):  # a layer at a time, each kept: who comes back goes on from there
        done.progress(layer / layers, _("Layer {n} of {all}").format(n=layer + 1, all=layers))
        rows += costs_of_layer(subject, layer, mean)
    done.empty()
    show_ranking(subject, rows)
    show_source(layer_costs)


def show_ranking(subject: Subject, rows: list[tuple[HeadCost, HeadCost]]) -> None:
    import torch

    from minibert.statistics import rank_correlation
    from plots.attention_experiments import weight_and_effect
    from plots.head_kinds import ranking

    names, heads = all_names(subject), subject.shape[1]
    costs = torch.tensor([loss.mean for loss, _right in rows])
    errors = torch.tensor([loss.error for loss, _right in rows])
    sharp = confidences(subject).flatten()
    layer, head = picked_head(subject)
    chosen = layer * heads + head

    def table() -> pd.DataFrame:
        on = "toy" if held_out.kind_of_text(subject.tokenizer) == "toy" else "text"
        kinds, words = measured_kinds(subject, on), kind_names()
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

    left, right = st.columns([10, 11], gap="medium")
    with left:
        st.markdown(f"**{_('What the loss of each head costs')}**")
        figure(
            ranking(names, costs, errors, _("loss rises by, nats"), selected=chosen),
            _("Dearest: {dear}, {most:+.3f} nats. Cheapest: {cheap}, {least:+.3f}.").format(
                dear=names[costs.argmax()], most=costs.max(), cheap=names[costs.argmin()], least=costs.min()
            ),
            "explorer-ranking",
            on_select=lambda: open_place("explorer-ranking", heads),
            data=table,
        )
    even, sure = disagreeing(sharp, costs)
    with right:
        st.markdown(f"**{_('Attention against effect')}**")
        fig = weight_and_effect(
            names,
            sharp,
            costs,
            axes=(_("its mean largest share"), _("loss rises by, nats")),
            marked={even: names[even], sure: names[sure]},
        )
        for name, lift in ((even, 34), (sure, 62)):  # most heads cost little: above the crowd, one over the other
            fig.update_annotations(yshift=lift, xshift=0, selector={"x": float(sharp[name])})
        figure(
            fig,
            _("{n} heads: how sharply each looks, and what its loss costs.").format(n=len(names)),
            "explorer-disagree",
            on_select=lambda: open_place("explorer-disagree", heads),
        )
        rho = rank_correlation(sharp, costs)
        if not math.isnan(rho):
            st.markdown(
                _("Rank correlation of sharpness and cost: **{rho}** (+1 is full agreement, 0 none).").format(
                    rho=signed(rho, 2)
                )
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
    """Of the third of the heads that look least sharply the dearest, of the sharpest third the cheapest."""
    order, third = sharp.argsort(), max(1, len(sharp) // 3)
    even, sure = order[:third], order[-third:]
    return even[costs[even].argmax()].item(), sure[costs[sure].argmin()].item()


def open_place(chart: str, heads: int) -> None:
    """A click on a head in a figure, its customdata the head's place among all."""
    clicked(chart, "explorer-place")
    if (place := st.session_state.pop("explorer-place", None)) is not None:
        open_head({"layer": place // heads, "head": place % heads})
