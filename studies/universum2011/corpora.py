"""20 Newsgroups and WebKB for the Universum study (CLUSTRUCT_DATA), as vectors; kept under out/studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from clustruct.features.documents import document_pipeline
from clustruct.universum import sources
from studies.data import json_lines

OUT = Path("out/studies/universum2011")
N_COMPONENTS = 200
CORPORA = ("20news", "webkb")
# Words kept, as in Table 2 of the paper.
WORDS = {"20news": 6600, "webkb": 4560}
FILES = {"20news": ("20news/20news-bydate.jsonl.gz",), "webkb": ("webkb/webkb.jsonl.gz",)}
TARGETS = {"20news": ("comp", "rec", "sci", "talk"), "webkb": ("course", "faculty", "project", "student")}


@dataclass(frozen=True)
class Corpus:
    """Targets X with their classes y, and documents of other categories; reduced, and as words."""

    name: str
    X: np.ndarray
    y: np.ndarray
    rest: np.ndarray
    words: Any
    rest_words: Any
    rest_categories: np.ndarray

    @property
    def k(self) -> int:
        return len(np.unique(self.y))

    def candidates(self, seed: int = 0) -> np.ndarray:
        """U_rest, 1000 of U_rand and U_mean, as in Table 2."""
        parts = [self.rest, sources.random_box(self.X, 1000, seed)]
        return np.concatenate([*parts, sources.mean_of_centres(self.X, self.k, seed)])

    def universum(self, source: str, seed: int = 0) -> np.ndarray:
        """The Universum by the name of its source."""
        if source == "rest":
            return self.rest
        if source == "rand":
            return sources.random_box(self.X, 1000, seed)
        if source == "mean":
            return sources.mean_of_centres(self.X, self.k, seed)
        given = self.candidates(seed) if source == "select" else self.rest
        return sources.select_by_mixture(self.X, given, self.k, random_state=seed).rows


def _texts(name: str) -> tuple[list[str], list[str]]:
    """Texts (subject and body; title and page) and their categories."""
    if name == "20news":
        posts = json_lines(*FILES[name])
        groups = [p["label"] for p in posts]
        main = [g.split(".")[0] if g.split(".")[0] in TARGETS[name] else g for g in groups]
        return [f"{p['subject']} {p['text']}" for p in posts], main
    pages = [p for p in json_lines(*FILES[name]) if p["label"] != "department"]
    return [f"{p['title']} {p['text']}" for p in pages], [p["label"] for p in pages]


def small(name: str) -> Corpus:
    """Four clusters and one more as Universum, made up: what quick runs take."""
    X, y = make_blobs(200, n_features=6, centers=5, cluster_std=2.0, random_state=0)
    X = normalize(X)
    words, target = sparse.csr_matrix(np.abs(X)), y < 4
    rest = y[~target].astype(str)
    return Corpus(name, X[target], y[target], X[~target], words[target], words[~target], rest)


def load(name: str, quick: bool = False) -> Corpus:
    """The corpus; words and SVD are those of the targets. Documents without a known word are left out."""
    if quick:
        return small(name)
    path = OUT / f"{name}.npz"
    if not path.exists():
        _prepare(name, path)
    held = np.load(path)
    words = sparse.load_npz(OUT / f"{name}-words.npz").tocsr()
    Z, categories = held["Z"], held["categories"]
    target = np.isin(categories, TARGETS[name])
    y = np.unique(categories[target], return_inverse=True)[1]
    return Corpus(name, Z[target], y, Z[~target], words[target], words[~target], categories[~target])


def _prepare(name: str, path: Path) -> None:
    texts, listed = _texts(name)
    categories = np.array(listed)
    target = np.isin(categories, TARGETS[name])
    pipeline = document_pipeline(WORDS[name], None)
    pipeline.fit([t for t, mine in zip(texts, target, strict=True) if mine])
    words = pipeline.transform(texts)
    known = np.diff(words.indptr) > 0
    words, categories, target = words[known], categories[known], target[known]
    svd = TruncatedSVD(N_COMPONENTS, random_state=0).fit(words[target])
    OUT.mkdir(parents=True, exist_ok=True)
    sparse.save_npz(OUT / f"{name}-words.npz", sparse.csr_matrix(words))
    np.savez(path, Z=normalize(svd.transform(words)), categories=categories)
