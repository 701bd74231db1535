"""Pair features of mentions after Ng and Cardie (2002), in groups: each gives columns by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Ints

from .table import MentionTable

Columns = dict[str, NDArray[Any]]


def same(column: Ints, a: Ints, b: Ints) -> NDArray[np.bool_]:
    """Equal and known."""
    return (column[a] == column[b]) & (column[a] >= 0)


def strings(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """Words and heads. a comes before b in the text."""
    plain = ~t.pronoun[a] & ~t.pronoun[b]
    names, common = t.name[a] & t.name[b], t.common[a] & t.common[b]
    head = same(t.lemma, a, b) | same(t.head, a, b)
    shared, overlap, contained, lost = _content(t, a, b, plain)
    return {
        "same string": same(t.text, a, b) & plain,
        "same string, both names": same(t.text, a, b) & names,
        "same string without determiner": same(t.bare, a, b) & plain,
        "same head": head & plain,
        "same head, both names": head & names,
        "same head, both common nouns": head & common,
        "same head, later one definite": head & plain & t.definite[b],
        "same head, later one indefinite": head & plain & t.indefinite[b],
        "same head, other modifiers": head & plain & lost,
        "other head, both names": ~head & names,
        "other head, both names, shared word": ~head & names & shared,
        "shared word": shared,
        "word overlap": overlap,
        "words of one within the other": contained,
        "head of one is a word of the other": _head_inside(t, a, b, plain) & ~head,
        "one is the acronym of the other": _acronym(t, a, b, plain),
    }


def _content(t: MentionTable, a: Ints, b: Ints, plain: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
    """Shared content words; Jaccard; one within the other; modifiers of the later one that are new."""
    sets, modifiers = t.content, t.modifiers
    out = np.zeros((4, len(a)))
    for p in np.flatnonzero(plain).tolist():
        x, y = sets[a[p]], sets[b[p]]
        common = len(x & y)
        if common:
            out[:3, p] = True, common / len(x | y), common == min(len(x), len(y))
            out[3, p] = bool(modifiers[b[p]] - modifiers[a[p]])
    return out[0] > 0, out[1], out[2] > 0, out[3] > 0


def _head_inside(t: MentionTable, a: Ints, b: Ints, plain: NDArray[np.bool_]) -> NDArray[np.bool_]:
    out = np.zeros(len(a), bool)
    for p in np.flatnonzero(plain).tolist():
        i, j = a[p], b[p]
        out[p] = t.heads[i] in t.content[j] or t.heads[j] in t.content[i]
    return out


def _acronym(t: MentionTable, a: Ints, b: Ints, plain: NDArray[np.bool_]) -> NDArray[np.bool_]:
    out = np.zeros(len(a), bool)
    short = np.array([len(w) == 1 for w in t.words])
    for p in np.flatnonzero(plain & (short[a] ^ short[b])).tolist():
        i, j = (a[p], b[p]) if short[a[p]] else (b[p], a[p])
        letters = t.words[i][0].replace(".", "")
        out[p] = len(letters) > 1 and letters == t.acronyms[j]
    return out


def forms(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """Names, common nouns, pronouns and their persons."""
    both, one = t.pronoun[a] & t.pronoun[b], t.pronoun[a] ^ t.pronoun[b]
    kind = same(t.pronoun_kind, a, b)
    return {
        "both pronouns": both,
        "one pronoun": one,
        "both names": t.name[a] & t.name[b],
        "both common nouns": t.common[a] & t.common[b],
        "pronouns of one kind": both & kind,
        "pronouns of other kinds": both & ~kind,
        "both first person": t.first_person[a] & t.first_person[b],
        "both second person": t.second_person[a] & t.second_person[b],
        "first and second person": _either(t.first_person, t.second_person, a, b),
        "first or second person and third": _either(t.first_person | t.second_person, t.third_person, a, b),
        "first or second person and a noun": _either(t.first_person | t.second_person, ~t.pronoun, a, b),
        "earlier one a pronoun, later one not": t.pronoun[a] & ~t.pronoun[b],
        "reflexive in the same sentence": t.reflexive[b] & (t.sent[a] == t.sent[b]),
        "later one definite": t.definite[b],
        "later one indefinite": t.indefinite[b],
        "later one demonstrative": t.demonstrative[b],
    }


def _either(x: NDArray[np.bool_], y: NDArray[np.bool_], a: Ints, b: Ints) -> NDArray[np.bool_]:
    return (x[a] & y[b]) | (y[a] & x[b])


def agreement(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """Gender, number, animacy, type."""
    one = t.pronoun[a] | t.pronoun[b]
    columns: Columns = {}
    for name in ("gender", "number", "animacy"):
        x = getattr(t, name)
        known = (x[a] > 0) & (x[b] > 0)
        columns[f"{name} agrees"] = known & (x[a] == x[b])
        columns[f"{name} clashes"] = known & (x[a] != x[b])
        columns[f"{name} agrees, with a pronoun"] = known & (x[a] == x[b]) & one
    kind = same(t.kind, a, b)
    known = (t.kind[a] >= 0) & (t.kind[b] >= 0)
    return {
        **columns,
        "same type": kind,
        "other type": known & ~kind,
        "same type, with a pronoun": kind & one,
    }


GROUPS: tuple[Callable[[MentionTable, Ints, Ints], Columns], ...] = (strings, forms, agreement)
