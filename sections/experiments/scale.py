"""What was scaled down: sizes counted from the records beside the paper's, and how that affects a result."""

import json

import streamlit as st

from sections.experiments.subject import Shown
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext

PAPER_TOKENS = 256 * 512 * 1_000_000  # rows × tokens × steps (Devlin et al. 2019, §A.2)


def show(lesson: Lesson, shown: Shown) -> None:
    """How much smaller everything is, counted from the records; why that may reverse a result."""
    if shown.records:
        _counted(shown.records)
    lesson.show("Why small models may disagree", level=3)


def _counted(records: list[dict]) -> None:
    from minibert.config import BertConfig
    from minibert.count import parameters
    from minibert.toy import world as toy_world

    paper = BertConfig.preset("base")
    theirs = parameters(paper).with_pooler
    scale = records[-1]["scale"]
    tokens = max(record["tokens"] for record in records)
    sizes = sorted({record["parameters"] for record in records})
    seconds = _runtime(records)
    seeds = len({record["seed"] for record in records})
    vocabulary = scale["vocab_size"] or len(toy_world.vocabulary())  # 0 means the toy world's own vocabulary
    st.markdown("### " + _("What was scaled down"))
    ours = f"{sizes[0]:,}" if len(sizes) == 1 else _("{low:,} to {high:,}").format(low=sizes[0], high=sizes[-1])
    less = f"{theirs / sizes[-1]:,.0f}" if len(sizes) == 1 else f"{theirs / sizes[-1]:,.0f} … {theirs / sizes[0]:,.0f}"
    rows = [
        {_("what"): _("encoder parameters"), _("paper"): f"{theirs:,}", _("ours"): ours, _("times fewer"): less},
        {
            _("what"): _("tokens of pre-training"),
            _("paper"): f"{PAPER_TOKENS:,}",
            _("ours"): f"{tokens:,}",
            _("times fewer"): f"{PAPER_TOKENS / tokens:,.0f}",
        },
        {
            _("what"): _("vocabulary"),
            _("paper"): f"{paper.vocab_size:,}",
            _("ours"): f"{vocabulary:,}",
            _("times fewer"): f"{paper.vocab_size / vocabulary:.1f}",
        },
        {
            _("what"): _("longest input, tokens"),
            _("paper"): f"{paper.max_position_embeddings:,}",
            _("ours"): f"{scale['max_length']:,}",
            _("times fewer"): f"{paper.max_position_embeddings / scale['max_length']:.1f}",
        },
    ]
    st.table(rows)
    last = max(records, key=lambda record: len(record["examples"]))
    examples = ", ".join(
        _("{task} {train:,} (measured on {dev:,})").format(
            task=_task_names()[task], train=count, dev=last["measured_on"][task]
        )
        for task, count in last["examples"].items()
    )
    st.markdown(
        _(
            "Examples to fine-tune on: {examples}. Text: {data}. {starts} {n} with {seeds}, {time} of "
            "computing, on {processor} ({device}, torch {torch}, {date})."
        ).format(
            examples=examples,
            data=", ".join(map(literal, last["data"])),
            starts=_(
                "Token vectors of every arm start from co-occurrence counts of that text, not from random numbers."
            )
            if scale["start"] == "counts"
            else "",
            n=ngettext("{n} run", "{n} runs", len(records)).format(n=len(records)),
            seeds=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            time=_("{n:.1f} hours").format(n=seconds / 3600)
            if seconds > 3600
            else _("{n:.0f} minutes").format(n=seconds / 60),
            processor=literal(last["machine"]["processor"]),
            device=literal(last["machine"]["device"]),
            torch=literal(last["machine"]["torch"]),
            date=literal(last["machine"]["date"]),
        ),
        width=820,
    )
    st.markdown(_("The command that made these numbers:"))
    st.code(last["command"], "bash")


def _runtime(records: list[dict]) -> float:
    """Compute time in seconds; arms that share a pre-training count its time once."""
    shared: dict[str, float] = {}
    for record in records:
        key = json.dumps([record["seed"], record["pretraining"]])
        shared[key] = max(shared.get(key, 0.0), record["pretraining_seconds"])
    return sum(shared.values()) + sum(record["finetuning_seconds"] for record in records)


def _task_names() -> dict[str, str]:
    return {
        "sst2": "SST-2",
        "mrpc": "MRPC",
        "ner": "CoNLL-2003 NER",
        "ner_features": _("CoNLL-2003 NER, frozen encoder"),
        "meant": _("who or what is meant"),
        "meant_features": _("the same, frozen encoder"),
    }
