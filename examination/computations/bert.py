"""BERT's input, by hand."""

from __future__ import annotations

import random

from examination.computations.base import SENTENCES, DrawnComputation, Field, computation, integers, table
from examination.words import _


@computation("embedding_sum")
def embedding_sum(rng: random.Random) -> DrawnComputation:
    """token + segment + position of one token of a pair, before LayerNorm."""
    import torch

    from minibert.config import BertConfig
    from minibert.model import Embeddings

    first, second = (list(one) for one in rng.sample(SENTENCES, 2))
    row = ["[CLS]", *first[:2], "[SEP]", *second[:2], "[SEP]"]
    vocabulary = ["[CLS]", "[SEP]", *dict.fromkeys(t for t in row if not t.startswith("["))]
    place = rng.randrange(1, len(row) - 1)
    token, segment, position = (integers(rng, n, 2) for n in (len(vocabulary), 2, len(row)))
    embeddings = Embeddings(BertConfig(len(vocabulary), 2, 1, 1, 2, len(row)))
    for part, values in ((embeddings.token, token), (embeddings.segment, segment), (embeddings.position, position)):
        part.weight.data = torch.tensor(values).float()
    values_by_tap = {}
    segments = [0] * 4 + [1] * 3
    ids = [vocabulary.index(one) for one in row]
    with torch.inference_mode():
        embeddings(torch.tensor([ids]), torch.tensor([segments]), lambda name, x: values_by_tap.setdefault(name, x))
    right = values_by_tap["sum"][0, place].tolist()

    def total(*parts: list[int]) -> tuple[float, ...]:
        return tuple(float(sum(numbers)) for numbers in zip(*parts, strict=True))

    t, s, p = token[ids[place]], segment[segments[place]], position[place]
    columns = ["[1]", "[2]"]
    return DrawnComputation(
        tuple(Field(_("number {n}").format(n=n + 1), number, 0) for n, number in enumerate(right)),
        (
            table(_("token vectors"), vocabulary, columns, token),
            table(_("segment vectors"), ["0", "1"], columns, segment),
            table(_("position vectors"), [str(n) for n in range(len(row))], columns, position),
        ),
        {"row": " ".join(row), "token": row[place], "place": str(place)},
        (
            (total(t, p), _("The segment vector is missing.")),
            (total(t, segment[1 - segments[place]], p), _("The other segment: it changes behind the first [SEP].")),
            (total(t, s, position[place - 1]), _("The row of another position: [CLS] has position 0.")),
            (total(t, s), _("The position vector is missing.")),
        ),
    )


@computation("truncation")
def truncation(rng: random.Random) -> DrawnComputation | None:
    """How many tokens of each sentence remain after truncation, longest first."""
    from minibert.text.truncation import keep

    a, b = rng.randint(20, 90), rng.randint(20, 90)
    limit = rng.choice((64, 96, 128))
    if a == b or a + b + 3 <= limit + 4:
        return None
    stay = [len(one) for one in keep([a, b], limit - 3)]
    naive = [len(one) for one in keep([a, b], limit)]
    head = [len(one) for one in keep([a, b], limit - 3, "head")]
    return DrawnComputation(
        (Field(_("tokens of the first"), stay[0], 0), Field(_("tokens of the second"), stay[1], 0)),
        (),
        {"a": str(a), "b": str(b), "limit": str(limit)},
        (
            (tuple(map(float, naive)), _("[CLS] and two [SEP] take three places.")),
            (tuple(map(float, head)), _("That cuts the end of the row; “longest first” takes from the longer one.")),
        ),
    )


@computation("length_growth", before=((64, 128), (32, 64, 128)), after=((256, 384, 512), (256, 384, 512)))
def length_growth(rng: random.Random, before: int, after: int) -> DrawnComputation:
    """How much more work a longer input takes, for the scores and for the feed-forward network."""
    from minibert.config import BertConfig
    from minibert.count import flops

    def work(name: str, tokens: int) -> int:
        parts = flops(BertConfig.preset("base"), 1, tokens).parts
        return sum(part.total for part in parts if part.name == name)

    scores, mlp = (work(name, after) / work(name, before) for name in ("block.attn.scores", "block.mlp.expand"))
    return DrawnComputation(
        (Field(_("scores QKᵀ"), scores, 1), Field(_("feed-forward network"), mlp, 1)),
        (),
        {"before": str(before), "after": str(after)},
        (
            ((mlp, mlp), _("Scores are there for each *pair* of tokens: T².")),
            ((scores, scores), _("The feed-forward network works on each token alone: it grows with T.")),
            ((mlp, scores), _("Exchanged: the scores grow with T², the feed-forward network with T.")),
        ),
    )
