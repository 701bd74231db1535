"""Made-up news: short articles about a few stories of the day."""

from __future__ import annotations

import numpy as np

from clustruct._random import RandomStateLike, as_generator
from clustruct.records import RawSet

__all__ = ["make_news"]

PLACES = (
    "Oslo, Lima, Cairo, Delhi, Perth, Quito, Turin, Dakar, Hanoi, Leeds, Porto, Riga, Malmo, Bergen, "
    "Nantes, Ghent"
)
# What happens, who speaks, what the papers dwell on, and what comes next: one line for each kind of story.
KINDS = (
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
) -> list[RawSet]:
    """Sets of articles, one per day: ``n_stories`` stories with 2 to ``most`` articles each.

    A story is a kind of event in a place; two stories of a day may be of one kind or in one place. ``common``
    is the share of words that say nothing. Fields: title, text. Two days in a row are one ``group``.

    >>> raw = make_news(n_sets=1)[0]
    >>> raw.items[0]["title"], raw.group
    ('Leeds merger brings investors', 0)
    """
    if n_stories > len(KINDS) * len(_PLACES):
        raise ValueError(f"there are {len(KINDS) * len(_PLACES)} stories at most, not {n_stories}")
    rng = as_generator(random_state)
    return [_day(number, n_stories, most, common, rng) for number in range(n_sets)]


def _day(number: int, n_stories: int, most: int, common: float, rng: np.random.Generator) -> RawSet:
    chosen = rng.choice(len(KINDS) * len(_PLACES), n_stories, replace=False)
    articles: list[tuple[int, dict[str, str]]] = []
    for story, code in enumerate(chosen):
        kind, place = KINDS[int(code) % len(KINDS)], _PLACES[int(code) // len(KINDS)]
        for _ in range(int(rng.integers(2, most + 1))):
            articles.append((story, _article(kind, place, common, rng)))
    order = rng.permutation(len(articles))
    return RawSet(
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
