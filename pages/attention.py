"""Attention: one head number by number, all heads, what breaks when a part is missing, and what weights do not say."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ui.figures import figure
from ui.inputs import choice, clicked, numbered, pick, sentence_input, state
from ui.lesson import Lesson
from ui.models import WELL_READ, load, model_choice, version_of
from ui.navigation import next_lesson
from ui.source import show_source, source_of
from ui.stepper import stepper, words_first
from ui.text import kind_of, show_tokens, tex
from ui.translations import _, ngettext

if TYPE_CHECKING:
    from minibert.inside.head_arithmetic import HeadTrace, SumOfProducts
    from minibert.inside.interventions import HeadEffects, PaddingLeak
    from minibert.inside.model_input import ModelInput

# torch, and all that imports it, is imported where it is first needed: the page shows before that.

MAX_CHARS = 300  # characters of a sentence that are read
MAX_TOKENS = 18  # tokens that are read, [CLS] and [SEP] among them: more cannot be told apart from the back row
MAX_PADDING = 6
MOST_PADDING = 24  # in the experiment without a mask
LENGTHS = tuple(2**n for n in range(3, 14))  # T in the cost figure
SIZES = (64, 128, 256, 512, 768, 1024)  # H there
TIMED = (8, 16, 32, 64, 128, 256, 512)

lesson = Lesson("attention")

# Words in this page's figures in the page's own text colour: the chart theme's grey is too faint for the back row.
st.html("""<style>
[class*="st-key-attention-"] :is([class$="tick"] text, [class$="title"], .annotation-text, .bartext-outside) {
  fill: currentColor !important;
}
.st-key-part [role="tab"] p { font-size: 1.2rem; }
</style>""")


# -------------------------------------------------------------------------------------------------------- the model
@dataclass(frozen=True)
class Subject:
    """The model looked into. Its version changes with its weights, so that nothing stale is shown."""

    name: str
    version: int

    @classmethod
    def of(cls, name: str) -> "Subject":
        return cls(name, version_of(name))

    @property
    def model(self) -> Any:
        return load(self.name).model

    @property
    def vocab(self) -> list[str]:
        return load(self.name).tokenizer.vocab


@st.cache_resource(show_spinner=False, max_entries=64)
def trace(subject: Subject, reading: "ModelInput") -> dict:
    """Every intermediate of the encoder, shared by all sessions: read only."""
    from minibert.inside.head_arithmetic import record

    return record(subject.model.bert, reading.batch())


@st.cache_data(show_spinner=False, max_entries=64)
def leak(subject: Subject, reading: "ModelInput", position: int) -> "PaddingLeak":
    from minibert.inside.interventions import padding_leak

    return padding_leak(subject.model, reading, position, MOST_PADDING)


@st.cache_data(show_spinner=False, max_entries=64)
def effects(subject: Subject, reading: "ModelInput", position: int) -> "tuple[HeadEffects, tuple]":
    """What changing each head, and hiding each token, does to the guess at `position`."""
    from minibert.inside.interventions import head_effects, token_effects

    batch = reading.batch()
    return head_effects(subject.model, batch, position), token_effects(subject.model, batch, position)


@st.cache_data(show_spinner=False)
def timings(hidden: int, heads: int) -> dict[str, list[float]]:
    from minibert.inside.sequence_cost import measure

    return measure(TIMED, hidden, heads)


# ----------------------------------------------------------------------------------------------- pieces of the page
def parts() -> list[str]:
    return [_("One head"), _("All heads"), _("Break it"), _("Against an RNN"), _("Weights and reasons")]


def axes() -> str:
    return _("from ↓ · to →")


def head_name(layer: int, head: int) -> str:
    return _("layer {layer}, head {head}").format(layer=layer + 1, head=head + 1)


def square(values: Any, tokens: Sequence[str]) -> pd.DataFrame:
    """A T × T matrix as a table."""
    return pd.DataFrame(values.numpy(), index=numbered(tokens), columns=numbered(tokens))


def tiny(value: float) -> str:
    """A number near zero: 2 × 10⁻⁷."""
    if not value:
        return "0"
    digits, power = f"{value:.0e}".split("e")
    return f"{digits} × 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def aside(box: Any, name: str, value: str, beside: str) -> None:
    """A number with the number it is to be compared with."""
    box.metric(name, value, beside, delta_color="off", delta_arrow="off")


def show_guesses(subject: Subject, before: Any, after: Any, names: tuple[str, str], key: str) -> None:
    """What the model expects at the hidden word under two conditions, (V,) each: the first guesses of both."""
    from plots.attention import compared_words

    ids = list(dict.fromkeys(i for p in (before, after) for i in p.topk(3).indices.tolist()))
    words = [subject.vocab[i] for i in ids]
    told = [", ".join(f"{word} {p[i]:.1%}" for word, i in zip(words, ids, strict=True)) for p in (before, after)]
    alt = _("What the model expects. {first}: {words}. {second}: {others}.").format(
        first=names[0], second=names[1], words=told[0], others=told[1]
    )
    table = {_("token"): words, names[0]: before[ids], names[1]: after[ids]}
    figure(compared_words(words, before[ids], after[ids], names), alt, key, data=lambda: pd.DataFrame(table))


# ------------------------------------------------------------------------------------------------- one head, stepped
def steps() -> list[tuple[str, str, str]]:
    """Of each step: its label, its section in the lesson, and what its line of the attention's code contains."""
    return [
        (_("Q, K, V"), "Step: query, key, value", ' = tap("'),
        (_("Q · Kᵀ"), "Step: query times key", 'tap("scores"'),
        (_("÷ √D"), "Step: divide by the root of D", 'tap("scores"'),
        (_("mask"), "Step: mask", 'tap("probs"'),
        (_("softmax"), "Step: softmax", 'tap("probs"'),
        (_("· V"), "Step: mix the values", 'tap("mixed"'),
    ]


