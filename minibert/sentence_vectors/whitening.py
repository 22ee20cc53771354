"""Whitening (Su et al. 2021, arXiv:2103.15316, §3): a linear map after which vectors have mean 0 and no correlations.

x̃ = (x − μ)W with W = U√Λ⁻¹, where UΛUᵀ is the covariance of some sentences' vectors. The first k columns of W keep the
k directions in which the sentences differ most: shorter vectors, by the same formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NOTHING, ROUNDING = 1e-9, 1e-14  # of the largest variance, of the mean square: smaller variances are rounding errors


@dataclass(frozen=True)
class Whitening:
    """mean: μ, (H,) · matrix: W, (H, k), the direction of the largest variance first."""

    mean: np.ndarray
    matrix: np.ndarray

    @classmethod
    def fit(cls, vectors: np.ndarray, dimensions: int | None = None) -> Whitening:
        """Fit on the vectors of sentences, (N, H), keeping `dimensions`, or all that they span. Raises ValueError if
        they span fewer."""
        vectors = np.asarray(vectors, np.float64)
        if vectors.ndim != 2 or len(vectors) < 2:
            raise ValueError(f"whitening needs the vectors of two sentences at least, (N, H), not {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError("the vectors hold what is no finite number")
        mean = vectors.mean(0)
        variances, directions = np.linalg.eigh(np.cov(vectors.T).reshape(len(mean), len(mean)))  # Λ rising, U
        variances, directions = variances[::-1], directions[:, ::-1]
        spanned = int((variances > max(NOTHING * variances[0], ROUNDING * (vectors**2).mean())).sum())
        kept = spanned if dimensions is None else dimensions
        if not 1 <= kept <= spanned:
            raise ValueError(
                f"{len(vectors)} sentences differ in {spanned} directions: as many dimensions can be kept, from 1 on, "
                f"not {kept}"
            )
        return cls(mean, directions[:, :kept] / np.sqrt(variances[:kept]))

    @property
    def dimensions(self) -> int:
        return self.matrix.shape[1]

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """(…, H) → (…, k)"""
        return (np.asarray(vectors, np.float64) - self.mean) @ self.matrix

    def first(self, dimensions: int) -> Whitening:
        """The first columns alone: what `fit` with so many dimensions would have found."""
        if not 1 <= dimensions <= self.dimensions:
            raise ValueError(f"there are {self.dimensions} dimensions: from 1 to as many can be kept, not {dimensions}")
        return Whitening(self.mean, self.matrix[:, :dimensions])

    def as_layer(self) -> tuple[np.ndarray, np.ndarray]:
        """The same as a linear layer without an activation, x̃ = Ax + b: A = Wᵀ (k, H), b = −Wᵀμ (k,)."""
        return self.matrix.T.astype(np.float32), (-self.mean @ self.matrix).astype(np.float32)
