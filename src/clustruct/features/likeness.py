"""Which features tell that two items are alike, as their names say."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Of the others a larger value speaks for no likeness: a constant, something missing, something other.
_OTHERS = re.compile(
    r"^constant$|missing in (one|both)|\bother (codes|head|modifiers|type|speaker|quotations|kinds)"
    r"|\b(distance|difference)\b"
)


def likenesses(names: Iterable[str]) -> list[str]:
    """The names of the features that tell a likeness.

    Parameters
    ----------
    names : iterable of str
        Names of features.

    Returns
    -------
    list of str
        Those that are higher the more alike two items are.

    Examples
    --------
    >>> likenesses(["name: same", "name: missing in one", "name: other codes", "constant"])
    ['name: same']
    """
    return [name for name in map(str, names) if not _OTHERS.search(name)]
