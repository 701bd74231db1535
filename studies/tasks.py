"""Real clustering tasks for the studies: item sets with simple features from CLUSTRUCT_DATA."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from clustruct import ItemSet
from studies.data import json_lines, text_lines


@dataclass(frozen=True)
class Task:
    """Item sets, their right labels, and the group of each set (sets of one group share stories)."""

    name: str
    sets: list[ItemSet]
    labels: list[np.ndarray]
    groups: list[Any]

    def take(self, which: list[int]) -> tuple[list[ItemSet], list[np.ndarray]]:
        return [self.sets[i] for i in which], [self.labels[i] for i in which]

    def first(self, count: int) -> Task:
        """The task of the first sets alone."""
        return Task(self.name, self.sets[:count], self.labels[:count], self.groups[:count])

    def halves(self) -> list[tuple[list[int], list[int]]]:
        """Sorted groups, even against odd; each half in turn trains."""
        even = set(sorted(set(self.groups))[::2])
        first = [i for i, g in enumerate(self.groups) if g in even]
        second = [i for i, g in enumerate(self.groups) if g not in even]
        return [(first, second), (second, first)]


def _pairs(m: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(m, 1)


def news(name: str, fields: tuple[str, ...]) -> Task:
    """Cosines of 1-, 2- and 3-gram tf-idf of each field, and a constant (news of the 2005 paper)."""
    data = json_lines(f"news/{name}.jsonl.gz")
    columns: list[list[np.ndarray]] = [[] for _ in data]
    names = []
    for field in fields:
        for n in (1, 2, 3):
            names.append(f"{field} {n}-grams")
            texts = [[item.get(field) or "" for item in s["items"]] for s in data]
            weights = TfidfVectorizer(ngram_range=(n, n)).fit([t for ts in texts for t in ts])
            for mine, column in zip(texts, columns, strict=True):
                X = weights.transform(mine)
                column.append((X @ X.T).toarray()[_pairs(len(mine))])
    sets = [
        ItemSet(pairs=np.column_stack([*c, np.ones(len(c[0]))]), feature_names=[*names, "constant"])
        for c in columns
    ]
    labels = [np.array(s["labels"]) for s in data]
    return Task(name, sets, labels, [s["group"] for s in data])


def _record_views(name: str) -> tuple[list[dict[str, str]], list[str], dict[str, Any]]:
    """Rows, attribute columns, and tf-idf vectors of words and letter trigrams for each column."""
    rows = list(csv.DictReader(text_lines(f"entity_resolution/{name}.csv.gz")))
    columns = [c for c in rows[0] if c not in ("record_id", "source", "cluster_id", "fold")]
    texts = {c: [r[c].lower() for r in rows] for c in columns}
    texts["record"] = [" ".join(r[c].lower() for c in columns) for r in rows]
    views = {}
    for c, values in texts.items():
        for kind, options in (("words", {}), ("trigrams", {"analyzer": "char_wb", "ngram_range": (3, 3)})):
            try:
                views[f"{c} {kind}"] = TfidfVectorizer(**options).fit_transform(values)
            except ValueError:  # a column with no words
                continue
    return rows, columns, views


def _record_set(
    rows: list[dict[str, str]], columns: list[str], views: dict[str, Any], part: list[int]
) -> ItemSet:
    """Likeness of strings per column and of the whole record, equality, missing values, a constant."""
    a, b = _pairs(len(part))
    feats = {name: np.asarray((X[part] @ X[part].T).toarray())[a, b] for name, X in views.items()}
    for c in columns:
        v = np.array([rows[i][c].lower() for i in part], dtype=object)
        feats[f"{c} equal"] = ((v[a] == v[b]) & (v[a] != "")).astype(float)
        feats[f"{c} missing"] = ((v[a] == "") | (v[b] == "")).astype(float)
    feats["constant"] = np.ones(len(a))
    return ItemSet(pairs=np.column_stack(list(feats.values())), feature_names=list(feats))


def records(name: str, most: int = 400) -> Task:
    """One item set per fold (at most so many records of each)."""
    rows, columns, views = _record_views(name)
    parts = [[i for i, r in enumerate(rows) if r["fold"] == str(k)][:most] for k in range(10)]
    sets = [_record_set(rows, columns, views, part) for part in parts]
    labels = [np.array([int(rows[i]["cluster_id"]) for i in part]) for part in parts]
    return Task(name, sets, labels, list(range(10)))


def records_as_one_set(name: str, folds: Iterable[int]) -> Task:
    """The records of some folds as one large set."""
    rows, columns, views = _record_views(name)
    wanted = {str(k) for k in folds}
    part = [i for i, r in enumerate(rows) if r["fold"] in wanted]
    labels = np.array([int(rows[i]["cluster_id"]) for i in part])
    return Task(name, [_record_set(rows, columns, views, part)], [labels], [0])


MALE = {
    "he",
    "him",
    "his",
    "himself",
    "mr",
    "sir",
    "lord",
    "king",
    "man",
    "boy",
    "father",
    "son",
    "brother",
    "uncle",
    "husband",
    "gentleman",
}
FEMALE = {
    "she",
    "her",
    "hers",
    "herself",
    "mrs",
    "miss",
    "lady",
    "queen",
    "woman",
    "girl",
    "mother",
    "daughter",
    "sister",
    "aunt",
    "wife",
    "madam",
}
PLURAL = {
    "they",
    "them",
    "their",
    "theirs",
    "themselves",
    "we",
    "us",
    "our",
    "ours",
    "ourselves",
    "these",
    "those",
    "people",
    "men",
    "women",
}
FIRST = {"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"}
SECOND = {"you", "your", "yours", "yourself", "thou", "thee", "thy"}


def mentions(name: str = "litbank", most: int = 300) -> Task:
    """Simple mention pair features: strings, heads, forms, gender, number, distance, type."""
    data = json_lines(f"{name}/{name}.jsonl.gz")
    sets, labels = [], []
    for doc in data:
        chosen = doc["mentions"][:most]
        if len(chosen) < 2:
            continue
        sets.append(_mention_set(doc["tokens"], chosen))
        labels.append(np.array(doc["clusters"][: len(chosen)]))
    return Task(name, sets, labels, list(range(len(sets))))


def _mention_set(tokens: list[list[str]], chosen: list[dict[str, Any]]) -> ItemSet:
    words = [[t.lower() for t in tokens[m["sent"]][m["start"] : m["end"]]] for m in chosen]
    text = np.array([" ".join(w) for w in words], dtype=object)
    bare = np.array(
        [re.sub(r"^(the|a|an|this|that|his|her|my|their|your) ", "", t) for t in text], dtype=object
    )
    head = np.array([w[-1] for w in words], dtype=object)
    form = np.array([m.get("form") or _form(w) for m, w in zip(chosen, words, strict=True)])
    kind = np.array([m.get("type") or m.get("entity_type") or "" for m in chosen])
    sent = np.array([m["sent"] for m in chosen])
    a, b = _pairs(len(chosen))
    traits = {k: np.array([bool(s & set(w)) for w in words]) for k, s in _TRAITS.items()}
    pron, prop = form == "PRON", form == "PROP"
    both, one = pron[a] & pron[b], pron[a] ^ pron[b]
    gap = np.abs(sent[a] - sent[b])
    order = np.abs(np.arange(len(chosen))[a] - np.arange(len(chosen))[b])
    sets_of = [set(w) for w in words]
    overlap = np.array(
        [len(sets_of[i] & sets_of[j]) / len(sets_of[i] | sets_of[j]) for i, j in zip(a, b, strict=True)]
    )
    clash = (traits["male"][a] & traits["female"][b]) | (traits["female"][a] & traits["male"][b])
    plain = ~pron[a] & ~pron[b]
    columns = {
        "same text": (text[a] == text[b]) & plain,
        "same text, pronouns": (text[a] == text[b]) & both,
        "same without determiner": (bare[a] == bare[b]) & plain,
        "same head": (head[a] == head[b]) & plain,
        "word overlap": overlap * plain,
        "both proper, same head": prop[a] & prop[b] & (head[a] == head[b]),
        "both proper, other head": prop[a] & prop[b] & (head[a] != head[b]),
        "both pronouns": both,
        "one pronoun": one,
        "both first person": traits["first"][a] & traits["first"][b],
        "first and other person": both & (traits["first"][a] ^ traits["first"][b]),
        "both second person": traits["second"][a] & traits["second"][b],
        "gender agrees": (traits["male"][a] & traits["male"][b])
        | (traits["female"][a] & traits["female"][b]),
        "gender clashes": clash,
        "number clashes": traits["plural"][a] ^ traits["plural"][b],
        "same type": kind[a] == kind[b],
        "same sentence": gap == 0,
        "sentence distance": np.log1p(gap),
        "pronoun, next mention": one & (order == 1),
        "pronoun, near": one & (gap <= 1),
        "pronouns, near": both & (gap <= 1),
        "constant": np.ones(len(a)),
    }
    return ItemSet(
        pairs=np.column_stack([np.asarray(c, float) for c in columns.values()]), feature_names=list(columns)
    )


_TRAITS = {"male": MALE, "female": FEMALE, "plural": PLURAL, "first": FIRST, "second": SECOND}


def _form(words: list[str]) -> str:
    if len(words) == 1 and words[0] in MALE | FEMALE | PLURAL | FIRST | SECOND | {"it", "its", "itself"}:
        return "PRON"
    return "NOM"
