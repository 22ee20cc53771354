"""Self-attention beside a recurrent network: FLOPs, sequential steps, and time.

Letters: T tokens · H hidden size. As in `minibert.count`, a multiplication and its addition count 2 FLOPs, and each
number is the formula shown beside it, evaluated (compare Vaswani et al. 2017, table 1). One sequence, forward.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn

from minibert.config import BertConfig
from minibert.count import CostTerm
from minibert.model import SelfAttention

# kind → FLOPs. "layer": with all its matrices.
FORMULAS = {
    "mixing": {  # as Vaswani et al. compare them: attention without its projections, a recurrent step whole
        "attention": "4·T²·H",  # q·k for T² pairs, then the T² weights times v: 2·H each
        "rnn": "4·T·H²",  # h = tanh(W x + U h + b): two H × H matrices a step
    },
    "layer": {
        "attention": "8·T·H² + 4·T²·H",  # query, key, value and output are H × H each
        "rnn": "4·T·H²",
        "lstm": "16·T·H²",  # four gates, two H × H matrices each
    },
}


def flops(kind: str, network: str, tokens: int, hidden: int) -> CostTerm:
    """The count as a `CostTerm`: `.formula`, `.numbers` (the formula with the values in it), `.one` (the number)."""
    return CostTerm(f"{kind}.{network}", kind, FORMULAS[kind][network], {"T": tokens, "H": hidden})


def crossing(kind: str, hidden: int) -> int:
    """The T at which attention costs exactly as much as the recurrence: "mixing" against an RNN, "layer" an LSTM.

    mixing: 4T²H = 4TH² ⇔ T = H · layer: 8TH² + 4T²H = 16TH² ⇔ T = 2H. (The whole attention layer costs more than a
    plain RNN at every T: 8TH² alone exceeds 4TH².)
    """
    return {"mixing": hidden, "layer": 2 * hidden}[kind]


def waiting_steps(network: str, tokens: int) -> int:
    """Steps that must follow one another in one layer, however many processors there are."""
    return 1 if network == "attention" else tokens


def path_length(network: str, i: int, j: int) -> int:
    """Steps information takes from token i to token j in one layer."""
    return 1 if network == "attention" else abs(i - j)


@torch.inference_mode()
def measure(lengths: tuple[int, ...], hidden: int, heads: int, *, repeats: int = 5) -> dict[str, list[float]]:
    """Seconds a forward pass takes on this machine, the best of `repeats`, for each length: attention, rnn, lstm."""
    config = BertConfig(hidden_size=hidden, num_attention_heads=heads)
    networks: dict[str, Callable] = {
        "attention": SelfAttention(config).eval(),
        "rnn": nn.RNN(hidden, hidden, batch_first=True).eval(),
        "lstm": nn.LSTM(hidden, hidden, batch_first=True).eval(),
    }
    times: dict[str, list[float]] = {name: [] for name in networks}
    for length in lengths:
        x = torch.randn(1, length, hidden)
        for name, network in networks.items():
            network(x)  # the first run is a warm-up
            times[name].append(min(_seconds(network, x) for _ in range(repeats)))
    return times


def _seconds(network: Callable, x: torch.Tensor) -> float:
    start = time.perf_counter()
    network(x)
    return time.perf_counter() - start