@st.fragment
def one_head(subject: Subject, reading: "ModelInput", layer: int, head: int) -> None:
    from minibert.inside.head_arithmetic import take_apart

    step = stepper("step", [label for label, _section, _find in steps()])
    lesson.show(steps()[step][1], title=False)
    words_first()
    one = take_apart(subject.model, reading.batch(), trace(subject, reading), layer, head)
    if step == 0:
        step_vectors(reading, one)
    elif step == 5:
        step_mix(reading, one)
    else:
        step_pairs(reading, one, step)
    show_line(type(subject.model.bert.blocks[layer].attn), step)


def step_vectors(reading: "ModelInput", one: "HeadTrace") -> None:
    from plots.attention import dot_product, vectors

    with st.container(horizontal=True):
        panel = pick("matrix", _("Matrix"), [_("Q, the queries"), _("K, the keys"), _("V, the values")])
        row = pick("row", _("Token (row)"), numbered(reading.tokens), default=1)
        place = pick("number", _("Number of its vector (column)"), [str(d + 1) for d in range(one.size)])
    which, letter = ("query", "key", "value")[panel], "qkv"[panel]
    values = getattr(one, which)
    figure(
        vectors(
            reading.tokens,
            {"Q": one.query, "K": one.key, "V": one.value},
            selected=(panel, row, place),
            height=80 + 26 * max(10, len(reading.tokens)),
        ),
        _("Three matrices, Q, K and V: {size} numbers in each for each of {count} tokens.").format(
            size=one.size, count=len(reading.tokens)
        ),
        "attention-vectors",
        on_select=lambda: clicked("attention-vectors", *map(state, ("matrix", "row", "number"))),
        data=lambda: pd.DataFrame(values.numpy(), index=numbered(reading.tokens)),
    )
    total = one.projection_terms(which, row, place)
    i, d, weight = row + 1, place + 1, f"W_{{{letter.upper()}}}"
    left, right = st.columns([11, 10], gap="medium")
    with left:
        terms_table(total, ("x", "W", "x · W"), "attention-projection-terms")
    with right:
        st.latex(
            rf"\begin{{aligned}} {letter}_{{{i}}}[{d}] &= \sum_{{h=1}}^{{{len(total.left)}}} x_{{{i}}}[h]\,"
            rf" {weight}[{d},h] + b[{d}] \\"
            rf" &= {tex(total.terms.sum().item())} + {tex(total.constant)} = \mathbf{{{total.total:.4f}}}"
            r" \end{aligned}"
        )
        rounding(total.total, values[row, place].item())
        figure(
            dot_product(total.left, total.right, ("x", "W", "x · W"), height=300), told(total), "attention-projection"
        )


def step_pairs(reading: "ModelInput", one: "HeadTrace", step: int) -> None:
    """The steps whose matrix is T × T: products, scores, masked scores, shares."""
    from plots.attention import attention_matrix

    values = (None, one.products, one.scores, one.masked, one.probs)[step]
    chart = "attention-pairs"  # of all these steps, so that the browser redraws one picture and builds no new one
    left, right = st.columns([11, 10], gap="medium")
    with right, st.container(horizontal=True):
        row = pick("row", _("From (row)"), numbered(reading.tokens), default=1)
        column = pick("column", _("To (column)"), numbered(reading.tokens), default=2)
    with left:
        figure(
            attention_matrix(
                reading.tokens,
                values,
                kind="probs" if step == 4 else "scores",
                selected=(row, column),
                axes=axes(),
            ),
            _("{matrix}, {count} × {count} tokens. From {row} to {column}: {value:.4f}.").format(
                matrix=steps()[step][0],
                count=len(reading.tokens),
                row=reading.tokens[row],
                column=reading.tokens[column],
                value=values[row, column].item(),
            ),
            chart,
            on_select=lambda: clicked(chart, state("row"), state("column")),
            data=lambda: square(values, reading.tokens),
        )
        if step == 1:
            names = ("q", "k", "q · k") if one.relative is None else ("q", "k + r", "q · (k + r)")
            terms_table(one.score_terms(row, column), names, "attention-product-terms")
    with right:
        (show_product, show_scaling, show_mask, show_softmax)[step - 1](reading, one, row, column)


def show_product(reading: "ModelInput", one: "HeadTrace", row: int, column: int) -> None:
    from plots.attention import dot_product

    total = one.score_terms(row, column)
    i, token = row + 1, reading.tokens[column]
    product, term = product_formula(one, row, column), rf"k_{{{column + 1}}}[d]"
    names = (f"q {reading.tokens[row]}", f"k {token}", "q · k")
    if one.relative is not None:
        term = rf"(k_{{{column + 1}}}[d] + r_{{{i},{column + 1}}}[d])"
        names = (names[0], f"k {token} + r", "q · (k + r)")
    st.latex(
        rf"\begin{{aligned}} {product} &= \sum_{{d=1}}^{{{one.size}}} q_{{{i}}}[d]\, {term} \\"
        rf" &= {tex(total.left[0].item())} \cdot {tex(total.right[0].item())} + \dots \\"
        rf" &= \mathbf{{{total.total:.4f}}} \end{{aligned}}"
    )
    if one.relative is not None:
        st.caption(_("r: the fixed vector for the distance from one token to the other, here {d:+d}.").format(
            d=column - row
        ))  # fmt: skip
    figure(dot_product(total.left, total.right, names, height=300), told(total), "attention-product")
    rounding(total.total, one.products[row, column].item())


