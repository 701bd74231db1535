"""Made-up data: people entered more than once, articles about stories, texts that mention people, and pairs
whose features tell which two clusters they join, under noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.core.random import RandomStateLike, as_generator
from clustruct.data import ItemSet, Table

__all__ = ["make_mentions", "make_news", "make_records", "make_synth"]

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
) -> list[Table]:
    """Sets of address records: ``n_people`` people in each, everyone entered 1 to ``most`` times.

    Later entries have slips of the pen, short forms and empty fields, each with chance ``errors``; one
    person in five shares the surname and street of another. Fields: name, street, city, phone, born.

    Examples
    --------
    >>> table = make_records(n_sets=1)[0]
    >>> table.items[0]
    {'name': 'Xaver Lehmann', 'street': '48 Statio nRd', 'city': 'Lakeside', 'phone': None, 'born': '1944'}
    >>> len(table), len(set(table.labels))
    (26, 12)
    """
    rng = as_generator(random_state)
    return [_set(number, n_people, most, errors, rng) for number in range(n_sets)]


def _set(number: int, n_people: int, most: int, errors: float, rng: np.random.Generator) -> Table:
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
    return Table(
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


PLACES = (
    "Oslo, Lima, Cairo, Delhi, Perth, Quito, Turin, Dakar, Hanoi, Leeds, Porto, Riga, Malmo, Bergen, "
    "Nantes, Ghent"
)
# What happens, who speaks, what the papers dwell on, and what comes next: one line for each kind of story.
STORY_KINDS = (
    ("storm", "mayor", "flood roofs wind rescue shelter rain harbour power", "warning repair"),
    ("election", "candidate", "votes party ballot poll turnout coalition recount seat", "result cabinet"),
    ("strike", "union", "workers wage railway trains pay talks staff picket", "agreement walkout"),
    ("trial", "judge", "court jury lawyer verdict witness charges appeal prison", "sentence hearing"),
    ("match", "coach", "goal league striker penalty fans season stadium injury", "final transfer"),
    ("launch", "engineer", "rocket satellite orbit mission probe signal crew antenna", "docking landing"),
    ("outbreak", "doctor", "virus hospital cases patients vaccine clinic ward fever", "quarantine study"),
    ("merger", "chairman", "shares bank deal bid board profit investors stake", "vote takeover"),
)
COMMON = (
    "officials, said, people, late, new, report, first, week, city, today, many, after, year, big, "
    "country, plan"
)
_PLACES, _COMMON = PLACES.split(", "), COMMON.split(", ")


def make_news(
    n_sets: int = 8, n_stories: int = 5, most: int = 6, common: float = 0.5, random_state: RandomStateLike = 0
) -> list[Table]:
    """Sets of articles, one per day: ``n_stories`` stories with 2 to ``most`` articles each.

    A story is a kind of event in a place; two stories of a day may be of one kind or in one place. ``common``
    is the share of words that say nothing. Fields: title, text. Two days in a row are one ``group``.

    Examples
    --------
    >>> table = make_news(n_sets=1)[0]
    >>> table.items[0]["title"], table.group
    ('Leeds merger brings investors', 0)
    """
    if n_stories > len(STORY_KINDS) * len(_PLACES):
        raise ValueError(f"there are {len(STORY_KINDS) * len(_PLACES)} stories at most, not {n_stories}")
    rng = as_generator(random_state)
    return [_day(number, n_stories, most, common, rng) for number in range(n_sets)]


def _day(number: int, n_stories: int, most: int, common: float, rng: np.random.Generator) -> Table:
    chosen = rng.choice(len(STORY_KINDS) * len(_PLACES), n_stories, replace=False)
    articles: list[tuple[int, dict[str, str]]] = []
    for story, code in enumerate(chosen):
        kind, place = STORY_KINDS[int(code) % len(STORY_KINDS)], _PLACES[int(code) // len(STORY_KINDS)]
        for _ in range(int(rng.integers(2, most + 1))):
            articles.append((story, _article(kind, place, common, rng)))
    order = rng.permutation(len(articles))
    return Table(
        [articles[i][1] for i in order],
        labels=[int(articles[i][0]) for i in order],
        ids=[f"a{number}-{a}" for a in range(len(order))],
        name=f"day {number}",
        group=number // 2,
    )


def _article(
    kind: tuple[str, str, str, str], place: str, common: float, rng: np.random.Generator
) -> dict[str, str]:
    event, speaker, about, next_up = kind
    words, ahead = about.split(), next_up.split()
    titles = (
        f"{event.title()} in {place}: {rng.choice(words)} and {rng.choice(words)}",
        f"{place} {event} brings {rng.choice(words)}",
        f"{speaker.title()} in {place} speaks of {event}",
        f"After the {event}, {place} waits for the {rng.choice(ahead)}",
    )
    drawn = [str(rng.choice(_COMMON if rng.random() < common else words)) for _ in range(18)]
    drawn[int(rng.integers(18))] = place
    if rng.random() < 0.5:
        drawn.append(f'"{rng.choice(words)} {rng.choice(words)}", the {speaker} said')
    return {"title": str(rng.choice(titles)), "text": " ".join(drawn)}


WOMEN = "Anna, Clara, Elena, Greta, Ida, Maria, Rosa, Tessa"
MEN = "Ben, David, Frank, Henry, Jonas, Nils, Peter, Victor"
SURNAMES = "Abbott, Becker, Dupont, Fischer, Garcia, Hansen, Keller, Meyer, Novak, Rossi, Tanaka, Weber"
WORK = "doctor, teacher, painter, lawyer, captain, baker"
ACTS = "met, helped, thanked, visited, followed, called, greeted, warned"
ENDS = ("at home", "in the garden", "after lunch", "near the river", "at the station", "in town")
_SURNAMES = SURNAMES.split(", ")


def make_mentions(
    n_sets: int = 10, n_people: int = 4, n_sentences: int = 12, random_state: RandomStateLike = 0
) -> list[Table]:
    """Documents about a few people, whose mentions are names, parts of names, occupations and pronouns.

    Items are mentions, ``{"sent", "start", "end", "type", "form"}`` with tokens start..end-1 of sentence
    ``sent``; ``context["tokens"]`` has the sentences. The format is that of the coreference data sets.

    Examples
    --------
    >>> table = make_mentions(n_sets=1)[0]
    >>> " ".join(table.context["tokens"][0])
    'Victor Fischer followed Frank Hansen at home .'
    >>> table.items[0], table.labels[:2]
    ({'sent': 0, 'start': 0, 'end': 2, 'type': 'PER', 'form': 'PROP'}, [0, 1])
    """
    if not 2 <= n_people <= len(_SURNAMES):
        raise ValueError(f"n_people must be between 2 and {len(_SURNAMES)}, not {n_people}")
    rng = as_generator(random_state)
    return [_document(number, n_people, n_sentences, rng) for number in range(n_sets)]


def _document(number: int, n_people: int, n_sentences: int, rng: np.random.Generator) -> Table:
    surnames, work = rng.choice(_SURNAMES, n_people, replace=False), rng.choice(WORK.split(", "), n_people)
    women = rng.random(n_people) < 0.5
    first = [str(rng.choice((WOMEN if w else MEN).split(", "))) for w in women]
    people = list(zip(first, map(str, surnames), map(str, work), map(bool, women), strict=True))
    tokens, mentions, labels = [], [], []
    named: set[int] = set()
    last: tuple[int, ...] = ()
    for sent in range(n_sentences):
        subject, other = (int(i) for i in rng.choice(n_people, 2, replace=False))
        words: list[str] = []
        for role, who in (("subject", subject), ("object", other)):
            phrase, form = _phrase(people[who], who in named, _clear(who, last, people), role, rng)
            mentions.append(_mention(sent, len(words), len(words) + len(phrase), form))
            labels.append(who)
            named.add(who)
            words += phrase
            if role == "subject":
                words.append(str(rng.choice(ACTS.split(", "))))
        last = (subject, other)
        tokens.append([*words, *str(rng.choice(ENDS)).split(), "."])
    numbers: dict[int, int] = {}
    clusters = [numbers.setdefault(who, len(numbers)) for who in labels]
    return Table(mentions, labels=clusters, name=f"text {number}", context={"tokens": tokens})


def _clear(who: int, last: tuple[int, ...], people: list[tuple[str, str, str, bool]]) -> bool:
    """Whether a pronoun would be understood: the person was just spoken of, and alone of that gender."""
    return who in last and sum(people[p][3] == people[who][3] for p in last) == 1


def _phrase(
    person: tuple[str, str, str, bool], known: bool, clear: bool, role: str, rng: np.random.Generator
) -> tuple[list[str], str]:
    first, surname, work, woman = person
    if not known:
        return [first, surname], "PROP"
    if clear and rng.random() < 0.7:
        words = ("she", "her") if woman else ("he", "him")
        pronoun = words[role == "object"]
        return [pronoun.title() if role == "subject" else pronoun], "PRON"
    title = "Mrs." if woman else "Mr."
    forms: list[tuple[list[str], str]] = [
        ([first], "PROP"),
        ([title, surname], "PROP"),
        ([first, surname], "PROP"),
        (["The" if role == "subject" else "the", work], "NOM"),
    ]
    return forms[int(rng.choice(4, p=[0.35, 0.25, 0.25, 0.15]))]


def _mention(sent: int, start: int, end: int, form: str) -> dict[str, Any]:
    return {"sent": sent, "start": start, "end": end, "type": "PER", "form": form}


# With noise 0.2 a good optimiser makes no error at all. `python -m studies.kmeans2008`, mean test losses
# of Iterative, Spectral, Pair and None: 5, 9, 4, 77 at 0.4; 52, 61, 48, 77 at 0.5; 71, 73, 69, 77 at 0.6; and
# at 0.8 nothing is learned.


def make_synth(
    n_sets: int = 5,
    n_clusters: int = 5,
    cluster_size: int = 20,
    region_size: int = 50,
    active: int = 5,
    noise: float = 0.2,
    random_state: RandomStateLike = 0,
) -> tuple[list[ItemSet], list[NDArray[np.int64]]]:
    """Item sets with one region of pair features for each unordered pair of clusters, own pairs included.

    A pair of items of clusters i and j has ``active`` ones, drawn anew for each pair, among the
    ``region_size`` features of region {i, j}; before that each of i and j is replaced by a uniform
    cluster with probability ``noise``. The defaults are those of the dissertation: 5 sets of 5 clusters of 20
    items, 15 regions, 750 features. Returns the sets (CSR pair features) and their labels; unlike in
    real tasks the label numbers mean the same in every set.

    Examples
    --------
    >>> X, y = make_synth(n_sets=2, cluster_size=4)
    >>> X[0], len(y)
    (ItemSet(m=20, N_n=0, N_p=750), 2)
    >>> int(X[0].pairs.sum()) == 5 * 20 * 19 // 2
    True
    """
    for name, value in (("n_sets", n_sets), ("n_clusters", n_clusters), ("cluster_size", cluster_size)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")
    if n_clusters * cluster_size < 2:
        raise ValueError("a set needs two items at least: raise n_clusters or cluster_size")
    if not 1 <= active <= region_size:
        raise ValueError(f"active must be between 1 and region_size, {region_size}, not {active}")
    if not 0.0 <= noise <= 1.0:
        raise ValueError(f"noise is a probability, not {noise}")
    rng = as_generator(random_state)
    labels = [rng.permutation(np.repeat(np.arange(n_clusters), cluster_size)) for _ in range(n_sets)]
    sets = [_item_set(y, n_clusters, region_size, active, noise, rng) for y in labels]
    return sets, labels


def _item_set(
    y: NDArray[np.int64],
    n_clusters: int,
    region_size: int,
    active: int,
    noise: float,
    rng: np.random.Generator,
) -> ItemSet:
    a, b = np.triu_indices(len(y), 1)
    ends = np.stack([y[a], y[b]])
    replaced = rng.random(ends.shape) < noise
    ends = np.sort(np.where(replaced, rng.integers(0, n_clusters, ends.shape), ends), axis=0)
    region = ends[1] * (ends[1] + 1) // 2 + ends[0]
    # The places of the smallest of region_size random numbers are a uniform choice without repetition.
    chosen = np.argpartition(rng.random((len(a), region_size)), active - 1, axis=1)[:, :active]
    columns = np.sort(region[:, None] * region_size + chosen, axis=1).ravel()
    n_features = n_clusters * (n_clusters + 1) // 2 * region_size
    starts = np.arange(len(a) + 1) * active
    pairs = sparse.csr_array((np.ones(columns.size), columns, starts), shape=(len(a), n_features))
    return ItemSet(pairs=pairs)
