"""WebKB pages of four universities as item sets, with words and links (CLUSTRUCT_DATA/webkb)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from benchmarks.tasks import Task, _lines
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from clustruct import ItemSet
from clustruct.features import links

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
# How words are weighted: counts, logarithms or presence; inverse document frequency; unit rows or not.
WEIGHTINGS: dict[str, dict[str, Any]] = {
    "tfidf": {},
    "log tfidf": {"sublinear_tf": True},
    "presence unit": {"binary": True, "use_idf": False},
    "presence": {"binary": True, "use_idf": False, "norm": None},
    "presence idf": {"binary": True, "norm": None},
    "log tf": {"sublinear_tf": True, "use_idf": False, "norm": None},
}


def webkb(
    weighting: str = "tfidf", linked: bool = True, indicator: float = 1.0, title: int = 0, min_df: int = 1
) -> Task:
    """One set per university, six classes (without `department`), unit rows."""
    pages = [p for p in _lines("webkb/webkb.jsonl.gz") if p["univ"] in UNIVERSITIES]
    citing = [(p["id"], target) for p in _lines("webkb/webkb.jsonl.gz") for target, _ in p["links"]]
    kept = [p for p in pages if p["label"] != "department"]
    options = dict(WEIGHTINGS[weighting])
    counts = CountVectorizer(binary=options.pop("binary", False), min_df=min_df, token_pattern=r"(?u)\b\w+\b")
    words = counts.fit_transform([_text(p, title) for p in kept])
    X = sparse.csr_array(TfidfTransformer(**options).fit_transform(words))
    sets, labels = [], []
    for name in UNIVERSITIES:
        mine = [i for i, p in enumerate(kept) if p["univ"] == name]
        number = {kept[i]["id"]: a for a, i in enumerate(mine)}
        nodes = X[mine]
        if linked:
            sets.append(links(_edges(citing, number), nodes, indicator=indicator))
        else:
            sets.append(ItemSet(nodes=nodes))
        labels.append(np.array([kept[i]["label"] for i in mine]))
    return Task("webkb-l" if linked else "webkb-n", sets, labels, list(UNIVERSITIES))


def _text(page: dict[str, Any], title: int) -> str:
    if title == 0:
        return page["text"]
    marked = " ".join(f"title_{word}" for word in re.findall(r"\w+", page["title"]))
    marked += " " + " ".join(f"heading_{word}" for word in re.findall(r"\w+", page["headings"]))
    return f"{page['title']} {page['headings']} {page['text']} " + (marked if title == 2 else "")


def _edges(citing: list[tuple[str, str]], number: dict[str, int]) -> np.ndarray:
    outside: dict[str, int] = {}
    rows = []
    for source, target in citing:
        if target in number:
            rows.append(
                (number.get(source, len(number) + outside.setdefault(source, len(outside))), number[target])
            )
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
