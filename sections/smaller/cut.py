"""Pruning: importance of heads and neurons, accuracy without some of them, and after a few more training steps."""

import re
from dataclasses import replace
from functools import partial

import streamlit as st

from sections.smaller import cutting, learn
from sections.smaller.cutting import CUT, DATA, WHOLE, ZEROS, CutChoice
from sections.smaller.subject import Inputs
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.live_runs import follow_runs
from ui.runs import manager, own_runs, show_refusal, submit, weights_to_begin_with
from ui.source import show_source
from ui.state import follow_link, set_url, url_text
from ui.task_data import shipped
from ui.text import literal
from ui.translations import _, ngettext

KIND = "smaller-cut"  # of the runs with pruned models
UNCUT = f"{KIND}/whole"  # of the unpruned run, their baseline
BY_HAND = "gone"  # in the link as 1.2,3.4: layer and head, counted from 1
EXAMPLE = "I hated every minute of it."


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.pruning import cut, importance

    manager().warm_up()
    lesson.show("Cut away", title=False)
    run = cutting.classifier()
    if run is not None:
        knife(run.id, str(run.result), inputs.text or EXAMPLE)
        retrained(run, inputs)
    lesson.show("What is worth what")
    show_source(importance.importance)
    show_source(cut.cut_block)


def kinds() -> dict[str, str]:
    return {"heads": _("heads"), "neurons": _("neurons"), "layers": _("layers"), "weights": _("single weights")}


def read_by_hand() -> None:
    """Read the pruned heads from the link, if it takes precedence over the screen."""
    if follow_link(BY_HAND) or BY_HAND not in st.session_state:
        named = re.findall(r"(\d{1,2})\.(\d{1,2})(?:,|$)", url_text(BY_HAND))
        st.session_state[BY_HAND] = {(int(layer) - 1, int(head) - 1) for layer, head in named}
    set_url(BY_HAND, ",".join(f"{layer + 1}.{head + 1}" for layer, head in sorted(st.session_state[BY_HAND])) or None)


def toggle() -> None:
    points = st.session_state["worth"].selection.points
    if points:
        data = points[0]["customdata"]
        layer, head = data.values() if isinstance(data, dict) else data
        st.session_state[BY_HAND] = st.session_state[BY_HAND] ^ {(int(layer), int(head))}


