"""Vectors drawn in a plane: principal components (Pearson 1901), fitted once so that pictures can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Plane:
    """The two directions in which some points differ most. mean: (H,) · axes: (2, H), orthonormal · explained: the
    shares of the points' variance that the two hold."""

    mean: np.ndarray
    axes: np.ndarray
    explained: tuple[float, float]

    def project(self, points: np.ndarray) -> np.ndarray:
        """(N, H) → (N, 2): where the points fall on this plane, be it fitted to them or to others."""
        return (np.asarray(points, dtype=float) - self.mean) @ self.axes.T


def principal_plane(points: np.ndarray) -> Plane:
    """The plane of `points`, (N, H), N ≥ 3 and H ≥ 2. The largest number of each axis is positive, so that the same
    points always give the same picture. Raises ValueError for fewer."""
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or len(points) < 3 or points.shape[1] < 2:
        raise ValueError(f"a plane needs at least 3 points of at least 2 numbers, not {points.shape}")
    mean = points.mean(0)
    _, singular, axes = np.linalg.svd(points - mean, full_matrices=False)
    axes = axes[:2] * np.sign(axes[:2][np.arange(2), np.abs(axes[:2]).argmax(1)])[:, None]
    variances = singular**2 / max((singular**2).sum(), np.finfo(float).tiny)
    return Plane(mean, axes, (float(variances[0]), float(variances[1])))
