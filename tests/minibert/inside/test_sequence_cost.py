import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from minibert.config import BertConfig
from minibert.inside.costs.sequence_cost import crossing, flops, measure, path_length, waiting_steps
from minibert.model import SelfAttention


def counted(run) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return counter.get_total_flops()


@pytest.mark.parametrize(("tokens", "hidden"), [(7, 12), (40, 24)])
def test_attention_formulas_equal_what_torch_counts(tokens, hidden):
    attention = SelfAttention(BertConfig(hidden_size=hidden, num_attention_heads=3)).eval()
    x = torch.randn(1, tokens, hidden)
    layer, projections = counted(lambda: attention(x, tap=lambda name, x: x)), 4 * counted(lambda: attention.query(x))
    assert flops("layer", "attention", tokens, hidden).one == layer
    assert flops("mixing", "attention", tokens, hidden).one == layer - projections


@pytest.mark.parametrize(("network", "cell"), [("rnn", nn.RNNCell), ("lstm", nn.LSTMCell)])
def test_recurrent_formulas_equal_their_matrices(network, cell):
    matrices = sum(weight.numel() for weight in cell(12, 12).parameters() if weight.dim() == 2)
    assert flops("layer", network, 7, 12).one == 2 * matrices * 7


@pytest.mark.parametrize("hidden", [1, 64, 256, 1024])
@pytest.mark.parametrize(("kind", "other"), [("mixing", "rnn"), ("layer", "lstm")])
def test_the_curves_cross_where_it_is_said(kind, other, hidden):
    at = crossing(kind, hidden)
    near = (at - 1, at, at + 1)
    attention, recurrent = ([flops(kind, one, tokens, hidden).one for tokens in near] for one in ("attention", other))
    assert attention[1] == recurrent[1] and attention[2] > recurrent[2]
    assert attention[0] < recurrent[0] or at == 1


def test_steps_and_paths_and_a_time_for_each():
    assert (waiting_steps("attention", 50), waiting_steps("rnn", 50)) == (1, 50)
    assert (path_length("attention", 2, 9), path_length("rnn", 9, 2), path_length("rnn", 4, 4)) == (1, 7, 0)
    times = measure((2, 5), 8, 2, repeats=1)
    assert {kind: len(values) for kind, values in times.items()} == {"attention": 2, "rnn": 2, "lstm": 2}
