"""WebKB pages of four universities as item sets, with words and links (CLUSTRUCT_DATA/webkb)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks.tasks import Task, _lines
from clustruct import ItemSet
from clustruct.features import links

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
# How words are weighted. "presence": 0/1, rows not scaled to unit length, words on three pages at least, the
# words of titles and headings also as words of their own. "tfidf": unit rows of the text, as in the papers.
WEIGHTINGS: dict[str, dict[str, Any]] = {
    "tfidf": {"binary": False, "use_idf": True, "norm": "l2", "min_df": 1, "fields": False},
    "presence": {"binary": True, "use_idf": False, "norm": None, "min_df": 3, "fields": True},
}


def webkb(weighting: str = "presence", linked: bool = True) -> Task:
    """One set per university, six classes (without `department`), with or without link features."""
    options = WEIGHTINGS[weighting]
    every = _lines("webkb/webkb.jsonl.gz")
    kept = [p for p in every if p["univ"] in UNIVERSITIES and p["label"] != "department"]
    citing = [(p["id"], target) for p in every for target, _ in p["links"]]
    counts = CountVectorizer(
        binary=options["binary"], min_df=options["min_df"], token_pattern=r"(?u)\b\w+\b"
    ).fit_transform([_text(p, options["fields"]) for p in kept])
    weights = TfidfTransformer(use_idf=options["use_idf"], norm=options["norm"])
    X = sparse.csr_array(weights.fit_transform(counts))
    sets, labels = [], []
    for name in UNIVERSITIES:
        mine = [i for i, p in enumerate(kept) if p["univ"] == name]
        number = {kept[i]["id"]: a for a, i in enumerate(mine)}
        sets.append(links(_edges(citing, number), X[mine]) if linked else ItemSet(nodes=X[mine]))
        labels.append(np.array([kept[i]["label"] for i in mine]))
    return Task("webkb-l" if linked else "webkb-n", sets, labels, list(UNIVERSITIES))


def _text(page: dict[str, Any], fields: bool) -> str:
    if not fields:
        return page["text"]
    marked = [f"title_{word}" for word in re.findall(r"\w+", page["title"])]
    marked += [f"heading_{word}" for word in re.findall(r"\w+", page["headings"])]
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
