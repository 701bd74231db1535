"""Groups that live on: new items for known groups, ids that last, decisions of people, what changed.

In: tables, a model, files of groups, decisions. Out: groups with ids, a store. Nothing here learns or asks.
"""

from importlib import import_module
from typing import Any

from .assign import Assignment, Proposal, assign
from .changes import Changes, GroupChange, Move, compare
from .constraints import Constraints, constraints, contradiction
from .decisions import Decision, read_decisions, write_decisions
from .group_files import id_columns, is_store, read_groups, write_groups
from .labels import Labels, read_labels
from .ledger import Ledger, LedgerEntry, digest, fresh_id
from .matching import match_groups, with_ids
from .replay import Run, State, replay, undone
from .statements import Statement
from .store import Store
from .stored import Item
from .update import NamedProposal, Update, update_groups

__all__ = [
    "Assignment",
    "Changes",
    "Constraints",
    "Corrections",
    "Decision",
    "GroupChange",
    "Item",
    "Known",
    "KnownIndex",
    "Labels",
    "Ledger",
    "LedgerEntry",
    "LinkedRows",
    "Move",
    "NamedProposal",
    "Outcome",
    "Proposal",
    "Run",
    "State",
    "Statement",
    "Store",
    "Update",
    "add_to_groups",
    "assign",
    "compare",
    "constraints",
    "contradiction",
    "corrections",
    "digest",
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
    "Corrections": "correcting",
    "corrections": "correcting",
    "Known": "known",
    "KnownIndex": "index",
    "LinkedRows": "linking",
    "Outcome": "living",
    "add_to_groups": "living",
    "keep_known": "living",
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
    "record": "living",
    "write_known": "known",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"clustruct.groups.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'clustruct.groups' has no attribute {name!r}")
