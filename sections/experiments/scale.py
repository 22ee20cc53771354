"""What was scaled down: counted from the records beside the paper's, and what that does to a result."""

import json

import streamlit as st

from sections.experiments.subject import Shown, papers
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def show(lesson: Lesson, shown: Shown) -> None:
    """How much smaller, counted from the records; why that may turn a result round."""
    if shown.records:
        _counted(shown.records)
    lesson.show("Why small models may disagree", level=3)


def _counted(records: list[dict]) -> None:
    from minibert.config import BertConfig
    from minibert.count import parameters

    paper = papers()["paper"]
    theirs = parameters(BertConfig.preset(paper["preset"])).with_pooler
    scale = records[-1]["scale"]
    tokens = max(record["tokens"] for record in records)
    sizes = sorted({record["parameters"] for record in records})
    seconds = _runtime(records)
    seeds = len({record["seed"] for record in records})
    st.markdown("### " + _("What was scaled down"))
    ours = f"{sizes[0]:,}" if len(sizes) == 1 else _("{low:,} to {high:,}").format(low=sizes[0], high=sizes[-1])
    less = f"{theirs / sizes[-1]:,.0f}" if len(sizes) == 1 else f"{theirs / sizes[-1]:,.0f} … {theirs / sizes[0]:,.0f}"
    rows = [
        {_("what"): _("encoder parameters"), _("paper"): f"{theirs:,}", _("ours"): ours, _("times fewer"): less},
        {
            _("what"): _("tokens of pre-training"),
            _("paper"): f"{paper['tokens']:,}",
            _("ours"): f"{tokens:,}",
            _("times fewer"): f"{paper['tokens'] / tokens:,.0f}",
        },
        {
            _("what"): _("vocabulary"),
            _("paper"): f"{BertConfig.preset(paper['preset']).vocab_size:,}",
            _("ours"): f"{scale['vocab_size']:,}",
            _("times fewer"): f"{BertConfig.preset(paper['preset']).vocab_size / scale['vocab_size']:.1f}",
        },
        {
            _("what"): _("longest input, tokens"),
            _("paper"): f"{BertConfig.preset(paper['preset']).max_position_embeddings:,}",
            _("ours"): f"{scale['max_length']:,}",
            _("times fewer"): f"{BertConfig.preset(paper['preset']).max_position_embeddings / scale['max_length']:.1f}",
        },
    ]
    st.table(rows)
    last = records[-1]
    examples = ", ".join(
        _("{task} {train:,} (measured on {dev:,})").format(
            task=_task_names()[task], train=count, dev=last["measured_on"][task]
        )
        for task, count in last["examples"].items()
    )
    st.markdown(
        _(
            "Examples to fine-tune on: {examples}. Text: {data}. {starts} {n} with {seeds}, {hours:.1f} hours of "
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
            hours=seconds / 3600,
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
    """Seconds of computing; arms that share a pre-training share its time."""
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
    }
