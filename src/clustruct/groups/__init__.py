"""Groups that live on: new items for known groups, ids that last, decisions of people, what changed.

In: tables, a model, files of groups, decisions. Out: groups with ids, a store. Nothing here learns or asks.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    # What commands and Studio use beside the names of users has the form "as".
    from .changes import Changes, compare
    from .changes import GroupChange as GroupChange
    from .correction_sets import Corrections, corrections
    from .daily_run import Outcome, add_to_groups, record
    from .daily_run import add_known_items as add_known_items
    from .decisions import Decision, settle
    from .decisions import PairJudgement as PairJudgement
    from .files import LabelFile as LabelFile
    from .files import read_decisions, read_groups, read_labels, write_decisions, write_groups
    from .item_assignment import Assignment, assign
    from .known import KnownItems, known_of_store, known_of_table
    from .known import write_known_items as write_known_items
    from .ledger import Ledger as Ledger
    from .ledger import LedgerEntry as LedgerEntry
    from .linking import LinkedRows, link, link_columns, rename_fields, side_by_side
    from .log_replay import LoggedRun as LoggedRun
    from .log_replay import State, replay
    from .named_assignment import Update, match_groups, update_groups
    from .named_assignment import with_ids as with_ids
    from .schema import is_store as is_store
    from .scoring import place_items
    from .store import Store
    from .store_reader import Item

__all__ = ["Assignment", "Changes", "Corrections", "Decision", "Item", "KnownItems", "LinkedRows"]
__all__ += ["Outcome", "State", "Store", "Update", "add_to_groups", "assign", "compare", "corrections"]
__all__ += ["known_of_store", "known_of_table", "link", "link_columns", "match_groups", "place_items"]
__all__ += ["read_decisions", "read_groups", "read_labels", "record", "rename_fields", "replay"]
__all__ += ["settle", "side_by_side", "update_groups", "write_decisions", "write_groups"]

__getattr__, __dir__ = lazy_names(
    __name__, "changes", "decisions", "files", "known", "ledger", "linking", "log_replay", "schema"
)
