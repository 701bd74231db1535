"""Distance, speech and syntax of two mentions, and whether one is the nearest that fits the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Ints

from .comparisons import Columns, same
from .table import MentionTable

LOOK_BACK = 60  # mentions before a pronoun among which the nearest that fits is looked for


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
    addressed = (t.first_person[a] & t.second_person[b]) | (t.second_person[a] & t.first_person[b])
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
    roles = (t.subject[a] & t.object[b]) | (t.object[a] & t.subject[b])
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


def _fits(t: MentionTable, before: Ints, j: int) -> NDArray[np.bool_]:
    """No clash of gender, number or animacy, not the phrase that the pronoun is in, no other pronoun kind."""
    ok = np.ones(len(before), bool)
    for x in (t.gender, t.number, t.animacy):
        ok &= (x[before] == 0) | (x[j] == 0) | (x[before] == x[j])
    holds = (t.sent[before] == t.sent[j]) & (t.end[before] >= t.end[j])
    kinds = t.pronoun[before] & (t.pronoun_kind[before] != t.pronoun_kind[j])
    return ok & ~holds & ~kinds
