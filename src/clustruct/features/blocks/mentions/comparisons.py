"""Pair features of mentions after Ng and Cardie (2002), in groups: each gives columns by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Bools, Floats, Ints

from .mention_table import MentionTable

Columns = dict[str, NDArray[Any]]
LOOK_BACK = 60  # mentions before a pronoun among which the nearest that fits is looked for


def same(column: Ints, a: Ints, b: Ints) -> Bools:
    """Equal and known."""
    return (column[a] == column[b]) & (column[a] >= 0)


def strings(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """Words and heads. a comes before b in the text."""
    plain = ~t.pronoun[a] & ~t.pronoun[b]
    names, common = t.name[a] & t.name[b], t.common[a] & t.common[b]
    head = same(t.lemma, a, b) | same(t.head, a, b)
    shared, overlap, contained, new, inside = _content(t, a, b, plain)
    return {
        "same string": same(t.text, a, b) & plain,
        "same string, both names": same(t.text, a, b) & names,
        "same string without determiner": same(t.bare, a, b) & plain,
        "same head": head & plain,
        "same head, both names": head & names,
        "same head, both common nouns": head & common,
        "same head, later one definite": head & plain & t.definite[b],
        "same head, later one indefinite": head & plain & t.indefinite[b],
        "same head, other modifiers": head & plain & (new > 0),
        "other head, both names": ~head & names,
        "other head, both names, shared word": ~head & names & (shared > 0),
        "shared word": shared,
        "word overlap": overlap,
        "words of one within the other": contained,
        "head of one is a word of the other": (inside > 0) & ~head,
        "one is the acronym of the other": _acronym(t, a, b, plain),
    }


def _content(t: MentionTable, a: Ints, b: Ints, plain: Bools) -> Floats:
    """Rows: words shared; Jaccard; one within the other; new modifiers of the later; head of one inside."""
    out = np.zeros((5, len(a)))
    for p in np.flatnonzero(plain).tolist():
        i, j = a[p], b[p]
        x, y = t.content[i], t.content[j]
        out[4, p] = t.heads[i] in y or t.heads[j] in x
        if common := len(x & y):
            new = bool(t.modifiers[j] - t.modifiers[i])
            out[:4, p] = True, common / len(x | y), common == min(len(x), len(y)), new
    return out


def _acronym(t: MentionTable, a: Ints, b: Ints, plain: Bools) -> Bools:
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


def _either(x: Bools, y: Bools, a: Ints, b: Ints) -> Bools:
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


def distances(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """How far apart, in sentences and mentions."""
    sentences, mentions = t.sent[b] - t.sent[a], t.order[b] - t.order[a]
    third, near = t.third_person[b], sentences <= 1
    plain = ~t.pronoun[a] & ~t.pronoun[b]
    return {
        "same sentence": sentences == 0,
        "next sentence": sentences == 1,
        "distance in sentences": np.log1p(sentences),
        "distance in mentions": np.log1p(mentions),
        "distance in sentences, later one a pronoun": np.log1p(sentences) * third,
        "distance in sentences, both nouns": np.log1p(sentences) * plain,
        "same paragraph": same(t.paragraph, a, b),
        "next mention": mentions == 1,
        "pronoun near an earlier noun": third & ~t.pronoun[a] & near,
        "pronoun near an earlier pronoun": third & t.third_person[a] & near,
        "pronouns of one kind near each other": third & same(t.pronoun_kind, a, b) & near,
    }


def speech(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """Who speaks, and what is within quotation marks."""
    spoken = t.first_person[a] & t.first_person[b]
    addressed = _either(t.first_person, t.second_person, a, b)
    known = (t.speaker[a] >= 0) & (t.speaker[b] >= 0)
    speaker = same(t.speaker, a, b)
    quotation = same(t.quotation, a, b)
    inside = (t.quotation[a] >= 0).astype(int) + (t.quotation[b] >= 0)
    return {
        "first person, same speaker": spoken & speaker,
        "first person, other speaker": spoken & known & ~speaker,
        "first person and second, other speaker": addressed & known & ~speaker,
        "first person, same quotation": spoken & quotation,
        "first person, one quoted": spoken & (inside == 1),
        "first person, other quotations": spoken & (inside == 2) & ~quotation,
        "second person, same quotation": t.second_person[a] & t.second_person[b] & quotation,
        "one quoted": inside == 1,
    }


def syntax(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """Nesting, appositions, "is", subjects and objects. What the input does not have is 0."""
    sentence = t.sent[a] == t.sent[b]
    nested = sentence & (t.end[b] <= t.end[a])
    gap = t.start[b] - t.end[a]
    hangs = sentence & (t.above[b] == t.head_token[a])
    said = sentence & ((t.above[a] == t.head_token[b]) & t.copula[b] & t.subject[a])
    verb = sentence & same(t.verb, a, b)
    roles = _either(t.subject, t.object, a, b)
    return {
        "one within the other": nested,
        "appositive": hangs & t.appositive[b],
        "side by side": sentence & (gap >= 0) & (gap <= 1) & ~t.pronoun[a] & ~t.pronoun[b],
        "one is said to be the other": said,
        "subject and object of one verb": verb & roles & ~t.reflexive[b],
        "both subjects": t.subject[a] & t.subject[b],
        "earlier subject and later pronoun": t.subject[a] & t.third_person[b] & ~nested,
        "subjects, pronoun in the next sentence": (
            t.subject[a] & t.subject[b] & t.third_person[b] & (t.sent[b] - t.sent[a] == 1)
        ),
        "same role": same(t.role, a, b),
    }


def nearest(t: MentionTable, a: Ints, b: Ints) -> Columns:
    """Whether the earlier one is the nearest mention that fits a third person pronoun."""
    noun, pronoun, subject = _nearest_fits(t)
    return {
        "nearest noun that fits the pronoun": noun[b] == a,
        "nearest pronoun that fits the pronoun": pronoun[b] == a,
        "nearest subject that fits the pronoun": subject[b] == a,
    }


def _nearest_fits(t: MentionTable) -> tuple[Ints, Ints, Ints]:
    """For each third person pronoun the nearest earlier noun, pronoun and subject that fit it (-1: none)."""
    by_place = np.argsort(t.order)
    found = np.full((3, len(by_place)), -1, dtype=np.int64)
    for j in np.flatnonzero(t.third_person).tolist():
        before = by_place[max(t.order[j] - LOOK_BACK, 0) : t.order[j]][::-1]
        before = before[_fits(t, before, j)]
        choices = (~t.pronoun[before], t.third_person[before], t.subject[before])
        for row, allowed in enumerate(choices):
            if allowed.any():
                found[row, j] = before[np.argmax(allowed)]
    return found[0], found[1], found[2]


def _fits(t: MentionTable, before: Ints, j: int) -> Bools:
    """No clash of gender, number or animacy, not the phrase that the pronoun is in, no other pronoun kind."""
    ok = np.ones(len(before), bool)
    for x in (t.gender, t.number, t.animacy):
        ok &= (x[before] == 0) | (x[j] == 0) | (x[before] == x[j])
    holds = (t.sent[before] == t.sent[j]) & (t.end[before] >= t.end[j])
    kinds = t.pronoun[before] & (t.pronoun_kind[before] != t.pronoun_kind[j])
    return ok & ~holds & ~kinds


GROUPS = (strings, forms, agreement, distances, speech, syntax, nearest)
