"""Groups that live on: new items for known groups, ids that last, decisions of people, what changed.

In: tables, a model, files of groups, decisions. Out: groups with ids, a store. Nothing here learns or asks.
"""

from importlib import import_module
from typing import Any

from .assign import Assignment, Proposal, assign
from .changes import Changes, GroupChange, Move, compare
from .decisions import Decision, PairJudgement, contradiction, evidence_of, settle
from .files import (
    LabelFile,
    id_columns,
    read_decisions,
    read_groups,
    read_labels,
    write_decisions,
    write_groups,
)
from .ledger import Ledger, LedgerEntry, digest, fresh_id
from .named_assignment import NamedProposal, Update, match_groups, update_groups, with_ids
from .replay import LoggedRun, State, replay, undone
from .schema import is_store
from .store import Store
from .store_reader import Item

__all__ = [
    "Assignment",
    "Changes",
    "Corrections",
    "Decision",
    "GroupChange",
    "Item",
    "KnownIndex",
    "KnownItems",
    "LabelFile",
    "Ledger",
    "LedgerEntry",
    "LinkedRows",
    "LoggedRun",
    "Move",
    "NamedProposal",
    "Outcome",
    "PairJudgement",
    "Proposal",
    "State",
    "Store",
    "Update",
    "add_to_groups",
    "assign",
    "compare",
    "contradiction",
    "corrections",
    "digest",
    "evidence_of",
    "fresh_id",
    "id_columns",
    "is_store",
    "keep_known",
    "known_file",
    "known_of_store",
    "known_of_table",
    "link",
    "link_columns",
    "match_groups",
    "one_set",
    "place_items",
    "read_decisions",
    "read_groups",
    "read_labels",
    "record",
    "renamed",
    "replay",
    "settle",
    "side_by_side",
    "undone",
    "update_groups",
    "with_ids",
    "write_decisions",
    "write_groups",
    "write_known",
]


# These load scikit-learn, which nothing else here needs.
_HOMES = {
    "Corrections": "correction_sets",
    "corrections": "correction_sets",
    "KnownItems": "known",
    "KnownIndex": "known_index",
    "LinkedRows": "linking",
    "Outcome": "daily_run",
    "add_to_groups": "daily_run",
    "keep_known": "daily_run",
    "link": "linking",
    "link_columns": "linking",
    "renamed": "linking",
    "side_by_side": "linking",
    "spelt": "linking",
    "known_file": "known",
    "known_of_store": "known",
    "known_of_table": "known",
    "one_set": "known",
    "place_items": "scoring",
    "record": "daily_run",
    "write_known": "known",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"clustruct.groups.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'clustruct.groups' has no attribute {name!r}")
