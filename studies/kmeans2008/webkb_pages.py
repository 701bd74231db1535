"""WebKB pages of four universities as item sets, with words and links (CLUSTRUCT_DATA/webkb)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from clustruct import ItemSet
from clustruct.features import links
from studies.data import json_lines
from studies.tasks import Task

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
# How words are weighted. "presence": 0/1, rows not scaled, words on three pages at least, the words of titles
# and headings also as words of their own. "root": the same, rows divided by the root of their length. "log":
# 1 + log of the count, times idf, unit rows. "tfidf": unit rows of the text alone, as in the papers.
# "places": as "presence", the first 20 words of the text also as words of their own, all such words times 2.
MARKS = ("title_", "heading_", "first_")
_FIELDS: dict[str, Any] = {"min_df": 3, "fields": True}
WEIGHTINGS: dict[str, dict[str, Any]] = {
    "tfidf": {"use_idf": True, "norm": 1.0, "min_df": 1, "fields": False},
    "places": {"binary": True, "use_idf": False, "norm": 0.0, "first": 20, "marked": 2.0, **_FIELDS},
    "presence": {"binary": True, "use_idf": False, "norm": 0.0, **_FIELDS},
    "root": {"binary": True, "use_idf": False, "norm": 0.5, **_FIELDS},
    "log": {"use_idf": True, "sublinear_tf": True, "norm": 1.0, **_FIELDS},
}


def webkb(weighting: str = "presence", linked: bool = True) -> Task:
    """One set per university, six classes (without `department`), with or without link features."""
    options = WEIGHTINGS[weighting]
    every = json_lines("webkb/webkb.jsonl.gz")
    kept = [p for p in every if p["univ"] in UNIVERSITIES and p["label"] != "department"]
    citing = [(p["id"], target) for p in every for target, _ in p["links"]]
    X = _weighted([_text(p, options) for p in kept], options)
    sets, labels = [], []
    for name in UNIVERSITIES:
        mine = [i for i, p in enumerate(kept) if p["univ"] == name]
        number = {kept[i]["id"]: a for a, i in enumerate(mine)}
        sets.append(links(_edges(citing, number), X[mine]) if linked else ItemSet(nodes=X[mine]))
        labels.append(np.array([kept[i]["label"] for i in mine]))
    return Task("webkb-l" if linked else "webkb-n", sets, labels, list(UNIVERSITIES))


def _weighted(texts: list[str], options: dict[str, Any]) -> sparse.csr_array:
    """One row per page, divided by a power of its length."""
    vectorizer = TfidfVectorizer(
        binary=options.get("binary", False),
        use_idf=options["use_idf"],
        sublinear_tf=options.get("sublinear_tf", False),
        min_df=options["min_df"],
        norm=None,
        token_pattern=r"(?u)\b\w+\b",
    )
    X = sparse.csr_array(vectorizer.fit_transform(texts))
    if "marked" in options:
        marked = [name.startswith(MARKS) for name in vectorizer.get_feature_names_out()]
        X = sparse.csr_array(X @ sparse.diags_array(np.where(marked, options["marked"], 1.0)))
    length = np.sqrt(np.maximum(X.multiply(X).sum(axis=1), 1e-12)) ** options["norm"]
    return sparse.csr_array(sparse.diags_array(1.0 / np.asarray(length).ravel()) @ X)


def _text(page: dict[str, Any], options: dict[str, Any]) -> str:
    """The words of a page, and those of some places once more, marked by the place."""
    if not options["fields"]:
        return page["text"]
    places = (page["title"], page["headings"], " ".join(page["text"].split()[: options.get("first", 0)]))
    pairs = zip(MARKS, places, strict=True)
    marked = [f"{mark}{word}" for mark, words in pairs for word in re.findall(r"\w+", words)]
    return " ".join([page["title"], page["headings"], page["text"], *marked])


def _edges(citing: list[tuple[str, str]], number: dict[str, int]) -> np.ndarray:
    outside: dict[str, int] = {}
    rows = []
    for source, target in citing:
        if target in number:
            rows.append(
                (number.get(source, len(number) + outside.setdefault(source, len(outside))), number[target])
            )
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
