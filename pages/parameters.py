"""Parameters: where a BERT's weights, its arithmetic and its memory are, from its sizes alone."""

import html
from dataclasses import replace
from pathlib import Path

import streamlit as st

from minibert.config import BertConfig
from minibert.count import FAMILY, Part, Shape, by_group, flops, memory, parameters, shape_of, total
from minibert.relatives.registry import config_from_file, model_types, relative_named
from plots.parameters import family, growth, memory_bars, mosaic, shares, short, short_bytes
from ui.figures import figure
from ui.inputs import choice, distinct
from ui.lesson import Lesson
from ui.models import CHECKPOINTS, about, info_of
from ui.navigation import next_lesson
from ui.runs import own_models
from ui.source import show_source
from ui.state import follow_link, set_url, url_choice
from ui.text import literal, visible
from ui.translations import _

START = "BERT-base"
# letter → least, most, step
RANGES = {
    "L": (1, 48, 1),
    "H": (64, 4096, 64),
    "A": (1, 64, 1),
    "F": (64, 16384, 64),
    "V": (100, 130_000, 1),
    "P": (16, 2048, 1),
    "T": (8, 2048, 8),
    "B": (1, 256, 1),
}
BATCH = {"T": 128, "B": 32}
WIDTHS = [64, 128, 256, 512, 1024]  # of factorised embeddings
MASKED = 0.15
CHOSEN = "_chosen-model"  # session_state key: the name of the model whose sizes were taken last

# The sizes stay in view while what follows from them scrolls by, where the screen has room for both.
STYLE = """<style>
@media (min-width: 900px) and (min-height: 600px) {
  [data-testid="stLayoutWrapper"]:has(> .st-key-sizes) { position: sticky; top: 3.75rem; z-index: 90; }
  .st-key-sizes {
    background: Canvas; background: light-dark(LIGHT, DARK);
    border-bottom: 1px solid rgba(138, 143, 152, 0.5);
  }
}
.st-key-sizes { gap: 0.25rem; padding: 0.5rem 0 0.25rem; }
.st-key-sizes [data-testid="stHorizontalBlock"] { row-gap: 0; }
.mb-sums { display: flex; flex-wrap: wrap; gap: 0 1.5rem; font-size: 1.05rem; }
.mb-sums b { font-size: 1.25rem; font-variant-numeric: tabular-nums; }
:is(.st-key-parts-map, .st-key-growth-figure) .annotation text,
:is(.st-key-growth-figure, .st-key-family-figure) .textpoint text { fill: currentColor !important; }
.mb-formula { font-size: 1.25rem; line-height: 1.75; overflow-wrap: anywhere; }
.mb-formula .is { opacity: 0.65; padding-right: 0.5rem; }
</style>"""


def slider_labels() -> dict[str, str]:
    return {
        "L": _("L layers"),
        "H": _("H hidden size"),
        "A": _("A heads"),
        "F": _("F feed-forward size"),
        "V": _("V vocabulary"),
        "P": _("P positions"),
        "T": _("T tokens"),
        "B": _("B batch size"),
    }


def part_names() -> dict[str, str]:
    return {
        "embeddings.token": _("token"),
        "embeddings.position": _("position"),
        "embeddings.segment": _("segment"),
        "embeddings.norm": _("LayerNorm of the embeddings"),
        "embeddings.projection": _("projection E → H"),
        "block.attn.query": _("query"),
        "block.attn.key": _("key"),
        "block.attn.value": _("value"),
        "block.attn.output": _("output"),
        "block.attn_norm": _("LayerNorm after attention"),
        "block.mlp.expand": _("feed-forward, H → F"),
        "block.mlp.contract": _("feed-forward, F → H"),
        "block.mlp_norm": _("LayerNorm after feed-forward"),
        "pooler.dense": _("pooler"),
        "mlm.dense": _("MLM head, dense"),
        "mlm.norm": _("MLM head, LayerNorm"),
        "mlm.decoder": _("MLM head, output biases"),
        "rtd.dense": _("replaced-token head, dense"),
        "rtd.decoder": _("replaced-token head, decision"),
        "nsp": _("sentence-pair head"),
    }


