"""Pre-training and fine-tuning by hand."""

from __future__ import annotations

import math
import random

from examination.computations.base import SENTENCES, DrawnComputation, Field, computation, integers, table
from examination.words import _


@computation("masking_budget", tokens=((80, 120, 160, 200, 240, 400), tuple(range(20, 510))))
def masking_budget(rng: random.Random, tokens: int) -> DrawnComputation:
    """How many tokens are chosen for the MLM, and how many are replaced in which way, on average."""
    import torch

    from minibert.corruption import masking_budget

    rate, split = 0.15, (0.8, 0.1, 0.1)
    chosen = masking_budget(torch.tensor([tokens]), rate).item()
    parts = [chosen * share for share in split]
    return DrawnComputation(
        (
            Field(_("chosen"), chosen, 1),
            Field(_("become [MASK]"), parts[0], 1),
            Field(_("become a random token"), parts[1], 1),
            Field(_("stay as they are"), parts[2], 1),
        ),
        (),
        {"N": str(tokens), "T": str(tokens + 3)},
        (
            ((chosen, chosen, 0.0, 0.0), _("Only 80 % of the chosen tokens become [MASK].")),
            (
                (chosen, *(tokens * share for share in split)),
                _("The 80/10/10 split is of the chosen 15 %, not of all."),
            ),
            (
                (chosen, chosen, tokens * 0.1, tokens * 0.1),
                _("Random and unchanged tokens are part of the 15 %, not on top of it."),
            ),
        ),
    )


@computation("mlm_loss", asked=((2, 3), (2, 3)))
def mlm_loss(rng: random.Random, asked: int) -> DrawnComputation:
    """Mean of −ln p over the chosen positions, from the probabilities of the right tokens."""
    import torch

    from minibert.heads import cross_entropy
    from minibert.model import IGNORE

    first, second = rng.sample(SENTENCES, 2)
    tokens = [*first, *second][:6]
    places = sorted(rng.sample(range(len(tokens)), asked))
    probs = [rng.choice((0.05, 0.1, 0.2, 0.25, 0.4, 0.5, 0.8, 0.9)) for _token in tokens]
    logits = torch.tensor([[math.log(p), math.log(1 - p)] for p in probs]).double()  # right, everything else
    labels = torch.tensor([0 if i in places else IGNORE for i in range(len(tokens))])
    loss = cross_entropy(logits, labels).item()
    everywhere = cross_entropy(logits, torch.zeros_like(labels)).item()
    marks = [_("yes") if i in places else "–" for i in range(len(tokens))]
    rows = ((_("chosen"), marks), (_("p of the right token"), [f"{p:.2f}" for p in probs]))
    given = table("", [name for name, _cells in rows], [f"{n + 1} {t}" for n, t in enumerate(tokens)], [])
    given = type(given)("", given.rows, given.columns, tuple(tuple(cells) for _name, cells in rows))
    chosen = [probs[i] for i in places]
    return DrawnComputation(
        (Field(_("MLM loss"), loss),),
        (given,),
        {"n": str(asked)},
        (
            ((everywhere,), _("Only the chosen places are predicted; the others have no loss.")),
            ((loss * asked,), _("The mean over the chosen places, not their sum.")),
            ((loss / math.log(2),), _("The natural logarithm, not the one to base 2.")),
            ((loss * asked / len(tokens),), _("Divide by the number of chosen places, not by all.")),
            ((-sum(chosen) / asked + 1,), _("The loss of a place is −ln p, not 1 − p.")),
        ),
    )


@computation("first_loss", vocabulary=((8192, 21128, 28996, 30522), (1000, 8192, 21128, 28996, 30522, 50265)))
def first_loss(rng: random.Random, vocabulary: int) -> DrawnComputation:
    """The loss of a model that knows nothing: all tokens equally likely."""
    import torch

    from minibert.heads import cross_entropy

    loss = cross_entropy(torch.zeros(1, vocabulary).double(), torch.tensor([0])).item()
    return DrawnComputation(
        (Field(_("loss"), loss),),
        (),
        {"V": f"{vocabulary:,}"},
        (
            ((math.log2(vocabulary),), _("The natural logarithm, not the one to base 2.")),
            ((math.log10(vocabulary),), _("The natural logarithm, not the one to base 10.")),
            ((1 - 1 / vocabulary,), _("The loss is −ln p, not 1 − p.")),
        ),
    )


