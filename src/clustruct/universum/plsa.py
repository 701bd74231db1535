"""Probabilistic latent semantic analysis (Hofmann 1999), by expectation maximisation."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from clustruct._typing import Floats, Indices
from clustruct.callbacks import Iteration, asked_to_stop
from clustruct.storage import DataclassState, register

# So that a word that a topic gave up is not lost to rounding.
TINY = 1e-300


@register("PLSAResult")
@dataclass(frozen=True)
class PLSAResult(DataclassState):
    """P(topic | document), one row per document; P(word | topic), one row per topic; likelihood per step."""

    topics: Floats
    words: Floats
    history: tuple[float, ...] = field(repr=False)
    converged: bool

    @property
    def labels(self) -> Indices:
        return np.argmax(self.topics, axis=1)

    @property
    def log_likelihood(self) -> float:
        return self.history[-1]


def plsa(
    X: Any,
    k: int,
    rng: np.random.RandomState,
    tol: float = 1e-5,
    max_iter: int = 300,
    callback: Callable[[Iteration], object] | None = None,
) -> PLSAResult:
    """``max sum_{d,w} X_dw log sum_z P(z|d) P(w|z)`` over distributions, from a random start.

    X is CSR and not negative. The likelihood never falls. Ends when it rises by no more than ``tol`` times
    its size, or when the callback, called with minus the likelihood, returns something true. Cost per step
    O(k nnz). (`sklearn.decomposition.NMF` with the Kullback-Leibler loss has the same optima, but takes other
    steps: it updates one factor after the other, EM both at once.)
    """
    started = time.perf_counter()
    X = sparse.csr_array(X)
    topics, words = rng.dirichlet(np.ones(k), X.shape[0]), rng.dirichlet(np.ones(X.shape[1]), k)
    rows, columns = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
    history: list[float] = []
    for _ in range(max_iter):
        mixed = np.maximum(np.einsum("ij,ij->i", topics[rows], words.T[columns]), TINY)
        history.append(float(X.data @ np.log(mixed)))
        if len(history) > 1 and history[-1] - history[-2] <= tol * abs(history[-1]):
            return PLSAResult(topics, words, tuple(history), True)
        step = Iteration(len(history), -history[-1], -np.inf, len(history), 0, time.perf_counter() - started)
        if asked_to_stop(callback, step):
            break
        ratio = sparse.csr_array((X.data / mixed, columns, X.indptr), shape=X.shape)
        counted = topics * (ratio @ words.T)
        words = _distributions(words * (ratio.T @ topics).T)
        topics = _distributions(counted)
    return PLSAResult(topics, words, tuple(history), False)


def _distributions(counts: Floats) -> Floats:
    """Rows that sum to one; uniform where there is nothing."""
    totals = counts.sum(axis=1, keepdims=True)
    uniform = np.full_like(counts, 1.0 / counts.shape[1])
    return np.where(totals > 0.0, counts / np.maximum(totals, TINY), uniform)