def product_formula(one: "HeadTrace", row: int, column: int) -> str:
    """What is divided by √D, in TeX."""
    i, j = row + 1, column + 1
    return rf"q_{{{i}}} \cdot " + (rf"k_{{{j}}}" if one.relative is None else rf"(k_{{{j}}} + r_{{{i},{j}}})")


def show_scaling(reading: "ModelInput", one: "HeadTrace", row: int, column: int) -> None:
    from plots.attention import number

    product, score, root = one.products[row, column].item(), one.scores[row, column].item(), math.sqrt(one.size)
    st.latex(
        rf"\frac{{{product_formula(one, row, column)}}}{{\sqrt{{D}}}}"
        rf" = \frac{{{product:.4f}}}{{\sqrt{{{one.size}}}}}"
        rf" = \frac{{{product:.4f}}}{{{root:.4g}}} = \mathbf{{{score:.4f}}}"
    )
    texts = [
        f"{number(p)} / {root:.4g} = {number(s)}"
        for p, s in zip(one.products[row].tolist(), one.scores[row].tolist(), strict=True)
    ]
    show_bars(reading, one.scores[row].tolist(), texts, column, "attention-scaling")
    st.markdown(
        _("Spread of all {n} numbers (standard deviation): **{before:.2f}** before, **{after:.2f}** after.").format(
            n=one.scores.numel(), before=one.products.std().item(), after=one.scores.std().item()
        )
    )


def show_mask(reading: "ModelInput", one: "HeadTrace", row: int, column: int) -> None:
    from plots.attention import number

    score, masked = one.scores[row, column].item(), one.masked[row, column].item()
    st.latex(rf"{tex(score)} \;\longrightarrow\; \mathbf{{{tex(masked)}}}")
    if one.allowed[row, column]:
        st.markdown(_("A real token: its column stays open."))
    else:
        st.markdown(_("Padding: its column is closed for everyone."))
    pairs = list(zip(one.scores[row].tolist(), one.masked[row].tolist(), strict=True))
    texts = [number(before) + (" → −∞" if math.isinf(after) else "") for before, after in pairs]
    lengths = [0.0 if math.isinf(after) else after for _before, after in pairs]
    show_bars(reading, lengths, texts, column, "attention-masked")
    if not reading.padding:
        st.info(_("There is no padding now, so nothing is closed. Add some above."), icon=":material/info:")


def show_softmax(reading: "ModelInput", one: "HeadTrace", row: int, column: int) -> None:
    from plots.attention import number

    soft = one.softmax_row(row)
    less = f" - {soft.shift:.1f}" if soft.shift else ""
    power, share = soft.powers[column].item(), soft.probs[column].item()
    st.latex(
        rf"p_{{{row + 1},{column + 1}}} = \frac{{e^{{{tex(soft.scores[column].item())}{less}}}}}"
        rf"{{\sum_j e^{{s_{{{row + 1},j}}{less}}}}} = \frac{{{tex(power)}}}{{{tex(soft.total)}}}"
        rf" = \mathbf{{{share:.4f}}}"
    )
    texts = [
        f"{number(power)} / {number(soft.total)} = {number(share, 3)}"
        for power, share in zip(soft.powers.tolist(), soft.probs.tolist(), strict=True)
    ]
    show_bars(reading, soft.powers.tolist(), texts, column, "attention-softmax")
    rounding(share, one.probs[row, column].item())


def step_mix(reading: "ModelInput", one: "HeadTrace") -> None:
    from plots.attention import number, vectors

    left, right = st.columns([11, 10], gap="medium")
    with right, st.container(horizontal=True):
        row = pick("row", _("Token (row)"), numbered(reading.tokens), default=1)
        place = pick("number", _("Number of its vector (column)"), [str(d + 1) for d in range(one.size)])
    i, d, total = row + 1, place + 1, one.mix_terms(row, place)
    value = f"v_j[{d}]" if one.relative is None else f"(v_j[{d}] + r_{{{i},j}}[{d}])"
    with left:
        figure(
            vectors(reading.tokens, {_("What the head hands on"): one.mixed}, selected=(0, row, place)),
            _("{count} tokens with {size} numbers each. {row}, number {d}: {value:.4f}.").format(
                count=len(reading.tokens), size=one.size, row=reading.tokens[row], d=d, value=total.total
            ),
            "attention-mixed",
            on_select=lambda: clicked("attention-mixed", *map(state, ("panel", "row", "number"))),
            data=lambda: pd.DataFrame(one.mixed.numpy(), index=numbered(reading.tokens)),
        )
    with right:
        st.latex(
            rf"z_{{{i}}}[{d}] = \sum_{{j=1}}^{{{len(reading.tokens)}}} p_{{{i},j}}\, {value}"
            rf" = \mathbf{{{total.total:.4f}}}"
        )
        texts = [
            f"{number(p, 3)} · {f'({number(v)})' if v < 0 else number(v)} = {number(t, 3)}"
            for p, v, t in zip(total.left.tolist(), total.right.tolist(), total.terms.tolist(), strict=True)
        ]
        show_bars(reading, total.terms.tolist(), texts, None, "attention-mix")
        rounding(total.total, one.mixed[row, place].item())


def show_bars(reading: "ModelInput", lengths: list[float], texts: list[str], chosen: int | None, key: str) -> None:
    """A row of the matrix: for each token a bar and its arithmetic."""
    from plots.attention import token_bars

    figure(
        token_bars(reading.tokens, lengths, texts, selected=chosen),
        "; ".join(f"{token}: {text}" for token, text in zip(reading.tokens, texts, strict=True)),
        key,
    )


def told(total: "SumOfProducts") -> str:
    terms = total.terms
    return _("{count} products between {low:.4f} and {top:.4f}; their sum is {sum:.4f}.").format(
        count=len(terms), low=terms.min().item(), top=terms.max().item(), sum=terms.sum().item()
    )


