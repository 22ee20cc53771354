"""From sentences to model input: tokens, frame, ids, segments, padding."""

import html

import streamlit as st

from sections.input import own_token
from sections.input.subject import COLUMNS, Inputs
from ui.lesson import Lesson
from ui.model_cache import load
from ui.source import show_source
from ui.stepper import stepper
from ui.text import visible
from ui.translations import _

LINE = 9  # tokens per line

STYLE = """<style>
.mb-rows { overflow-x: auto; }
.mb-rows table { margin-bottom: 0.75rem; }
.mb-rows table { border-collapse: separate; border-spacing: 4px; }
.mb-rows th { text-align: left; font-weight: 600; padding-right: 1rem; white-space: nowrap; border: 0;
  width: 9.5rem; }
.mb-rows td { text-align: center; padding: 0.3rem 0.55rem; border: 2px solid rgba(128, 134, 145, 0.45);
  border-radius: 0.4rem; font-size: 1.1rem; font-variant-numeric: tabular-nums; white-space: nowrap;
  font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (max-width: 760px) { .mb-rows th { width: auto; } }
.mb-rows td.mb-special { border: 4px double rgba(128, 134, 145, 0.9); }
.mb-rows td.mb-b { background: rgba(213, 94, 0, 0.18); border-style: dashed; }
.mb-rows td.mb-pad { opacity: 0.75; border-style: dotted; }
.mb-rows td.mb-new { font-weight: 700; border-color: currentColor; }
</style>"""


def show(lesson: Lesson, inputs: Inputs) -> None:
    growing(lesson, inputs)
    own_token.show(lesson, inputs)


@st.fragment
def growing(lesson: Lesson, inputs: Inputs) -> None:
    """A table of the model input that grows with every step of the stepper."""
    st.html(STYLE)
    tokenizer = load(inputs.model).tokenizer
    whole = tokenizer.encode(inputs.first, inputs.second, truncation="none")
    steps = [_("tokens"), _("frame"), _("ids"), _("segments"), _("padding")]
    step = stepper("step", steps)
    padding = st.slider(_("Places in the batch beyond this row"), 0, 8, 3, key="pad") if step == 4 else 0
    tokens = [*whole.tokens, *["[PAD]"] * padding]
    real = [1] * len(whole.tokens) + [0] * padding
    places = [i for i, token in enumerate(tokens) if step or not (i < len(real) and is_frame(whole, i))]
    rows: list[tuple[str, list]] = [(_("token"), [visible(tokens[i]) for i in places])]
    # From the second step on, every position is shown.
    if step >= 2:
        rows.append((_("id"), [*whole.ids, *[tokenizer.pad_id] * padding]))
    if step >= 3:
        rows.append((_("segment id"), [*whole.segments, *[0] * padding]))
    if step >= 4:
        rows.append((_("attention mask"), real))
    classes = [cell_class(whole, i) for i in places]
    with st.container(key="wide-rows"):
        st.html(table(rows, classes, newest=len(rows) - 1 if step > 1 else None))
    if len(places) > COLUMNS:
        st.caption(_("{n} tokens; the first {most} are drawn.").format(n=len(places), most=COLUMNS))
    st.markdown(explain(step, whole, padding))
    from minibert.tokenizer import Tokenizer

    lesson.show("From sentences to a row", title=False)
    show_source(Tokenizer._join, label=_("The frame, in the running code"))


def is_frame(encoding, i: int) -> bool:
    """Whether a token was added by the frame rather than by the text."""
    return i < len(encoding.tokens) and encoding.special[i] and encoding.offsets[i] == (0, 0)


def cell_class(encoding, i: int) -> str:
    if i >= len(encoding.tokens):
        return "mb-pad"
    names = ["mb-special"] if is_frame(encoding, i) else []
    return " ".join([*names, "mb-b"] if encoding.segments[i] else names)


def table(rows: list[tuple[str, list]], classes: list[str], newest: int | None) -> str:
    """Rows of cells, one column per token, wrapped into lines like text; everything escaped."""
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
    """What the current step did, with this input's numbers."""
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
        _(
            "{pad} places are filled up to the longest row of the batch; the mask is 0 there, so no token looks at "
            "them."
        ).format(pad=padding),
    ][step]
