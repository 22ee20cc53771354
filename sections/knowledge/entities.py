"""ERNIE of Tsinghua: the entities that the reader's text names, vectors of a graph, and what is found where an
alignment was hidden."""

import streamlit as st

from sections.knowledge import live
from sections.knowledge.subject import Subject
from ui.figures import figure
from ui.folders import CHECKPOINTS
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.runs import submit, weights_to_begin_with
from ui.source import show_source
from ui.text import literal, tokens_html
from ui.translations import _

START, KIND = CHECKPOINTS / "unilm-toy" / "bert", "knowledge-entities"


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert.entity_fusion import Fusion, noisy
    from minibert.transe import margin_loss

    text = sentence_input(
        "entities", lesson.examples_called("entities"), label=_("Text in words of the toy world"), max_chars=240
    )
    alignments(text)
    lesson.show("Words and entities")
    show_source(noisy, label=_("Alignments replaced, hidden, kept"))
    show_source(Fusion.forward, label=_("Word and entity, fused"))
    lesson.show("Vectors of a graph")
    vectors()
    show_source(margin_loss, label=_("TransE’s loss"))
    lesson.show("What it learns")
    live.train(KIND, _("Train ERNIE"), 600, 300, text, lambda steps: begin(steps, text), draw)


def alignments(text: str) -> None:
    """The text with the entity that each word names, some of them replaced or hidden, drawn anew by the seed."""
    from minibert.toy.entities_task import LONGEST, aligned
    from minibert.toy.graph import toy_graph

    tokenizer, graph = toy_tokenizer(), toy_graph()
    ids = tokenizer.encode(text, max_length=LONGEST, truncation="head").ids
    named = aligned([ids], tokenizer, graph).entities[0].tolist()[1:-1]
    count = sum(number >= 0 for number in named)
    if not count:
        st.info(_("No word of this text names an entity of the graph, as anna, climb, tired or hungry do."))
        return
    seed = st.number_input(_("What is hidden or replaced: seed"), 0, 999, 3, key="noise-of", width=260)
    kinds, under, told = noise_of(ids, int(seed or 0))
    st.markdown(
        _("**{count} of {all} tokens name an entity**: {kept} kept, {masked} hidden, {replaced} replaced").format(
            count=count, all=len(named), **told
        )
    )
    tokens = [tokenizer.vocab[i] for i in ids[1:-1]]
    st.html(tokens_html(tokens, kinds=kinds, under=under, label=_("the text, and the entity that each word is told")))


def noise_of(ids: list[int], seed: int) -> tuple[list[str], list[str], dict[str, int]]:
    """By token, without special ones: how it is drawn, what it is told; and how many were kept, masked, replaced."""
    import torch

    from minibert.entity_fusion import noisy
    from minibert.toy.entities_task import aligned
    from minibert.toy.graph import toy_graph

    graph = toy_graph()
    batch = noisy(aligned([ids], toy_tokenizer(), graph), len(graph.entities), torch.Generator().manual_seed(seed))
    kinds, under, told = [], [], {"kept": 0, "masked": 0, "replaced": 0}
    for given, true in zip(batch.entities[0].tolist()[1:-1], batch.named[0].tolist()[1:-1], strict=True):
        fate = "none" if true < 0 else "kept" if given == true else "masked" if given < 0 else "replaced"
        kinds.append({"none": "faded", "kept": "plain", "masked": "mask", "replaced": "changed"}[fate])
        under.append("" if true < 0 else "?" if given < 0 else graph.entities[given])
        if fate in told:
            told[fate] += 1
    return kinds, under, told