def terms_table(total: "SumOfProducts", names: tuple[str, str, str], key: str) -> None:
    """Every term of a sum, and the sum so far."""
    columns = (total.left, total.right, total.terms, total.terms.cumsum(0))
    table = pd.DataFrame(
        {name: column.numpy() for name, column in zip((*names, _("sum so far")), columns, strict=True)},
        index=pd.RangeIndex(1, len(total.terms) + 1, name=_("term")),
    )
    st.markdown(f"**{_('All {n} terms').format(n=len(table))}**")
    six = {name: st.column_config.NumberColumn(format="%.6f") for name in table.columns}
    st.dataframe(table, height=250, key=key, column_config=six)


def rounding(exact: float, model: float) -> None:
    """The number from exact arithmetic beside the one the model went on with."""
    from plots.attention import number

    st.caption(
        _("In exact arithmetic {exact}; the model, with 32-bit numbers, went on with {model}.").format(
            exact=number(exact, 8), model=number(model, 8)
        )
    )


def show_line(attention: type, step: int) -> None:
    """The line of the running code that computed this step. attention: the class of the layer's attention."""
    from minibert.model import masked_softmax

    method, find = attention.attend if step else attention.forward, steps()[step][2]
    lines, start, path = source_of(method)
    at = start + next(offset for offset, line in enumerate(lines) if find in line)
    label = _("The line of code that computed this: {where}").format(where=f"`{path}:{at}`")
    show_source(method, find, label=label)
    if step in (3, 4):
        inside = "masked_fill" if step == 3 else "softmax(dim"
        show_source(masked_softmax, inside, label=_("… and what it calls: `masked_softmax`"))


# ----------------------------------------------------------------------------------------------------- all the heads
@st.fragment
def all_heads(subject: Subject, reading: "ModelInput", layer: int, head: int) -> None:
    from minibert.inside.head_arithmetic import all_probs, entropy
    from plots import attention as plots

    if st.session_state.pop("attention-opened", False):
        st.rerun()  # layer and head are chosen above, outside this fragment
    n = reading.length
    tokens = reading.tokens[:n]
    probs = all_probs(trace(subject, reading))[:, 0, :, :n, :n]  # (L, A, T, T)
    bits = entropy(probs).mean(-1)  # (L, A)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        figure(
            plots.all_heads(probs, selected=(layer, head), names=(_("layer"), _("head"))),
            _("{layers} layers of {heads} heads, each a matrix. Chosen: {name}.").format(
                layers=probs.size(0), heads=probs.size(1), name=head_name(layer, head)
            ),
            "attention-heads",
            on_select=open_head,
            data=lambda: pd.DataFrame(
                bits.numpy(),
                index=[_("layer {n}").format(n=i + 1) for i in range(probs.size(0))],
                columns=[_("head {n}, entropy in bits").format(n=a + 1) for a in range(probs.size(1))],
            ),
        )
    with right:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{head_name(layer, head)}**", width="content")
            if st.button(_("Take it apart, step by step"), icon=":material/calculate:", on_click=open_stepper):
                st.rerun()
        figure(
            plots.attention_matrix(tokens, probs[layer, head], axes=axes(), height=520),
            _("The shares of {name} for {count} tokens.").format(name=head_name(layer, head), count=n),
            "attention-opened-head",
            data=lambda: square(probs[layer, head], tokens),
        )
        st.markdown(
            _(
                "Its rows have **{bits:.2f} bits** of entropy on average: 0 is all on one token, {most:.2f} all alike."
            ).format(bits=bits[layer, head].item(), most=math.log2(n))
        )


@st.fragment
def many_heads(subject: Subject, reading: "ModelInput", position: int) -> None:
    """How differently the heads look, and what is lost when all of a layer must look alike."""
    from minibert.inside.head_arithmetic import all_probs, disagreement
    from minibert.inside.interventions import fill_in, one_pattern, total_variation
    from minibert.model import no_tap

    hidden = reading.padded(0).hiding(position)
    before, after = (fill_in(subject.model, hidden.batch(), position, tap)[0] for tap in (no_tap, one_pattern))
    differ = disagreement(all_probs(trace(subject, hidden))[:, 0])  # (L,)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.metric(_("Two heads of a layer differ in"), f"{differ.mean().item():.1%}")
        st.caption(_("of a row's weight, mean of all pairs, rows and layers."))
        st.metric(_("One pattern for all: what moves"), f"{total_variation(before, after).item():.1%}")
        st.caption(_("of the probability, when each head of a layer gets the mean of the layer's weights."))
    with right:
        show_guesses(subject, before, after, (_("as trained"), _("one pattern a layer")), "attention-pattern-words")


def open_stepper() -> None:
    st.session_state["part"] = parts()[0]


def open_head() -> None:
    clicked("attention-heads", state("layer"), state("head"))
    st.session_state["attention-opened"] = True


# ---------------------------------------------------------------------------------------------------------- break it
@st.fragment
def break_it(subject: Subject, reading: "ModelInput", position: int, layer: int, head: int) -> None:
    parts = {"root": _("÷ √D"), "mask": _("the mask"), "positions": _("the positions")}
    part = choice("break", _("What to leave out"), parts)
    hidden = reading.padded(0).hiding(position)
    if part == "root":
        without_root(subject, hidden, position, layer, head)
    elif part == "mask":
        without_mask(subject, hidden, position)
    else:
        without_positions(subject, hidden, position)


