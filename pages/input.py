"""Input: how one or two sentences become the row of numbers that BERT reads."""

import html
import re

import streamlit as st

from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.models import WELL_READ, load, model_choice, trace_of, version_of
from ui.navigation import next_lesson
from ui.source import show_source
from ui.state import follow_link, set_url, url_text
from ui.stepper import stepper
from ui.text import kind_of, literal, show_tokens, visible
from ui.translations import _

# What imports torch or plotly is imported where it is first needed: the page shows before that.

MAX_CHARS = 2_000
COLUMNS = 48  # tokens drawn
LINE = 9  # of them side by side
SPECIAL = re.compile(r"\[[^\[\]\s]{1,30}\]")
DIMENSIONS = 64  # of a vector, drawn
NUMBERS = 8  # of a vector, written out
PLACES = 128
LENGTHS = (64, 128, 256, 512, 768, 1024, 1536, 2048)

STYLE = """<style>
.mb-rows { overflow-x: auto; }
.mb-rows table { margin-bottom: 0.75rem; }
.mb-rows table { border-collapse: separate; border-spacing: 4px; }
.mb-rows th { text-align: left; font-weight: 600; padding-right: 1rem; white-space: nowrap; border: 0;
  width: 9.5rem; }
.mb-rows td { text-align: center; padding: 0.3rem 0.55rem; border: 2px solid rgba(128, 134, 145, 0.45);
  border-radius: 0.4rem; font-size: 1.1rem; font-variant-numeric: tabular-nums; white-space: nowrap;
  font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.mb-rows td.mb-special { border: 4px double rgb(0, 114, 178); }
.mb-rows td.mb-b { background: rgba(230, 159, 0, 0.22); border-style: dashed; }
.mb-rows td.mb-pad { opacity: 0.6; border-style: dotted; }
[class*="st-key-kept-"] .mb-faded bdi { text-decoration: line-through 2px; }
.mb-rows td.mb-new { background: rgba(0, 158, 115, 0.2); }
</style>"""

lesson = Lesson("input")


def second_sentence() -> str | None:
    """The other sentence of a pair; None for a single one."""
    if not st.toggle(_("A second sentence"), value=True, key="pair", bind="query-params"):
        return None
    start = _("The fields were under water by morning.")
    if follow_link("b") or "b" not in st.session_state:
        st.session_state["b"] = url_text("b", start)
    text = st.text_input(_("Second sentence"), key="b")
    set_url("b", text, default=start)
    return text[:MAX_CHARS]


# --- the row --------------------------------------------------------------------------------------------------------


@st.fragment
def the_row(model: str, first: str, second: str | None) -> None:
    """The row grows with every step of the stepper."""
    lesson.show("From sentences to a row")
    tokenizer = load(model).tokenizer
    whole = tokenizer.encode(first, second, truncation="none")
    steps = [_("tokens"), _("frame"), _("ids"), _("segments"), _("padding")]
    step = stepper("step", steps)
    padding = st.slider(_("Places in the batch beyond this row"), 0, 8, 3, key="pad") if step == 4 else 0
    tokens = [*whole.tokens, *["[PAD]"] * padding]
    real = [1] * len(whole.tokens) + [0] * padding
    shown = [i for i, token in enumerate(tokens) if step or not (i < len(real) and is_frame(whole, i))]
    rows: list[tuple[str, list]] = [(_("token"), [visible(tokens[i]) for i in shown])]
    # From the second step on, every place is shown.
    if step >= 2:
        rows.append((_("id"), [*whole.ids, *[tokenizer.pad_id] * padding]))
    if step >= 3:
        rows.append((_("segment id"), [*whole.segments, *[0] * padding]))
    if step >= 4:
        rows.append((_("attention mask"), real))
    classes = [cell_class(whole, i) for i in shown]
    st.html(table(rows, classes, newest=len(rows) - 1 if step > 1 else None))
    if len(shown) > COLUMNS:
        st.caption(_("{n} tokens; the first {most} are drawn.").format(n=len(shown), most=COLUMNS))
    st.markdown(explain(step, whole, padding))
    from minibert.tokenizer import Tokenizer

    show_source(Tokenizer._join, label=_("The frame, in the running code"))


