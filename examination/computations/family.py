"""BERT's relatives, by hand."""

from __future__ import annotations

import random

from examination.computations.base import DrawnComputation, Field, computation, integers, table
from examination.words import _


@computation(
    "factorised",
    vocabulary=((30000, 21128, 50000), tuple(range(1_000, 250_001))),
    hidden=((768, 1024, 2048, 4096), tuple(range(64, 8_193))),
    embedding=((64, 128, 256), tuple(range(8, 1_025))),
)
def factorised(rng: random.Random, vocabulary: int, hidden: int, embedding: int) -> DrawnComputation:
    """V·H against V·E + E·H: the token embeddings and, in ALBERT, their projection, without its bias."""
    from minibert.config import BertConfig
    from minibert.model import Embeddings
    from minibert.relatives.albert import AlbertConfig
    from minibert.relatives.parts.factorised import FactorisedEmbeddings
    from minibert.training.skip_init import sizes_only

    with sizes_only():
        bert = Embeddings(BertConfig(vocabulary, hidden, 1, 1, 1, 1)).token.weight.numel()
        albert = FactorisedEmbeddings(AlbertConfig(vocabulary, hidden, 1, 1, 1, 1, embedding_size=embedding))
        both = sum(weight.numel() for weight in albert.parameters() if {vocabulary, hidden} & set(weight.shape[:-1]))
    return DrawnComputation(
        (Field(_("one table, as in BERT"), bert, 0), Field(_("two matrices, as in ALBERT"), both, 0)),
        (),
        {"V": f"{vocabulary:,}".replace(",", "{,}"), "H": str(hidden), "E": str(embedding)},
        (
            ((bert, vocabulary * embedding), _("The projection from E to H is missing: E·H more.")),
            ((bert, vocabulary * embedding + vocabulary * hidden), _("The projection has E·H weights, not V·H.")),
            ((bert, vocabulary * embedding * hidden), _("The two matrices are added, V·E + E·H, not multiplied.")),
        ),
    )


@computation("order_pairs", length=((32, 48), tuple(range(16, 513))))
def order_pairs(rng: random.Random, length: int) -> DrawnComputation | None:
    """How many sentence-order pairs a document gives."""
    import numpy as np

    from minibert.text.segment_pairs import ordered_pairs

    sizes = [rng.randint(6, 16) for _sentence in range(rng.randint(7, 10))]
    document, nothing = [[1] * size for size in sizes], lambda *_args: []
    pairs = len(ordered_pairs(document, nothing, length, np.random.default_rng(0), short_probability=0))
    without_special = len(ordered_pairs(document, nothing, length + 3, np.random.default_rng(0), short_probability=0))
    names = [str(place + 1) for place in range(len(sizes))]
    wrong = [
        (len(sizes) - 1, _("Not every two neighbours: sentences are collected until a row is full, then cut in two.")),
        (2 * pairs, _("Each pair is used once, in order or swapped, not both ways.")),
        (len(sizes) // 2, _("The halves are not single sentences: as many as fit a row are collected first.")),
    ]
    different = {number: why for number, why in wrong if number != pairs}
    if without_special != pairs or len(different) < 2:  # the three special tokens must not decide
        return None
    return DrawnComputation(
        (Field(_("pairs"), pairs, 0),),
        (table("", [_("tokens")], names, [sizes]),),
        {"T": str(length), "room": str(length - 3)},
        tuple(((number,), why) for number, why in different.items()),
    )


@computation("whitened_cosine")
def whitened_cosine(rng: random.Random) -> DrawnComputation | None:
    """The cosine of two vectors after whitening, where the covariance is diagonal."""
    import numpy as np

    from minibert.sentence_vectors.whitening import Whitening

    mean = np.array(integers(rng, 2, low=2, high=6), float)
    deviations = np.array(rng.sample([0.5, 1.0, 2.0, 4.0], 2))
    first, second = (mean + np.array(integers(rng, 2, low=-4, high=4)) for _vector in range(2))

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    centred = first - mean, second - mean
    if not all(vector.any() for vector in (first, second, *centred)):
        return None
    whitened = Whitening(mean, np.diag(1 / deviations))
    return DrawnComputation(
        (Field(_("cosine"), cosine(whitened(first), whitened(second))),),
        (
            table(_("vectors"), ["x", "y"], ["[1]", "[2]"], [first, second]),
            table(_("of all sentences"), [_("mean"), _("variance")], ["[1]", "[2]"], [mean, deviations**2], 2),
        ),
        {},
        (
            ((cosine(first, second),), _("That is the cosine before whitening.")),
            ((cosine(*centred),), _("The mean is taken away; each number must be divided by its deviation, too.")),
            (
                (cosine(*(one / deviations**2 for one in centred)),),
                _("Divide by the deviation, √variance, not by the variance."),
            ),
        ),
    )