def without_root(subject: Subject, reading: "ModelInput", position: int, layer: int, head: int) -> None:
    from minibert.inside.head_arithmetic import all_probs, entropy, record
    from minibert.inside.interventions import fill_in, scale_scores
    from plots.attention import attention_matrix

    lesson.show("Without the root", title=False)
    root = math.sqrt(subject.model.config.head_size)
    factor = st.slider(
        _("Multiply every score by … (√D = {root:.4g} undoes the division)").format(root=root),
        *(0.0, 2 * root, root, root / 16),
        key="factor",
        bind="query-params",
    )
    tap = scale_scores(factor)
    broken = record(subject.model.bert, reading.batch(), tap)
    before, after = (all_probs(seen)[:, 0] for seen in (trace(subject, reading), broken))  # (L, A, T, T)
    measures = [
        (_("Entropy of a row, bits"), "{:.2f}", entropy),
        (_("Largest share of a row"), "{:.1%}", lambda p: p.amax(-1)),
        (_("Slope left: 1 − Σp²"), "{:.3f}", lambda p: 1 - p.square().sum(-1)),
    ]
    for box, (name, form, measure) in zip(st.columns(3), measures, strict=True):
        was = _("{before} as trained").format(before=form.format(measure(before).mean().item()))
        aside(box, name, form.format(measure(after).mean().item()), was)
    st.caption(_("Means over all rows of all heads of all layers. Below, {name}.").format(name=head_name(layer, head)))
    names = (_("as trained"), _("scores × {factor:g}").format(factor=factor))
    for side, (box, probs) in enumerate(zip(st.columns(2, gap="medium"), (before, after), strict=True)):
        with box:
            st.markdown(f"**{names[side]}**")
            figure(
                attention_matrix(reading.tokens, probs[layer, head], scale=1.0, axes=axes(), height=430),
                _("{name}: the largest share is {top:.1%}.").format(
                    name=names[side], top=probs[layer, head].max().item()
                ),
                f"attention-root-{side}",
                data=lambda probs=probs: square(probs[layer, head], reading.tokens),
            )
    batch = reading.batch()
    guesses = (fill_in(subject.model, batch, position)[0], fill_in(subject.model, batch, position, tap)[0])
    show_guesses(subject, *guesses, names, "attention-root-words")


def without_mask(subject: Subject, reading: "ModelInput", position: int) -> None:
    from minibert.inside.interventions import total_variation
    from plots.attention import curves

    lesson.show("Without the mask", title=False)
    count = st.slider(_("Padding behind the sentence"), 0, MOST_PADDING, 12, key="behind", bind="query-params")
    seen = leak(subject, reading, position)
    show_tokens(reading.padded(count).tokens, label=_("The sentence with its padding"))
    names = (_("with the mask"), _("without the mask"))
    share, guess = st.columns(2)
    aside(
        share, _("Attention that goes to padding"), f"{seen.share[count]:.1%}", _("{n:.0%} with the mask").format(n=0)
    )
    moved = [total_variation(p[count], seen.masked[0]).item() for p in (seen.unmasked, seen.masked)]
    aside(
        guess,
        _("Probability that moved"),
        f"{moved[0]:.1%}",
        _("{moved} with the mask: rounding").format(moved=tiny(moved[1])),
    )
    best = seen.masked[0].argmax().item()
    word = subject.vocab[best]
    lines = {names[0]: seen.masked[:, best].tolist(), names[1]: seen.unmasked[:, best].tolist()}
    left, right = st.columns(2, gap="medium")
    with left:
        figure(
            curves(
                range(MOST_PADDING + 1),
                lines,
                xaxis=_("padding tokens"),
                yaxis=_("probability of “{word}”").format(word=word),
                here=count,
            ),
            _(
                "Probability of {word}: {first:.1%} without padding; with {n} padding tokens {masked:.1%} with the mask"
                " and {unmasked:.1%} without."
            ).format(
                word=word,
                first=lines[names[0]][0],
                n=count,
                masked=lines[names[0]][count],
                unmasked=lines[names[1]][count],
            ),
            "attention-mask-curve",
            data=lambda: pd.DataFrame(lines),
        )
    with right:
        show_guesses(subject, seen.masked[count], seen.unmasked[count], names, "attention-mask-words")


def without_positions(subject: Subject, reading: "ModelInput", position: int) -> None:
    from minibert.inside.interventions import order_effect
    from minibert.inside.interventions import without_positions as no_positions
    from plots.attention import order_differences

    lesson.show("Without positions", title=False)
    if not hasattr(subject.model.bert.embeddings, "position"):
        st.markdown(
            _(
                "This model has no position embeddings: what is set to zero here are the vectors for distances, which "
                "its heads add to keys and values."
            )
        )
    orders = {"swapped": _("two words swapped"), "reversed": _("reversed"), "shuffled": _("shuffled")}
    order = reading.new_order(choice("order", _("The other order"), orders))
    show_tokens(reading.tokens, label=_("The sentence"))
    show_tokens(reading.reordered(order).tokens, label=_("The same tokens in the other order"))
    intact = order_effect(subject.model, reading, order, position)
    without = order_effect(subject.model, reading, order, position, no_positions)
    names = (_("with positions"), _("without"))
    left, right = st.columns([11, 10], gap="medium")
    with left:
        st.markdown(f"**{_('How far the output of each token moves')}**")
        figure(
            order_differences(reading.tokens, intact.moved, without.moved, names, height=470),
            _("With positions the outputs move by {a:.2f} of their length on average; without, at most by {b}.").format(
                a=intact.moved.mean().item(), b=tiny(without.moved.max().item())
            ),
            "attention-order",
            data=lambda: pd.DataFrame({_("token"): reading.tokens, names[0]: intact.moved, names[1]: without.moved}),
        )
        st.caption(
            _(
                "Length of the difference ÷ length of the vector. Without positions at most {b} is left: added in "
                "another order, 32-bit numbers round differently."
            ).format(b=tiny(without.moved.max().item()))
        )
    with right:
        for side, effect in enumerate((intact, without)):
            st.markdown(f"**{names[side]}**")
            show_guesses(
                subject, effect.here, effect.there, (_("this order"), _("the other")), f"attention-order-words-{side}"
            )


