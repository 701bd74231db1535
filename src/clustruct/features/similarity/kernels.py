"""Kernels on pair vectors as columns: exactly, by landmarks, by random Fourier features."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import rbf_kernel

from clustruct.core.kernels import Kernel
from clustruct.core.storage import Shape, register
from clustruct.core.typing import Floats

from .base import LabelledPairs, PairMap

# More distinct training pairs are too many for an exact kernel: a matrix of their square is decomposed.
MOST_LANDMARKS = 3000
# Directions of a smaller share of the largest eigenvalue are rounding.
LEAST_SHARE = 1e-10
# Landmarks are drawn from so many training pairs at most.
MOST_DRAWN = 5000


class ScaledMap(PairMap):
    """A map of features divided by their root mean square over the training pairs, all sets the same."""

    title: ClassVar = "a kernel"
    fitted: ClassVar = {"n_features_in_": int, "feature_scale_": Shape(("n_features_in_",))}
    feature_scale_: Floats

    def learn(self, parts: Sequence[LabelledPairs], groups: Sequence[Hashable] | None) -> list[Floats]:
        none = np.zeros((1, self.n_features_in_))  # a set of one item has no pairs
        sizes = [(part.rows**2).mean(axis=0) for part in parts if len(part.rows)]
        squares = np.mean(sizes or none, axis=0)
        self.feature_scale_ = np.where(squares > 0.0, np.sqrt(squares), 1.0)
        self.learn_rows([part.rows / self.feature_scale_ for part in parts])
        return [self._columns(part.rows) for part in parts]

    def learn_rows(self, tables: Sequence[Floats]) -> None:
        """Learn from the scaled features of each set."""
        raise NotImplementedError

    def scale(self, rows: Floats) -> Floats:
        return rows / self.feature_scale_

    def gamma_of(self, gamma: float | None) -> float:
        """The width of the Gaussian kernel; by default 1 over the number of features, all of size 1."""
        return 1.0 / self.n_features_in_ if gamma is None else gamma

    def check_attributes(self) -> None:
        if not (self.feature_scale_ > 0.0).all():
            raise ValueError("feature_scale_ must be above 0")


@register("KernelMap")
@dataclass(eq=False, repr=False)
class KernelMap(ScaledMap):
    """A kernel on pair vectors, exactly: K_ab = sum_l c_l k(psi_l, psi_ab) over the training pairs l.

    The weights of a structural SVM in the dual are sums of training pairs under the kernel (Finley 2009,
    section 6.4), so they lie in the span of these, and there phi(psi) = M' k(psi_1..psi_n, psi), M M' the
    inverse of the kernel matrix, has <phi, phi'> = k: training on these columns *is* training with the
    kernel. Columns are rotated to have one size, so that a clusterer that divides features by their size
    leaves the kernel as it is. O(n^3) for n distinct training pairs, at most 3000; the features do not stay
    beside the columns.

    ``gamma`` is the width of "rbf" or the factor of "polynomial", by default 1 / number of features, all of
    size 1; ``bias`` adds 1 to the kernel, a constant column.

    Examples
    --------
    >>> from clustruct.data import ItemSet
    >>> x = ItemSet(pairs=[[1.0, 2.0], [0.5, 1.0], [3.0, 0.0]])
    >>> phi = KernelMap("rbf", gamma=1.0, bias=False).fit_transform([x])[0].pairs
    >>> np.allclose((phi @ phi.T).diagonal(), 1.0)
    True
    """

    keeps: ClassVar = False
    fitted: ClassVar = {
        **ScaledMap.fitted,
        "landmarks_": Shape(("n_landmarks", "n_features_in_")),
        "normalisation_": Shape(("n_landmarks", None)),
    }

    kernel: Literal["rbf", "polynomial", "linear"] = "rbf"
    gamma: float | None = None
    degree: int = 2
    bias: bool = True

    def check_parameters(self) -> None:
        if self.kernel not in ("rbf", "polynomial", "linear"):
            raise ValueError(f"kernel must be rbf, polynomial or linear, not {self.kernel!r}")

    def names(self) -> list[str]:
        return [f"{self.kernel} kernel, direction {j + 1}" for j in range(self.normalisation_.shape[1])]

    def _values(self, rows: Floats) -> Floats:
        gamma = self.gamma_of(self.gamma)
        kernel = Kernel(self.kernel, degree=self.degree, gamma=gamma, scale=gamma)
        return kernel(rows, self.landmarks_) + float(self.bias)

    def columns(self, rows: Floats) -> Floats:
        return np.asarray(self._values(self.scale(rows)) @ self.normalisation_)

    def learn_rows(self, tables: Sequence[Floats]) -> None:
        self.check_parameters()
        self.landmarks_ = np.unique(np.concatenate(tables), axis=0)
        if len(self.landmarks_) > MOST_LANDMARKS:
            raise ValueError(
                f"{len(self.landmarks_):,} different training pairs are too many for an exact kernel "
                f"(at most {MOST_LANDMARKS:,}): use similarity='mapped' or 'trees' (--similarity)"
            )
        values, vectors = np.linalg.eigh(self._values(self.landmarks_))
        kept = values > LEAST_SHARE * values[-1]
        self.normalisation_ = vectors[:, kept] / np.sqrt(values[kept])
        made = [self._values(rows) @ self.normalisation_ for rows in tables if len(rows)]
        moments = np.mean([phi.T @ phi / len(phi) for phi in made], axis=0)
        self.normalisation_ = self.normalisation_ @ evening_rotation(moments)


def evening_rotation(M: Floats) -> Floats:
    """An orthogonal Q for which all entries on the diagonal of Q'MQ are equal, by n - 1 plane rotations."""
    A, n = M.copy(), len(M)
    Q = np.eye(n)
    mean = float(np.trace(A)) / max(n, 1)
    for _ in range(n - 1):
        j, k = int(np.argmax(A.diagonal())), int(np.argmin(A.diagonal()))
        a, b, c = A[j, j] - mean, A[j, k], A[k, k] - mean
        if not a > 0.0 > c:
            break
        t = (b - np.sign(b or 1.0) * np.sqrt(b * b - a * c)) / c  # of the two roots the well-conditioned one
        t = a / (c * t) if abs(t) > 1.0 else t
        G = np.array([[1.0, t], [-t, 1.0]]) / np.sqrt(1.0 + t * t)
        A[:, [j, k]] = A[:, [j, k]] @ G
        A[[j, k]] = G.T @ A[[j, k]]
        Q[:, [j, k]] = Q[:, [j, k]] @ G
    return Q


