"""The third-party data of CLUSTRUCT_DATA as raw sets."""

from __future__ import annotations

import csv
import json
from typing import Any

from clustruct.data import Table
from studies.data import text_lines

NOT_ATTRIBUTES = ("record_id", "source", "cluster_id", "fold")


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text_lines(f"entity_resolution/{name}.csv.gz")))


def _record_set(rows: list[dict[str, str]], name: str) -> Table:
    items = [{k: v for k, v in row.items() if k not in NOT_ATTRIBUTES} for row in rows]
    labels = [row["cluster_id"] for row in rows]
    return Table(items, labels, name, ids=[row["record_id"] for row in rows])


def records(name: str, most: int | None = None) -> list[Table]:
    """One set per fold, of at most so many records. The columns `source` and `record_id` are left out."""
    rows = _rows(name)
    folds = [[r for r in rows if r["fold"] == str(k)][:most] for k in range(10)]
    return [_record_set(fold, f"{name}, fold {k}") for k, fold in enumerate(folds)]


def records_together(name: str, folds: range) -> Table:
    """The records of some folds as one set."""
    wanted = {str(k) for k in folds}
    return _record_set([r for r in _rows(name) if r["fold"] in wanted], name)


def item_sets(path: str) -> list[Table]:
    """News and author names: one set per line."""
    sets = []
    for line in text_lines(path):
        s = json.loads(line)
        sets.append(Table(s["items"], s["labels"], s["id"], group=s.get("group", s["id"])))
    return sets


PATHS = {
    "googlenews": "news/googlenews.jsonl.gz",
    "uci_aggregator": "news/uci_aggregator.jsonl.gz",
    "ecbplus_articles": "news/ecbplus_articles.jsonl.gz",
    "author_names": "author_names/aminer.jsonl.gz",
}
WORDS = ("tokens", "lemma", "upos", "xpos", "feats", "head", "deprel", "speaker", "par")
NEVER = ("gold",)  # hand annotation of the very thing that is to be found


def documents(name: str, most: int | None = None) -> list[Table]:
    """litbank and gum: the mentions of a document as a set, its words as context."""
    return [document(json.loads(line), most) for line in text_lines(f"{name}/{name}.jsonl.gz")]


def document(doc: dict[str, Any], most: int | None = None) -> Table:
    """The first mentions of a document."""
    items = [{k: v for k, v in m.items() if k not in NEVER} for m in doc["mentions"][:most]]
    return Table(
        items,
        doc["clusters"][: len(items)],
        doc["id"],
        context={k: doc[k] for k in WORDS if k in doc},
    )
