"""ERNIE (Tsinghua): the graph's nodes in the user's text, and what a graph adds about people absent from training."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.knowledge import live
from sections.knowledge.subject import Inputs
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out
from ui.runs import submit, weights_to_begin_with
from ui.source import show_source
from ui.text import literal, tokens_html
from ui.translations import _

START, KIND = CHECKPOINTS / "unilm-toy" / "bert", "knowledge-entities"


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.relatives.parts.entity_fusion import Fusion, noisy
    from minibert.toy import pronoun_probe

    text = sentence_input(
        "entities", lesson.examples_called("entities"), label=_("Text in words of the toy world"), max_chars=240
    )
    alignments(text)
    lesson.show("Words and entities")
    show_source(noisy, label=_("Alignments replaced, hidden, kept"))
    show_source(Fusion.forward, label=_("Word and entity, fused"))
    lesson.show("People never read of")
    learns = st.toggle(_("The BERT below learns, too"), key="entities-below", bind="query-params")
    live.train(
        KIND, _("Train with the graph and without"), 600, 300, text, lambda steps: begin(steps, learns, text), draw
    )
    show_source(
        pronoun_probe,
        find="def questions",
        label=_("Which pronouns are tested: `{file}`").format(file="pronoun_probe.py"),
    )


def alignments(text: str) -> None:
    """The text with the node named by each word, some replaced or masked at random by the seed."""
    from minibert.toy.entities_task import LONGEST, aligned
    from minibert.toy.graph import toy_graph

    tokenizer, graph = toy_tokenizer(), toy_graph()
    ids = tokenizer.encode(text, max_length=LONGEST, truncation="head").ids
    say_left_out(len(tokenizer.encode(text)) - len(ids))
    named = aligned([ids], tokenizer, graph).entities[0].tolist()[1:-1]
    count = sum(number >= 0 for number in named)
    if not count:
        st.info(_("No word of this text stands in the graph, as anna, climb, tired or hungry do."))
        return
    seed = st.number_input(_("What is hidden or replaced: seed"), 0, 999, 3, key="noise-of", width=260)
    kinds, under, counts = noise_of(ids, int(seed or 0))
    st.markdown(
        _("**{count} of {all} tokens stand in the graph**: {kept} kept, {masked} hidden, {replaced} replaced").format(
            count=count, all=len(named), **counts
        )
    )
    tokens = [tokenizer.vocab[i] for i in ids[1:-1]]
    st.html(tokens_html(tokens, kinds=kinds, under=under, label=_("the text, and the graph’s node of each word")))


def noise_of(ids: list[int], seed: int) -> tuple[list[str], list[str], dict[str, int]]:
    """Per token without special ones: its kind for drawing, its entity; and how many were kept, masked, replaced."""
    import torch

    from minibert.relatives.parts.entity_fusion import noisy
    from minibert.toy.entities_task import aligned
    from minibert.toy.graph import toy_graph

    graph = toy_graph()
    batch = noisy(aligned([ids], toy_tokenizer(), graph), len(graph.entities), torch.Generator().manual_seed(seed))
    kinds, under, counts = [], [], {"kept": 0, "masked": 0, "replaced": 0}
    for entity, true in zip(batch.entities[0].tolist()[1:-1], batch.named[0].tolist()[1:-1], strict=True):
        fate = "none" if true < 0 else "kept" if entity == true else "masked" if entity < 0 else "replaced"
        kinds.append({"none": "faded", "kept": "plain", "masked": "mask", "replaced": "changed"}[fate])
        under.append("" if true < 0 else "?" if entity < 0 else graph.entities[entity])
        if fate in counts:
            counts[fate] += 1
    return kinds, under, counts


@st.cache_resource(show_spinner=False)
def toy_tokenizer():
    from minibert import checkpoint

    return checkpoint.load_tokenizer(START)


def arms() -> dict[str, str]:
    """Value of the run's setting → title of the run."""
    return {"all": _("ERNIE, with the graph"), "nothing": _("words alone")}


def begin(steps: int, learns: bool, text: str) -> None:
    from minibert.toy.entities_task import EntitySettings

    for graph, title in arms().items():
        submit(
            "minibert.toy.entities_task:train_entities",
            EntitySettings(steps, graph, frozen=not learns),
            weights_to_begin_with(START),
            probe_inputs=[text],
            kind=f"{KIND}/{graph}",
            title=_("{arm}, the BERT learns").format(arm=title) if learns else title,
        )


def draw(runs: list) -> None:
    """Accuracy on the pronouns of strangers by step; for ERNIE also the predictions in the user's text where an
    alignment was masked."""
    lines = {run.title: [(one["step"], one["metrics"]["strangers"]) for one in live.measured(run)] for run in runs}
    live.draw_lines(lines, _("he or she of strangers, right"), "entities-learned")
    st.caption(
        _(
            "Guessing is right in half. {n} pronouns are tested, each with all other words hidden that show a gender."
        ).format(n=num_strangers())
    )
    for run in runs:
        marks = live.measured(run)
        if marks and run.kind.endswith("/all"):
            st.caption(
                _(
                    "{run}: of alignments that were hidden {masked:.0%} are found, {unread:.0%} where the word is "
                    "hidden too; for people it has read about, {friends:.0%} of the pronouns are right."
                ).format(
                    run=literal(run.title),
                    masked=marks[-1]["metrics"]["masked"],
                    unread=marks[-1]["metrics"]["masked_unread"],
                    friends=marks[-1]["metrics"]["friends"],
                )
            )
            found_in_text(run)


def found_in_text(run) -> None:
    if not (sample := run.latest("sample")):
        return
    one = sample["answers"][0]
    under = ["" if guesses is None else f"{guesses[0][0]} {guesses[0][1]:.0%}" for guesses in one["said"]]
    right = [
        "faded" if guesses is None else "kept" if guesses[0][0] == entity else "changed"
        for guesses, entity in zip(one["said"], one["entities"], strict=True)
    ]
    words = _("**{run}**, step {n}: if a word’s alignment is hidden, this node is found")
    st.markdown(words.format(run=literal(run.title), n=sample["step"]))
    st.html(tokens_html(one["tokens"], kinds=right, under=under, label=_("what is found at each hidden alignment")))


@st.cache_data(show_spinner=False)
def num_strangers() -> int:
    """Number of test pronouns that mean strangers."""
    from minibert.toy import pronoun_probe
    from minibert.toy.entities_task import MOST_ASKED, rows_of

    rows = rows_of(MOST_ASKED, 8_000_021, toy_tokenizer())
    return sum(one.stranger for one in pronoun_probe.questions(rows, toy_tokenizer()))
