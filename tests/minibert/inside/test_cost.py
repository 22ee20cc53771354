"""What a model costs, and the same in eight bits: sizes by hand, rounding as it should be, the shipped models."""

import pytest
import torch
from torch import nn

from minibert.inside.costs.cost import answers, in_int8, int8, measure, one_thread, size_of
from tests.minibert.tasks.toys import toy


def test_sizes_are_counted_by_hand_and_weights_rounded_to_the_nearest_step():
    model = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 6))
    assert size_of(model) == (40 + 24 + 6, 4 * 70)
    assert size_of(int8(model)) == (70, 4 * 40 + 24 + 4 * 6)
    torch.manual_seed(0)
    layer = nn.Linear(32, 8)
    before = layer.weight.clone()
    weight, bias = int8(nn.Sequential(layer))[0]._weight_bias()
    assert torch.equal(layer.weight, before) and torch.equal(bias, layer.bias)
    assert weight.dtype == torch.qint8
    scale = weight.q_scale()
    assert scale == pytest.approx(2 * before.abs().max().item() / 255, rel=0.01)
    assert (weight.dequantize() - before).abs().max() <= 0.51 * scale


def test_answers_in_eight_bits_are_nearly_the_same(answering):
    known, examples = answering("classification"), toy("classification", 64, 0).examples
    whole, small = answers(known, examples), answers(in_int8(known), examples)
    said = [answer["label"] for answer in known.answers(examples)[0]]
    assert [whole.labels[i] for i in whole.scores.argmax(-1).tolist()] == said  # those of the predictor
    assert len(small.changed_from(whole)) <= 3 and (small.scores - whole.scores).abs().max() < 1
    assert whole.changed_from(whole) == [] and len(set(said)) > 1


def test_threads_are_as_before_it_was_measured(loaded):
    (model, letters), before = loaded, torch.get_num_threads()
    found = measure({"one": (model.bert, letters), "small": (int8(model.bert), letters)}, ["a b c", "d"], repeats=1)
    assert found["one"].parameters == found["small"].parameters
    assert found["small"].megabytes < found["one"].megabytes
    assert torch.get_num_threads() == before
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert torch.get_num_threads() == before
