"""The Transformer's block and its positions, by hand."""

from __future__ import annotations

import math
import random

from examination.computations.base import DrawnComputation, Field, computation, integers, table
from examination.words import _


@computation("residual_norm")
def residual_norm(rng: random.Random) -> DrawnComputation | None:
    """LayerNorm(x + f(x)) of one small vector."""
    import torch
    from torch import nn

    from minibert.inside.block_arithmetic import Sublayer

    x, added = (torch.tensor([integers(rng, 4, low=-4, high=4)]).float() for _vector in range(2))
    gain = [rng.choice((0.5, 1.5, 2.0)) for _place in range(4)]
    bias = [rng.choice((-1.0, -0.5, 0.5, 1.0)) for _place in range(4)]
    norm = nn.LayerNorm(4, eps=1e-12)
    norm.weight.data, norm.bias.data = torch.tensor(gain), torch.tensor(bias)
    half = Sublayer(x, added, x, norm)
    if half.variance.item() < 1 or len(set(added[0].tolist())) < 2:
        return None
    place = rng.randrange(4)
    shown = half.sum[0]
    sample = ((shown - shown.mean()) / shown.std() * norm.weight + norm.bias).detach()[place].item()
    alone = Sublayer(torch.zeros_like(x), added, x, norm).normalized[0, place].item()
    before = x[0, place].item() + alone
    columns = [f"[{n + 1}]" for n in range(4)]
    vectors = (("x", x[0].tolist()), ("f(x)", added[0].tolist()), (_("gain γ"), gain), (_("bias β"), bias))
    return DrawnComputation(
        (Field(_("number {n} of the result").format(n=place + 1), half.normalized[0, place].item()),),
        (table("", [name for name, _values in vectors], columns, [values for _name, values in vectors], 1),),
        {"place": str(place + 1)},
        (
            ((alone,), _("The residual is missing: normalise x + f(x).")),
            ((before,), _("x was added after the norm. In BERT and the first Transformer the norm comes last.")),
            ((sample,), _("LayerNorm's variance divides by H, not by H − 1.")),
            ((half.standardized[0, place].item(),), _("Gain and bias are missing.")),
        ),
    )


@computation("sinusoid", size=((4, 8), (4, 6, 8, 16)))
def sinusoid(rng: random.Random, size: int) -> DrawnComputation:
    """Two components of the sinusoidal vector of one position."""
    from minibert.text.position_vectors import sinusoids

    position, pair = rng.randint(1, 9), rng.randrange(0, min(2, size // 2))
    sine, cosine = sinusoids(position + 1, size)[position, 2 * pair : 2 * pair + 2].double().tolist()
    angle = position / 10_000 ** (2 * pair / size)
    degrees = (math.sin(math.radians(angle)), math.cos(math.radians(angle)))
    before = position - 1
    earlier = before / 10_000 ** (2 * pair / size)
    return DrawnComputation(
        (Field(_("number {n}").format(n=2 * pair), sine), Field(_("number {n}").format(n=2 * pair + 1), cosine)),
        (),
        {"t": str(position), "H": str(size), "even": str(2 * pair), "odd": str(2 * pair + 1)},
        (
            ((cosine, sine), _("Sine stands at even places, cosine at odd ones.")),
            (degrees, _("The angle is in radians, not in degrees.")),
            ((math.sin(earlier), math.cos(earlier)), _("Positions are counted from 0 here.")),
        ),
    )
