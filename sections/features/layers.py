"""Which hidden states the new layer reads in every arm, and how many weights a task trains and stores."""

import streamlit as st

from minibert.experiments.comparisons import COMPARISONS
from sections.features.subject import Inputs, arm_names, sizes_of
from ui.figures import figure, legend
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out, warn_unread_text
from ui.model_cache import outline_of
from ui.recorded import start
from ui.source import show_source
from ui.text import literal
from ui.translations import _

TOKENS = 12  # most columns of the figure
BYTES = 4  # per saved weight


def show(lesson: Lesson, inputs: Inputs) -> None:
    _reading(lesson, inputs)
    lesson.show("Which vectors are read")
    lesson.show("Two ways to use a model")


def how_in_words(reading) -> str:
    several = {
        "one": _("one layer, {width} numbers a token"),
        "sum": _("{n} layers added: still {width} numbers a token"),
        "concat": _("{n} layers side by side: {width} numbers a token"),
        "mix": _("{n} layers in a learned mixture: {width} numbers a token"),
    }
    return several[reading.how].format(n=len(reading.layers), width=f"{reading.width:,}")


def pooling_in_words(pooling: str | None) -> str:
    return {
        None: _("every token goes on"),
        "pooler": _("[CLS], through the pooler"),
        "cls": _("[CLS] goes on"),
        "mean": _("the mean of the tokens goes on"),
        "max": _("the maximum of the tokens goes on"),
    }[pooling]


@st.fragment
def _reading(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.finetune.layer_choice import layers_to_read
    from plots.features import FROZEN, NEW, TRAINED, stack

    made = inputs.made
    names = arm_names(made.name)
    arm = choice(f"read-{made.name}", _("What the new layer reads"), names, wrap=True)
    values = made.values(arm)
    outline = outline_of(start())
    tokenizer, config = outline.tokenizer, outline.config
    text = sentence_input("text", lesson.examples, label=_("Your own sentence"), max_chars=300)
    encoding = tokenizer.encode(text, max_length=TOKENS, truncation="head")
    warn_unread_text(start(), text)
    say_left_out(len(tokenizer.encode(text)) - len(encoding))
    blocks, hidden, frozen = config.num_hidden_layers, config.hidden_size, values.get("freeze") == "all"
    layers_read = layers_to_read(
        values.get("layers", "last"),
        blocks,
        hidden,
        pooling=None if made.task == "tagging" else values.get("pooling", "cls"),
        bilstm=values.get("bilstm", False),
    )
    rows = {
        "embeddings": _("embeddings"),
        "layer": _("layer {n}"),
        "read": _("what is read: {width}").format(width=f"{layers_read.width:,}"),
        "bilstm": _("BiLSTM: {width}").format(width=f"{layers_read.width:,}"),
        "new": _("new layer"),
    }
    outputs = _("a tag for each word, at its first piece") if made.task == "tagging" else _("two classes")
    fig = stack(encoding.tokens, layers_read, blocks, frozen, rows, outputs)
    learns = _("BERT is frozen") if frozen else _("all of BERT is trained")
    alt = _("{arm}: {learns}. Read: {how}; {pooling}.").format(
        arm=names[arm], learns=learns, how=how_in_words(layers_read), pooling=pooling_in_words(layers_read.pooling)
    )
    figure(fig, alt, key="stack")
    legend(
        [
            (TRAINED, "■", _("BERT, trained")),
            (FROZEN, "■", _("BERT, frozen")),
            (NEW, "■", _("new, starts from random numbers")),
            ("gray", "□", _("not filled: computed, but not read")),
        ]
    )
    st.markdown(f"**{literal(alt)}**", width=820)
    counted = sizes_of(made.name, arm)
    with st.container(horizontal=True, gap="large", key="counted"):
        st.metric(_("numbers trained"), f"{counted.trained:,}", width="content")
        st.metric(_("of them in the head"), f"{counted.head:,}", width="content")
        st.metric(_("kept for this task"), megabytes(counted.stored), width="content")
    from minibert.heads import TaskHead, pooled

    show_source(TaskHead.choose, find=f'"{layers_read.how}"', label=_("The code that chooses: `TaskHead.choose`"))
    show_source(pooled, label=_("The code that makes one vector of many: `pooled`"))


def megabytes(numbers: int) -> str:
    size = numbers * BYTES / 1e6
    return _("{size} MB").format(size=f"{size:,.1f}" if size >= 1 else f"{size:.2g}")


def show_cost(lesson: Lesson, inputs: Inputs) -> None:
    _storage()
    lesson.show("What it costs")


@st.fragment
def _storage() -> None:
    from plots.features import storage

    left, right = st.columns(2, gap="medium")
    with left:
        tasks = st.slider(_("Tasks that share one BERT"), 1, 50, 10, key="tasks", bind="query-params")
    words = arm_names("features")
    heads = [arm for arm in words if COMPARISONS["features"].values(arm).get("freeze") == "all"]
    with right:
        head = st.selectbox(_("Head of a task"), heads, heads.index("last"), format_func=words.get, key="head")
    whole, frozen = sizes_of("features", "fine-tuned"), sizes_of("features", head)
    body = whole.whole - whole.head
    numbers = range(1, 51)
    tuned = [n * whole.whole * BYTES / 1e6 for n in numbers]
    read = [(body + n * frozen.head) * BYTES / 1e6 for n in numbers]
    names = (_("fine-tuned: a model a task"), _("features: one model, a head a task"))
    fig = storage(numbers, dict(zip(names, (tuned, read), strict=True)), tasks, (_("tasks"), _("megabytes kept")))
    alt = _(
        "{n} tasks: {tuned:,.0f} MB of fine-tuned models, against {read:,.0f} MB for one model and {n} heads. BERT "
        "here has {body:,} numbers, this head {head:,}."
    ).format(n=tasks, tuned=tuned[tasks - 1], read=read[tasks - 1], body=body, head=frozen.head)
    figure(fig, alt, key="storage")
    st.markdown(f"**{alt}**", width=820)
