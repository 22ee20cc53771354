"""Vectors of a graph: TransE on the toy world's facts, one relation at a time."""

from functools import partial

import numpy as np
import streamlit as st

from sections.knowledge.subject import Inputs
from ui.figures import figure
from ui.first_views import first_view
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.knowledge.transe import Graph, margin_loss

    lesson.show("Vectors of a graph", title=False)
    vectors()
    show_source(margin_loss, label=_("TransE’s loss"))
    show_source(Graph, label=_("A graph: facts, and numbers for what they name"))


def vectors() -> None:
    """The vectors of one relation's facts in a plane: an arrow from each subject, the relation's vector."""
    from minibert.toy.graph import toy_graph
    from plots.knowledge import translations

    graph = toy_graph()
    relation = choice("relation", _("Relation"), {name: name for name in graph.relations}, wrap=True)
    points = plane(relation)
    title = _("“{relation}”: each arrow ends near its object").format(relation=relation)
    facts = [f"{s} → {o}" for s, r, o in graph.triples if r == relation]
    figure(
        partial(translations, *points, title),
        _("{title}. Facts: {facts}.").format(title=title, facts=_(", ").join(facts)),
        "translations",
    )
    first, all_ = nearest()
    st.caption(
        _(
            "In {first} of {all} facts the object is the entity nearest to subject + relation. All are training "
            "facts. The plane is the one in which the points differ most; in it, other points may seem nearer."
        ).format(first=first, all=all_)
    )


@st.cache_resource(show_spinner=False)
def learned():
    import torch

    from minibert.knowledge.transe import Translations, learn
    from minibert.toy.graph import toy_graph

    def compute() -> dict[str, np.ndarray]:
        return {name: vectors.numpy() for name, vectors in vars(learn(toy_graph())).items()}

    stored = first_view("knowledge", "graph", "", toy_graph().triples, compute)
    return Translations(**{name: torch.from_numpy(vectors) for name, vectors in stored.items()})


def nearest() -> tuple[int, int]:
    from minibert.toy.graph import toy_graph

    ranks = learned().ranks(toy_graph().numbers)
    return int((ranks == 1).sum()), len(ranks)


@st.cache_data(show_spinner=False)
def plane(relation: str) -> tuple[list[str], int, list[list[float]], list[list[float]]]:
    """Points in the plane: names of the subjects and then the objects of a relation's facts, the number of subjects,
    their points, and the points subject + relation."""
    from minibert.inside.geometry.projection import principal_plane
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
