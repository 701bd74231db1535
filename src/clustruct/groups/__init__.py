"""Groups that live on: new items for known groups, ids that last, decisions of people, what changed.

In: tables, a model, files of groups, decisions. Out: groups with ids, a store. Nothing here learns or asks.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .changes import Changes, GroupChange, compare
    from .correction_sets import Corrections, corrections
    from .daily_run import Outcome, add_known_items, add_to_groups, record
    from .decisions import Decision, PairJudgement, settle
    from .files import LabelFile, read_decisions, read_groups, read_labels, write_decisions, write_groups
    from .item_assignment import Assignment, assign
    from .known import KnownItems, known_of_store, known_of_table, write_known_items
    from .ledger import Ledger, LedgerEntry
    from .linking import LinkedRows, link, link_columns, rename_fields, side_by_side
    from .log_replay import LoggedRun, State, replay
    from .named_assignment import Update, match_groups, update_groups, with_ids
    from .schema import is_store
    from .scoring import place_items
    from .store import Store
    from .store_reader import Item

__all__ = ["Assignment", "Changes", "Corrections", "Decision", "GroupChange", "Item", "KnownItems"]
__all__ += ["LabelFile", "Ledger", "LedgerEntry", "LinkedRows", "LoggedRun", "Outcome", "PairJudgement"]
__all__ += ["State", "Store", "Update", "add_to_groups", "assign", "compare", "corrections", "is_store"]
__all__ += ["add_known_items", "known_of_store", "known_of_table", "link", "link_columns", "match_groups"]
__all__ += ["place_items", "read_decisions", "read_groups", "read_labels", "record", "rename_fields"]
__all__ += ["replay", "settle", "side_by_side", "update_groups", "with_ids", "write_decisions"]
__all__ += ["write_groups", "write_known_items"]

__getattr__, __dir__ = lazy_names(
    __name__, "changes", "decisions", "files", "known", "ledger", "linking", "log_replay", "schema"
)
