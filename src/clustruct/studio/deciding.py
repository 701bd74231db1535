"""Decisions as the page sends them: each is kept once, on the disk before the page is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clustruct.core.exceptions import DataError
from clustruct.groups import Decision, Store
from clustruct.groups.replay import undone

# What a page may send, and how long a text in it may be.
TEXTS = ("group", "into", "note")
LONGEST, MOST_ITEMS = 2000, 5000
KINDS = ("same", "different", "unsure", "sort", "move", "merge", "split", "confirm", "note")
# A decision that comes twice (the page did not hear the answer) is known by its key, in the last so many.
LOOKED_AT = 50


def decision_of(sent: Mapping[str, Any], author: str) -> Decision:
    """A decision from what a page has sent; `DataError` where it is none."""
    kind, items = sent.get("kind"), sent.get("items", [])
    if kind not in KINDS:
        raise DataError(f"{kind!r:.40} is no decision")
    if not _are_names(items) or len(items) > MOST_ITEMS:
        raise DataError("items must be a list of names")
    told: dict[str, Any] = {"piles": _piles(sent.get("piles", []))}
    for name in TEXTS:
        value = sent.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > LONGEST):
            raise DataError(f"{name} must be a text of at most {LONGEST} letters")
        told[name] = value or None
    told["note"] = told["note"] or ""
    try:
        return Decision(kind, tuple(items), author=author, source=key_of(sent), **told)
    except ValueError as error:
        raise DataError(str(error)) from None


def _are_names(sent: object) -> bool:
    return isinstance(sent, list) and all(isinstance(name, str) for name in sent)


def _piles(sent: object) -> tuple[tuple[str, ...], ...]:
    """The piles that items were sorted into."""
    if not isinstance(sent, list) or not all(map(_are_names, sent)):
        raise DataError("piles must be a list of lists of names")
    return tuple(map(tuple, sent))


def key_of(sent: Mapping[str, Any]) -> str:
    """What tells a decision from all others, as the page has drawn it."""
    key = sent.get("key")
    if not isinstance(key, str) or not (8 <= len(key) <= 40 and key.isascii() and key.isalnum()):
        raise DataError("a decision needs a key of 8 to 40 letters and digits")
    return f"studio {key}"


def decide(store: Store, decision: Decision) -> int:
    """Keep a decision, or find that it is kept already; its number."""
    with store.transaction():
        kept = store.recent(LOOKED_AT)
        for one in reversed(kept):
            if one.source == decision.source:
                return one.number
        return store.decide(decision)


def undo_of(decisions: Sequence[Decision]) -> int | None:
    """The decision that an undo would take back: the last that counts, undos aside."""
    out = undone(decisions)
    able = [d.number for d in decisions if d.kind != "undo" and d.number not in out]
    return able[-1] if able else None


def redo_of(decisions: Sequence[Decision]) -> int | None:
    """The undo that a redo would take back: the last that counts, if nothing was decided since.

    >>> log = [Decision("note", note="a", number=1), Decision("undo", undoes=1, number=2)]
    >>> undo_of(log), redo_of(log)
    (None, 2)
    """
    out = undone(decisions)
    last = max((d.number for d in decisions if d.kind != "undo"), default=0)
    able = [d.number for d in decisions if d.kind == "undo" and d.number not in out and d.number > last]
    roots = {d.number: d for d in decisions}
    plain = [n for n in able if roots[roots[n].undoes or 0].kind != "undo"]
    return plain[-1] if plain else None
