"""Attention by hand, and its cost compared with a recurrent network."""

from __future__ import annotations

import math
import random

from examination.computations.base import SENTENCES, DrawnComputation, Field, computation, integers, table
from examination.words import _


def numbered(letter: str, count: int) -> list[str]:
    return [f"{letter}[{n + 1}]" for n in range(count)]


@computation("attention_score", size=((4,), (4, 9)))
def attention_score(rng: random.Random, size: int) -> DrawnComputation:
    """q · k / √D for one pair of tokens."""
    import torch

    from minibert.inside.heads.arithmetic import SumOfProducts

    tokens = rng.choice(SENTENCES)
    q, k = integers(rng, len(tokens), size), integers(rng, len(tokens), size)
    i, j = rng.sample(range(len(tokens)), 2)

    def product(a: int, b: int) -> float:
        return SumOfProducts(torch.tensor(q[a]).double(), torch.tensor(k[b]).double()).total

    root = math.sqrt(size)
    return DrawnComputation(
        (Field(_("score"), product(i, j) / root),),
        (table("Q", tokens, numbered("q", size), q), table("K", tokens, numbered("k", size), k)),
        {"row": tokens[i], "column": tokens[j], "D": str(size)},
        (
            ((product(i, j),), _("That is q · k: divide it by √D.")),
            ((product(i, j) / size,), _("Divide by √D, not by D.")),
            ((product(j, i) / root,), _("Query and key are exchanged: the row's token asks, the column's is asked.")),
        ),
    )


@computation("attention_weights", mask=(("padding",), ("padding", "causal", "none")))
def attention_weights(rng: random.Random, mask: str) -> DrawnComputation | None:
    """One row of attention weights: a softmax over masked scores."""
    import torch

    from minibert.attention_masks import causal_mask, padding_mask
    from minibert.model import masked_softmax

    tokens = list(rng.choice(SENTENCES))
    n = len(tokens)
    row = rng.randrange(1, n - 1) if mask == "causal" else rng.randrange(n - 1)
    if mask == "padding":
        tokens[-1] = "[PAD]"
    scores = torch.tensor([rng.randint(-4, 6) / 2 for _token in tokens]).double()
    real = torch.tensor([[token != "[PAD]" for token in tokens]])
    allowed = causal_mask(n)[0, 0, row] if mask == "causal" else padding_mask(real)[0, 0, 0]
    probs = masked_softmax(scores, allowed)
    unmasked = masked_softmax(scores, None)
    zeros = masked_softmax(scores.masked_fill(~allowed, 0.0), None)
    linear = scores.masked_fill(~allowed, 0).clamp(min=0)
    wrong = [
        (unmasked, _("Without the mask: what is closed must get exactly 0.")),
        (unmasked * allowed, _("The mask came after softmax: the row no longer adds up to 1.")),
        (zeros, _("A closed score is −∞, not 0: e⁰ = 1 still takes its share.")),
    ]
    if mask == "none":
        if not linear.sum():
            return None
        wrong = [
            (linear / linear.sum(), _("Softmax takes powers of e first; shares of the scores differ.")),
            (scores.exp(), _("These are the powers of e; divide them by their sum.")),
        ]
    return DrawnComputation(
        tuple(
            Field(_("weight on place {n}, {token}").format(n=place + 1, token=token), p.item())
            for place, (token, p) in enumerate(zip(tokens, probs, strict=True))
        ),
        (table(_("scores, already divided by √D"), [tokens[row]], tokens, [scores.tolist()], 1),),
        {"row": tokens[row], "place": str(row + 1)},
        tuple((tuple(numbers.tolist()), why) for numbers, why in wrong),
    )


@computation("attention_output")
def attention_output(rng: random.Random) -> DrawnComputation:
    """Σ p · v."""
    import torch

    from minibert.inside.heads.arithmetic import SumOfProducts

    tokens = rng.choice(SENTENCES)
    n, row = len(tokens), rng.randrange(len(tokens))
    cuts = sorted(rng.sample(range(1, 10), n - 1))
    probs = [(b - a) / 10 for a, b in zip([0, *cuts], [*cuts, 10], strict=True)]
    values = torch.tensor(integers(rng, n, 2, low=-5, high=5)).double()
    mixed = [SumOfProducts(torch.tensor(probs).double(), values[:, d]).total for d in range(2)]
    top = max(range(n), key=probs.__getitem__)
    return DrawnComputation(
        tuple(Field(_("number {n} of the output").format(n=d + 1), mixed[d]) for d in range(2)),
        (table(_("weights"), [tokens[row]], tokens, [probs], 1), table("V", tokens, numbered("v", 2), values.tolist())),
        {"row": tokens[row]},
        (
            (tuple(values[top].tolist()), _("Not the value with the largest weight: all values, weighted.")),
            (tuple(values.mean(0).tolist()), _("Not the plain mean: each value counts by its weight.")),
            (tuple(values.sum(0).tolist()), _("The values were added up without their weights.")),
        ),
    )


