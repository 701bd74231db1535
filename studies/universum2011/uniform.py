"""Universum for k-means, Gaussian mixtures and NMF, which the paper leaves to future work: a first look.

One idea for all three: a document of the Universum belongs to every cluster alike. Its membership is held at
1/k while the other documents' is estimated, and all Universum documents together weigh ``weight`` times as
much as the others. So centres, densities and topics have to explain them equally well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.evaluate.metrics import matched_accuracy
from clustruct.papers.universum.margin_problem import kmeans_labels
from studies.results import Results
from studies.universum2011.corpora import Corpus, load

WEIGHTS = (0.0, 0.1, 0.5)
STEPS = 100
# Those on which a run takes seconds.
NAMES = ("webkb", "reutersv1", "reuters21578-1", "reuters21578-2")


def kmeans(X: Any, U: Any, labels: Any, k: int, weight: float) -> Any:
    """Lloyd's algorithm from given labels; each centre is drawn to the mean of U by the same weight.

    ``min over centres and labels  1/n sum_i |x_i - c_{u_i}|^2 + weight/(N k) sum_{j,p} |u_j - c_p|^2``.
    """
    middle, share = U.mean(axis=0), weight * len(X) / k
    for _ in range(STEPS):
        member = np.eye(k)[labels]
        sizes = member.sum(axis=0)[:, None] + share
        centres = (member.T @ X + share * middle) / np.maximum(sizes, 1e-12)
        before, labels = labels, np.argmin((centres**2).sum(axis=1) - 2.0 * X @ centres.T, axis=1)
        if (before == labels).all():
            break
    return labels


def mixture(X: Any, U: Any, labels: Any, k: int, weight: float) -> Any:
    """EM for k Gaussians with diagonal covariance; the responsibilities of U stay at 1/k."""
    share, member = weight * len(X) / k, np.eye(k)[labels]
    first, second = U.mean(axis=0), (U**2).mean(axis=0)
    squares, floor = X**2, 1e-6 * X.var(axis=0).mean()
    for _ in range(STEPS):
        sizes = member.sum(axis=0)[:, None] + share + 1e-9
        means = (member.T @ X + share * first) / sizes
        variances = np.maximum((member.T @ squares + share * second) / sizes - means**2, floor)
        logs = squares @ (-0.5 / variances).T + X @ (means / variances).T
        logs += np.log(sizes[:, 0]) - 0.5 * (np.log(variances) + means**2 / variances).sum(axis=1)
        before, labels = labels, np.argmax(logs, axis=1)
        member = np.exp(logs - logs.max(axis=1, keepdims=True))
        member /= member.sum(axis=1, keepdims=True)
        if (before == labels).all():
            break
    return labels


def nmf(X: Any, U: Any, labels: Any, k: int, weight: float) -> Any:
    """Multiplicative updates of ``|X - H T|^2 + weight n/N |U - s 1' T|^2``: U takes all k topics alike.

    T starts at the clusters' mean words and H at the memberships, a little blurred, as zeros stay zeros.
    """
    member = np.eye(k)[labels] + 0.2
    T = np.asarray((X.T @ member).T) / member.sum(axis=0)[:, None] + 1e-9
    H, factor = member, weight * X.shape[0] / U.shape[0]
    for _ in range(STEPS):
        H = H * np.asarray(X @ T.T) / (H @ (T @ T.T) + 1e-12)
        total = T.sum(axis=0)
        s = np.asarray(U @ total).ravel() / float(total @ total)
        above = np.asarray((X.T @ H).T) + factor * np.asarray(U.T @ s).ravel()
        T = T * above / ((H.T @ H) @ T + factor * float(s @ s) * total + 1e-12)
    return np.argmax(H * np.linalg.norm(T, axis=1), axis=1)


METHODS = {"k-means": kmeans, "GMM": mixture, "NMF": nmf}


def uniform(
    results: Results, quick: bool, *, names: tuple[str, ...], seeds: int = 10
) -> list[dict[str, Any]]:
    """Mean accuracy over seeds, each from the same k-means start for all weights; and how many seeds gain."""
    rows = []
    for name in names[:1] if quick else names:
        corpus = load(name, quick)
        for method in METHODS:
            runs = [
                results.get(f"{name}, {method}, seed {s}", lambda c=corpus, m=method, s=s: _one(c, m, s))
                for s in range(2 if quick else seeds)
            ]
            found = np.array(runs)
            row: dict[str, Any] = {"collection": name, "method": method, "seeds": len(runs)}
            row |= {f"weight {w:g}": float(found[:, i].mean()) for i, w in enumerate(WEIGHTS)}
            gains = (found[:, 1:] > found[:, :1]).sum(axis=0)
            rows.append({**row, "seeds that gain": ", ".join(map(str, gains))})
    return rows


def _one(corpus: Corpus, method: str, seed: int) -> list[float]:
    words = method == "NMF"
    X, U = (corpus.words, corpus.rest_words) if words else (corpus.X, corpus.rest)
    first = kmeans_labels(corpus.X, corpus.k, np.random.RandomState(seed))
    return [
        100.0 * matched_accuracy(corpus.y, METHODS[method](X, U, first, corpus.k, weight))
        for weight in WEIGHTS
    ]
