"""Which words reach a position: followed through the drawing, held against the definitions of the three models."""

import re

import pytest

from plots.visibility import LAYERS, MAX_WORDS, MODELS, Node, nodes, output, reach, reads, visibility

SIZES = [(n, i) for n in (1, 2, 5, MAX_WORDS) for i in range(n)]


@pytest.mark.parametrize(("n", "i"), SIZES)
def test_what_each_model_sees(n, i):
    before, after = tuple(range(i + 1)), tuple(range(i, n))
    elmo, gpt, bert = (reach(model, i, n) for model in MODELS)
    assert (elmo.left, elmo.right, elmo.joint) == (before, after, False)
    assert (gpt.left, gpt.right, gpt.joint) == (before, (), False)
    assert (bert.words, bert.joint) == (tuple(range(n)), True)
    assert elmo.words == bert.words
    assert elmo.steps == max(i, n - 1 - i)
    assert gpt.steps == min(i, 1) and bert.steps == min(n - 1, 1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n", [1, 3, 6])
def test_a_node_knows_what_it_is_drawn_as(model, n):
    """No vector marked "left" has read a word to its right, none inside ELMo has read both, all of BERT's may have."""

    def words(node):
        return {node.position} if node.layer == 0 else set().union(*map(words, reads(model, node, n)))

    for node in nodes(model, n):
        seen = words(node)
        if node.knows == "left":
            assert seen == set(range(node.position + 1))
        elif node.knows == "right":
            assert seen == set(range(node.position, n))
        elif node.knows in ("both", "halves"):
            assert seen == set(range(n))
    if model == "ELMo":
        assert {node.layer for node in nodes(model, n) if node.knows == "halves"} == {LAYERS + 1}


def test_how_many_vectors_there_are():
    assert [len(nodes(model, 6)) for model in MODELS] == [6 * (1 + 2 * LAYERS + 1), 6 * (1 + LAYERS), 6 * (1 + LAYERS)]


def test_a_recurrent_network_reads_its_neighbour():
    assert reads("ELMo", Node(1, 2, "left"), 5) == [Node(0, 2, "word"), Node(1, 1, "left")]
    assert reads("ELMo", Node(2, 2, "right"), 5) == [Node(1, 2, "right"), Node(2, 3, "right")]
    assert reads("ELMo", Node(1, 4, "right"), 5) == [Node(0, 4, "word")]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("n", "i"), [(1, 0), (7, 3), (MAX_WORDS, 0)])
def test_the_figure_draws_every_vector_and_marks_what_reaches(model, n, i):
    fig = visibility([f"w{j}" for j in range(n)], i, model)
    points = [trace for trace in fig.data if trace.mode == "markers"]
    drawn = sum(len(trace.x) for trace in points)
    halves = sum(node.knows == "halves" for node in nodes(model, n))
    assert drawn == len(nodes(model, n)) + halves  # a joined output is drawn as its two halves
    assert all(0 <= position < n for trace in points for position in trace.customdata)
    solid = [trace for trace in points if "open" not in trace.marker.symbol]
    at_the_bottom = {p for trace in solid for p, y in zip(trace.customdata, trace.y, strict=True) if y == 0}
    assert at_the_bottom == set(reach(model, i, n).words)
    assert output(model, i).position in {p for trace in solid for p in trace.customdata}
    assert min(axis.tickfont.size for axis in (fig.layout.xaxis,)) >= 14


def test_words_are_never_markup():
    fig = visibility(["<b>x</b>", "<a href=x>", "&amp;"], 1, "GPT")
    labels = "".join(fig.layout.xaxis.ticktext)
    assert set(re.findall(r"</?(\w+)", labels)) <= {"b", "u", "s", "span"}
    assert "&lt;a href" in labels and "&amp;amp;" in labels
    assert all("<" not in text for trace in fig.data if trace.hovertext for text in trace.hovertext)


def test_too_many_words_and_no_such_position():
    with pytest.raises(ValueError, match="13 words"):
        visibility(["w"] * 13, 0, "BERT")
    with pytest.raises(ValueError, match="position 3"):
        reach("BERT", 3, 3)