def group_names() -> dict[str, str]:
    return {
        "embeddings": _("embeddings"),
        "attention": _("attention"),
        "scores": _("T × T scores"),
        "mlp": _("feed-forward"),
        "norms": _("LayerNorms"),
        "heads": _("heads"),
        "weights": _("weights"),
        "gradients": _("gradients"),
        "moments": _("the optimizer's moments"),
        "copies": _("bf16 copies of the weights"),
        "activations": _("activations"),
        "working": _("largest temporary values"),
        "summing": _("the tied matrix's two gradients"),
    }


# Where a part is made: class in minibert.model, and what its line contains.
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
    "nsp": ("BertForPreTraining", "self.nsp = "),
}


# ------------------------------------------------------------------------------------------------ the sizes on screen
def models() -> dict[str, Shape]:
    """The published family, the checkpoints of this classroom, and the reader's own runs."""
    return {**FAMILY, **{name: shape for name, (shape, _path) in with_weights().items()}}


def with_weights() -> dict[str, tuple[Shape, Path]]:
    """Models there are here, as far as the sliders reach: name → what there is to count, and where it lies."""
    places = {path.parent.name: path.parent for path in sorted(CHECKPOINTS.glob("*/config.json"))}
    runs = [info for info in map(info_of, own_models()) if info.pretrained]
    titles = distinct({info.name: visible(info.title, spaces=False) for info in runs})
    places |= {titles[run.name]: run.directory for run in runs if titles[run.name] not in {*FAMILY, *places}}
    found = {}
    for name, path in places.items():
        try:
            model = shape_of(config_from_file(path / "config.json"))
        except (ValueError, OSError):
            continue  # a checkpoint being written, or none that is known: other pages say so
        if all(RANGES[letter][0] <= model.letters[letter] <= RANGES[letter][1] for letter in "LHAFVP"):
            found[name] = model, path
    return found


def settings_of(model: Shape) -> dict[str, object]:
    """Widget key → value."""
    letters = model.letters
    sizes = {letter: letters[letter] for letter in "LHAFVP"}
    design = {"S": letters["S"], "E": model.embedding_size or 0, "shared": model.shared_layers}
    places = {"relative": model.relative_positions}
    return {**sizes, **design, **places, "pooler": model.pooler, "objective": model.objective}


def model_now() -> Shape:
    """The model on screen. ValueError with a sentence for the reader where the sizes do not fit together."""
    state = st.session_state
    hidden, heads = state["H"], state["A"]
    if hidden % heads:
        near = [a for a in range(1, hidden + 1) if hidden % a == 0]
        below, above = max(a for a in near if a < heads), min((a for a in near if a > heads), default=hidden)
        raise ValueError(
            _(
                "H = {hidden:,} cannot be shared out among A = {heads} heads: each head gets D = H/A numbers, and "
                "{hidden:,}/{heads} is not whole. Nearest that fit: A = {below} or A = {above}."
            ).format(hidden=hidden, heads=heads, below=below, above=above)
        )
    if state["objective"] in ("mlm+nsp", "mlm+sop") and not state["pooler"]:
        raise ValueError(
            _("Predicting sentence pairs reads the pooler. Switch the pooler on, or choose another pre-training.")
        )
    config = BertConfig(
        vocab_size=state["V"],
        hidden_size=hidden,
        num_hidden_layers=state["L"],
        num_attention_heads=heads,
        intermediate_size=state["F"],
        max_position_embeddings=state["P"],
        type_vocab_size=state["S"] or 1,
    )
    return Shape(
        config,
        embedding_size=state["E"] or None,
        shared_layers=state["shared"],
        segments=bool(state["S"]),
        relative_positions=state["relative"],
        pooler=state["pooler"],
        objective=state["objective"],
    )