@computation(
    "head_slice", model=(("base", "large", "medium", "small"), ("tiny", "mini", "small", "medium", "base", "large"))
)
def head_slice(rng: random.Random, model: str) -> DrawnComputation:
    """Which components of a vector of size H one head uses."""
    import torch

    from minibert.config import BertConfig
    from minibert.model import SelfAttention
    from minibert.training.skip_init import sizes_only

    config = BertConfig.preset(model)
    hidden, heads, size = config.hidden_size, config.num_attention_heads, config.head_size
    head = rng.randrange(2, heads)  # from 1
    with sizes_only():
        attention = SelfAttention(config)
    parts = attention.split(torch.arange(1, hidden + 1)[None, None])[0, :, 0]  # (A, D)
    first, last = int(parts[head - 1, 0]), int(parts[head - 1, -1])
    return DrawnComputation(
        (Field("D", size, 0), Field(_("first number"), first, 0), Field(_("last number"), last, 0)),
        (),
        {"H": str(hidden), "A": str(heads), "head": str(head)},
        (
            ((size, first + size, last + size), _("Heads are counted from 1 here.")),
            ((size, first - 1, last), _("Numbers are counted from 1: the head begins one further on.")),
            ((hidden, 1, hidden), _("A head does not read the whole vector: the H numbers are shared out.")),
        ),
    )


@computation("path_lengths", tokens=((12, 20, 30, 48), tuple(range(6, 101))))
def path_lengths(rng: random.Random, tokens: int) -> DrawnComputation:
    """Path length between two tokens, and steps that must wait for each other, in one layer."""
    from minibert.inside.costs.sequence_cost import path_length, waiting_steps

    i = rng.randint(1, tokens // 3)
    j = rng.randint(i + 2, tokens)
    path = {network: path_length(network, i, j) for network in ("attention", "rnn")}
    waits = {network: waiting_steps(network, tokens) for network in ("attention", "rnn")}
    return DrawnComputation(
        (
            Field(_("path, recurrent network"), path["rnn"], 0),
            Field(_("path, attention"), path["attention"], 0),
            Field(_("waiting steps, recurrent network"), waits["rnn"], 0),
            Field(_("waiting steps, attention"), waits["attention"], 0),
        ),
        (),
        {"T": str(tokens), "i": str(i), "j": str(j)},
        (
            (
                (path["rnn"], path["rnn"], waits["rnn"], waits["rnn"]),
                _("Attention joins any two tokens directly, and all of them at the same time."),
            ),
            (
                (path["rnn"] + 1, path["attention"], waits["rnn"], waits["attention"]),
                _("From token i to token j there are j − i steps."),
            ),
            (
                (path["rnn"], path["attention"], waits["rnn"], tokens),
                _("All rows of attention are computed at once: no row waits for another."),
            ),
        ),
    )


@computation(
    "cost_ratio",
    hidden=((256, 512, 768), (64, 128, 256, 512, 768, 1024)),
    times=((0.25, 0.5, 2, 4), (0.125, 0.25, 0.5, 2, 4, 8)),
)
def cost_ratio(rng: random.Random, hidden: int, times: float) -> DrawnComputation:
    """FLOPs of comparing all pairs, relative to those of a recurrence."""
    from minibert.inside.costs.sequence_cost import flops

    tokens = round(hidden * times)
    pairs, steps = (flops("mixing", network, tokens, hidden).one for network in ("attention", "rnn"))
    return DrawnComputation(
        (Field(_("attention, as a multiple of the recurrence"), pairs / steps),),
        (),
        {"H": str(hidden), "T": str(tokens)},
        (
            ((steps / pairs,), _("The other way round: the pairs were to be divided by the recurrence.")),
            (((tokens / hidden) ** 2,), _("One T cancels, and one H: what is left is T/H.")),
            ((1.0,), _("The two cost the same only at T = H.")),
        ),
    )