def is_frame(encoding, i: int) -> bool:
    """Whether a token was put there by the frame and not by the text."""
    return i < len(encoding.tokens) and encoding.special[i] and encoding.offsets[i] == (0, 0)


def cell_class(encoding, i: int) -> str:
    if i >= len(encoding.tokens):
        return "mb-pad"
    names = ["mb-special"] if is_frame(encoding, i) else []
    return " ".join([*names, "mb-b"] if encoding.segments[i] else names)


def table(rows: list[tuple[str, list]], classes: list[str], newest: int | None) -> str:
    """Rows of cells under each other, a column a token, broken into lines like text; everything escaped."""
    tables = []
    for start in range(0, min(len(classes), COLUMNS), LINE):
        lines = []
        for number, (name, cells) in enumerate(rows):
            drawn = "".join(
                f'<td class="{cls}{" mb-new" if number == newest else ""}"><bdi>{html.escape(str(cell))}</bdi></td>'
                for cls, cell in list(zip(classes, cells, strict=True))[start : min(start + LINE, COLUMNS)]
            )
            lines.append(f'<tr><th scope="row">{html.escape(name)}</th>{drawn}</tr>')
        tables.append(f"<table>{''.join(lines)}</table>")
    return f'<div class="mb-rows" tabindex="0">{"".join(tables)}</div>'


def explain(step: int, whole, padding: int) -> str:
    """What the step has just done, with this row's numbers."""
    n, pairs = len(whole.tokens), max(whole.segments, default=0) == 1
    frame = sum(is_frame(whole, i) for i in range(n))
    return [
        _("{n} tokens, cut by the tokenizer; no frame yet.").format(n=n - frame),
        _("`[CLS]` in front and a `[SEP]` after each sentence: {n} + {frame} = **{total}** tokens.").format(
            n=n - frame, frame=frame, total=n
        ),
        _("Each token is replaced by its line number in the vocabulary. From here on there are no letters any more."),
        _("The first sentence with its frame: {a} times 0. The second with its `[SEP]`: {b} times 1.").format(
            a=whole.segments.count(0), b=whole.segments.count(1)
        )
        if pairs
        else _("One sentence: all 0."),
        _("{pad} places are filled up to the longest row of the batch; the mask is 0 there, and nobody looks.").format(
            pad=padding
        ),
    ][step]


# --- a token of one's own -------------------------------------------------------------------------------------------


@st.fragment
def own_token(model: str) -> None:
    lesson.show("A token of your own")
    from minibert.tokenizer import Tokenizer

    trained = load(model).tokenizer
    left, right = st.columns([1, 2], gap="large")
    with left:
        token = st.text_input(_("New token"), "[CAT=CULTURE]", key="special")
    with right:
        text = st.text_input(_("Text"), "[CAT=CULTURE] A new museum opened in the old harbour.", key="special-text")
    text = text[:MAX_CHARS]
    if not SPECIAL.fullmatch(token):
        st.info(_("Write it in square brackets, without spaces, at most 30 characters: `[CAT=CULTURE]`."))
        return
    extended = Tokenizer(trained.vocab, lowercase=trained.lowercase, special_tokens=[token])
    for title, tokenizer in ((_("Before"), trained), (_("After"), extended)):
        encoding = tokenizer.encode(text)
        st.markdown(f"**{title}**")
        kinds = ["mask" if one == token else kind_of(one) for one in encoding.tokens]
        show_tokens(encoding.tokens, under=encoding.ids, kinds=kinds, limit=COLUMNS)
    if token in trained.ids:
        st.markdown(_("This token was in the vocabulary already, with id {id}.").format(id=trained.ids[token]))
        return
    st.markdown(
        _("Id **{id:,}**: one beyond the last of the {size:,} rows of this model's embedding matrix.").format(
            id=extended.ids[token], size=trained.vocab_size
        )
    )


# --- truncation -----------------------------------------------------------------------------------------------------