@register("NystroemMap")
@dataclass(eq=False, repr=False)
class NystroemMap(ScaledMap):
    """Likeness to some training pairs (landmarks), under the Gaussian kernel: scikit-learn's `Nystroem`.

    phi(psi) = k(landmarks)^(-1/2) k(landmarks, psi), beside the features: the span in which `KernelMap`
    works, cut down to ``n_components`` directions.

    Without ``gamma`` the kernel exp(-gamma |u - v|^2) goes by the spread of the training pairs.
    """

    fitted: ClassVar = {
        **ScaledMap.fitted,
        "landmarks_": Shape(("n_landmarks", "n_features_in_")),
        "normalisation_": Shape(("n_landmarks", "n_landmarks")),
    }

    n_components: int = 100
    gamma: float | None = None
    random_state: int = 0

    def names(self) -> list[str]:
        return [f"likeness to training pair {j + 1}" for j in range(len(self.landmarks_))]

    def columns(self, rows: Floats) -> Floats:
        gamma = self.gamma_of(self.gamma)
        return np.asarray(rbf_kernel(self.scale(rows), self.landmarks_, gamma=gamma) @ self.normalisation_.T)

    def learn_rows(self, tables: Sequence[Floats]) -> None:
        rows = np.concatenate(tables)
        if len(rows) > MOST_DRAWN:
            draw = np.random.default_rng(self.random_state)
            rows = rows[draw.choice(len(rows), MOST_DRAWN, replace=False)]
        rows = np.unique(rows, axis=0)
        n, gamma = min(self.n_components, len(rows)), self.gamma_of(self.gamma)
        found = Nystroem(gamma=gamma, n_components=n, random_state=self.random_state).fit(rows)
        self.landmarks_, self.normalisation_ = found.components_, found.normalization_


@register("FourierMap")
@dataclass(eq=False, repr=False)
class FourierMap(ScaledMap):
    """The Gaussian kernel by random Fourier features (scikit-learn's `RBFSampler`), beside the features.

    phi(psi) = (2 / n)^(1/2) cos(psi W + b), whose inner products are the kernel in the mean (Rahimi and Recht
    2007). ``n_components`` is n; ``gamma`` as for `NystroemMap`.
    """

    fitted: ClassVar = {
        **ScaledMap.fitted,
        "waves_": Shape(("n_features_in_", "n_waves")),
        "offsets_": Shape(("n_waves",)),
    }

    n_components: int = 200
    gamma: float | None = None
    random_state: int = 0

    def names(self) -> list[str]:
        return [f"wave {j + 1}" for j in range(len(self.offsets_))]

    def columns(self, rows: Floats) -> Floats:
        phases = self.scale(rows) @ self.waves_ + self.offsets_
        return np.asarray(np.sqrt(2.0 / len(self.offsets_)) * np.cos(phases))

    def learn_rows(self, tables: Sequence[Floats]) -> None:
        gamma, n = self.gamma_of(self.gamma), self.n_components
        sampler = RBFSampler(gamma=gamma, n_components=n, random_state=self.random_state)
        found = sampler.fit(np.zeros((1, self.n_features_in_)))
        self.waves_, self.offsets_ = found.random_weights_, found.random_offset_
