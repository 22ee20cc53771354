"""Which words reach a position: followed through the vectors, held against the definitions of the models."""

import pytest

from minibert.inside.heads.visibility import LAYERS, MODELS, Node, nodes, reach, reads


@pytest.mark.parametrize(("n", "i"), [(n, i) for n in (1, 2, 12) for i in range(n)])
def test_what_each_model_sees(n, i):
    before, after = tuple(range(i + 1)), tuple(range(i, n))
    cnn, elmo, gpt, bert = (reach(model, i, n) for model in MODELS)
    assert cnn.words == tuple(range(max(0, i - LAYERS), min(n, i + LAYERS + 1))) and cnn.joint  # windows of three
    assert (elmo.left, elmo.right, elmo.joint) == (before, after, False)
    assert (gpt.left, gpt.right, gpt.joint) == (before, (), False)
    assert (bert.words, bert.joint) == (tuple(range(n)), True)
    assert elmo.words == bert.words
    assert elmo.steps == max(i, n - 1 - i) and cnn.steps == min(max(i, n - 1 - i), LAYERS)
    assert gpt.steps == min(i, 1) and bert.steps == min(n - 1, 1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n", [1, 6])
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
        elif model == "CNN" and node.layer:
            assert seen == {j for j in range(n) if abs(j - node.position) <= node.layer}
        elif node.knows in ("both", "halves"):
            assert seen == set(range(n))
    if model == "ELMo":
        assert {node.layer for node in nodes(model, n) if node.knows == "halves"} == {LAYERS + 1}


def test_a_recurrent_network_reads_its_neighbour():
    assert reads("ELMo", Node(1, 2, "left"), 5) == [Node(0, 2, "word"), Node(1, 1, "left")]
    assert reads("ELMo", Node(2, 2, "right"), 5) == [Node(1, 2, "right"), Node(2, 3, "right")]
    assert reads("ELMo", Node(1, 4, "right"), 5) == [Node(0, 4, "word")]
    assert [len(nodes(model, 6)) / 6 - 1 for model in MODELS] == [LAYERS, 2 * LAYERS + 1, LAYERS, LAYERS]
    with pytest.raises(ValueError, match="position 3"):
        reach("BERT", 3, 3)
