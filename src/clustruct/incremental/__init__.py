"""Groups that live on: new items for known groups, ids that last, decisions of people, what changed."""

from .assign import Assignment, Proposal, assign
from .changes import Changes, GroupChange, Move, compare
from .constraints import Constraints, constraints
from .decisions import Decision, read_decisions, write_decisions
from .group_files import is_store, read_groups, write_groups
from .labels import Labels, read_labels
from .ledger import Entry, Ledger, digest, fresh_id
from .matching import match_groups, with_ids
from .replay import Run, State, Statement, replay
from .store import Store
from .stored import Item

__all__ = [
    "Assignment",
    "Changes",
    "Constraints",
    "Decision",
    "Entry",
    "GroupChange",
    "Item",
    "Labels",
    "Ledger",
    "Move",
    "Proposal",
    "Run",
    "State",
    "Statement",
    "Store",
    "assign",
    "compare",
    "constraints",
    "digest",
    "fresh_id",
    "is_store",
    "match_groups",
    "read_decisions",
    "read_groups",
    "read_labels",
    "replay",
    "with_ids",
    "write_decisions",
    "write_groups",
]