# ---------------------------------------------------------------------------------------------------- padding a pair
@st.fragment
def pairs(subject: Subject, text: str, second: str) -> None:
    import torch

    from minibert.attention_masks import padding_mask
    from minibert.inside.head_arithmetic import all_probs, crossing, record
    from minibert.inside.model_input import ModelInput
    from minibert.model import Batch

    tokenizer = load(subject.name).tokenizer
    pair = ModelInput.of(tokenizer, text, second or _("It was very hungry."), MAX_TOKENS)
    alone = ModelInput.of(tokenizer, text, max_length=MAX_TOKENS)
    longest = max(pair.length, alone.length)
    rows = [one.padded(longest - one.length) for one in (pair, alone)]
    for name, row in zip((_("A pair"), _("The first sentence alone, padded")), rows, strict=True):
        st.markdown(f"**{name}**")
        kinds = [
            "faded" if i >= row.length else "kept" if row.segments[i] and kind_of(token) == "plain" else kind_of(token)
            for i, token in enumerate(row.tokens)
        ]
        mask = [_("mask {n}").format(n=int(i < row.length)) for i in range(longest)]
        show_tokens(row.tokens, under=mask, kinds=kinds, label=name)
    one_by_one = [row.batch() for row in rows]
    batch = Batch(*(torch.cat([getattr(one, name) for one in one_by_one]) for name in ("ids", "segments", "padding")))
    bert = subject.model.bert
    seen = record(bert, batch)
    n = pair.length
    there, back = crossing(all_probs(seen)[:, 0, :, :n, :n], torch.tensor(pair.segments, dtype=torch.bool))
    last = f"blocks.{bert.config.num_hidden_layers - 1}.out"
    difference = seen[last][1, : alone.length] - record(bert, alone.batch())[last][0]
    boxes = st.columns(3)
    boxes[0].metric(_("First → second sentence"), f"{there:.1%}")
    boxes[1].metric(_("Second → first sentence"), f"{back:.1%}")
    boxes[2].metric(_("Padded against alone"), tiny(difference.abs().max().item()))
    st.caption(
        _(
            "Attention that crosses from one sentence to the other, mean of all heads; and the largest difference "
            "between the outputs for the single sentence with and without padding. The mask has the shape {shape}: a "
            "row for each sequence, the same for all its heads and tokens."
        ).format(shape=tuple(padding_mask(batch.padding).shape))
    )
    show_source(padding_mask, "return")


# --------------------------------------------------------------------------------------------------- against an RNN
@st.fragment
def paths(reading: "ModelInput") -> None:
    from minibert.inside.sequence_cost import path_length, waiting_steps
    from plots import attention as plots

    tokens = reading.tokens[: reading.length]
    lesson.show("How far", level=3)
    with st.container(horizontal=True):
        start = pick("source", _("From"), numbered(tokens), default=1)
        end = pick("target", _("To"), numbered(tokens), default=len(tokens) - 3)

    def titles(count: Any) -> tuple[str, ...]:
        networks = {"attention": _("self-attention"), "rnn": _("recurrent network")}
        steps = {network: count(network) for network in networks}
        return tuple(
            f"{name}: " + ngettext("{n} step", "{n} steps", steps[network]).format(n=steps[network])
            for network, name in networks.items()
        )

    figure(
        plots.paths(tokens, start, end, titles(lambda network: path_length(network, start, end))),
        _("Steps from {start} to {end}: {steps}.").format(
            start=tokens[start],
            end=tokens[end],
            steps=", ".join(titles(lambda network: path_length(network, start, end))),
        ),
        "attention-paths",
    )
    lesson.show("What waits for what", level=3)
    steps_ = titles(lambda network: waiting_steps(network, len(tokens)))
    figure(
        plots.schedule(tokens, steps_, _("step")),
        _("Steps that must wait for one another, for {n} tokens: {steps}.").format(
            n=len(tokens), steps=", ".join(steps_)
        ),
        "attention-schedule",
    )


@st.fragment
def cost() -> None:
    from minibert.inside.sequence_cost import FORMULAS, crossing, flops
    from plots.attention import curves

    lesson.show("What it costs", level=3)
    names = {"attention": _("self-attention"), "rnn": _("recurrent network"), "lstm": _("LSTM")}
    kinds = {"mixing": _("attention without its projections"), "layer": _("the whole layer")}
    kind = choice("counting", _("What is counted"), kinds)
    left, right = st.columns(2, gap="medium")
    with left:
        hidden = SIZES[pick("hidden", _("Hidden size H"), [str(size) for size in SIZES], default=SIZES.index(256))]
    with right:
        tokens = st.select_slider(_("Tokens T"), LENGTHS, 32, key="tokens", bind="query-params")
    networks = list(FORMULAS[kind])
    for box, network in zip(st.columns(len(networks)), networks, strict=True):
        part = flops(kind, network, tokens, hidden)
        with box, st.container(border=True):
            st.markdown(f"**{names[network]}**")
            st.latex(
                rf"\begin{{aligned}} &{formula(part.formula)} \\ =\;&{formula(part.numbers)} \\"
                rf" =\;&\mathbf{{{formula(f'{part.one:,}')}}} \end{{aligned}}"
            )
    st.caption(_("FLOPs of one layer for one sequence, forward; a multiplication and its addition count 2."))
    at = crossing(kind, hidden)
    counts = {names[n]: [flops(kind, n, length, hidden).one for length in LENGTHS] for n in networks}
    figure(
        curves(
            LENGTHS,
            counts,
            xaxis=_("tokens T"),
            yaxis=_("FLOPs"),
            log=True,
            here=tokens,
            marks={at: f"T = {'H' if kind == 'mixing' else '2H'} = {at}"},
            height=440,
        ),
        _("FLOPs against T for H = {hidden}; equal at T = {at}.").format(hidden=hidden, at=at),
        "attention-cost",
        data=lambda: pd.DataFrame(counts, index=pd.Index(LENGTHS, name="T")),
    )
    if kind == "mixing":
        st.markdown(_("Equal at **T = H = {at}**, where 4·T²·H = 4·T·H².").format(at=at))
    else:
        st.markdown(
            _(
                "Attention and LSTM are equal at **T = 2H = {at}**, where 8·T·H² + 4·T²·H = 16·T·H². A plain recurrent "
                "network is cheaper than the whole attention layer at every length: 4·T·H² < 8·T·H²."
            ).format(at=at)
        )
    measured(names)