def vectors() -> None:
    """The vectors of one relation's facts in a plane: an arrow from each subject, as long as the relation."""
    from minibert.toy.graph import toy_graph
    from plots.knowledge import translations

    graph = toy_graph()
    relation = choice("relation", _("Relation"), {name: name for name in graph.relations}, wrap=True)
    points = plane(relation)
    title = _("“{relation}”: each arrow ends near its object").format(relation=relation)
    facts = [f"{s} → {o}" for s, r, o in graph.triples if r == relation]
    figure(
        translations(*points, title),
        _("{title}. Facts: {facts}.").format(title=title, facts=", ".join(facts)),
        "translations",
    )
    first, all_ = nearest()
    st.caption(
        _("Of {all} facts, the object is the entity nearest to subject + relation in {first}. They are learned facts: "
          "nothing is said of others. The plane is the one in which the points lie apart most; in it, others may seem "
          "nearer.").format(
            first=first, all=all_)
    )  # fmt: skip


@st.cache_resource(show_spinner=False)
def learned():
    from minibert.toy.graph import toy_graph
    from minibert.transe import learn

    return learn(toy_graph())


@st.cache_resource(show_spinner=False)
def toy_tokenizer():
    from minibert import checkpoint

    return checkpoint.load_tokenizer(START)


def nearest() -> tuple[int, int]:
    from minibert.toy.graph import toy_graph

    ranks = learned().ranks(toy_graph().numbers)
    return int((ranks == 1).sum()), len(ranks)


@st.cache_data(show_spinner=False)
def plane(relation: str) -> tuple[list[str], int, list[list[float]], list[list[float]]]:
    """In two numbers each: the subjects and then the objects of a relation's facts, with their names and the number of
    subjects; and where subject + relation lies."""
    import numpy as np

    from minibert.inside.projection import principal_plane
    from minibert.toy.graph import toy_graph

    graph, found = toy_graph(), learned()
    number = graph.relations.index(relation)
    rows = graph.numbers[graph.numbers[:, 1] == number]
    subjects, objects = rows[:, 0].tolist(), list(dict.fromkeys(rows[:, 2].tolist()))
    ends = found.entities[subjects] + found.relations[number]
    points = np.concatenate([found.entities[subjects + objects].numpy(), ends.numpy()])
    flat = principal_plane(points).project(points).tolist()
    here = len(subjects) + len(objects)
    return [graph.entities[one] for one in subjects + objects], len(subjects), flat[:here], flat[here:]


def begin(steps: int, text: str) -> None:
    from minibert.toy.entities_task import EntitySettings

    submit(
        "minibert.toy.entities_task:train_entities", EntitySettings(steps), weights_to_begin_with(START),
        watch=[text], title=_("ERNIE, {steps} steps").format(steps=steps), kind=f"{KIND}/ernie",
    )  # fmt: skip


def draw(runs: list) -> None:
    """Of the newest run: which alignments are found over the steps, and what is said of the reader's text."""
    run = runs[-1]
    marks = live.measured(run)
    names = {
        "masked": _("hidden alignment"),
        "replaced": _("wrong alignment"),
        "masked_unread": _("hidden, and the word too"),
    }
    lines = {title: [(one["step"], one["metrics"][name]) for one in marks] for name, title in names.items()}
    live.draw_lines(lines, _("entity found"), "entities-learned")
    if marks:
        last = marks[-1]["metrics"]
        st.caption(
            _("Other hidden words put first: {mlm:.1%} with the alignments, {mlm_without:.1%} without.").format(**last)
        )
    if told := run.latest("sample"):
        one = told["answers"][0]
        under = ["" if said is None else f"{said[0][0]} {said[0][1]:.0%}" for said in one["said"]]
        right = [
            "faded" if said is None else "kept" if said[0][0] == entity else "changed"
            for said, entity in zip(one["said"], one["entities"], strict=True)
        ]
        words = _("**{run}**, step {n}: if a word’s alignment is hidden, this entity is found").format(
            run=literal(run.title), n=told["step"]
        )
        st.markdown(words)
        st.html(tokens_html(one["tokens"], kinds=right, under=under, label=_("what is found at each hidden alignment")))
