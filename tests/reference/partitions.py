"""All partitions of a small set."""

from collections.abc import Iterator


def all_partitions(m: int) -> Iterator[list[int]]:
    """All partitions of m items as restricted growth strings (canonical labels)."""

    def grow(prefix: list[int], used: int) -> Iterator[list[int]]:
        if len(prefix) == m:
            yield prefix
            return
        for label in range(used + 1):
            yield from grow([*prefix, label], max(used, label + 1))

    yield from grow([], 0)
