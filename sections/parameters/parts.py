"""Where the parameters are: the map of parts, and formula and source of the selected part."""

import html
from collections.abc import Mapping
from functools import partial

import streamlit as st

from minibert.count import CostTerm, ParameterCount, by_group, head_rows, parameters, rows_of, total
from plots.parameters import column_of, mosaic, short
from sections.parameters.names import clicked_name, group_names, part_names, part_table
from sections.parameters.sizes import Sizes
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.predict import predict
from ui.source import show_source
from ui.state import follow_link, set_url, url_choice
from ui.translations import _

USUAL = "block.mlp.expand"
PART = "chosen-part"  # session_state key: the selected part
OPTIONS = ("embeddings", "attention", "mlp", "heads")  # options of the prediction

SOURCE = {
    "embeddings.token": ("Embeddings", "self.token = "),
    "embeddings.position": ("Embeddings", "self.position = "),
    "embeddings.segment": ("Embeddings", "self.segment = "),
    "embeddings.norm": ("Embeddings", "self.norm = "),
    "block.attn.query": ("SelfAttention", "self.query = "),
    "block.attn.key": ("SelfAttention", "self.key = "),
    "block.attn.value": ("SelfAttention", "self.value = "),
    "block.attn.output": ("SelfAttention", "self.output = "),
    "block.attn_norm": ("Block", "self.attn_norm = "),
    "block.mlp.expand": ("FeedForward", "self.expand = "),
    "block.mlp.contract": ("FeedForward", "self.contract = "),
    "block.mlp_norm": ("Block", "self.mlp_norm = "),
    "pooler.dense": ("Pooler", "self.dense = "),
    "mlm.dense": ("MlmHead", "self.dense = "),
    "mlm.norm": ("MlmHead", "self.norm = "),
    "mlm.decoder": ("MlmHead", "self.decoder"),
    "nsp": ("BertForPreTraining", "self.nsp: nn.Module = "),
}


def show(lesson: Lesson, inputs: Sizes) -> None:
    count, names = parameters(inputs.model), part_names()
    known = [part.name for part in count.parts]
    if follow_link("part") or st.session_state.get(PART) not in known:
        st.session_state[PART] = url_choice("part", known, USUAL)
    with picture():
        revealed = _guessed(inputs, count)
        _map(inputs, count, names, revealed)
    with st.container(border=True, key="part-detail"):
        left, right = st.columns([1, 1.6], gap="medium")
        chosen = left.selectbox(_("Part"), known, format_func=lambda name: names[name], key=PART)
        set_url("part", chosen, default=USUAL)
        part = next(part for part in count.parts if part.name == chosen)
        right.html(_sum(part, total(count.parts) if revealed else None))
        if chosen == "mlm.decoder":
            left.caption(_("Its matrix is the token embedding, and is counted there."))
        _source(part, own=part.name in {row.name for row in inputs.model.own})
    lesson.show("Reading the map", title=False)


def _guessed(inputs: Sizes, count: ParameterCount) -> bool:
    """Ask for the largest part; True if the map may show how large each part is."""
    groups, names = by_group(count.parts), group_names() | {"heads": _("output heads")}
    right = max(OPTIONS, key=lambda group: groups.get(group, 0))
    return predict(
        "largest",
        _("Which part is the largest?"),
        [names[group] for group in OPTIONS],
        OPTIONS.index(right),
        about=repr(inputs.model),
    )


def _map(inputs: Sizes, count: ParameterCount, names: Mapping[str, str], revealed: bool) -> None:
    """told: areas are parameter counts; before the prediction all parts are equally large."""
    model, everything, groups = inputs.model, total(count.parts), by_group(count.parts)
    layers = model.config.num_hidden_layers
    columns = {
        "embeddings": _("embeddings"),
        "block": _("1 block, used {n} times").format(n=layers)
        if model.shared == "all"
        else _("{n} blocks").format(n=layers),
        "heads": _("pooler, heads"),
    }
    if not revealed:
        alt = _("The {n} parts of the model, all drawn equally large: guess first.").format(n=len(count.parts))
        title = _("Its {n} parts, all drawn equally large").format(n=len(count.parts))
        figure(partial(mosaic, count, names=names, columns=columns, title=title, veiled=True), alt, key="parts-veiled")
        return
    largest = max(groups, key=groups.get)
    figure(
        partial(
            mosaic,
            count,
            names=names,
            columns=columns,
            selected=st.session_state[PART],
            title=_("{group}: {share} of {total}").format(
                group=group_names()[largest].capitalize(),
                share=f"{groups[largest] / everything:.0%}",
                total=short(everything),
            ),
        ),
        _(
            "Map of {total} parameters: embeddings {embeddings}, attention {attention}, feed-forward {mlp}, "
            "LayerNorms {norms}, pooler and heads {heads}."
        ).format(total=f"{everything:,}", **{group: f"{groups[group] / everything:.1%}" for group in groups}),
        key="parts-map",
        on_select=_take_clicked,
        data=lambda: part_table(count.parts, names),
    )


def _take_clicked() -> None:
    name = clicked_name("parts-map")
    # A second click on the same part deselects it in the figure; keep it as the chosen part.
    name = name or st.session_state.get("_clicked-part")
    if name is not None:
        st.session_state[PART] = st.session_state["_clicked-part"] = name


def _sum(part: CostTerm, everything: int | None) -> str:
    """The part's number, step by step; with everything, its share, too."""
    times = f"{part.times} × " if part.times > 1 else ""
    formula, numbers = part.formula, part.numbers
    if times and "+" in formula:
        formula, numbers = f"({formula})", f"({numbers})"
    steps = [times + formula, times + numbers, f"{times}{part.one:,}" if times else ""]
    share = _("{share} of all").format(share=f"{100 * part.total / everything:.2f}\u00a0%") if everything else ""
    sure = f"{part.total:,}"
    lines = [html.escape(step) for step in dict.fromkeys(steps) if step not in ("", sure)]
    lines.append(f"<b>{sure}</b>" + (f" ({html.escape(share)})" if share else ""))
    return f'<div class="mb-formula">{"<br>".join(f"<span class=is>=</span>{line}" for line in lines)}</div>'


def _source(part: CostTerm, own: bool) -> None:
    if part.name in SOURCE:
        import minibert.model  # imports torch: only after the map is on screen

        owner, line = SOURCE[part.name]
        show_source(getattr(minibert.model, owner), find=line)
    elif own:  # a row of XLNet's network
        from minibert.relatives.parts.transformer_xl import own_rows

        show_source(own_rows, find=f'"{part.name}"')
    else:
        show_source(rows_of if column_of(part) == "embeddings" else head_rows, find=f'"{part.name}"')