def load_model() -> None:
    chosen = st.session_state["family"]
    if chosen is not None:
        st.session_state.update(settings_of(models()[chosen]) | {CHOSEN: chosen})


def load_clicked() -> None:
    points = st.session_state["family-figure"].selection.points
    name = _clicked(points)
    if name in models():
        st.session_state.update(settings_of(models()[name]) | {CHOSEN: name})


def take_along() -> None:
    """H moved: the family's proportions, D = 64 and F = 4·H."""
    if st.session_state["proportions"]:
        hidden = st.session_state["H"]
        st.session_state["A"] = min(hidden // 64, RANGES["A"][1])
        st.session_state["F"] = min(4 * hidden, RANGES["F"][1])


def _clicked(points: list[dict]) -> str | None:
    data = points[0].get("customdata") if points else None
    return data[0] if isinstance(data, list) else data


def size_sliders() -> None:
    start = settings_of(FAMILY[START]) | BATCH
    labels = slider_labels()
    for row in ("LHAF", "VPTB"):
        for letter, column in zip(row, st.columns(len(row), gap="medium"), strict=True):
            low, high, step = RANGES[letter]
            column.slider(
                labels[letter],
                low,
                high,
                start[letter],
                step,
                key=letter,
                bind="query-params",
                on_change=take_along if letter == "H" else "rerun",
            )


def design() -> None:
    """What is not a size: whether heads and feed-forward follow H, and how relatives differ from BERT."""
    st.toggle(
        _("H takes A and F along"),
        value=True,
        key="proportions",
        bind="query-params",
        help=_("As in every published BERT: heads of 64 numbers, A = H/64, and F = 4·H."),
    )
    with st.popover(_("What relatives change"), icon=":material/family_history:"):
        st.toggle(_("All layers share one block (ALBERT)"), key="shared", bind="query-params")
        st.selectbox(
            _("E width of the embeddings (ALBERT, ELECTRA)"),
            sorted({0, *WIDTHS, *(model.embedding_size or 0 for model in models().values())}),
            format_func=lambda width: f"{width}" if width else _("H"),
            key="E",
            bind="query-params",
        )
        st.toggle(
            _("Distances at keys and values, no position embeddings (NEZHA)"), key="relative", bind="query-params"
        )
        st.slider(_("S segments"), 0, 2, FAMILY[START].letters["S"], key="S", bind="query-params")
        st.toggle(_("Pooler"), value=True, key="pooler", bind="query-params")
        choice(
            "objective",
            _("Pre-training: masked tokens (MLM), with sentence pairs (NSP, SOP), or replaced tokens (RTD)"),
            {"mlm+nsp": "MLM + NSP", "mlm+sop": "MLM + SOP", "mlm": "MLM", "rtd": "RTD"},
        )


def choose_model(now: dict[str, object]) -> str | None:
    """The family as buttons; the one whose sizes are on screen is marked. Returns its name."""
    known, here_too = models(), with_weights()
    alike = [name for name, model in known.items() if settings_of(model) == now]
    chosen = st.session_state.get(CHOSEN)
    here = chosen if chosen in alike else next(iter(alike), None)  # runs of one class are often of the same sizes
    st.session_state["family"] = here
    st.pills(
        _("Start from"),
        list(known),
        format_func=lambda name: literal(name.removeprefix("BERT-")),
        key="family",
        on_change=load_model,
    )
    if here in here_too and (words := about(here_too[here][1])):
        st.caption(words)
    return here


# ------------------------------------------------------------------------------------------------------- the sections
@st.fragment
def parts_map(model: Shape) -> None:
    """The map of parts; a click shows the part's formula and its source, and reruns nothing else."""
    count, names = parameters(model), part_names()
    everything = total(count.parts)
    known = [part.name for part in count.parts]
    if follow_link("part") or st.session_state.get("part") not in known:
        st.session_state["part"] = url_choice("part", known, "block.mlp.expand")
    copies = 1 if model.shared_layers else model.config.num_hidden_layers
    blocks = _("1 block, used {n} times").format(n=model.config.num_hidden_layers)
    columns = {
        "embeddings": _("embeddings"),
        "block": blocks if model.shared_layers else _("{n} blocks").format(n=copies),
        "heads": _("pooler, heads"),
    }
    groups = by_group(count.parts)
    figure(
        mosaic(count, names=names, columns=columns, selected=st.session_state["part"]),
        _(
            "Map of {total} parameters: embeddings {embeddings}, attention {attention}, feed-forward {mlp}, "
            "LayerNorms {norms}, pooler and heads {heads}."
        ).format(total=f"{everything:,}", **{group: f"{groups[group] / everything:.1%}" for group in groups}),
        key="parts-map",
        on_select=take_clicked_part,
        data=lambda: part_table(count.parts, names),
    )
    with st.container(border=True, key="part-detail"):
        left, right = st.columns([1, 1.6], gap="medium")
        chosen = left.selectbox(_("Part"), known, format_func=lambda name: names[name], key="part")
        set_url("part", chosen, default="block.mlp.expand")
        part = next(part for part in count.parts if part.name == chosen)
        right.html(part_sum(part, everything))
        if chosen == "mlm.decoder":
            left.caption(_("Its matrix is the token embedding, and is counted there."))
        part_source(part)


def take_clicked_part() -> None:
    name = _clicked(st.session_state["parts-map"].selection.points)
    # A second click on the same part takes the selection back: the part is meant all the same.
    name = name or st.session_state.get("_clicked-part")
    if name is not None:
        st.session_state["part"] = st.session_state["_clicked-part"] = name


def part_sum(part: Part, everything: int) -> str:
    """Formula → numbers → sum, as HTML."""
    times = f"{part.times} × " if part.times > 1 else ""
    formula, numbers = part.formula, part.numbers
    if times and "+" in formula:
        formula, numbers = f"({formula})", f"({numbers})"
    steps = [times + formula, times + numbers, f"{times}{part.one:,}" if times else ""]
    share = _("{share} of all").format(share=f"{part.total / everything:.2%}")
    sure = f"{part.total:,}"
    lines = [html.escape(step) for step in dict.fromkeys(steps) if step not in ("", sure)]
    lines.append(f"<b>{sure}</b> ({html.escape(share)})")
    return f'<div class="mb-formula">{"<br>".join(f"<span class=is>=</span>{line}" for line in lines)}</div>'


def part_source(part: Part) -> None:
    if part.name in SOURCE:
        import minibert.model  # torch comes with it: not before the map is on screen

        owner, line = SOURCE[part.name]
        show_source(getattr(minibert.model, owner), find=line)
    else:  # a relative's part, which BERT has not
        show_source(parameters, find=f'"{part.name}"')


def part_table(parts, names: dict[str, str] | None = None) -> list[dict]:
    return [
        {
            _("part"): (names or {}).get(part.name, part.name),
            _("formula"): part.formula,
            _("copies"): part.times,
            _("number"): part.total,
        }
        for part in parts
    ]


@st.fragment
def totals_table(model: Shape, here: str | None) -> None:
    """The paper's models and the one on screen, every reading of “parameters”: by formula and, once built, counted."""
    said = {"BERT-base": "110 M", "BERT-large": "340 M"}
    rows = {name: FAMILY[name] for name in said}
    rows.setdefault(here or _("your sizes"), model)
    head = ["", _("encoder"), _("+ pooler"), _("+ MLM head"), _("pre-training"), _("the paper says")]
    lines = [f"| {' | '.join(head)} |", "|:--|--:|--:|--:|--:|:--|"]
    for name, shown in rows.items():
        totals = parameters(shown).totals()
        lines.append(table_row(f"**{unbroken(name)}**", totals.values(), said.get(name, "")))
        if st.session_state.get("built") and (config := buildable(shown)):
            with st.spinner(_("Building the model …"), show_time=True):
                made = built_totals(config)
            verdict = _("= equal") if made == totals else _("≠ **not equal**")
            lines.append(table_row(_("model built"), made.values(), verdict))
    st.markdown("\n".join(lines))
    if not st.session_state.get("built"):
        st.button(
            _("Build the models and count"),
            key="build",
            icon=":material/construction:",
            on_click=lambda: st.session_state.update(built=True),
            help=_("Builds minibert's own models, without memory for their weights, and adds up their tensors."),
        )
        return
    if not buildable(model):
        st.caption(
            _(
                "minibert builds BERT, ALBERT and NEZHA. Other relatives are counted by the same formulas; the tests "
                "hold them against the models that the transformers library builds."
            )
        )
    show_source(built_totals)


def table_row(name: str, numbers, last: str) -> str:
    return f"| {name} | {' | '.join('–' if n is None else f'{n:,}' for n in numbers)} | {last} |"


def unbroken(name: str) -> str:
    return literal(name.replace("-", "\u2011"))


def buildable(model: Shape) -> BertConfig | None:
    """The sizes from which minibert builds a model of this shape; None where it builds none."""
    if model == Shape(model.config):
        return model.config
    sizes = model.config.as_dict() | ({"embedding_size": model.embedding_size} if model.factorised else {})
    for kind in (relative_named(name).config for name in model_types()):
        config = kind.from_dict(sizes | {"model_type": kind.model_type})
        if replace(shape_of(config), config=model.config) == model:
            return config
    return None


@st.cache_data(max_entries=64, show_spinner=False)
def built_totals(config: BertConfig) -> dict[str, int]:
    """Sums over the tensors of a model really built; on the meta device, where tensors have shapes and no numbers."""
    import torch

    from minibert.model import BertForPreTraining

    def count(*modules) -> int:
        return sum(p.numel() for p in {p for module in modules for p in module.parameters()})

    with torch.device("meta"):
        model = BertForPreTraining(config)
    bert = model.bert
    return {
        "encoder": count(bert.embeddings, bert.blocks),
        "with_pooler": count(bert),
        "masked_lm": count(bert.embeddings, bert.blocks, model.mlm),
        "pretraining": count(model),
    }


def fits(model: Shape) -> bool:
    tokens, positions = st.session_state["T"], model.config.max_position_embeddings
    if tokens <= positions:
        return True
    st.warning(
        _(
            "T = {tokens:,} tokens need as many positions, and this model has P = {positions:,}. "
            "Make T smaller or P larger."
        ).format(tokens=tokens, positions=positions),
        icon=":material/straighten:",
    )
    return False


def arithmetic(model: Shape) -> None:
    batch, tokens = st.session_state["B"], st.session_state["T"]
    count = parameters(model)
    asked = flops(model, batch, tokens, MASKED)
    everything = total(count.parts)
    rows = {_("Parameters<br><b>{n}</b>").format(n=short(everything)): by_group(count.parts)}
    if model.objective == "rtd":
        rows[_("FLOPs<br><b>{n}</b>").format(n=short(asked.total))] = by_group(asked.parts)
    else:
        dense = flops(model, batch, tokens, 1)
        label = _("FLOPs, MLM head<br>on 15 %: <b>{n}</b>")
        rows[label.format(n=short(asked.total))] = by_group(asked.parts)
        rows[_("FLOPs, MLM head<br>on all: <b>{n}</b>").format(n=short(dense.total))] = by_group(dense.parts)
    groups = by_group(asked.parts)
    figure(
        shares(rows, names=group_names()),
        _("Shares of a training step's FLOPs: {shares}. Embeddings: {embeddings} of the parameters, {cost}.").format(
            shares=", ".join(f"{group_names()[g]} {n / asked.forward:.1%}" for g, n in groups.items() if n),
            embeddings=f"{by_group(count.parts)['embeddings'] / everything:.1%}",
            cost=_("{share} of the FLOPs").format(share=f"{groups['embeddings'] / asked.forward:.1%}")
            if groups["embeddings"]
            else _("no FLOPs"),
        ),
        key="arithmetic-figure",
        data=lambda: part_table(asked.parts),
    )
    st.markdown(
        _(
            "One training step on {batch} × {tokens} tokens: **{total}FLOP**, of which forward {forward}FLOP, "
            "backward {backward}FLOP. That is {each}FLOP a token."
        ).format(
            batch=batch,
            tokens=tokens,
            total=short(asked.total),
            forward=short(asked.forward),
            backward=short(asked.total - asked.forward),
            each=short(asked.total / (batch * tokens)),
        )
        + (
            ""
            if model.objective == "rtd"
            else " "
            + _("With the MLM head at every position it would be {ratio} times as much.").format(
                ratio=f"{dense.total / asked.total:.1f}"
            )
        )
    )
    show_source(flops)


def how_to_run() -> dict[str, object]:
    """The choices that change memory and nothing else. → keyword arguments of `memory`"""
    with st.container(horizontal=True, key="how-to-run", gap="medium"):
        training = choice("run", _("What runs"), {"training": _("training"), "inference": _("inference")})
        attention = choice("attn", _("Attention"), {"fused": _("fused"), "explicit": _("written out")})
        precision = choice("bits", _("Precision"), {"fp32": "fp32", "bf16": "bf16"})
        optimizer = choice("opt", _("Optimizer"), {"adamw": "AdamW", "momentum": _("momentum"), "sgd": "SGD"})
    return {
        "training": training == "training",
        "attention": attention,
        "precision": precision,
        "optimizer": optimizer,
    }


def bytes_used(model: Shape, how: dict[str, object]) -> None:
    batch, tokens = st.session_state["B"], st.session_state["T"]
    count = memory(model, batch, tokens, masked=MASKED, **how)
    if how["training"]:
        rows = {_("backward<br>starts"): count.start, _("backward<br>ends"): count.end}
    else:
        rows = {_("forward"): count.start}
    groups = by_group(count.parts)
    figure(
        memory_bars(rows, names=group_names()),
        _("At most {peak} at one time. {groups}.").format(
            peak=short_bytes(count.peak),
            groups=", ".join(f"{group_names()[g]} {short_bytes(n)}" for g, n in groups.items() if n),
        ),
        key="memory-figure",
        data=lambda: part_table(count.parts),
    )
    st.markdown(
        _("At most **{peak}** at one time, with {batch} × {tokens} tokens.").format(
            peak=short_bytes(count.peak), batch=batch, tokens=tokens
        )
    )
    show_source(memory)


def grown(model: Shape, letter: str, size: int) -> tuple[Shape, int]:
    """The model with one size changed, heads and feed-forward keeping their proportions to H. → model, tokens"""
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


def amounts(model: Shape, tokens: int, what: str, how: dict[str, object]) -> dict[str, int]:
    """Group → amount of what is drawn."""
    if what == "parameters":
        return by_group(parameters(model).parts)
    if what == "flops":
        count = flops(model, st.session_state["B"], tokens, MASKED)
        return {group: n * count.passes for group, n in by_group(count.parts).items()}
    return by_group(memory(model, st.session_state["B"], tokens, masked=MASKED, **how).start)


@st.fragment
def growing(model: Shape, how: dict[str, object]) -> None:
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
        for group, n in amounts(changed, tokens, what, how).items():
            series.setdefault(group, []).append(n / 2**30 if what == "memory" else n)
    series = {group: values for group, values in series.items() if any(values)}
    y_titles = {
        "parameters": _("parameters"),
        "flops": _("FLOPs in a step"),
        "memory": _("GiB when backward starts") if how["training"] else _("GiB"),
    }
    positions = model.config.max_position_embeddings
    limit = (positions, f"P = {positions}") if letter == "T" else None
    now, later = (sum(amounts(*grown(model, letter, size), what, how).values()) for size in (at, 2 * at))
    sentence = _("Twice the {letter}, from {at:,} to {twice:,}: {ratio} times the {what}.").format(
        letter=letter, at=at, twice=2 * at, ratio=f"{later / now:.2f}", what=kinds[what]
    )
    figure(
        growth(
            sizes,
            series,
            at=at,
            x_title=names[letter],
            y_title=y_titles[what],
            names=group_names(),
            here=f"{letter} = {at:,}",
            limit=limit,
        ),
        sentence,
        key="growth-figure",
        data=lambda: [
            {letter: size, **{group_names()[group]: values[i] for group, values in series.items()}}
            for i, size in enumerate(sizes)
        ],
    )
    st.markdown(f"**{sentence}**")


def compared(model: Shape, here: str | None) -> None:
    known = models()
    tokens = min(st.session_state["T"], *(m.config.max_position_embeddings for m in (model, *known.values())))

    def place(m: Shape) -> tuple[int, int]:
        return parameters(m).with_pooler, flops(m, 1, tokens, 0, training=False).forward

    points = {name: place(m) for name, m in known.items()}
    figure(
        family(
            points,
            x_title=_("parameters (log scale)"),
            y_title=_("FLOPs for {tokens} tokens (log scale)").format(tokens=tokens),
            here=(here or _("your sizes"), *place(model)),
        ),
        _("Parameters and forward FLOPs: {models}.").format(
            models="; ".join(f"{name} {short(x)}, {short(y)}" for name, (x, y) in points.items())
        ),
        key="family-figure",
        on_select=load_clicked,
        data=lambda: [{_("model"): name, _("parameters"): x, _("FLOPs"): y} for name, (x, y) in points.items()],
    )


def sums(model: Shape, how: dict[str, object]) -> str:
    """The three sums, as HTML: what the sliders move."""
    batch, tokens = st.session_state["B"], st.session_state["T"]
    parts = [_("<b>{n}</b> parameters").format(n=f"{parameters(model).pretraining:,}")]
    if tokens <= model.config.max_position_embeddings:
        step, peak = flops(model, batch, tokens, MASKED).total, memory(model, batch, tokens, masked=MASKED, **how).peak
        parts += [
            _("<b>{n}FLOP</b> a step").format(n=short(step)),
            _("<b>{n}</b> memory").format(n=short_bytes(peak)),
        ]
    return f'<div class="mb-sums" role="status">{"".join(f"<span>{part}</span>" for part in parts)}</div>'


@st.fragment
def laboratory() -> None:
    """The sizes, always in view, and below them what follows from them."""
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        design()
    with st.container(key="sizes"):
        line = st.container()
        size_sliders()
    with top:
        here = choose_model({key: st.session_state[key] for key in settings_of(FAMILY[START])})
    try:
        model = model_now()
    except ValueError as problem:
        line.error(str(problem), icon=":material/error:")
        return
    lesson.show("Where the parameters are")
    parts_map(model)
    lesson.show("Reading the map", title=False)
    lesson.show("110 million, to the last one")
    totals_table(model, here)
    lesson.show("Where the arithmetic goes")
    if fits(model):
        arithmetic(model)
    lesson.show("Reading the arithmetic", title=False)
    lesson.show("Where the memory goes")
    how = how_to_run()
    line.html(sums(model, how))
    if fits(model):
        bytes_used(model, how)
    lesson.show("Reading the memory", title=False)
    lesson.show("How it grows")
    growing(model, how)
    lesson.show("The family")
    compared(model, here)


lesson = Lesson("parameters")
st.html(
    STYLE.replace("LIGHT", st.get_option("theme.light.backgroundColor") or "white").replace(
        "DARK", st.get_option("theme.dark.backgroundColor") or "black"
    )
)
lesson.show_title()
lesson.show("The question", title=False)
laboratory()
lesson.quiz()
next_lesson("parameters")