@st.fragment
def too_long(model: str, first: str, second: str | None) -> None:
    lesson.show("When it is too long")
    from minibert.text.truncation import keep

    tokenizer = load(model).tokenizer
    names = {
        "longest_first": _("longest first"),
        "head": _("head"),
        "tail": _("tail"),
        "head_tail": _("head + tail"),
        "budget": _("a budget for each"),
    }
    texts = [first] if second is None else [first, second]
    encoded = [tokenizer.encode(text, add_special=False) for text in texts]
    lengths = [len(one.ids) for one in encoded]
    frame = 1 + len(texts)
    total = sum(lengths) + frame
    left, right = st.columns([1, 2], gap="large")
    with left:
        most = max(total, frame + 2)
        limit = st.slider(
            _("Places"), frame + 1, most, value=max(frame + 1, round(0.6 * most)), key=f"places-{frame}-{most}"
        )
    with right:
        how = choice("keep", _("What to keep"), names)
    room = limit - frame
    budgets = None
    if how == "budget":
        a = (
            st.slider(_("Tokens for the first text"), 0, room, room // 3, key=f"budget-{room}")
            if len(texts) > 1
            else room
        )
        budgets = [a, room - a][: len(texts)]
    kept = keep(lengths, room, how, budgets)
    for one, stay, name in zip(encoded, kept, (_("First text"), _("Second text")), strict=False):
        stays = set(stay)
        kinds = ["plain" if i in stays else "faded" for i in range(len(one.tokens))]
        st.markdown(f"**{name}**: " + _("{kept} of {n} tokens stay").format(kept=len(stays), n=len(one.tokens)))
        with st.container(key=f"kept-{name}"):
            show_tokens(one.tokens, kinds=kinds, limit=200)
    used = sum(map(len, kept)) + frame
    st.markdown(
        _("{total} tokens with the frame; {limit} places; **{lost} lost**, {free} left empty.").format(
            total=total, limit=limit, lost=total - used, free=limit - used
        )
    )
    show_source(keep, label=_("The strategies, in the running code"))


# --- vectors --------------------------------------------------------------------------------------------------------


@st.fragment
def three_vectors(model: str, first: str, second: str | None) -> None:
    lesson.show("Three vectors are added")
    trace = trace_of(model, first, second)
    tokens = trace.tokens
    count = min(len(tokens), COLUMNS)
    place = st.select_slider(
        _("Token"),
        range(count),
        value=min(1, count - 1),
        format_func=lambda i: f"{i}: {visible(tokens[i])}",
        key="token",
    )
    import numpy as np

    from plots.embeddings_sum import summands

    names = {"token": _("token"), "segment": _("segment"), "position": _("position"), "sum": _("sum")}
    # Without a position: NEZHA. narrow: ALBERT's, E wide, which one matrix widens to H.
    parts = {title: trace[tap][place] for name, title in names.items() if (tap := f"embeddings.{name}") in trace.names}
    narrow = "embeddings.narrow" in trace.names
    fig = summands({name: vector[:DIMENSIONS] for name, vector in parts.items()}, _("dimension"))
    lengths = "; ".join(f"{name} {np.linalg.norm(vector):.3f}" for name, vector in parts.items())
    width = trace["embeddings.sum"].shape[-1]
    alt = _("The first {n} of {h} numbers of each vector for “{token}”. Lengths: {lengths}.").format(
        n=min(DIMENSIONS, width),
        h=width,
        token=visible(tokens[place]),
        lengths=lengths,
    )
    after = {_("after LayerNorm"): trace["embeddings.narrow" if narrow else "embeddings.out"][place]}
    if narrow:
        after[_("widened to H")] = trace["embeddings.out"][place]
    rows = [
        {_("vector"): name, **{str(i): f"{float(v):+.6f}" for i, v in enumerate(vector[:NUMBERS])}}
        for name, vector in {**parts, **after}.items()
    ]
    figure(fig, alt, key="summands", data=rows)
    st.table(rows)
    if _("position") in parts:
        picked = _(
            "The id {id} picks row {id} of the token matrix, the segment id {segment} one of two rows, the place "
            "{place} row {place} of the position matrix. Lengths of the vectors: {lengths}."
        )
    else:
        picked = _(
            "The id {id} picks row {id} of the token matrix, the segment id {segment} one of two rows. Nothing is "
            "added for the place: this model has no position embeddings, so two vectors are added and not three. "
            "Lengths of the vectors: {lengths}."
        )
    st.markdown(
        picked.format(id=trace.ids[place], segment=trace.encoding.segments[place], place=place, lengths=lengths)
    )
    if narrow:
        st.markdown(
            _(
                "The three and their sum are E = {e} numbers wide; after LayerNorm one matrix makes H = {h} of them."
            ).format(e=width, h=trace.config.hidden_size)
        )
    from minibert.inside.vectors import encoder_of
    from minibert.model import Embeddings

    own = type(encoder_of(load(model).model).embeddings)
    summed = own if _("position") not in parts else Embeddings
    show_source(summed, find='tap("sum"', label=_("The sum, in the running code"))
    if narrow:
        show_source(own, find="self.projection(", label=_("… and what widens it"))


@st.cache_data(show_spinner=False, max_entries=8)
def position_tables(model: str, version: int):
    """The first places of the learned table and of the sinusoids; None where a model has no such table."""
    from minibert.inside.vectors import encoder_of
    from minibert.positions import sinusoids

    embeddings = encoder_of(load(model).model).embeddings
    if not hasattr(embeddings, "position"):
        return None
    table = embeddings.position.weight.detach()[:PLACES].numpy()
    return table, sinusoids(*table.shape).numpy()


@st.fragment
def places(model: str) -> None:
    lesson.show("How alike are places?")
    from plots.embeddings_sum import cosines, position_similarity

    tables = position_tables(model, version_of(model))
    if tables is None:
        st.info(
            _(
                "This model has no table of positions to compare: its heads are told how far apart two tokens stand. "
                "Choose another model above."
            ),
            icon=":material/help:",
        )
        return
    learned, fixed = tables
    titles = (_("learned by the model"), _("sine and cosine waves"))
    near = {name: cosines(table) for name, table in zip(titles, (learned, fixed), strict=True)}
    words = "; ".join(
        _("{name}: neighbours {one:.2f}, eight apart {eight:.2f}").format(
            name=name, one=matrix.diagonal(1).mean(), eight=matrix.diagonal(8).mean()
        )
        for name, matrix in near.items()
    )
    alt = _("Cosine between the vectors of the first {n} places. On average, {words}.").format(
        n=len(learned), words=words
    )
    figure(position_similarity(learned, fixed, titles, _("place")), alt, key="places")
    st.markdown(_("On average: {words}.").format(words=words))


@st.fragment
def length() -> None:
    lesson.show("Why 512?")
    from minibert.config import BertConfig
    from minibert.count import memory
    from plots.embeddings_sum import cost_of_length

    rows = st.slider(_("Rows in a batch"), 1, 64, 16, key="rows")
    base = BertConfig.preset("base", max_position_embeddings=max(LENGTHS))
    kinds = {_("attention written out"): "explicit", _("fused attention"): "fused"}
    series = {
        name: [memory(base, rows, length, precision="bf16", attention=kind).peak / 2**30 for length in LENGTHS]
        for name, kind in kinds.items()
    }
    at_limit = {name: values[LENGTHS.index(512)] for name, values in series.items()}
    doubled = {name: values[LENGTHS.index(1024)] / values[LENGTHS.index(512)] for name, values in series.items()}
    words = "; ".join(
        _("{name}: {gib:.1f} GiB at 512 tokens, {times:.2f} times that at 1,024").format(
            name=name, gib=at_limit[name], times=doubled[name]
        )
        for name in series
    )
    alt = _("Estimated memory to pre-train BERT-base in bf16, by tokens in a row. {words}.").format(words=words)
    titles = (_("tokens T"), _("GiB to train"))
    table = [{"T": t, **{name: f"{values[i]:.2f}" for name, values in series.items()}} for i, t in enumerate(LENGTHS)]
    figure(cost_of_length(LENGTHS, series, 512, titles), alt, key="length", data=table)
    st.markdown(_("BERT-base, {rows} rows, training in bf16, estimated from its sizes. {words}.").format(
        rows=rows, words=literal(words)
    ))  # fmt: skip


# --- the page -------------------------------------------------------------------------------------------------------

st.html(STYLE)
lesson.show_title()
with st.container(horizontal=True):
    model = model_choice(usual=WELL_READ)
first = sentence_input("a", lesson.examples, label=_("First sentence"), max_chars=MAX_CHARS)
second = second_sentence()
the_row(model, first, second)
own_token(model)
too_long(model, first, second)
three_vectors(model, first, second)
places(model)
lesson.show("How the Transformer's input differs")
length()
lesson.quiz()
next_lesson("input")