@st.fragment
def knife(run: str, directory: str, text: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        what = choice("what", _("What is cut away"), kinds())
        share = st.slider(
            _("The least important first"), 0, 100, 50, 5, format="%d %%", key="share", bind="query-params", width=220
        )
        by = choice("by", _("Heads coloured by"), {"slope": _("slope"), "loss": _("loss without")})
    read_by_hand()
    with st.spinner(_("Every head and neuron is weighed …")):
        worth = cutting.worth(run, directory)
        whole = len(worth.heads)
        share = min(share, 100 * (whole - 1) // whole) if what == "layers" else share
        all_heads = {(layer, head) for layer, values in enumerate(worth.heads) for head in range(len(values))}
        selection = CutChoice(run, directory, what, share / 100, tuple(sorted(st.session_state[BY_HAND] & all_heads)))
        keep, _models = cutting.left_of(selection)
        costs = cutting.honest(run, directory) if by == "loss" else None
    draw(keep, worth, costs, all_heads)
    with st.spinner(_("Each reads your sentence and the dev reviews …")):
        measured, predictions = cutting.on_dev(selection), cutting.on_text(selection, text)
    beside(measured, predictions, text)
    st.session_state["_asked-cut"] = selection


def draw(keep, worth, costs, all_heads) -> None:
    from minibert.pruning.keep import normalised
    from plots.pruning import worth as drawn

    heads = dict(zip(keep.layers, keep.heads, strict=True))
    neurons = dict(zip(keep.layers, keep.neurons, strict=True))
    cut_heads = {(layer, head) for layer, head in all_heads if head not in heads.get(layer, ())}
    left = [len(neurons.get(layer, ())) for layer in range(len(worth.heads))]
    values = normalised(worth.heads) if costs is None else costs  # the colours: importance, or the rise of the loss
    words = {
        "heads": _("Heads: click to cut"),
        "neurons": _("Neurons of each layer, the most important first"),
        "layer": _("layer"),
        "head": _("head"),
        "worth": _("worth"),
        "gone": _("cut away"),
    }
    order = sorted(((value, layer, head) for layer, row in enumerate(values) for head, value in enumerate(row)))
    best, worst = order[-1], order[0]
    alt = _(
        "What each head is worth, {best} most, {worst} least. Cut away: {gone} heads of {all}; neurons left: {left}."
    )
    figure(
        partial(drawn, values, normalised(worth.neurons), cut_heads, left, words),
        alt.format(
            best=name(*best[1:]),
            worst=name(*worst[1:]),
            gone=len(cut_heads),
            all=len(all_heads),
            left=_(", ").join(map(str, left)),
        ),
        "worth",
        on_select=toggle,
        wide=True,
        data=[
            {
                _("head"): name(layer, head),
                _("slope"): round(worth.heads[layer][head], 5),
                **({} if costs is None else {_("loss without"): round(costs[layer][head], 5)}),
                _("cut away"): (layer, head) in cut_heads,
            }
            for layer, head in sorted(all_heads)
        ],
    )
    if costs is not None:
        from minibert.training.statistics import rank_correlation

        flat = [[abs(value) for row in table for value in row] for table in (worth.heads, costs)]
        st.caption(
            _("Both ways to weigh {n} heads: rank correlation {rho:.2f} (1: the same order).").format(
                n=len(all_heads), rho=rank_correlation(*flat)
            )
        )


def name(layer: int, head: int) -> str:
    return _("layer {layer}, head {head}").format(layer=layer + 1, head=head + 1)


def beside(measured: dict, predictions: dict, text: str) -> None:
    """A table of the whole model, the pruned one, and one with as many weights set to 0."""
    names = {WHOLE: _("whole"), CUT: _("cut away: smaller matrices"), ZEROS: _("as many weights set to 0")}
    rows = []
    for key in (one for one in names if one in predictions):
        cost, label, sure = predictions[key]
        rows.append(
            {
                _("model"): names[key],
                _("parameters"): f"{cost.parameters:,}",
                _("ms"): f"{cost.milliseconds:.2f}",
                _("file"): f"{measured[key]['megabytes']:.1f} MB",
                _("zipped"): f"{measured[key]['compressed']:.1f} MB",
                _("right"): f"{measured[key]['accuracy']:.1%}",
                _("says"): f"{literal(label)}, {sure:.0%}",
            }
        )
    st.table(rows)
    words = _("In *ms* and *says* each reads “{text}” on this server. *Right*: of the {n} dev reviews.")
    st.caption(
        words.format(text=literal(text if len(text) < 50 else f"{text[:49]}…"), n=len(shipped(DATA).dev.examples))
    )


def retrained(run, inputs: Inputs) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(_("Retrain what is left"), type="primary", icon=":material/play_arrow:", key="retrain"):
            begin(run, inputs)
    show_refusal()
    runs = own_runs(UNCUT)[:1] + [one for one in own_runs(KIND) if one.kind == KIND][2::-1]
    hint = _(
        "**No run yet.** The cut model is trained on the reviews once more, beside the uncut one; the picture above "
        "gains a point."
    )
    follow_runs(runs, draw_runs, hint, speed=learn.step_and_loss, message=inputs.watched)


def begin(run, inputs: Inputs) -> None:
    """Retrain the pruned model and, once, the whole one, on the same reviews for as many steps."""
    selection: CutChoice | None = st.session_state.get("_asked-cut")
    if selection is None:
        return
    pruning = selection.pruning
    title = _("{share:.0%} of {what}").format(share=pruning.share, what=kinds()[pruning.what])
    if pruning.heads:
        title += " + " + ngettext("{n} head", "{n} heads", len(pruning.heads)).format(n=len(pruning.heads))
    submit_one(run, pruning, title, KIND, inputs)
    if not own_runs(UNCUT):
        submit_one(run, replace(pruning, share=0.0, heads=()), _("nothing cut"), UNCUT, inputs)


def submit_one(run, pruning, title: str, kind: str, inputs: Inputs) -> None:
    data = shipped(DATA)
    submit(
        "minibert.pruning.run:prune",
        weights_to_begin_with(run.result),
        pruning,
        data.train,
        data.dev,
        learn.settings(0, 2, 1e-4),
        probe_inputs=inputs.watched,
        title=title,
        kind=kind,
    )


def draw_runs(runs: list) -> None:
    predictions = {
        "the whole is measured": _("the whole is measured"),
        "what goes is chosen, and what is left is measured": _("what goes is chosen, and what is left is measured"),
    }
    for run in runs:
        doing = run.latest("preparing")
        if doing and not run.over and not run.latest("cut"):
            st.caption(f"{literal(run.title)}{_(': ')}{predictions.get(doing['what'], '')} …")
    learn.draw(runs)
    rows = []
    for run in runs:
        if event := run.latest("cut"):
            before, after, done = event["before"], event["after"], run.latest("done")
            rows.append(
                {
                    _("run"): literal(run.title),
                    _("heads left"): " ".join(map(str, event["heads"])),
                    _("neurons left"): " ".join(map(str, event["neurons"])),
                    _("ms"): f"{before['milliseconds']:.2f} → {after['milliseconds']:.2f}",
                    _("right"): f"{before['accuracy']:.1%} → {after['accuracy']:.1%}"
                    + (f" → {done['metrics']['accuracy']:.1%}" if done else ""),
                }
            )
    if rows:
        st.table(rows)
        st.caption(_("Right: the whole, cut, and after further training."))
