"""Memory of workers: freed arrays are kept for the next ones.

Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536, so that what they free goes back to the system at
once. Then every large array of NumPy is new memory, page by page: scoring pairs took 4.2 CPU s instead of
3.3. So workers keep up to 64 MB of what they free, in the work on tables. Not in training: there what is
freed are shards that went to disk, and a worker whose memory does not shrink by that is paused for good.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache

# Numbers of glibc's mallopt, and bytes: what is kept at the end of the heap, and from where on an array has
# memory of its own (the largest that glibc allows).
TRIM, KEPT = -1, 64 << 20
OWN, LARGE = -3, 32 << 20


@cache
def keep_freed_memory() -> None:
    """Once for each process; nothing where the C library is not glibc."""
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(TRIM, KEPT)
        library.mallopt(OWN, LARGE)
