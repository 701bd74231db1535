"""The five collections of the Universum study (CLUSTRUCT_DATA), as vectors; kept under out/studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file, make_blobs
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from clustruct.features.document_vectors import document_pipeline
from clustruct.papers.universum import outside_documents
from studies.data import data_file, json_lines

OUT = Path("out/studies/universum2011")
CORPORA = ("20news", "webkb")
COLLECTIONS = ("20news", "webkb", "reutersv1", "reuters21578-1", "reuters21578-2")
# How texts become vectors: Porter stems, as many words as in Table 2, and at most 200 dimensions;
# scikit-learn's own tf-idf of 6,600 words; the same of all but the rarest, with the logarithm of counts, in
# 100 dimensions; and the first in the paper's dimensions.
PIPELINES = ("stems", "scikit-learn", "sublinear", "paper")
# Words kept and dimensions, as in Table 2 of the paper.
WORDS = {"20news": 6600, "webkb": 4560, "reutersv1": 8625, "reuters21578-1": 927, "reuters21578-2": 927}
DIMENSIONS = {"20news": 1025, "webkb": 700, "reutersv1": 473, "reuters21578-1": 189, "reuters21578-2": 189}
RCV1 = ("multilabel/rcv1subset1-train.svm.gz", "multilabel/rcv1subset1-test.svm.gz")
FILES = {
    "20news": ("20news/20news-bydate.jsonl.gz",),
    "webkb": ("webkb/webkb.jsonl.gz",),
    "reutersv1": (*RCV1, "multilabel/rcv1subset1.labels.txt"),
    "reuters21578-1": ("reuters21578/reuters21578.jsonl.gz",),
    "reuters21578-2": ("reuters21578/reuters21578.jsonl.gz",),
}
# The paper does not name the topics of Reuters-21578: the six largest, and the ten next, are an assumption.
TARGETS = {
    "20news": ("comp", "rec", "sci", "talk"),
    "webkb": ("course", "faculty", "project", "student"),
    "reutersv1": ("ECAT", "C151", "M14"),
    "reuters21578-1": ("earn", "acq", "money-fx", "crude", "grain", "trade"),
    "reuters21578-2": ("interest", "wheat", "ship", "corn", "dlr", "oilseed", "money-supply", "sugar", "gnp")
    + ("coffee",),
}


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
        parts = [self.rest, outside_documents.random_box(self.X, 1000, seed)]
        return np.concatenate([*parts, outside_documents.mean_of_centres(self.X, self.k, seed)])

    def universum(self, source: str, seed: int = 0) -> np.ndarray:
        """The Universum by the name of its source."""
        if source == "rest":
            return self.rest
        if source == "rand":
            return outside_documents.random_box(self.X, 1000, seed)
        if source == "mean":
            return outside_documents.mean_of_centres(self.X, self.k, seed)
        given = self.candidates(seed) if source == "select" else self.rest
        return outside_documents.select_by_mixture(self.X, given, self.k, random_state=seed).rows


def _texts(name: str) -> tuple[list[str], list[str]]:
    """Texts (subject and body; title and page) and their categories."""
    if name == "20news":
        posts = json_lines(*FILES[name])
        groups = [p["label"] for p in posts]
        main = [g.split(".")[0] if g.split(".")[0] in TARGETS[name] else g for g in groups]
        return [f"{p['subject']} {p['text']}" for p in posts], main
    if name == "webkb":
        pages = [p for p in json_lines(*FILES[name]) if p["label"] != "department"]
        return [f"{p['title']} {p['text']}" for p in pages], [p["label"] for p in pages]
    stories = [p for p in json_lines(*FILES[name]) if p["label"]]
    kept, categories = one_target([p["label"] for p in stories], TARGETS[name])
    return [f"{stories[i]['title'] or ''} {stories[i]['text'] or ''}" for i in kept], categories


def one_target(labels: list[Any], targets: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """The documents with at most one of the targets among their labels, and which; "rest" for none.

    >>> one_target([["a", "x"], ["a", "b"], ["x"]], ("a", "b"))
    ([0, 2], ['a', 'rest'])
    """
    found = [set(targets).intersection(mine) for mine in labels]
    kept = [i for i, mine in enumerate(found) if len(mine) < 2]
    return kept, ["".join(found[i]) or "rest" for i in kept]


def _words(name: str, pipeline: str) -> tuple[Any, np.ndarray]:
    """tf-idf of all documents with the words of the targets, and the categories."""
    if name == "reutersv1":
        return _rcv1(pipeline)
    texts, listed = _texts(name)
    categories = np.array(listed)
    made: dict[str, Any] = {
        "scikit-learn": TfidfVectorizer(stop_words="english", max_features=6600),
        "sublinear": TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=5, max_df=0.5),
    }
    vectorizer = made.get(pipeline) or document_pipeline(WORDS[name], None)
    target = np.isin(categories, TARGETS[name])
    vectorizer.fit([t for t, mine in zip(texts, target, strict=True) if mine])
    return sparse.csr_matrix(vectorizer.transform(texts)), categories


def _rcv1(pipeline: str) -> tuple[Any, np.ndarray]:
    """Both halves of RCV1's subset 1, whose tf-idf is given: the most frequent words, or all."""
    names = [line.split("\t")[2].strip() for line in data_file(FILES["reutersv1"][2]).open(encoding="utf-8")]
    halves = [load_svmlight_file(str(data_file(path)), n_features=47236, multilabel=True) for path in RCV1]
    topics = [[names[int(j)] for j in mine] for _, labels in halves for mine in labels]
    kept, listed = one_target(topics, TARGETS["reutersv1"])
    words, categories = sparse.vstack([X for X, _ in halves]).tocsr()[kept], np.array(listed)
    if pipeline in ("scikit-learn", "sublinear"):
        return words, categories
    often = np.asarray((words[categories != "rest"] > 0).sum(axis=0)).ravel()
    top = np.sort(np.argsort(-often, kind="stable")[: WORDS["reutersv1"]])
    return normalize(words[:, top]), categories


