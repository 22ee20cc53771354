"""The probes' results, one panel per task, and the gain over random weights."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from sections.probes.subject import layer_names, task_name
from ui.figures import figure
from ui.inputs import choice
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.probes.probe import TaskResult


def show(ours: "list[TaskResult]", random: "list[TaskResult]") -> None:
    from plots.over_layers import Line, Panel, over_layers

    if not ours:
        return

    measure = choice("measure", _("Shown"), {"accuracy": _("accuracy"), "selectivity": _("selectivity")})
    beside = {result.name: result for result in random}

    def line(values: np.ndarray, name: str, look: str) -> Line:
        """values: (seeds, L + 1)"""
        spread = {"low": values.min(0).tolist(), "high": values.max(0).tolist()} if len(values) > 1 else {}
        return Line(name, values.mean(0).tolist(), look, **spread)

    panels = []
    for result in ours:
        values = getattr(result, measure)
        if values is None:  # a task without a control task
            continue
        lines = [line(values, _("this model"), "first")]
        if measure == "accuracy" and result.control is not None:
            lines.append(line(result.control, _("control task"), "second"))
        if result.name in beside:
            lines.append(line(getattr(beside[result.name], measure), _("random weights"), "baseline"))
        references = {_("commonest label"): result.majority} if measure == "accuracy" else {"": 0.0}
        low = min([0.0, *(value for one in lines for value in one.low or one.values)])
        panels.append(Panel(task_name(result.name), lines, references, True, (low - 0.02, 1.05)))
    if not panels:
        st.info(_("Only words and pairs have a control task, and none was chosen."), icon=":material/info:")
        return
    names = layer_names(ours[0].accuracy.shape[1])
    best = _("; ").join(
        _("{task}: best at layer {layer}, {value:.0%}").format(
            task=task_name(result.name), layer=names[result.best], value=result.mean[result.best]
        )
        for result in ours
    )
    axis = _("layer (0: embeddings)")
    drawn = partial(over_layers, panels, [str(n) for n in range(len(names))], axis, columns=3, title=finding(ours))
    figure(
        drawn,
        _("Probes over the layers, the mean of the seeds with their range. {best}.").format(best=best),
        "probe-lines",
        data=lambda: [
            {
                _("task"): task_name(result.name),
                _("layer"): names[layer],
                _("accuracy"): result.mean[layer],
                _("range over seeds"): np.ptp(result.accuracy[:, layer]),
                _("control task"): None if result.control is None else result.control.mean(0)[layer],
                _("commonest label"): result.majority,
            }
            for result in ours
            for layer in range(len(names))
        ],
        wide=True,
    )
    told_apart = [result for result in ours if result.above_chance]
    if len(told_apart) < len(ours):
        rest = (f"{task_name(one.name)} ({one.test})" for one in ours if not one.above_chance)
        words = _("No better than the commonest label, as far as so few items can tell: {tasks}.")
        st.caption(words.format(tasks=_(", ").join(rest)))
    _gains(told_apart, beside)


def finding(results: "list[TaskResult]") -> str:
    """Which task is near its best earliest, which latest, of those that are read at all."""
    found = [result for result in results if result.above_chance]
    if not found:
        return _("No probe is better than the commonest label")
    deepest, earliest = (of(found, key=lambda one: np.mean(one.settled)) for of in (max, min))
    return _("{first} is near its best at layer {a:.0f}, {last} only at layer {b:.0f}").format(
        first=task_name(earliest.name).capitalize(),
        a=np.mean(earliest.settled),
        last=task_name(deepest.name),
        b=np.mean(deepest.settled),
    )


def _gains(ours: "list[TaskResult]", beside: "dict[str, TaskResult]") -> None:
    """The gain of the trained weights: best layer against the best of random weights."""
    gains = {r.name: r.mean.max() - beside[r.name].mean.max() for r in ours if r.name in beside}
    if len(gains) < 2:
        return
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    st.markdown(
        _(
            "Against random weights, best layer against best layer, the model gains most in **{most}** ({high:+.1f} "
            "points) and least in **{least}** ({low:+.1f})."
        )
        .format(most=task_name(most), high=100 * gains[most], least=task_name(least), low=100 * gains[least])
        .replace("-", "−")
    )
