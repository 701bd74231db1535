"""Mentions (noun phrases) of a text: about 60 pair features after Ng and Cardie (2002)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clustruct.core.storage import register
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Fields, Table
from clustruct.features.base import Block, Comparison, Values
from clustruct.features.columns import Columns, TermTable
from clustruct.features.term_weights import TermBlock, TfIdfRows

from .mention_table import FIELDS, SENTENCE_LAYERS, TOKEN_LAYERS, MentionTable

RARE = "shared rare words"


@register("Mentions")
class Mentions(TermBlock):
    """String, head, form, agreement, distance, speech and syntax of two mentions.

    An item names its tokens by `sent`, `start`, `end` (tokens start..end-1 of that sentence) and may have
    `type`, `form` (PRON, PROP, NOM) and `head` (a token). The set's context has `tokens` (sentences) and may
    have `lemma`, `upos`, `xpos`, `feats`, `head`, `deprel` in the same shape, and `speaker` and `par` per
    sentence. What is not there is guessed from the words (English) or left at zero.

    Examples
    --------
    >>> context = {"tokens": [["Ann", "saw", "him", "."], ["She", "left", "."]]}
    >>> items = [{"sent": 0, "start": 0, "end": 1, "type": "PER"}, {"sent": 0, "start": 2, "end": 3},
    ...          {"sent": 1, "start": 0, "end": 1}]
    >>> table = Table(items, context=context)
    >>> block = Mentions().fit([table])
    >>> values = block.transform(table, np.array([[0, 2], [1, 2]]))
    >>> columns = {name: row.tolist() for name, row in zip(block.get_feature_names_out(), values.T)}
    >>> columns["gender clashes"], columns["nearest noun that fits the pronoun"]
    ([0.0, 1.0], [1.0, 0.0])
    """

    suits_record = ("mentions",)
    has_words = False

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
        return [cls()]

    def used_fields(self) -> list[str]:
        return list(FIELDS)

    def used_context(self) -> list[str]:
        return ["tokens", *TOKEN_LAYERS, *SENTENCE_LAYERS]

    def tables(self, columns: Columns) -> list[TermTable]:
        content = _table(columns).content
        return [TermTable.of([sorted(words) for words in content], columns.vocabulary("content"))]

    def get_feature_names_out(self) -> list[str]:
        return [*_names(), RARE]

    def prepare(self, columns: Columns) -> Comparison:
        table = _table(columns)
        plain = ~table.pronoun
        terms = [sorted(c) if p else [] for c, p in zip(table.content, plain, strict=True)]
        return partial(_values, table, self.weights_[0].rows(TermTable.of(terms)))


def _table(columns: Columns) -> MentionTable:
    return columns.once("mentions", lambda: MentionTable(columns.table))


def _values(table: MentionTable, rows: TfIdfRows, pairs: Ints) -> Values:
    columns = _compare(table, pairs)
    columns[RARE] = rows.compare(pairs).cosine
    return np.column_stack([np.asarray(c, np.float64) for c in columns.values()])


def _compare(table: MentionTable, pairs: Ints) -> Features:
    a, b = pairs[:, 0], pairs[:, 1]
    swap = table.order[a] > table.order[b]
    first, last = np.where(swap, b, a), np.where(swap, a, b)
    return {name: column for group in GROUPS for name, column in group(table, first, last).items()}


@cache
def _names() -> tuple[str, ...]:
    items = [{"sent": 0, "start": k, "end": k + 1} for k in range(2)]
    table = MentionTable(Table(items, context={"tokens": [["it", "it"]]}))
    return tuple(_compare(table, np.array([[0, 1]])))


Features = dict[str, NDArray[Any]]
LOOK_BACK = 60  # mentions before a pronoun among which the nearest that fits is looked for


def same(column: Ints, a: Ints, b: Ints) -> Bools:
    return (column[a] == column[b]) & (column[a] >= 0)


def strings(t: MentionTable, a: Ints, b: Ints) -> Features:
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


def forms(t: MentionTable, a: Ints, b: Ints) -> Features:
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


def agreement(t: MentionTable, a: Ints, b: Ints) -> Features:
    one = t.pronoun[a] | t.pronoun[b]
    columns: Features = {}
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


def distances(t: MentionTable, a: Ints, b: Ints) -> Features:
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


def speech(t: MentionTable, a: Ints, b: Ints) -> Features:
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


def syntax(t: MentionTable, a: Ints, b: Ints) -> Features:
    """Nesting, appositions, "is", subjects and objects. What the input does not have is 0."""
    sentence = t.sent[a] == t.sent[b]
    nested = sentence & (t.end[b] <= t.end[a])
    gap = t.start[b] - t.end[a]
    hangs = sentence & (t.above[b] == t.head_token[a])
    copular = sentence & ((t.above[a] == t.head_token[b]) & t.copula[b] & t.subject[a])
    verb = sentence & same(t.verb, a, b)
    roles = _either(t.subject, t.object, a, b)
    return {
        "one within the other": nested,
        "appositive": hangs & t.appositive[b],
        "side by side": sentence & (gap >= 0) & (gap <= 1) & ~t.pronoun[a] & ~t.pronoun[b],
        "one is said to be the other": copular,
        "subject and object of one verb": verb & roles & ~t.reflexive[b],
        "both subjects": t.subject[a] & t.subject[b],
        "earlier subject and later pronoun": t.subject[a] & t.third_person[b] & ~nested,
        "subjects, pronoun in the next sentence": (
            t.subject[a] & t.subject[b] & t.third_person[b] & (t.sent[b] - t.sent[a] == 1)
        ),
        "same role": same(t.role, a, b),
    }


def nearest(t: MentionTable, a: Ints, b: Ints) -> Features:
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
