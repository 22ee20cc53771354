"""What the picture says a head reads is what the head reads."""

import pytest
import torch

from minibert.config import BertConfig
from minibert.finetune.layer_choice import LAYERS, layers_to_read
from minibert.heads import TaskHead

CONFIG = BertConfig(20, 8, 5, 2, 16, max_position_embeddings=8)
HOW = {"concat": "concat", "sum": "sum", "weighted": "mix"}


@pytest.mark.parametrize("layers", LAYERS)
def test_the_layers_read_are_those_that_move_the_result(layers):
    head, found = TaskHead(CONFIG, layers=layers), layers_to_read(layers, 5, 8)
    given = [torch.randn(1, 3, 8, requires_grad=True) for _ in range(6)]
    read = given[-1] if layers == "last" else head.choose(given)
    assert read.shape[-1] == found.width == head.width
    read.sum().backward()
    assert found.layers == tuple(i for i, x in enumerate(given) if x.grad is not None and x.grad.abs().sum() > 0)
    assert found.how == HOW.get(layers.split("_")[-1], "one")


def test_a_shallow_model_has_fewer_than_four_and_only_cls_of_the_last_layer_has_a_pooler():
    head = TaskHead(CONFIG.change(num_hidden_layers=2), layers="last_four_concat")
    assert layers_to_read("last_four_concat", 2, 8).width == 24 == head.width
    assert layers_to_read("last_four_sum", 2, 8).layers == (0, 1, 2)
    assert layers_to_read("last", 4, 8, pooling="cls").pooling == "pooler"
    assert layers_to_read("all_concat", 4, 8, pooling="cls").pooling == "cls"
    assert layers_to_read("last", 4, 8, pooling="cls", bilstm=True).pooling == "cls"
    with pytest.raises(ValueError, match="layers must be one of"):
        layers_to_read("first", 4, 8)
