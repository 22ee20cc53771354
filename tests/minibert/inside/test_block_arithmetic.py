"""A block taken apart gives the model's own numbers back."""

import pytest
import torch
import torch.nn.functional as F

from minibert.inside.block_arithmetic import inputs, kept_by_layer, take_block_apart
from minibert.inside.head_arithmetic import record
from minibert.model import Batch


@pytest.fixture(scope="module")
def seen(model):
    return record(model.bert, Batch(torch.tensor([[2, 7, 9, 30, 3]])))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_each_half_ends_at_what_the_model_went_on_with(model, seen, layer):
    block = take_block_apart(model, seen, layer)
    assert torch.equal(block.attention.out, block.feed_forward.x)
    for half in (block.attention, block.feed_forward):
        assert torch.allclose(half.normalized, half.out.double(), atol=1e-5)
        assert torch.allclose(half.standardized.mean(-1), torch.zeros(5).double(), atol=1e-12)
        assert torch.allclose(half.standardized.var(-1, correction=0), torch.ones(5).double(), atol=1e-6)
        expected = F.layer_norm(half.sum, (24,), half.norm.weight.double(), half.norm.bias.double(), half.norm.eps)
        assert torch.allclose(half.normalized, expected.detach(), atol=1e-12)
    assert block.hidden.shape == (5, 48)


def test_blocks_hand_on_from_one_to_the_next(model, seen):
    layers = inputs(seen)
    assert len(layers) == 4
    for layer in range(3):
        block = take_block_apart(model, seen, layer)
        assert torch.equal(block.attention.x, layers[layer])
        assert torch.equal(block.feed_forward.out, layers[layer + 1])
        a, b = layers[layer].double(), layers[layer + 1].double()
        expected = (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))
        assert torch.allclose(kept_by_layer(seen)[layer], expected) and torch.allclose(block.kept, expected)
