"""Each layer's vectors as points in a plane, every picture aligned with the one of the layer before.

PCA (Pearson 1901) shows the two directions in which the points differ most; t-SNE (van der Maaten and Hinton 2008) and
UMAP (McInnes et al. 2018) preserve neighbourhoods at the expense of all else. t-SNE and UMAP start from the picture of
the layer before; every picture is then rotated, mirrored and scaled onto that one (Procrustes), so that a point moves
between layers only if it has moved relative to the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from minibert.inside.geometry.projection import principal_plane
from minibert.inside.geometry.vectors import unit
from minibert.train import Event

METHODS = ("pca", "tsne", "umap")
LEAST_POINTS = 5
NEIGHBOURS = 5  # for `trust`


@dataclass(frozen=True)
class Picture(Event):
    """One layer. points: N × 2, centred, of root-mean-square length 1 · trust: how far neighbours in the picture are
    neighbours in the model (trustworthiness, Venna and Kaski 2001; 1 is best) · progress: share of the layers done."""

    layer: int
    points: list[list[float]]
    trust: float
    progress: float


def pictures(layers: np.ndarray, method: str, seed: int = 0) -> Iterator[Picture]:
    """A picture of each layer, in order. layers: (L + 1, N, H), N ≥ LEAST_POINTS. Deterministic for a given seed.

    Raises ValueError for an unknown method or too few points.
    """
    if method not in METHODS:
        raise ValueError(f"the method must be one of {', '.join(METHODS)}, not {method!r}")
    if layers.shape[1] < LEAST_POINTS:
        raise ValueError(f"a picture needs at least {LEAST_POINTS} points, not {layers.shape[1]}")
    before = None
    for number, vectors in enumerate(layers):
        points = same_size(project(vectors, method, seed, before))
        if before is not None:
            points = turned_onto(points, before)
        before = points
        yield Picture(number, points.round(4).tolist(), trust(vectors, points), (number + 1) / len(layers))


def project(vectors: np.ndarray, method: str, seed: int, start: np.ndarray | None = None) -> np.ndarray:
    """One layer, (N, H) → (N, 2). t-SNE and UMAP get vectors of length 1: only directions count."""
    count = len(vectors)
    if method == "pca":
        return principal_plane(vectors).project(vectors)
    if not np.ptp(vectors, axis=0).any():
        return np.zeros((count, 2))  # all vectors equal: nothing to lay out
    if start is None:
        start = same_size(principal_plane(unit(vectors)).project(unit(vectors)))
    if method == "tsne":
        from sklearn.manifold import TSNE

        # A start of standard deviation 1e-4, as the authors of the method advise.
        tsne = TSNE(
            n_components=2,
            perplexity=min(15.0, (count - 1) / 3),
            init=(start * 1e-4).astype(np.float32),
            random_state=seed,
        )
        return tsne.fit_transform(unit(vectors).astype(np.float32))
    import umap

    neighbours = min(15, max(2, count // 3))
    layout = umap.UMAP(
        n_components=2,
        n_neighbors=neighbours,
        min_dist=0.25,
        init=10 * start.astype(np.float32),
        random_state=seed,
        n_jobs=1,
    )
    return layout.fit_transform(unit(vectors).astype(np.float32))


def same_size(points: np.ndarray) -> np.ndarray:
    """Centred and scaled to root-mean-square length 1; all zeros if the points coincide."""
    points = np.asarray(points, float) - np.mean(points, axis=0)
    size = np.sqrt((points**2).sum(1).mean())
    return points / size if size > 1e-12 else np.zeros_like(points)


def turned_onto(points: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The points, turned and mirrored so that they lie as near to those of `reference` as they can: the orthogonal
    Procrustes problem (Schönemann 1966). Both (N, 2) and centred."""
    left, _, right = np.linalg.svd(points.T @ reference)
    return points @ (left @ right)


def trust(vectors: np.ndarray, points: np.ndarray) -> float:
    """Trustworthiness of a picture: 1 if the NEIGHBOURS nearest of every point are also its nearest by cosine.

    As in scikit-learn, whose import takes two seconds."""
    count = len(points)
    most = min(NEIGHBOURS, (count - 1) // 2)
    # ranks[i, j]: the place of j among the neighbours of i in the model, 0 for the nearest; i itself is last
    ranks = _by_distance(unit(vectors)).argsort(-1)
    near = _by_distance(np.asarray(points, float))[:, :most]
    too_far = np.maximum(np.take_along_axis(ranks, near, -1) + 1 - most, 0).sum()
    return float(1 - 2 * too_far / (count * most * (2 * count - 3 * most - 1)))


def _by_distance(rows: np.ndarray) -> np.ndarray:
    """(N, N): for every row the numbers of all rows, the nearest first, its own last."""
    squares = (rows**2).sum(-1)
    distances = squares[:, None] + squares - 2 * rows @ rows.T
    np.fill_diagonal(distances, np.inf)
    return distances.argsort(-1, kind="stable")


def movement(layouts: Sequence[np.ndarray]) -> list[float]:
    """Root-mean-square distance that the points move from each picture to the next; a picture has size 1."""
    arrays = [np.asarray(points, float) for points in layouts]
    return [float(np.sqrt(((b - a) ** 2).sum(1).mean())) for a, b in pairwise(arrays)]
