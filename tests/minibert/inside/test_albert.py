"""What ALBERT repeats: how far a block moves a vector, against transformers; which halves are one; what that saves."""

from itertools import pairwise

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.count import flops, parameters
from minibert.inside.costs.speed import measure
from minibert.inside.relatives.repetitions import copies, movement
from minibert.relatives import build, shape_of
from minibert.relatives.albert import AlbertConfig

SIZES = {"vocab_size": 61, "hidden_size": 48, "embedding_size": 20, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 70, "max_position_embeddings": 24, "initializer_range": 0.2}


def test_movement_is_between_transformers_hidden_states(tmp_path):
    torch.manual_seed(0)
    theirs = transformers.AlbertModel(transformers.AlbertConfig(**SIZES)).eval()
    theirs.save_pretrained(tmp_path)
    ids = [2, 17, 5, 9, 3]
    moved = movement(checkpoint.load(tmp_path), ids)
    with torch.no_grad():
        states = theirs(torch.tensor([ids]), output_hidden_states=True).hidden_states  # L + 1 of (1, T, H)
    assert moved.distances.shape == moved.cosines.shape == (3, 5)
    for layer, (before, after) in enumerate(pairwise(states)):
        distances = torch.linalg.vector_norm(after - before, dim=-1)[0]
        cosines = torch.nn.functional.cosine_similarity(after, before, dim=-1)[0]
        assert moved.distances[layer] == pytest.approx(distances.numpy(), abs=1e-4)
        assert moved.cosines[layer] == pytest.approx(cosines.numpy(), abs=1e-5)


@pytest.mark.parametrize("shared", ["all", "attention", "feed_forward", "none"])
def test_copies_are_counted(shared):
    bert = build(AlbertConfig(**SIZES, shared=shared))
    assert copies(bert, "attn") == ([1, 1, 1] if shared in ("all", "attention") else [1, 2, 3])
    assert copies(bert, "mlp") == ([1, 1, 1] if shared in ("all", "feed_forward") else [1, 2, 3])


def test_as_much_arithmetic_with_fewer_weights():
    configs = {shared: AlbertConfig(**SIZES, shared=shared) for shared in ("none", "all")}
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    found = measure(configs, rows=2, tokens=12, repeats=1)
    assert torch.equal(torch.rand(2), expected)  # nobody else's dice have been thrown
    assert found["none"].flops == found["all"].flops == flops(shape_of(configs["all"]), 2, 12, 0, training=False).total
    assert {name: one.weights for name, one in found.items()} == {
        name: parameters(shape_of(config)).pretraining for name, config in configs.items()
    }
    assert found["all"].weights < found["none"].weights
