"""What is counted beside the times is what the sizes say."""

import torch

from minibert.count import flops, parameters
from minibert.inside.speed import measure
from minibert.relatives.albert import AlbertConfig

SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}


def test_as_much_arithmetic_with_fewer_weights():
    configs = {
        shared: AlbertConfig(50, embedding_size=8, max_position_embeddings=16, shared=shared, **SIZES)
        for shared in ("none", "all")
    }
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    found = measure(configs, rows=2, tokens=12, repeats=1)
    assert torch.equal(torch.rand(2), expected)  # nobody else's dice have been thrown
    assert found["none"].flops == found["all"].flops == flops(configs["all"], 2, 12, 0, training=False).total
    assert {name: one.weights for name, one in found.items()} == {
        name: parameters(config).pretraining for name, config in configs.items()
    }
    assert found["all"].weights < found["none"].weights
