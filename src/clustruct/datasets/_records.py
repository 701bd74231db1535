"""Made-up people, entered more than once."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct._random import RandomStateLike, as_generator
from clustruct.records import RawSet

__all__ = ["make_records"]

FIRST = (
    "Anna, Ben, Clara, David, Elena, Frank, Greta, Henry, Ida, Jonas, Karen, Liam, Maria, Nils, Olga, "
    "Peter, Rosa, Simon, Tessa, Victor, Wilma, Xaver, Yara, Zoe, Adam, Bella, Carl, Doris, Emil, Flora"
)
LAST = (
    "Abbott, Becker, Carlsson, Dupont, Eriksen, Fischer, Garcia, Hansen, Ivanov, Jensen, Keller, Lehmann, "
    "Meyer, Novak, Olsen, Petrov, Quinn, Rossi, Schmidt, Tanaka, Ullmann, Vogel, Weber, Young, Zeller, "
    "Brandt, Conrad, Doyle, Engel, Forster"
)
STREETS = (
    "Mill Lane, High Street, Station Road, Church Street, Park Avenue, Bridge Road, Garden Walk, King Street"
)
CITIES = "Springfield, Riverton, Oakdale, Lakeside, Hillview, Ashford, Brookfield, Fairview"
SHORT = {"Street": "St", "Road": "Rd", "Avenue": "Ave", "Lane": "Ln"}


def make_records(
    n_sets: int = 8,
    n_people: int = 12,
    most: int = 4,
    errors: float = 0.35,
    random_state: RandomStateLike = 0,
) -> list[RawSet]:
    """Sets of address records: ``n_people`` people in each, everyone entered 1 to ``most`` times.

    Later entries have slips of the pen, short forms and empty fields, each with chance ``errors``; one
    person in five shares the surname and street of another. Fields: name, street, city, phone, born.

    >>> raw = make_records(n_sets=1)[0]
    >>> raw.items[0]
    {'name': 'Xaver Lehmann', 'street': '48 Statio nRd', 'city': 'Lakeside', 'phone': None, 'born': '1944'}
    >>> len(raw), len(set(raw.labels))
    (26, 12)
    """
    rng = as_generator(random_state)
    return [_set(number, n_people, most, errors, rng) for number in range(n_sets)]


def _set(number: int, n_people: int, most: int, errors: float, rng: np.random.Generator) -> RawSet:
    people: list[dict[str, str]] = []
    for n in range(n_people):
        person = _person(rng)
        if n and rng.random() < 0.2:  # a relative at the same address
            kin = people[int(rng.integers(n))]
            person["name"] = f"{person['name'].split()[0]} {kin['name'].split()[1]}"
            person.update(street=kin["street"], city=kin["city"])
        people.append(person)
    entries: list[tuple[int, dict[str, Any]]] = []
    for n, person in enumerate(people):
        entries.append((n, dict(person)))
        entries += [(n, _again(person, errors, rng)) for _ in range(int(rng.integers(0, most)))]
    order = rng.permutation(len(entries))
    return RawSet(
        [entries[i][1] for i in order],
        labels=[f"p{entries[i][0]}" for i in order],
        ids=[f"r{number}-{a}" for a in range(len(order))],
        name=f"batch {number}",
    )


def _person(rng: np.random.Generator) -> dict[str, str]:
    pick = [str(rng.choice(words.split(", "))) for words in (FIRST, LAST, STREETS, CITIES)]
    return {
        "name": f"{pick[0]} {pick[1]}",
        "street": f"{rng.integers(1, 99)} {pick[2]}",
        "city": pick[3],
        "phone": f"0{rng.integers(200, 999)} {rng.integers(10_000, 99_999)}",
        "born": str(rng.integers(1940, 2005)),
    }


def _again(person: dict[str, str], errors: float, rng: np.random.Generator) -> dict[str, Any]:
    """The same person, entered by somebody else."""
    entry: dict[str, Any] = dict(person)
    first, last = person["name"].split()
    if rng.random() < errors:
        entry["name"] = str(rng.choice([f"{first[0]}. {last}", f"{last}, {first}"]))
    if rng.random() < errors:
        words = [SHORT.get(w, w) for w in person["street"].split()]
        entry["street"] = " ".join(words)
    for field in ("name", "street", "phone"):
        if rng.random() < errors:
            entry[field] = _slip(entry[field], rng)
    for field in ("city", "phone", "born"):
        if rng.random() < errors / 2:
            entry[field] = None
    return entry


def _slip(text: str, rng: np.random.Generator) -> str:
    """Two neighbours exchanged, one letter dropped, or one doubled."""
    a = int(rng.integers(1, len(text) - 1))
    kind = int(rng.integers(3))
    if kind == 0:
        return text[:a] + text[a + 1] + text[a] + text[a + 2 :]
    return text[:a] + text[a + 1 :] if kind == 1 else text[:a] + text[a] + text[a:]