def formula(text: str) -> str:
    return text.replace("·", r" \cdot ").replace("²", "^2").replace(",", "{,}")


def measured(names: dict[str, str]) -> None:
    """Counting is not timing: the three layers on this machine, when the reader asks."""
    import torch

    from plots.attention import curves

    hidden, heads = 256, 4
    label = _("Measure it on this machine, H = {hidden}").format(hidden=hidden)
    if st.button(label, icon=":material/timer:"):
        st.session_state["attention-measured"] = True
    if not st.session_state.get("attention-measured"):
        return
    with st.spinner(_("Measuring …")):
        times = {names[network]: [1000 * t for t in seconds] for network, seconds in timings(hidden, heads).items()}
    figure(
        curves(TIMED, times, xaxis=_("tokens T"), yaxis=_("milliseconds"), log=True),
        _("Milliseconds at T = {last}: {times}.").format(
            last=TIMED[-1], times=", ".join(f"{name} {t[-1]:.2f}" for name, t in times.items())
        ),
        "attention-timings",
        data=lambda: pd.DataFrame(times, index=pd.Index(TIMED, name="T")),
    )
    st.caption(
        _(
            "One sequence through the whole layer, the best of 5 runs, {threads} processor threads. With few threads "
            "little is done at once, and waiting costs little; a GPU has thousands."
        ).format(threads=torch.get_num_threads())
    )


# ------------------------------------------------------------------------------------------ a weight is no explanation
@st.fragment
def no_explanation(subject: Subject, reading: "ModelInput", position: int) -> None:
    from minibert.statistics import rank_correlation
    from plots.attention import weight_and_effect

    hidden = reading.padded(0).hiding(position)
    heads, (weight, effect) = effects(subject, hidden, position)
    layers, count = heads.weight.shape
    names = [head_name(layer, head) for layer in range(layers) for head in range(count)]
    show_tokens(hidden.tokens, selected=position, label=_("The sentence with the hidden word"))
    left, right = st.columns(2, gap="medium")
    kept = [i for i in range(len(weight)) if not math.isnan(effect[i])]
    words = [hidden.tokens[i] for i in kept]
    with left:
        st.markdown(f"**{_('Hide one token from all others')}**")
        figure(
            weight_and_effect(
                words,
                weight[kept],
                effect[kept],
                axes=(_("attention it gets"), _("probability that moves")),
                marked=spread(weight[kept], effect[kept], words),
            ),
            _(
                "{n} tokens: the attention the hidden word pays them, mean of all heads, and what hiding them moves."
            ).format(n=len(words)),
            "attention-token-effects",
            data=lambda: pd.DataFrame({_("token"): words, _("attention"): weight[kept], _("moves"): effect[kept]}),
        )
        agreement(rank_correlation(weight[kept], effect[kept]), len(words))
    with right:
        st.markdown(f"**{_('Shuffle the weights of one head')}**")
        slot = st.container()
        agreement(rank_correlation(heads.weight.flatten(), heads.shuffled.flatten()), len(names))
    st.markdown(striking(heads, names))

    st.markdown(f"### {_('Test a head yourself')}")
    with st.container(horizontal=True):
        tested = pick("tested", _("Head to test"), names)
        edits = {"shuffled": _("shuffle"), "evened": _("even out"), "removed": _("remove")}
        how = choice("edit", _("What to do to it"), edits)
    with slot:
        figure(
            weight_and_effect(
                names,
                heads.weight.flatten(),
                heads.shuffled.flatten(),
                axes=(_("its largest share"), _("probability that moves")),
                marked={tested: names[tested]},
            ),
            _("{n} heads: the largest share in the hidden word's row, and what shuffling the head moves.").format(
                n=len(names)
            ),
            "attention-head-effects",
            on_select=lambda: clicked("attention-head-effects", state("tested")),
            data=lambda: pd.DataFrame(
                {
                    _("largest share"): heads.weight.flatten(),
                    _("shuffled"): heads.shuffled.flatten(),
                    _("evened out"): heads.evened.flatten(),
                    _("removed"): heads.removed.flatten(),
                },
                index=names,
            ),
        )
    test_head(subject, hidden, position, divmod(tested, count), how)


def spread(weight: Any, effect: Any, words: list[str], count: int = 3) -> dict[int, str]:
    """The points to name: those with the most attention, and those that matter most."""
    chosen = {*weight.argsort(descending=True)[:count].tolist(), *effect.argsort(descending=True)[:count].tolist()}
    return {index: words[index] for index in chosen}


def agreement(rho: float, count: int) -> None:
    if math.isnan(rho):
        st.caption(_("Too few points to say how weight and effect go together."))
        return
    st.markdown(
        _("Rank correlation of weight and effect: **{rho}** ({n} points; +1 is full agreement, 0 none).").format(
            rho=f"{rho:+.2f}".replace("-", "−"), n=count
        )
    )


