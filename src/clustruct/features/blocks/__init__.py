"""The kinds of pair features, and which of them suit the data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any, get_args

from clustruct.core.exceptions import DataError
from clustruct.core.storage.encoding import registered_classes
from clustruct.data import Fields, ItemKind, Readings, Table
from clustruct.features.base import Block, PairBlock

ITEM_KINDS: tuple[str, ...] = get_args(ItemKind)
# A guess asks the blocks in this order, which is that of its features. Those of users follow.
BLOCKS = (
    "clustruct.features.blocks.vectors",
    "clustruct.features.blocks.strings",
    "clustruct.features.blocks.terms",
    "clustruct.features.blocks.text_cosines",
    "clustruct.features.blocks.numbers",
    "clustruct.features.blocks.mentions",
    "clustruct.features.blocks.links",
)


def _block_classes() -> list[type[PairBlock[Any]]]:
    places = {module: place for place, module in enumerate(BLOCKS)}
    for module in BLOCKS:
        import_module(module)
    known = registered_classes(PairBlock).values()  # type: ignore[type-abstract]
    return sorted(known, key=lambda kind: places.get(kind.__module__, len(BLOCKS)))


def guess_blocks(
    sets: Sequence[Table],
    kind: ItemKind = "auto",
    fields: Sequence[str] | None = None,
    left_out: Collection[str] = (),
    readings: Readings | None = None,
) -> list[Block]:
    """Blocks of features that suit the tables, as `guess_field` and `guess_record` of each block have it.

    Parameters
    ----------
    sets : sequence of Table
        The tables.
    kind : ItemKind, default="auto"
        "records" (string likenesses of each field and of the whole record), "text" (n-gram cosines of
        text fields), "mentions" (noun phrases), "vectors" (lists of numbers, or numbers side by side), or
        "auto": mentions where items are places in a text, text where at most two fields hold anything and
        one is long, records otherwise.
    fields : sequence of str, optional
        The fields to use (all by default, without names of items).
    left_out : collection of str, default=()
        Fields that are not used.
    readings : Readings, optional
        What the fields hold (`clustruct.data.learn_readings`), where that was learned before.

    Returns
    -------
    list of Block
        Blocks that are not fitted yet.

    Examples
    --------
    >>> sets = [Table([{"title": "Dog bites man", "year": 1990}, {"title": "Rain", "year": 1991}])]
    >>> [type(block).__name__ for block in guess_blocks(sets, "records")]
    ['Strings', 'Terms', 'Strings', 'Numbers', 'Terms']
    """
    if kind not in ITEM_KINDS:
        raise ValueError(f"kind must be one of {', '.join(ITEM_KINDS)}, not {kind!r}")
    data = look_at_fields(sets, kind, fields, left_out, readings)
    classes = _block_classes()
    found: list[Block] = []
    for field in data.compared_fields():
        held = "category" if data.is_category(field) else data.kinds[field]
        suited = [c for c in classes if held in c.suits.get(data.items, ())]
        found += [block for c in suited for block in c.guess_field(data, field)]
    for c in classes:
        if data.items in c.suits_record:
            found += c.guess_record(data, found)
    if not found:
        held = ", ".join(f"{field} holds {kind}" for field, kind in data.kinds.items())
        raise DataError(f"no field to compare items by: {held or 'the items have no fields'}")
    return found


def look_at_fields(
    sets: Sequence[Table],
    kind: ItemKind = "auto",
    fields: Sequence[str] | None = None,
    left_out: Collection[str] = (),
    readings: Readings | None = None,
) -> Fields:
    """What the items are taken for, what each field holds, and which fields are compared.

    Parameters
    ----------
    sets : sequence of Table
        The tables.
    kind : ItemKind, default="auto"
        What the items are taken for; "auto": what they look like (`guess_blocks`).
    fields : sequence of str, optional
        The fields to use (all by default, without names of items).
    left_out : collection of str, default=()
        Fields that are not used.
    readings : Readings, optional
        What the fields hold (`clustruct.data.learn_readings`), where that was learned before.

    Returns
    -------
    Fields
        The kind of the items, and how each field is read.

    Examples
    --------
    >>> table = Table([{"title": "Dog bites man", "year": 1990}, {"title": "Rain", "year": 1991}])
    >>> found = look_at_fields([table])
    >>> found.items, found.compared_fields()
    ('records', ['title', 'year'])
    """
    place = {"sent", "start", "end"}  # of a mention in a text
    mentions = all("tokens" in table.context and place <= set(table.items[0]) for table in sets)
    if kind == "mentions" or (kind == "auto" and fields is None and mentions):
        return Fields(sets, "mentions", Readings())
    from clustruct.data import learn_readings  # which a model that is read does without

    known = learn_readings(sets, fields) if readings is None else readings
    known = known.only(
        [name for name in known if name not in left_out and (fields is None or name in fields)]
    )
    kinds = known.kinds()
    # Text where a long text is nearly all that the items hold.
    holding = [k for k in kinds.values() if k not in ("id", "nothing")]
    guess: ItemKind = "text" if "text" in holding and len(holding) <= 2 else "records"
    return Fields(sets, guess if kind == "auto" else kind, known)


def guess_kind(sets: Sequence[Table], fields: Sequence[str] | None = None) -> tuple[ItemKind, dict[str, str]]:
    """What the items are taken for, and what each field holds.

    Examples
    --------
    >>> guess_kind([Table([{"title": "Dog bites man", "year": 1990}, {"title": "Rain", "year": 1991}])])
    ('records', {'title': 'string', 'year': 'number'})
    """
    found = look_at_fields(sets, "auto", fields)
    return found.items, dict(found.kinds)
