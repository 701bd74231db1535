"""Made-up texts with mentions of people."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct._random import RandomStateLike, as_generator
from clustruct.records import RawSet

__all__ = ["make_mentions"]

WOMEN = "Anna, Clara, Elena, Greta, Ida, Maria, Rosa, Tessa"
MEN = "Ben, David, Frank, Henry, Jonas, Nils, Peter, Victor"
LAST = "Abbott, Becker, Dupont, Fischer, Garcia, Hansen, Keller, Meyer, Novak, Rossi, Tanaka, Weber"
WORK = "doctor, teacher, painter, lawyer, captain, baker"
ACTS = "met, helped, thanked, visited, followed, called, greeted, warned"
ENDS = ("at home", "in the garden", "after lunch", "near the river", "at the station", "in town")


_LAST = LAST.split(", ")


def make_mentions(
    n_sets: int = 10, n_people: int = 4, n_sentences: int = 12, random_state: RandomStateLike = 0
) -> list[RawSet]:
    """Documents about a few people, whose mentions are names, parts of names, occupations and pronouns.

    Items are mentions, ``{"sent", "start", "end", "type", "form"}`` with tokens start..end-1 of sentence
    ``sent``; ``context["tokens"]`` has the sentences. The format is that of the coreference data sets.

    >>> raw = make_mentions(n_sets=1)[0]
    >>> " ".join(raw.context["tokens"][0])
    'Victor Fischer followed Frank Hansen at home .'
    >>> raw.items[0], raw.labels[:2]
    ({'sent': 0, 'start': 0, 'end': 2, 'type': 'PER', 'form': 'PROP'}, [0, 1])
    """
    if not 2 <= n_people <= len(_LAST):
        raise ValueError(f"n_people must be between 2 and {len(_LAST)}, not {n_people}")
    rng = as_generator(random_state)
    return [_document(number, n_people, n_sentences, rng) for number in range(n_sets)]


def _document(number: int, n_people: int, n_sentences: int, rng: np.random.Generator) -> RawSet:
    surnames, work = rng.choice(_LAST, n_people, replace=False), rng.choice(WORK.split(", "), n_people)
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
            said, form = _phrase(people[who], who in named, _clear(who, last, people), role, rng)
            mentions.append(_mention(sent, len(words), len(words) + len(said), form))
            labels.append(who)
            named.add(who)
            words += said
            if role == "subject":
                words.append(str(rng.choice(ACTS.split(", "))))
        last = (subject, other)
        tokens.append([*words, *str(rng.choice(ENDS)).split(), "."])
    numbers: dict[int, int] = {}
    clusters = [numbers.setdefault(who, len(numbers)) for who in labels]
    return RawSet(mentions, labels=clusters, name=f"text {number}", context={"tokens": tokens})


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
