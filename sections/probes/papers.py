"""Surface, syntax, meaning: the layer at which each task settles, in our results and in two papers."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from sections.probes.asking import follow_results
from sections.probes.subject import Inputs, kind_names, task_name
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _, pgettext

if TYPE_CHECKING:
    from minibert.inside.probes.probe import KindOrder, TaskResult


@st.cache_data(show_spinner=False)
def literature() -> list[dict]:
    """The rows of a results table of the papers; layer ÷ layers is the depth."""
    rows = Lesson("probes").table("literature.csv")
    return [{**row, "layer": float(row["layer"]), "layers": int(row["layers"])} for row in rows]


def paper_task_names() -> dict[str, str]:
    return {
        "part of speech": _("part of speech"),
        "constituents": _("constituents"),
        "dependencies": _("dependencies"),
        "entities": _("entities"),
        "semantic roles": _("semantic roles"),
        "relations": _("relations"),
        "coreference": _("coreference"),
        "sentence length": _("sentence length"),
        "word content": _("which words"),
        "tree depth": _("depth of the tree"),
        "top constituents": _("top constituents"),
        "word order": _("word order"),
        "tense": _("tense"),
        "number of the subject": _("number of the subject"),
        "number of the object": _("number of the object"),
        "odd word out": _("odd word out"),
        "order of clauses": _("order of clauses"),
    }


def measure_names() -> dict[str, str]:
    return {"expected layer": _("expected layer"), "best layer": _("best layer")}


def show(lesson: Lesson, inputs: Inputs) -> None:
    follow_results(inputs.model, lambda results: _settles(results.ours if results.over else None))
    lesson.show("Surface, syntax, meaning", title=False)


def _settles(ours: "list[TaskResult] | None") -> None:
    """The depth at which each task settles, ours beside the papers'."""
    from plots.over_layers import Settled, depths

    groups: dict[str, list[Settled]] = {}
    ours = ours and [result for result in ours if result.above_chance]
    if ours:
        last = ours[0].accuracy.shape[1] - 1
        groups[_("this model: first layer within two points of the best")] = [
            Settled(task_name(r.name), r.kind, [layer / last for layer in r.settled])
            for kind in kind_names()
            for r in ours
            if r.kind == kind
        ]
    for row in literature():
        model = pgettext("between clauses", ", ").join((row["paper"], row["model"]))
        name = f"{model}{_(': ')}{measure_names()[row['measure']]}"
        words = paper_task_names()
        groups.setdefault(name, []).append(Settled(words[row["task"]], row["kind"], [row["layer"] / row["layers"]]))
    listed = " ".join(
        f"{title}{_(': ')}"
        + _(", ").join(f"{row.name} {sum(row.values) / len(row.values):.0%}" for row in rows)
        + _(".")
        for title, rows in groups.items()
    )
    figure(
        partial(depths, groups, kind_names(), _("depth: share of the layers")),
        _("How deep each task settles.") + " " + listed,
        "depths",
        data=lambda: [
            {
                _("source"): title,
                _("task"): row.name,
                _("kind"): kind_names()[row.kind],
                _("depth"): sum(row.values) / len(row.values),
            }
            for title, rows in groups.items()
            for row in rows
        ],
    )
    if not ours:
        st.caption(_("Our own results join the picture when all probes are trained."))
        return
    if len({result.kind for result in ours}) > 1:
        from minibert.inside.probes.probe import order_of_kinds

        st.markdown(agreement(order_of_kinds(ours)))


def agreement(order: "KindOrder") -> str:
    """A sentence on whether our numbers agree with the papers."""
    where = _(", ").join(
        _("{kind} at layer {layer:.1f}").format(kind=kind_names()[kind], layer=layer)
        + (f" ± {order.spread[kind]:.1f}" if order.spread[kind] else "")
        for kind, layer in order.layers.items()
    )
    verdicts = {
        "same": _("**Ours agrees:** the same order as in the papers."),
        "other": _("**Ours does not agree:** this is another order than in the papers."),
        "unclear": _("**Ours cannot tell:** the kinds are nearer to each other than the seeds are among themselves."),
    }
    return (
        _("On average over tasks and seeds, probes come within two points of their best: {where}.").format(where=where)
        + f" {verdicts[order.verdict]}"
    )
