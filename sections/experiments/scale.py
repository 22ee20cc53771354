"""What was scaled down, counted from the records, and how that affects a result; the code."""

import json
import re
from dataclasses import asdict

import streamlit as st

from minibert.experiments.catalogue import Scale
from sections.experiments.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal
from ui.translations import _, ngettext

PAPER_TOKENS = 256 * 512 * 1_000_000  # rows × tokens × steps, as Devlin et al. 2019, §A.2, count
SHORT_ROWS = 0.9, 128  # share of the steps, and their rows' tokens, by the same section
PAPER_READ = round(PAPER_TOKENS * (SHORT_ROWS[0] * SHORT_ROWS[1] / 512 + 1 - SHORT_ROWS[0]))


def show(lesson: Lesson, inputs: Inputs) -> None:
    """How much smaller everything is, counted from the records; why that may reverse a result."""
    if inputs.records:
        _counted(inputs.records)
    lesson.show("Why small models may disagree", level=3)


def _counted(records: list[dict]) -> None:
    from minibert.config import BertConfig
    from minibert.count import parameters
    from minibert.toy import world as toy_world

    paper = BertConfig.preset("base")
    theirs = parameters(paper).with_pooler
    scale = records[-1]["scale"]
    usual = asdict(Scale()) | scale  # what is not recorded had its default
    tokens = max(record["tokens"] for record in records)
    sizes = sorted({record["parameters"] for record in records})
    seconds = _runtime(records)
    seeds = len({record["seed"] for record in records})
    vocabulary = len(toy_world.vocabulary())
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
            _("what"): _("… with its rows of 128 in 90 % of the steps"),
            _("paper"): f"{PAPER_READ:,}",
            _("ours"): f"{tokens:,}",
            _("times fewer"): f"{PAPER_READ / tokens:,.0f}",
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
        {
            _("what"): _("masked tokens"),
            _("paper"): "15 %",
            _("ours"): f"{usual['masking_rate']:.0%}".replace("%", " %"),
            _("times fewer"): "–",
        },
        {
            _("what"): _("optimizer"),
            _("paper"): "Adam",
            _("ours"): {"adamw": "AdamW", "muon": "Muon"}.get(usual["optimizer"], usual["optimizer"]),
            _("times fewer"): "–",
        },
    ]
    with st.container(key="wide-scaled-down"):
        st.table(rows)
    last = max(records, key=lambda record: len(record["examples"]))
    examples = _(", ").join(
        _("{task} {train:,} (measured on {dev:,})").format(
            task=_task_names()[task], train=count, dev=last["measured_on"][task]
        )
        for task, count in last["examples"].items()
    )
    st.markdown(
        _(
            "Examples to fine-tune on: {examples}. Text: {data}. {n} with {seeds}, {time} of "
            "computing, on {processor} ({device}, torch {torch}, {date})."
        ).format(
            examples=examples,
            data=_(", ").join(map(_text_name, last["data"])),
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


def _text_name(text: str) -> str:
    """What a record calls the text it was trained on, in the reader's language."""
    toy = re.fullmatch(r"small toy world, (\d+) stories", text)
    return _("small toy world, {n} stories").format(n=f"{int(toy[1]):,}") if toy else literal(text)


def _task_names() -> dict[str, str]:
    return {
        "meant": _("who or what is meant"),
        "meant_features": _("the same, frozen encoder"),
    }


def show_code(lesson: Lesson, inputs: Inputs) -> None:
    """The code excerpts, each collapsed at first."""
    from minibert.experiments.catalogue import Pretraining
    from minibert.experiments.finetuning import finetuning_settings
    from minibert.experiments.results import doubt_about, paired_difference, share_of_way, verdict
    from minibert.heads import TaskHead
    from minibert.objectives import NextToken
    from minibert.relatives.left_to_right import earlier_tokens
    from minibert.toy.tasks import gaps_of

    lesson.show("The code", level=3)
    show_source(Pretraining, label=_("An arm's pre-training: one field differs"))
    show_source(earlier_tokens, find="causal_mask", label=_("Left-to-right: the same encoder under a causal mask"))
    show_source(NextToken, find="next_tokens", label=_("Left-to-right: the next token is predicted at every position"))
    show_source(finetuning_settings, find="bilstm", label=_("How an arm is fine-tuned"))
    show_source(TaskHead.read, find="self.bilstm", label=_("What is put on top in fine-tuning"))
    show_source(gaps_of, label=_("The toy world’s task: who or what is meant"))
    show_source(paired_difference, label=_("The interval of a difference"))
    show_source(share_of_way, label=_("How far an arm has come"))
    show_source(doubt_about, label=_("When the scores cannot test a claim"))
    show_source(verdict, label=_("When a direction agrees, and when no verdict can be had"))
