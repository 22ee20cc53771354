"""How everything grows with one size."""

from dataclasses import replace
from functools import partial

import streamlit as st

from minibert.count import Shape, by_group, flops, memory, parameters
from plots.parameters import growth
from sections.parameters import how
from sections.parameters.models import MASKED, RANGES
from sections.parameters.names import group_names
from sections.parameters.sizes import Sizes
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.translations import _


def grown(model: Shape, letter: str, size: int) -> tuple[Shape, int]:
    """The model with one size changed; heads and feed-forward keep their ratio to H. → model, tokens"""
    config, tokens = model.config, st.session_state["T"]
    changes: dict[str, int] = {}
    if letter == "H":
        ratio = config.intermediate_size / config.hidden_size
        changes = {
            "hidden_size": size,
            "num_attention_heads": size // config.head_size,
            "intermediate_size": round(ratio * size),
        }
    elif letter == "T":
        tokens = size
        changes = {"max_position_embeddings": max(size, config.max_position_embeddings)}
    else:
        changes = {{"L": "num_hidden_layers", "V": "vocab_size"}[letter]: size}
    return replace(model, config=config.change(**changes)), tokens


def amounts(model: Shape, tokens: int, what: str, running: dict[str, object]) -> dict[str, int]:
    """Group → amount of the quantity drawn."""
    if what == "parameters":
        return by_group(parameters(model).parts)
    if what == "flops":
        count = flops(model, st.session_state["B"], tokens, MASKED)
        return {group: n * count.passes for group, n in by_group(count.parts).items()}
    return by_group(memory(model, st.session_state["B"], tokens, masked=MASKED, **running).start)


@st.fragment
def show(lesson: Lesson, inputs: Sizes) -> None:
    model, running = inputs.model, how.now()
    names = {"H": _("H hidden size"), "L": _("L layers"), "T": _("T tokens"), "V": _("V vocabulary")}
    kinds = {"parameters": _("parameters"), "flops": _("FLOPs"), "memory": _("memory")}
    with st.container(horizontal=True, key="growth-choice", gap="medium"):
        letter = choice("grow", _("Grow"), names)
        what = choice("watch", _("Watch"), kinds)
    at = st.session_state[letter]
    unit = model.config.head_size if letter == "H" else RANGES[letter][2]
    top = max(2 * at, {"L": 48, "H": 2048, "T": 2048, "V": 60_000}[letter])
    step = max(unit, round(top / 48 / unit) * unit)
    sizes = sorted({*range(step, top + 1, step), at})
    series: dict[str, list[float]] = {}
    for size in sizes:
        changed, tokens = grown(model, letter, size)
        for group, n in amounts(changed, tokens, what, running).items():
            series.setdefault(group, []).append(n / 2**30 if what == "memory" else n)
    series = {group: values for group, values in series.items() if any(values)}
    y_titles = {
        "parameters": _("parameters"),
        "flops": _("FLOPs in a step"),
        "memory": _("GiB when backward starts") if running["training"] else _("GiB"),
    }
    positions = model.config.max_position_embeddings
    limit = (positions, f"P = {positions}") if letter == "T" else None
    now, later = (sum(amounts(*grown(model, letter, size), what, running).values()) for size in (at, 2 * at))
    sentence = _("Twice the {letter}, from {at:,} to {twice:,}: {ratio} times the {what}.").format(
        letter=letter, at=at, twice=2 * at, ratio=f"{later / now:.2f}", what=kinds[what]
    )
    figure(
        partial(
            growth,
            sizes,
            series,
            at=at,
            x_title=names[letter],
            y_title=y_titles[what],
            names=group_names(),
            here=f"{letter} = {at:,}",
            limit=limit,
            title=sentence.rstrip("."),
        ),
        sentence,
        key="growth-figure",
        data=lambda: [
            {letter: size, **{group_names()[group]: values[i] for group, values in series.items()}}
            for i, size in enumerate(sizes)
        ],
    )
    lesson.show("How it grows", title=False)
