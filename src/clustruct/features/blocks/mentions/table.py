"""The mentions of a set as columns, ready to be compared pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clustruct._typing import Bools, Ints
from clustruct.records import RawSet

from . import lexicon
from .reading import Document, Span, animacy_of, form_of, gender_of, number_of

SUBJECTS = ("nsubj", "nsubj:pass", "csubj", "nsubj:outer")
OBJECTS = ("obj", "iobj", "obl", "obl:agent")


class MentionTable:
    """Columns over the mentions of one set; strings are held as numbers, -1 for none."""

    def __init__(self, raw: RawSet) -> None:
        document = Document(raw)
        spans = [document.span(i) for i in range(len(raw))]
        rows = [_read(document, item, span) for item, span in zip(raw.items, spans, strict=True)]
        self.words = [row["words"] for row in rows]
        self.content = [frozenset(w for w in row["words"] if w not in lexicon.EMPTY) for row in rows]
        self.modifiers = [c - {row["head"]} for c, row in zip(self.content, rows, strict=True)]
        for name in ("text", "bare", "head", "lemma", "kind", "role", "speaker", "paragraph", "verb"):
            setattr(self, name, _numbered([row[name] for row in rows]))
        for name in ("gender", "number", "animacy", "pronoun_kind", "quotation"):
            setattr(self, name, np.array([row[name] for row in rows], dtype=np.int64))
        self.sent, self.start, self.end = (
            np.array([getattr(s, k) for s in spans], dtype=np.int64) for k in ("sent", "start", "end")
        )
        self.head_token = np.array([row["head_token"] for row in rows], dtype=np.int64)
        self.above = np.array([row["above"] for row in rows], dtype=np.int64)
        self._flags(rows)
        order = np.lexsort((-self.end, self.start, self.sent))
        self.order = np.empty(len(rows), dtype=np.int64)
        self.order[order] = np.arange(len(rows))
        self.heads = [row["head"] for row in rows]
        self.acronyms = [row["acronym"] for row in rows]

    text: Ints
    bare: Ints
    head: Ints
    lemma: Ints
    kind: Ints
    role: Ints
    speaker: Ints
    paragraph: Ints
    verb: Ints
    gender: Ints
    number: Ints
    animacy: Ints
    pronoun_kind: Ints
    quotation: Ints

    def _flags(self, rows: list[dict[str, Any]]) -> None:
        form = np.array([row["form"] for row in rows])
        self.pronoun, self.name, self.common = form == "PRON", form == "PROP", form == "NOM"
        first = [row["words"][0] for row in rows]
        heads = [row["head"] for row in rows]
        self.definite = np.isin(first, list(lexicon.DEFINITE)) & ~self.pronoun
        self.demonstrative = np.isin(first, list(lexicon.DEMONSTRATIVE)) & ~self.pronoun
        self.indefinite = np.isin(first, list(lexicon.INDEFINITE)) & ~self.pronoun
        self.first_person = np.isin(heads, list(lexicon.FIRST)) & self.pronoun
        self.second_person = np.isin(heads, list(lexicon.SECOND)) & self.pronoun
        self.third_person = self.pronoun & ~self.first_person & ~self.second_person
        self.reflexive = np.isin(heads, list(lexicon.REFLEXIVES))
        self.subject = np.array([row["role"] in SUBJECTS for row in rows])
        self.object = np.array([row["role"] in OBJECTS for row in rows])
        self.copula = np.array([row["copula"] for row in rows])
        self.appositive = np.array([row["role"] == "appos" for row in rows])


def _read(document: Document, item: Mapping[str, Any], span: Span) -> dict[str, Any]:
    given = list(document.tokens[span.sent][span.start : span.end])
    token = document.head(item, span)

    def annotation(layer: str) -> Any:
        return document.of_token(layer, span.sent, token)

    words = [w.lower() for w in given]
    head = given[token - span.start].lower()
    form = form_of(item, given, annotation("xpos") or annotation("upos"))
    feats, kind = str(annotation("feats") or ""), str(item.get("type") or "").lower()
    gender = gender_of(words if form != "PRON" else [head], feats)
    above = annotation("head")
    bare = [w for k, w in enumerate(words) if w not in lexicon.DETERMINERS or k > 1]
    return {
        "words": words,
        "text": " ".join(words),
        "bare": " ".join(bare) or None,
        "head": head,
        "lemma": str(annotation("lemma") or head).lower(),
        "form": form,
        "kind": kind or None,
        "role": annotation("deprel"),
        "gender": gender,
        "number": number_of(words, head, feats, form),
        "animacy": animacy_of(head, kind, form, gender),
        "pronoun_kind": lexicon.PRONOUN_KINDS.get(head, -1) if form == "PRON" else -1,
        "speaker": document.of_sentence("speaker", span.sent),
        "paragraph": document.of_sentence("par", span.sent),
        "quotation": document.quotation(span),
        "head_token": token,
        "above": -2 if above is None else int(above),
        "verb": None if above is None or above < 0 else (span.sent, int(above)),
        "copula": _has_copula(document, span, token),
        "acronym": "".join(w[0] for w in given if w[:1].isupper()).lower() if len(given) > 1 else "",
    }


def _has_copula(document: Document, span: Span, token: int) -> bool:
    """Whether "is" hangs on the head, so that the phrase is said of the verb's subject."""
    sentence = document.tokens[span.sent]
    return any(
        document.of_token("deprel", span.sent, k) == "cop"
        and document.of_token("head", span.sent, k) == token
        for k in range(len(sentence))
    )


def _numbered(values: list[Any]) -> Ints:
    """Equal values, equal numbers; None is -1."""
    number: dict[Any, int] = {}
    return np.array([-1 if v is None else number.setdefault(v, len(number)) for v in values], dtype=np.int64)


def pronouns(raw: RawSet) -> Bools:
    """Which mentions of a set are pronouns, by their `form` or by their words.

    >>> items = [{"sent": 0, "start": 0, "end": 1}, {"sent": 0, "start": 2, "end": 3}]
    >>> pronouns(RawSet(items, context={"tokens": [["Ann", "saw", "him"]]}))
    array([False,  True])
    """
    return MentionTable(raw).pronoun