def striking(heads: "HeadEffects", names: list[str]) -> str:
    """The sharp head that matters least, and the even one that matters most, in a sentence with their numbers."""
    weight, shuffled, removed = heads.weight.flatten(), heads.shuffled.flatten(), heads.removed.flatten()
    order = weight.argsort()
    third = max(1, len(order) // 3)
    even, sharp = order[:third], order[-third:]
    a, b = sharp[shuffled[sharp].argmin()].item(), even[removed[even].argmax()].item()
    return _(
        "Of the third of the heads with the largest shares, **{sharp}** matters least: it puts {w:.1%} on one token,"
        " and shuffling it moves **{s:.1%}** of the probability. Of the third with the smallest, **{even}** matters "
        "most: no share above {v:.1%}, and removing it moves **{r:.1%}**."
    ).format(
        sharp=names[a],
        w=weight[a].item(),
        s=shuffled[a].item(),
        even=names[b],
        v=weight[b].item(),
        r=removed[b].item(),
    )


def test_head(subject: Subject, reading: "ModelInput", position: int, at: tuple[int, int], how: str) -> None:
    """One head of (layer, head) changed: the guesses before and after."""
    import torch

    from minibert.inside.interventions import evened, fill_in, fill_in_edited, removed, shuffled, total_variation

    batch = reading.batch()
    edit, said = {
        "shuffled": (
            shuffled(*at, batch.padding[0], torch.Generator().manual_seed(0)),
            _("Each row's weights are dealt out anew among the tokens: as sharp as before, at other words."),
        ),
        "evened": (evened(*at, batch.padding[0]), _("Each row looks at all tokens alike.")),
        "removed": (removed(*at), _("The head hands on zeros.")),
    }[how]
    before = fill_in(subject.model, batch, position)[0]
    after = fill_in_edited(subject.model, batch, position, [edit])[0]
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.metric(_("Probability that moved"), f"{total_variation(before, after).item():.1%}")
        st.caption(said)
    with right:
        show_guesses(subject, before, after, (_("as trained"), _("changed")), "attention-test-words")


def word_to_hide(reading: "ModelInput") -> int | None:
    """The reader's choice among the words: at first a [MASK] that was typed, else the last word of the first sentence.

    None, and a line that says so, if there are no words.
    """
    if not reading.words:
        st.info(_("There is no word to hide. Type a sentence above."), icon=":material/edit:")
        return None
    first = [at for at, i in enumerate(reading.words) if reading.segments[i] == 0] or [0]
    typed = [at for at in first if reading.tokens[reading.words[at]] == "[MASK]"]
    named = [at for at in first if any(char.isalnum() for char in reading.tokens[reading.words[at]])]
    words = [f"{i + 1} · {reading.tokens[i]}" for i in reading.words]
    with st.container(width=400):
        return reading.words[pick("hide", _("Word to hide"), words, default=(typed or named or first)[-1])]


# ---------------------------------------------------------------------------------------------------------- the page
lesson.show_title()
lesson.show("The question")
left, right = st.columns([3, 2], gap="medium")
with left:
    text = sentence_input("sentence", lesson.examples, max_chars=MAX_CHARS)
with right:
    second = sentence_input(
        "second", [], label=_("A second sentence"), max_chars=MAX_CHARS, placeholder=_("may stay empty")
    )
with st.container(horizontal=True):
    name = model_choice(fill=True, usual=WELL_READ)
    place = st.container(horizontal=True)
    padding = st.slider(_("Padding tokens"), 0, MAX_PADDING, 2, key="padding", bind="query-params")
with st.spinner(_("Loading the model …")):
    from minibert.inside.model_input import ModelInput

    subject = Subject.of(name)
    tokenizer = load(name).tokenizer
    reading = ModelInput.of(tokenizer, text, second or None, MAX_TOKENS).padded(padding)
with place:
    layers, heads = subject.model.config.num_hidden_layers, subject.model.config.num_attention_heads
    layer = pick("layer", _("Layer"), [_("{n} of {all}").format(n=n + 1, all=layers) for n in range(layers)])
    head = pick("head", _("Head"), [_("{n} of {all}").format(n=n + 1, all=heads) for n in range(heads)])
whole = len(ModelInput.of(tokenizer, text, second or None).ids)
if whole > reading.length:
    st.info(
        _(
            "Your text has {whole} tokens. The model reads {n} of them here: more could not be told apart on a wall."
        ).format(whole=whole, n=reading.length),
        icon=":material/content_cut:",
    )

# Only the open part is computed and drawn.
stepped, together, broken, recurrent, tested = st.tabs(parts(), key="part", on_change="rerun", bind="query-params")
if stepped.open:
    with stepped:
        lesson.show("One head, step by step")
        one_head(subject, reading, layer, head)
if together.open:
    with together:
        lesson.show("All heads at once")
        all_heads(subject, reading, layer, head)
        lesson.show("Why many heads")
        position = word_to_hide(reading)
        if position is not None:
            many_heads(subject, reading, position)
if broken.open:
    with broken:
        lesson.show("Break it")
        position = word_to_hide(reading)
        if position is not None:
            break_it(subject, reading, position, layer, head)
        lesson.show("Padding and sentence pairs")
        pairs(subject, text, second)
if recurrent.open:
    with recurrent:
        lesson.show("Against a recurrent network")
        paths(reading)
        cost()
if tested.open:
    with tested:
        lesson.show("A weight is not an explanation")
        position = word_to_hide(reading)
        if position is not None:
            no_explanation(subject, reading, position)
        lesson.show("What follows from it")
lesson.quiz()
next_lesson("attention")
