"""Attention explorer: every head of every layer, what kinds there are, and what breaks when they are switched off."""

import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from sections.attention_explorer import literature, relations
from ui import attention_views, bertviz, held_out
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
    seen,
    short_kind_names,
    small_pictures,
)
from ui.figures import figure
from ui.heads_off import rank_heads, switch_off
from ui.inputs import choice, numbered, pick, sentence_input, state
from ui.lesson import Lesson
from ui.models import WELL_READ, model_choice, warn_untrained
from ui.source import show_source
from ui.text import literal, tex
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.model_input import ModelInput

# torch, and all that imports it, is imported where it is first needed: the page shows before that.

MAX_CHARS = 4_000  # characters of a sentence that are read
MAX_TOKENS = 512
SHARE = 60  # percent of each row's mass that is drawn at first
LINES = {"head": 50_000, "model": 60_000}  # a browser draws each line of BertViz as an object
NEURONS = 400_000  # numbers that the neuron view is sent at most

lesson = Lesson("attention_explorer")

# Words in this page's figures in the page's own text colour: the chart theme's grey is too faint for the back row.
st.html("""<style>
[class*="st-key-explorer-"] :is([class$="tick"] text, .textpoint text, [class$="title"], .annotation-text,
  .bartext-outside) { fill: currentColor !important; }
</style>""")


# ------------------------------------------------------------------------------------------------------------- words
def parts() -> list[str]:
    return [_("Look"), _("Kinds of heads"), _("Switch heads off"), "BertViz"]


def open_cell(told: dict) -> None:
    """A token of the lines, a head among them, or a cell of the matrix. The first choice of a token is “all”."""
    if "head" in told:
        st.session_state[state("head")] = max(0, told["head"])
        st.session_state["heads"] = "one"
    for name in ("row", "column"):
        if name in told:
            now = st.session_state.get(state(name))
            again = len(told) == 1 and now == told[name] + 1  # once more the token clicked before: let go of it
            st.session_state[state(name)] = 0 if again else max(0, told[name] + 1)


