"""What goes from room to room, as plain types: what is known of the items of a set.

In: arrays and label vectors. Out: frozen records. Nothing here searches, learns or reads files.
"""

from .evidence import Evidence

__all__ = ["Evidence"]
