"""Items as people know them: by name and by what they say."""

from __future__ import annotations

from typing import Any

from clustruct.records import RawSet, is_missing

from .findings import SetFindings
from .page import Html, text

# Letters of an item that a table shows, and of each of its fields.
MOST_LETTERS = 240
FIELD_LETTERS = 60


def item_name(raw: RawSet, a: int) -> Any:
    """Its id, or its number."""
    return f"item {a}" if raw.ids is None else raw.ids[a]


def item_words(raw: RawSet, a: int) -> str:
    """What its fields say, in one line."""
    said = [f"{name}: {value}" for name, value in raw.items[a].items() if not is_missing(value)]
    words = "; ".join(_beginning(part, FIELD_LETTERS) for part in said)
    return _beginning(words, MOST_LETTERS)


def _beginning(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def item_html(raw: RawSet, a: int) -> Html:
    """Name and fields."""
    words = text(item_words(raw, a), MOST_LETTERS)
    return Html(f'<b>{text(item_name(raw, a), 60)}</b> <span class="soft">{words}</span>')


def places(one: SetFindings) -> dict[Any, int]:
    """The number of the item of each name."""
    names = range(len(one.raw)) if one.raw.ids is None else one.raw.ids
    return {name: a for a, name in enumerate(names)}