def small(name: str) -> Corpus:
    """Four clusters and one more as Universum, made up: what quick runs take."""
    X, y = make_blobs(200, n_features=6, centers=5, cluster_std=2.0, random_state=0)
    X = normalize(X)
    words, target = sparse.csr_matrix(np.abs(X)), y < 4
    rest = y[~target].astype(str)
    return Corpus(name, X[target], y[target], X[~target], words[target], words[~target], rest)


def load(name: str, quick: bool = False, pipeline: str = "stems") -> Corpus:
    """The corpus; words and SVD are those of the targets. Documents without a known word are left out."""
    if quick:
        return small(name)
    path = OUT / f"{name}-{pipeline}.npz"
    if not path.exists():
        _prepare(name, pipeline, path)
    held = np.load(path)
    words = sparse.load_npz(path.with_suffix(".words.npz")).tocsr()
    Z, categories = held["Z"], held["categories"]
    target = np.isin(categories, TARGETS[name])
    y = np.unique(categories[target], return_inverse=True)[1]
    return Corpus(name, Z[target], y, Z[~target], words[target], words[~target], categories[~target])


def dimensions(name: str, pipeline: str) -> int:
    """Of the truncated SVD."""
    small = {"stems": min(200, DIMENSIONS[name]), "paper": DIMENSIONS[name], "sublinear": 100}
    return small.get(pipeline, 200)


def _prepare(name: str, pipeline: str, path: Path) -> None:
    words, categories = _words(name, pipeline)
    known = np.diff(words.indptr) > 0
    words, categories = words[known], categories[known]
    svd = TruncatedSVD(dimensions(name, pipeline), random_state=0)
    svd.fit(words[np.isin(categories, TARGETS[name])])
    OUT.mkdir(parents=True, exist_ok=True)
    sparse.save_npz(path.with_suffix(".words.npz"), sparse.csr_matrix(words))
    np.savez(path, Z=normalize(svd.transform(words)), categories=categories)
