"""Made-up tables whose groups are known: persons, products, papers, places, events, vectors, mentions.

They are made by other means than `clustruct.data.datasets`, on which defaults were chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache

import numpy as np

from .sheets import Sheet, SheetColumn

Entity = dict[str, str]
Rng = np.random.Generator


def _list(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]


SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvwz" for vowel in "aeo"]
CITIES = _list(
    "Arnholt, Brevik, Calden, Dorfen, Elmira, Fanhill, Gorse, Halden, Ilford, Jarrow, Kelso, Lomond"
)
STREETS = _list("Mill Lane, High Street, Station Road, Church Way, Park Avenue, Bridge Road, King Street")
BRANDS = _list("Acorn, Boltex, Corvo, Delmar, Evora, Fenix, Gantz, Hiro")
THINGS = _list("kettle, lamp, drill, camera, printer, keyboard, speaker, toaster, blender, router, monitor")
TOPICS = _list(
    "graphs, clusters, kernels, trees, margins, oracles, bounds, partitions, records, networks, samples"
)
VENUES = _list(
    "Journal of Learning, Annals of Data, Conf. on Mining, Workshop on Graphs, Letters in Statistics"
)
OCCASIONS = _list(
    "concert, lecture, exhibition, festival, workshop, reading, screening, match, fair, premiere"
)


def _word(rng: Rng, n: int = 2) -> str:
    return "".join(str(rng.choice(SYLLABLES)) for _ in range(n)).capitalize()


def _one(rng: Rng, words: list[str]) -> str:
    return words[int(rng.integers(len(words)))]


def _digits(rng: Rng, n: int) -> str:
    return "".join(map(str, rng.integers(0, 10, n)))


def _day(rng: Rng, first: int, last: int) -> str:
    start = date(first, 1, 1)
    return (start + timedelta(days=int(rng.integers((last - first) * 365)))).isoformat()


def slip(text: str, rng: Rng) -> str:
    """One letter dropped, doubled, or exchanged with its neighbour."""
    if len(text) < 3:
        return text
    a, how = int(rng.integers(len(text) - 1)), int(rng.integers(3))
    if how == 0:
        return text[:a] + text[a + 1] + text[a] + text[a + 2 :]
    return text[:a] + text[a + 1 :] if how == 1 else text[:a] + text[a] + text[a:]


def _person(rng: Rng) -> Entity:
    return {
        "name": f"{_word(rng)} {_word(rng, 3)}",
        "street": f"{rng.integers(1, 120)} {_one(rng, STREETS)}",
        "postcode": _digits(rng, 5),
        "city": _one(rng, CITIES),
        "phone": f"0{_digits(rng, 8)}",
        "born": _day(rng, 1935, 2006),
    }


def _product(rng: Rng) -> Entity:
    brand, thing = _one(rng, BRANDS), _one(rng, THINGS)
    model = f"{_one(rng, list('ABCDEFGHKLMNPRSTX'))}{_one(rng, list('ABCDEFGHKLMNPRSTX'))}-{_digits(rng, 3)}"
    return {
        "title": f"{brand} {model} {_word(rng).lower()} {thing}",
        "brand": brand,
        "price": f"{rng.integers(800, 150_000) / 100:.2f}",
        "weight": f"{rng.integers(100, 20_000) / 1000:.3f}",
        "article": f"0{_digits(rng, 7)}",
        "released": _day(rng, 2005, 2024),
    }


def _paper(rng: Rng) -> Entity:
    first, topics = int(rng.integers(1, 900)), [_one(rng, TOPICS) for _ in range(3)]
    return {
        "title": f"{_word(rng)} {topics[0]} for {_word(rng).lower()} {topics[1]} and {topics[2]}",
        "authors": ", ".join(f"{_word(rng, 1)[0]}. {_word(rng, 3)}" for _ in range(int(rng.integers(1, 4)))),
        "venue": _one(rng, VENUES),
        "year": str(rng.integers(1975, 2024)),
        "pages": f"{first}-{first + int(rng.integers(6, 30))}",
    }


def _place(rng: Rng) -> Entity:
    return {
        "name": f"{_word(rng, 3)} {_one(rng, ['Cafe', 'Hotel', 'Museum', 'School', 'Clinic', 'Bakery'])}",
        "address": f"{rng.integers(1, 200)} {_one(rng, STREETS)}",
        "city": _one(rng, CITIES),
        "phone": f"0{_digits(rng, 9)}",
        "latitude": f"{rng.uniform(45, 55):.4f}",
        "longitude": f"{rng.uniform(5, 15):.4f}",
    }


def _event(rng: Rng) -> Entity:
    return {
        "title": f"{_word(rng, 3)} {_word(rng)} {_one(rng, OCCASIONS)}",
        "hall": f"{_word(rng)} Hall",
        "city": _one(rng, CITIES),
        "day": _day(rng, 2015, 2024),
        "fee": f"{rng.integers(5, 120)}.{_one(rng, ['00', '50', '90'])}",
        "host": f"{_word(rng)} {_word(rng, 3)}",
    }


def _short(words: list[str]) -> str:
    return " ".join([f"{words[0][0]}.", *words[1:]])


def _vary_words(cell: str, rng: Rng) -> str:
    """A text as somebody else writes it: an initial, other order, one word less, a slip."""
    words, how = cell.split(), int(rng.integers(5))
    if how == 0 and len(words) > 1:
        return _short(words)
    if how == 1 and len(words) == 2:
        return f"{words[1]}, {words[0]}"
    if how == 2 and len(words) > 3:
        return " ".join(w for a, w in enumerate(words) if a != int(rng.integers(1, len(words))))
    return slip(cell, rng)


def _vary_number(cell: str, rng: Rng) -> str:
    digits = len(cell.partition(".")[2])
    return f"{float(cell) * (1 + rng.normal(0, 0.004)):.{digits}f}"


def _vary_day(cell: str, rng: Rng) -> str:
    year, month, day = cell.split("-")
    return (
        cell
        if rng.random() < 0.5
        else f"{year}-{month}-{min(28, max(1, int(day) + int(rng.integers(-2, 3)))):02d}"
    )


VARY: dict[str, Callable[[str, Rng], str]] = {
    "text": _vary_words,
    "category": lambda cell, rng: cell,
    "number": _vary_number,
    "date": _vary_day,
    "code": slip,
}
# What makes an entity, and what its columns hold.
ENTITIES: dict[str, tuple[Callable[[Rng], Entity], dict[str, str]]] = {
    "persons": (
        _person,
        {
            "name": "text",
            "street": "text",
            "postcode": "code",
            "city": "category",
            "phone": "code",
            "born": "date",
        },
    ),
    "products": (
        _product,
        {
            "title": "text",
            "brand": "category",
            "price": "number",
            "weight": "number",
            "article": "code",
            "released": "date",
        },
    ),
    "papers": (
        _paper,
        {"title": "text", "authors": "text", "venue": "category", "year": "number", "pages": "text"},
    ),
    "places": (
        _place,
        {
            "name": "text",
            "address": "text",
            "city": "category",
            "phone": "code",
            "latitude": "number",
            "longitude": "number",
        },
    ),
    "events": (
        _event,
        {"title": "text", "hall": "text", "city": "category", "day": "date", "fee": "number", "host": "text"},
    ),
}
ALIKE, ERRORS, MISSING = 0.15, 0.3, 0.08
KINDS = (*ENTITIES, "vectors", "mentions")


@lru_cache(maxsize=64)
def make_sheet(kind: str, draw: int, n_groups: int = 70) -> Sheet:
    """A plain table; half of its groups (of mentions, of its documents) are labelled."""
    rng = np.random.default_rng([draw, KINDS.index(kind)])
    if kind == "vectors":
        return _vectors(rng, n_groups)
    if kind == "mentions":
        return _mentions(rng)
    make, kinds = ENTITIES[kind]
    rows: list[tuple[int, Entity]] = []
    for group in range(n_groups):
        entity = make(rng)
        if rows and rng.random() < ALIKE:
            entity = _like(rows[int(rng.integers(len(rows)))][1], entity, rng)
        rows.append((group, entity))
        rows += [
            (group, _again(entity, kinds, rng))
            for _ in range(int(rng.choice(5, p=[0.3, 0.3, 0.2, 0.1, 0.1])))
        ]
    rows = [rows[a] for a in rng.permutation(len(rows))]
    columns = [SheetColumn(name, k, [row[name] for _, row in rows], name) for name, k in kinds.items()]
    return _labelled(kind, columns, [group for group, _ in rows], rng)


def _like(other: Entity, entity: Entity, rng: Rng) -> Entity:
    """An entity that shares what some columns say with another one: a relative, a variant, a second part."""
    return {name: other[name] if other[name] and rng.random() < 0.5 else entity[name] for name in entity}


def _again(entity: Entity, kinds: dict[str, str], rng: Rng) -> Entity:
    row = {}
    for name, cell in entity.items():
        changed = VARY[kinds[name]](cell, rng) if rng.random() < ERRORS else cell
        row[name] = "" if rng.random() < MISSING else changed
    return row


def _labelled(kind: str, columns: list[SheetColumn], truth: list[int], rng: Rng) -> Sheet:
    n, groups = len(truth), sorted(set(truth))
    known = {int(g) for g in rng.choice(groups, len(groups) // 2, replace=False)}
    labels = [f"g{g}" if g in known else "" for g in truth]
    return Sheet(kind, columns, truth, labels, [f"r{a + 1}" for a in range(n)], list(range(n)))


def _vectors(rng: Rng, n_groups: int, n_dimensions: int = 6) -> Sheet:
    truth = [g for g in range(n_groups // 2) for _ in range(int(rng.integers(2, 7)))]
    truth = [truth[a] for a in rng.permutation(len(truth))]
    centres = rng.normal(size=(n_groups, n_dimensions))
    points = centres[truth] + rng.normal(scale=0.18, size=(len(truth), n_dimensions))
    columns = [
        SheetColumn(f"x{d}", "vector", [f"{v:.5f}" for v in points[:, d]], f"x{d}")
        for d in range(n_dimensions)
    ]
    return _labelled("vectors", columns, truth, rng)


def _mentions(rng: Rng, n_documents: int = 12, n_entities: int = 7) -> Sheet:
    """Names of people in documents, each a set of its own; the first half of the documents is labelled."""
    rows: list[tuple[str, int, dict[str, str]]] = []
    for document in range(n_documents):
        for entity in range(n_entities):
            first, last, work = _word(rng), _word(rng, 3), _one(rng, THINGS)
            for k in range(int(rng.integers(1, 6))):
                forms = [f"{first} {last}", last, f"{first[0]}. {last}", first]
                form = forms[0] if k == 0 else _one(rng, forms)
                thing = work if rng.random() < 0.7 else _one(rng, THINGS)
                sentence = f"{form} with the {thing} in {_one(rng, CITIES)}"
                cells = {"mention": form, "sentence": sentence, "work": work if rng.random() < 0.5 else ""}
                rows.append((f"d{document:02d}", document * n_entities + entity, cells))
    kinds = {"mention": "text", "sentence": "text", "work": "category"}
    columns = [SheetColumn(name, k, [row[2][name] for row in rows], name) for name, k in kinds.items()]
    truth = [row[1] for row in rows]
    labels = [
        f"g{g}" if row[0] < f"d{n_documents // 2:02d}" else "" for g, row in zip(truth, rows, strict=True)
    ]
    n = len(rows)
    ids = [f"r{a + 1}" for a in range(n)]
    return Sheet("mentions", columns, truth, labels, ids, list(range(n)), set_names=[row[0] for row in rows])
