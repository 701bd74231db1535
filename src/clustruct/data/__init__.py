"""What goes from room to room, as plain types: what is known of the items of a set, and their groups.

In: arrays and label vectors. Out: frozen records. Nothing here searches, learns or reads files.
"""

from .evidence import Evidence
from .grouping import Grouping, GroupingOptions

__all__ = ["Evidence", "Grouping", "GroupingOptions"]
