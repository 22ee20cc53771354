"""Switch attention heads off, per session: the cost of each head, then an answer and a score without some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from sections.attention_explorer import ranking
from sections.attention_explorer.asked import answers, means, questions, signed, task_name
from sections.attention_explorer.subject import Inputs, open_head, pick_head, small_pictures
from ui.figures import figure
from ui.inputs import choice
from ui.inspected_model import HeadPlace, InspectedModel, head_name, word_to_hide
from ui.lesson import Lesson
from ui.state import follow_link, set_url
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.model_input import ModelInput


def show(lesson: Lesson, inputs: Inputs) -> None:
    subject = inputs.subject
    if questions(subject) is None:
        st.info(
            _(
                "This model neither fills blanks nor judges reviews, so there is no score of ours to lose. "
                "Choose another."
            ),
            icon=":material/help:",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        at = pick_head(inputs)
        silence = {"zero": _("zeros"), "mean": _("its mean")}
        mean = choice("silence", _("In the head's place"), silence) == "mean"
        rank = ranking.wanted(subject)
    if rank:
        ranking.show(subject, at, mean)
    lesson.show("What each head costs", title=False)
    lesson.show("Switch heads off", level=3)
    switch_off(inputs, at, mean)
    lesson.show("What follows from it", level=3)


def heads_off(subject: InspectedModel) -> tuple[HeadPlace, ...]:
    """The heads switched off, kept in the link as `off=1.2-3.4` (layer.head, from 1)."""
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


def toggle_head(click: dict) -> None:
    open_head(click)
    head = (click["layer"], click["head"])
    st.session_state["heads-off"] = frozenset(st.session_state.get("heads-off", frozenset()) ^ {head})


def set_off(heads: Sequence[HeadPlace]) -> None:
    st.session_state["heads-off"] = frozenset(heads)


def switch_off(inputs: Inputs, at: HeadPlace, mean: bool) -> None:
    """Switches of all heads; beside them the effect on the sentence's answer and on the score."""
    off = heads_off(inputs.subject)
    left, right = st.columns([9, 11], gap="medium")
    with left:
        st.markdown(f"**{_('Click a head to switch it off or on')}**")
        small_pictures(inputs.sides[0], "explorer-switches", toggle_head, selected=at, crossed=off)
        switches(inputs.subject, *at, off)
    with right:
        effect_on_set(inputs.subject, off, mean)
        told = Lesson("attention_explorer").points.get(inputs.sides[0].text)
        table = effect_on_answer(inputs.subject, inputs.reading, off, mean, told)
    if table is not None:
        with left:
            logits(table)


def switches(subject: InspectedModel, layer: int, head: int, off: tuple[HeadPlace, ...]) -> None:
    """Buttons that switch many heads at once."""
    from minibert.inside.heads.cost import all_but

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


def effect_on_answer(
    subject: InspectedModel, reading: ModelInput, off: tuple[HeadPlace, ...], mean: bool, told: str | None = None
) -> pd.DataFrame | None:
    """The model's answer with all heads and without `off`: a filled blank or a class → its table, if any.
    told: as in `word_to_hide`."""
    from minibert.inside.explanations.interventions import fill_logits, switched_off, total_variation
    from minibert.model import BertForPreTraining, no_tap
    from plots.attention import compared_words

    tap = switched_off(off, means(subject) if mean else None) if off else no_tap
    if isinstance(subject.model, BertForPreTraining):
        position = word_to_hide(reading, told)
        if position is None:
            return None
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
    changes = _(", ").join(f"{word} {p[i]:.1%} → {q[i]:.1%}" for word, i in zip(shown, ids, strict=True))
    title = _("“{word}”, {p:.1%} with all heads").format(word=literal(shown[0]), p=p[ids[0]].item())
    if off:
        title = _("{moved:.1%} of the probability moved: “{word}” {p:.1%} → {q:.1%}").format(
            moved=total_variation(p.double(), q.double()).item(),
            word=literal(shown[0]),
            p=p[ids[0]].item(),
            q=q[ids[0]].item(),
        )
    st.markdown(f"**{title}**")
    figure(
        compared_words(shown, p[ids], q[ids], names),
        _("Answers with all heads and without {n} of them: {told}.").format(n=len(off), told=changes),
        "explorer-answer",
        data=lambda: table,
    )
    return table


def logits(table: pd.DataFrame) -> None:
    """The logits before and after: probabilities hide a shift that all logits share."""
    whole, without = _("logit"), _("logit without")
    st.dataframe(
        table[[_("answer"), whole, without]].assign(**{_("change"): table[without] - table[whole]}),
        hide_index=True,
        key="explorer-logits",
        column_config={name: st.column_config.NumberColumn(format="%.4f") for name in (whole, without, _("change"))},
    )


def effect_on_set(subject: InspectedModel, off: tuple[HeadPlace, ...], mean: bool) -> None:
    from minibert.inside.heads.cost import difference

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
