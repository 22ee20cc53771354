"""Three masked words in a row: predictions of BERT, of SpanBERT, and of SpanBERT's boundary head."""

from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.what_to_hide.subject import Inputs
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out
from ui.pairs import warn_unknown
from ui.source import show_source
from ui.text import literal, tokens_html, visible
from ui.translations import _

FOLDER = CHECKPOINTS / "what-to-hide-toy"
LENGTH, MOST = 3, 128  # tokens hidden; most of a text, as many as the two were trained on


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts.span_boundary import SpanBoundary, boundaries

    lesson.show("Three words in a row")
    bert, spanbert, tokenizer = models(FOLDER, (FOLDER / "spanbert" / "model.safetensors").stat().st_mtime_ns)
    text = sentence_input(
        "toy", lesson.examples_called("toy"), label=_("Text in words of the toy world"), max_chars=400
    )
    encoding = tokenizer.encode(text, max_length=MOST, truncation="head")
    warn_unknown(encoding.tokens)
    say_left_out(len(tokenizer.encode(text)) - len(encoding))
    last = len(encoding) - 1 - LENGTH
    if last < 1:
        st.info(_("Type three words or more."), icon=":material/edit:")
        return
    start = 1
    if last > 1:
        start = st.slider(
            _("The first hidden word"), 1, last, min(3, last), key="first", bind="query-params", width=420
        )
    start = min(int(start), last)
    predictions = guesses(bert, spanbert, tokenizer, encoding.ids, start)
    inside = range(start, start + LENGTH)
    shown = ["[MASK]" if place in inside else token for place, token in enumerate(encoding.tokens)]
    around = {start - 1: "x(s−1)", start + LENGTH: "x(e+1)"}
    st.html(
        tokens_html(
            shown[1:-1],
            kinds=["mask" if n in inside else "changed" if n in around else "plain" for n in range(1, len(shown) - 1)],
            under=[around.get(n, "") for n in range(1, len(shown) - 1)],
            label=_("the text with three words hidden"),
        )
    )
    targets = [encoding.tokens[n] for n in inside]
    rows = [
        {_("model"): literal(name), **{str(n + 1): mark(one, targets[n]) for n, one in enumerate(row)}}
        for name, row in {**predictions, _("the text"): [(token, None) for token in targets]}.items()
    ]
    st.table(rows)
    lesson.show("The boundary objective")
    st.latex(
        r"\begin{aligned}h_0&=[x_{s-1};\,x_{e+1};\,p_{i-s+1}]\\h_1&=\mathrm{LN}(\mathrm{GELU}(W_1h_0))\\"
        r"y_i&=\mathrm{LN}(\mathrm{GELU}(W_2h_1))\end{aligned}"
    )
    st.latex(r"\mathcal{L}(x_i)=-\log P(x_i\mid \mathbf{x}_i)-\log P(x_i\mid y_i)")
    show_source(SpanBoundary.forward, label=_("Two layers over two vectors and a place"))
    show_source(boundaries, find="cummax", label=_("Which two tokens stand around a span"))


def mark(one: tuple[str, float | None], target: str) -> str:
    token, share = one
    shown = literal(visible(token))
    return shown if share is None else f"{'✓' if token == target else '✗'}\u00a0{shown} {share:.0%}"


@st.cache_resource(show_spinner=False, max_entries=2, hash_funcs={Path: str})
def models(folder: Path, version: int):
    """(BERT, SpanBERT, tokenizer), loaded once per server, never changed."""
    from minibert import checkpoint

    bert, spanbert = (checkpoint.load(folder / name) for name in ("bert", "spanbert"))
    return bert, spanbert, checkpoint.load_tokenizer(folder / "spanbert")


def guesses(bert, spanbert, tokenizer, ids: list[int], start: int) -> dict[str, list[tuple[str, float]]]:
    """Model or head → for each masked word the likeliest token and its probability."""
    import torch

    from minibert.model import IGNORE, Batch

    read = torch.tensor([ids])
    labels = torch.full_like(read, IGNORE)
    labels[0, start : start + LENGTH] = read[0, start : start + LENGTH]
    read[0, start : start + LENGTH] = tokenizer.mask_id
    with torch.no_grad():
        one, other = bert(Batch(read, labels=labels)), spanbert(Batch(read, labels=labels))
    logits_of = {
        "BERT": one.mlm_logits,
        _("SpanBERT"): other.mlm_logits,
        _("SpanBERT, by the boundaries alone"): other.sbo_logits,
    }
    return {
        name: [(tokenizer.vocab[i], p) for p, i in zip(*(x.tolist() for x in logits.softmax(-1).max(-1)), strict=True)]
        for name, logits in logits_of.items()
    }