# -------------------------------------------------------------------------------------------------------------- look
@st.fragment
def look(sides: "list[tuple[Subject, ModelInput]]") -> None:
    subject, reading = sides[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = choice("view", _("View"), {"lines": _("lines"), "matrix": _("matrix")})
        layer, head = pick_head(subject)
        tokens = [_("all"), *numbered(reading.tokens)]
        row = pick("row", _("From"), tokens, width=190) - 1
        column = pick("column", _("To"), tokens, width=190) - 1
    if view == "lines":
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            shown = {"one": _("this head"), "all": _("all heads of the layer")}
            heads = choice("heads", _("Lines of"), shown)
            share = st.slider(
                _("Share of each token's attention that is drawn"),
                10,
                100,
                SHARE,
                key="share",
                format="%d %%",
                bind="query-params",
                width=360,
            )
            hide = st.toggle(_("Hide [CLS] and [SEP]"), key="bare", bind="query-params")
    else:
        heads, share, hide = "one", SHARE, False
    if len(sides) == 1:
        left, right = st.columns([9, 11], gap="medium")
        with left:
            st.markdown(f"**{_('All heads: click one')}**")
            small_pictures(subject, reading, "explorer-heads", open_head, selected=(layer, head))
        with right:
            one_side(subject, reading, (layer, head), (row, column), view, heads, share / 100, hide, "a")
        return
    for box, (subject, reading), key in zip(st.columns(2, gap="medium"), sides, "ab", strict=True):
        with box:
            here = subject.head(layer, head)
            st.markdown(literal(" ".join(reading.tokens[1:-1])[:120]) + f" · **{literal(subject.title)}**")
            one_side(subject, reading, here, (row, column), view, heads, share / 100, hide, key)
            small_pictures(subject, reading, f"explorer-heads-{key}", open_head, selected=here)


def one_side(
    subject: Subject,
    reading: "ModelInput",
    at: HeadPlace,
    cell: tuple[int, int],
    view: str,
    heads: str,
    share: float,
    hide: bool,
    key: str,
) -> None:
    """A sentence read by a model: lines or matrix of a head, and the numbers behind what is chosen."""
    from plots.attention_payloads import matrix_payload

    row, column = (place if 0 <= place < reading.length else None for place in cell)
    probs = seen(subject, reading)["probs"]
    layer, head = at
    st.markdown(f"**{head_name(layer, head) if heads == 'one' else _('layer {n}, all heads').format(n=layer + 1)}**")
    if view == "matrix":
        payload = matrix_payload(reading.tokens, probs[layer, head], row=row, column=column)
        attention_views.show("matrix", payload, f"explorer-matrix-{key}", open_cell, file="attention-matrix")
    else:
        lines(probs, reading, at, (row, column), heads, share, hide, key)
    if row is not None:
        numbers(subject, reading, at, row, column, key)
    elif view == "lines":
        st.caption(_("Click a token on the left to see where it looks, one on the right to see who looks at it."))


def lines(
    probs: Any,
    reading: "ModelInput",
    at: HeadPlace,
    cell: tuple[int | None, int | None],
    heads: str,
    share: float,
    hide: bool,
    key: str,
) -> None:
    import torch

    from minibert.inside.attention_summary import strongest_edges
    from plots.attention_payloads import lines_payload

    layer, head = at
    chosen = [head] if heads == "one" else list(range(probs.size(1)))
    words = set(reading.words)
    special = [place not in words for place in range(len(reading.tokens))]
    edges = strongest_edges(probs[layer, chosen], share, ~torch.tensor(special) if hide else None)
    payload = lines_payload(reading.tokens, edges, chosen, faint=special, row=cell[0], column=cell[1])
    attention_views.show("lines", payload, f"explorer-lines-{key}", open_cell, file="attention-lines")
    if not len(edges.weights):
        st.caption(_("Nothing is left to draw."))
        return
    said = _("{n:,} lines hold {drawn:.0%} of the attention among the tokens shown.").format(
        n=len(edges.weights), drawn=edges.drawn.nanmean().item()
    )
    if edges.drawn[~edges.drawn.isnan()].min() < share - 1e-4:
        said += " " + _("More would not be told apart.")
    if hide:
        said += " " + _("{hidden:.0%} of it goes to [CLS] and [SEP].").format(hidden=edges.hidden.nanmean().item())
    st.caption(said)


def numbers(subject: Subject, reading: "ModelInput", at: HeadPlace, row: int, column: int | None, key: str) -> None:
    """What a token attends to, exactly; of one pair, the arithmetic."""
    from minibert.inside.head_arithmetic import SoftmaxRow, entropy

    found = seen(subject, reading)
    layer, head = at
    probs = found["probs"][layer, head, row]
    if column is not None:
        query, k = found["query"][layer, head, row].double(), found["key"][layer, head].double()
        i, j, keys, products = row + 1, column + 1, f"k_{{{column + 1}}}", k @ query
        if "relative_scores" in found:
            keys, products = f"({keys} + r_{{{i},{j}}})", products + found["relative_scores"][layer, head, row]
        soft = SoftmaxRow((products / math.sqrt(len(query))).masked_fill(~found["allowed"][row], -math.inf))
        less = f" - {soft.shift:.1f}" if soft.shift else ""
        st.latex(
            rf"\begin{{aligned}} s_{{{i},{j}}} &= \frac{{q_{{{i}}} \cdot {keys}}}{{\sqrt{{{len(query)}}}}}"
            rf" = {tex(soft.scores[column].item())} \\ p_{{{i},{j}}} &="
            rf" \frac{{e^{{{tex(soft.scores[column].item())}{less}}}}}{{{tex(soft.total)}}}"
            rf" = \mathbf{{{probs[column].item():.6f}}} \end{{aligned}}"
        )
    order = probs.argsort(descending=True).tolist()
    rows = order[:8] if column is None or column in order[:8] else [*order[:7], column]
    st.dataframe(
        pd.DataFrame(
            {
                _("to"): [f"{place + 1} · {reading.tokens[place]}" for place in rows],
                _("share"): [probs[place].item() for place in rows],
            }
        ),
        hide_index=True,
        key=f"explorer-numbers-{key}",
        column_config={_("share"): st.column_config.NumberColumn(format="%.6f")},
    )
    rest = 1 - sum(probs[place].item() for place in rows)
    st.caption(
        _("From {token}; all others together {rest:.1%}. Entropy {bits:.2f} of {most:.2f} bits.").format(
            token=literal(f"{row + 1} · {reading.tokens[row]}"),
            rest=max(0.0, rest),
            bits=entropy(probs).item(),
            most=math.log2(len(probs)),
        )
    )


# ------------------------------------------------------------------------------------------------------------- kinds
@st.fragment
def kinds_of_heads(subject: Subject, reading: "ModelInput") -> None:
    from minibert.inside.head_kinds import KINDS, targets
    from plots.head_kinds import kind_scores

    toy = held_out.kind_of_text(subject.tokenizer) == "toy"
    names = {"text": _("our sentences"), "toy": _("stories of the toy world")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        on = choice("on", _("Measured on"), {"toy": names["toy"]} if toy else names)
        threshold = st.slider(
            _("Score from which a head gets the name"),
            20,
            90,
            THRESHOLD,
            key="threshold",
            format="%d %%",
            bind="query-params",
            width=360,
        )
        layer, head = pick_head(subject)
    with st.spinner(_("Measuring every head …")):
        kinds = measured_kinds(subject, on)
    named, words, short = kinds.named(threshold / 100), kind_names(), short_kind_names()
    labels = [
        "–" if kind is None else f"{short[kind]}\n{kinds.score(kind, i, a):.0%}"
        for i, row in enumerate(named)
        for a, kind in enumerate(row)
    ]
    many = subject.shape[1] > 8  # twelve pictures with their names need the page's whole width
    left, right = (st.container(), st.container()) if many else st.columns([11, 10], gap="medium")
    with left:
        small_pictures(subject, reading, "explorer-kinds", open_head, labels, selected=(layer, head))
        tally = pd.Series([words[kind] for row in named for kind in row if kind]).value_counts()
        st.markdown(
            _("**{n} of {all}** heads have a name: {kinds}.").format(
                n=int(tally.sum()), all=len(labels), kinds=", ".join(f"{k} {n}" for k, n in tally.items()) or "–"
            )
        )
    with right:
        counted = [k for k in range(len(KINDS)) if kinds.rows[k]]
        scores = kinds.scores[:, layer, head]
        st.markdown(f"**{head_name(layer, head)}**")
        figure(
            kind_scores(
                [words[KINDS[k]] for k in counted],
                scores[counted],
                kinds.chance[counted],
                (_("this head"), _("even attention")),
                threshold=threshold / 100,
            ),
            _("Scores of {head}: {scores}.").format(
                head=head_name(layer, head),
                scores=", ".join(f"{words[KINDS[k]]} {scores[k].item():.1%}" for k in counted),
            ),
            "explorer-scores",
            data=lambda: pd.DataFrame(
                kinds.scores.flatten(1).T.numpy(), all_names(subject), [words[kind] for kind in KINDS]
            ),
        )
        st.caption(
            _("Counted: {rows}.").format(rows=", ".join(f"{words[KINDS[k]]} {int(kinds.rows[k]):,}" for k in counted))
        )
    if on == "text":
        literature.show_kinds(subject, kinds)
    show_source(targets)


# -------------------------------------------------------------------------------------------------------- switch off
@st.fragment
def without_heads(subject: Subject, reading: "ModelInput") -> None:
    switch_off(subject, reading)
    lesson.show("What each head costs")
    rank_heads(subject)


# ----------------------------------------------------------------------------------------------------------- BertViz
@st.fragment
def bertviz_views(sides: "list[tuple[Subject, ModelInput]]", pairs: list[tuple[str, str | None]]) -> None:
    dark = st.context.theme.type == "dark"
    layer, head = picked_head(sides[0][0])
    views = {"head": _("Head view"), "model": _("Model view"), "neuron": _("Neuron view")}
    with st.container(horizontal=True, gap="large"):
        wanted = [
            name
            for name, label in views.items()
            if st.toggle(label, value=name == "head", key=f"bertviz_{name}", bind="query-params")
        ]
    st.caption(_("BertViz counts layers and heads from 0."))
    for name in wanted:
        st.markdown(f"### {views[name]}")
        lesson.show(("The head view", "The model view", "The neuron view")[list(views).index(name)], title=False)
        wide = name != "head" or len(sides) == 1
        boxes = [st.container() for _side in sides] if wide else st.columns(len(sides), gap="medium")
        for box, (subject, _reading), pair, key in zip(boxes, sides, pairs, "ab", strict=False):
            with box:
                bertviz_view(name, subject, pair, subject.head(layer, head), dark, f"bertviz-{name}-{key}", views[name])


def bertviz_view(
    name: str, subject: Subject, pair: tuple[str, str | None], at: HeadPlace, dark: bool, key: str, label: str
) -> None:
    reading, whole = shortened(subject, pair, name)
    found, tokens = seen(subject, reading), list(reading.tokens)
    if name == "neuron" and "relative_scores" in found:
        st.info(
            _(
                "BertViz draws a score as query times key. {model} adds a vector for the distance to each key, so the "
                "picture would not be of its scores: see them under *Look*, number by number."
            ).format(model=literal(subject.title)),
            icon=":material/help:",
        )
        return
    second = reading.segments.index(1) if 1 in reading.segments else None
    if whole > len(tokens):
        st.caption(
            _("The first {n} of {whole} tokens: BertViz makes every line an object.").format(n=len(tokens), whole=whole)
        )
    size, (layers, heads) = len(tokens), subject.shape
    if name == "head":
        html, height = bertviz.head_view(found["probs"], tokens, second, layer=at[0], dark=dark), 80 + 23 * size
    elif name == "model":
        html = bertviz.model_view(found["probs"], tokens, second, dark=dark)
        height = 90 + max(round(layers * (84 * size / max(8, heads) + 10)), 18 * size + 60)
    else:
        layer, head = at
        parts_ = (found["probs"], found["query"], found["key"], tokens, second)
        both_ways = bool(found["allowed"].all())
        html = bertviz.neuron_view(*parts_, layer=layer, head=head, both_ways=both_ways, dark=dark)
        height = 160 + 26 * size
    alt = _("{view} of BertViz: {model}, {n} tokens.").format(view=label, model=subject.title, n=size)
    bertviz.show(html, key, alt, min(height, 760))


def shortened(subject: Subject, pair: tuple[str, str | None], view: str) -> "tuple[ModelInput, int]":
    """The pair as far as a view of BertViz can draw it, and how many tokens it has whole."""
    layers, heads = subject.shape
    size = subject.model.config.head_size
    lines_ = {"head": heads, "model": layers * heads}
    limit = MAX_TOKENS
    if view == "neuron":
        while layers * heads * (limit**2 + 2 * size * limit) > NEURONS:
            limit -= 1
    else:
        limit = math.isqrt(LINES[view] // lines_[view])
    whole = read(subject, *pair)
    return read(subject, *pair, limit=max(4, limit)), len(whole.ids)


# ---------------------------------------------------------------------------------------------------------- the page
def read(subject: Subject, text: str, second: str | None, limit: int = MAX_TOKENS) -> "ModelInput":
    from minibert.inside.model_input import ModelInput

    longest = min(limit, subject.model.config.max_position_embeddings)
    return ModelInput.of(subject.tokenizer, text, second or None, longest)


lesson.open()
lesson.show("The question")
left, right = st.columns([3, 2], gap="medium")
with left:
    text = sentence_input("sentence", lesson.examples, max_chars=MAX_CHARS)
with right:
    second = sentence_input(
        "second", [], label=_("A second sentence"), max_chars=MAX_CHARS, placeholder=_("may stay empty")
    )
with st.container(horizontal=True, gap="medium"):
    name = model_choice(usual=WELL_READ)
    beside = {"none": _("nothing"), "sentence": _("another sentence"), "model": _("another model")}
    compare = choice("compare", _("Side by side with"), beside)
other = name
pairs = [(text, second or None)]
if compare == "sentence":
    pairs.append((sentence_input("other", [], default=lesson.examples[-1], label=_("The other sentence")), None))
elif compare == "model":
    pairs.append(pairs[0])
    with st.container(width=400):
        other = model_choice("other_model", label=_("The other model"))
with st.spinner(_("Loading the model …")):
    names_ = [name, other][: len(pairs)]
    sides = [(subject, read(subject, *pair)) for subject, pair in zip(map(Subject.of, names_), pairs, strict=True)]
warn_untrained(name)
for (subject, reading), pair in zip(sides, pairs, strict=True):
    whole = len(subject.tokenizer.encode(*pair))
    if whole > len(reading.ids):
        st.info(
            _("Your text has {whole} tokens. {model} reads {n} of them.").format(
                whole=whole, model=literal(subject.title), n=len(reading.ids)
            ),
            icon=":material/content_cut:",
        )

# Only the open part is computed and drawn.
looking, kinds_, switching, viewing = st.tabs(parts(), key="part", on_change="rerun", bind="query-params")
if looking.open:
    with looking:
        lesson.show("Look", title=False)
        look(sides)
if kinds_.open:
    with kinds_:
        lesson.show("Kinds of heads", title=False)
        kinds_of_heads(*sides[0])
        found_words = st.container()
        lesson.show("What the names do not say")
if switching.open:
    with switching:
        lesson.show("Switch heads off", title=False)
        without_heads(*sides[0])
        lesson.show("What follows from it")
if viewing.open:
    with viewing:
        lesson.show("BertViz", title=False)
        bertviz_views(sides, pairs)
lesson.close()
if kinds_.open:
    with found_words:  # last, for the first reader of a model waits a few seconds
        relations.show(lesson, sides[0][0])