@computation("pretraining_loss")
def pretraining_loss(rng: random.Random) -> DrawnComputation:
    """MLM + NSP of one pair of segments."""
    import torch

    from minibert.heads import cross_entropy

    probs = rng.sample((0.1, 0.2, 0.25, 0.4, 0.5, 0.8), 2)
    follows = rng.choice((0.1, 0.2, 0.3, 0.7, 0.8, 0.9))
    label = rng.randrange(2)  # 0: is next
    mlm = -sum(map(math.log, probs)) / 2
    nsp = cross_entropy(torch.tensor([[math.log(follows), math.log(1 - follows)]]).double(), torch.tensor([label]))
    nsp, other = nsp.item(), -math.log(1 - follows if label == 0 else follows)
    return DrawnComputation(
        (Field("MLM", mlm), Field("NSP", nsp), Field(_("together"), mlm + nsp)),
        (),
        {
            "p1": f"{probs[0]:.2f}",
            "p2": f"{probs[1]:.2f}",
            "next": f"{follows:.2f}",
            "truth": _("follows it") if label == 0 else _("comes from another document"),
        },
        (
            ((mlm, other, mlm + other), _("−ln of the probability of the *true* answer.")),
            ((2 * mlm, nsp, 2 * mlm + nsp), _("MLM is the mean over the chosen places.")),
            ((mlm, nsp, (mlm + nsp) / 2), _("The two losses are added, not averaged.")),
        ),
    )


@computation("span")
def span(rng: random.Random) -> DrawnComputation | None:
    """The best span s ≤ e, where the best start and the best end alone make no span."""
    import numpy as np

    from minibert.tasks.spans import best_spans

    tokens = [*rng.choice(SENTENCES), "in", "May"]
    logits = np.array(integers(rng, len(tokens), 2, low=-2, high=6), dtype=float)
    ranked = best_spans(logits, np.ones(len(tokens), dtype=bool), len(tokens), 2)
    (start, end), score = ranked[0]
    free = logits.argmax(0)
    tied = ((logits == logits.max(0)).sum(0) > 1).any()
    if ranked[1][1] == score or free[1] >= free[0] or tied:
        return None
    s, e = int(free[0]), int(free[1])
    places = [f"{n + 1} {token}" for n, token in enumerate(tokens)]
    return DrawnComputation(
        (Field(_("start"), start + 1, 0), Field(_("end"), end + 1, 0), Field(_("score"), score, 0)),
        (table("", ["S", "E"], places, logits.T),),
        {},
        (
            ((s + 1, e + 1, logits[s, 0] + logits[e, 1]), _("A span cannot end before it starts.")),
            ((e + 1, s + 1, logits[s, 0] + logits[e, 1]), _("Turning the two round does not make a span of them.")),
        ),
    )


@computation("learning_rate")
def learning_rate(rng: random.Random) -> DrawnComputation:
    """Linear warm-up and linear decay at two moments."""
    from minibert.train import Optimization

    peak, warmup = rng.choice((2, 3, 5)), rng.choice((10, 20))
    schedule = Optimization(learning_rate=peak * 1e-5, warmup=warmup / 100)
    early, late = rng.choice((warmup // 4 or 1, warmup // 2)), rng.choice((40, 50, 60, 80))
    first, second = (schedule.rate_at(moment / 100) * 1e5 for moment in (early, late))
    return DrawnComputation(
        (
            Field(_("at {n} % of the run").format(n=early), first),
            Field(_("at {n} % of the run").format(n=late), second),
        ),
        (),
        {"peak": str(peak), "warmup": str(warmup), "early": str(early), "late": str(late)},
        (
            ((peak * (1 - early / 100), peak * (1 - late / 100)), _("That falls from the start: warm-up is missing.")),
            ((first, peak * (1 - late / 100)), _("The fall begins where warm-up ends: it takes the rest of the run.")),
            ((first, float(peak)), _("After warm-up the rate falls linearly to 0.")),
        ),
    )


@computation("classification")
def classification(rng: random.Random) -> DrawnComputation:
    """Softmax over three classes, and the loss."""
    import torch

    from minibert.heads import cross_entropy

    logits = torch.tensor(rng.sample([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0], 3)).double()
    classes = rng.choice(((_("joy"), _("anger"), _("fear")), (_("sport"), _("politics"), _("science"))))
    right = rng.randrange(3)
    loss = cross_entropy(logits[None], torch.tensor([right])).item()
    p = math.exp(-loss)
    sigmoid = torch.sigmoid(logits[right]).item()
    return DrawnComputation(
        (Field(_("P(right class)"), p), Field(_("loss"), loss)),
        (table("", [_("logit")], classes, [logits.tolist()], 1),),
        {"truth": classes[right]},
        (
            (
                (sigmoid, -math.log(sigmoid)),
                _("That is a sigmoid, for labels that do not exclude one another; one class of three needs softmax."),
            ),
            ((p, 1 - p), _("The loss is −ln p, not 1 − p.")),
            ((p, loss / math.log(2)), _("The natural logarithm, not the one to base 2.")),
        ),
    )
