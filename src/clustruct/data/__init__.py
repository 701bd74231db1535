"""What goes from room to room, as plain types: what is known of the items of a set, and their groups.

In: arrays and label vectors. Out: frozen records. Nothing here searches, learns or reads files.
"""

from clustruct.core.lazy import lazy_modules

from .evidence import Evidence
from .grouping import Grouping, GroupingOptions

__all__ = ["Evidence", "Grouping", "GroupingOptions"]

__getattr__ = lazy_modules(__name__, "datasets", "io", "itemsets", "records")
