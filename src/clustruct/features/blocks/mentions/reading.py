"""What is known of each mention by itself: words, head, form, gender, number, place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clustruct.records import RawSet, is_missing

from . import lexicon


@dataclass(frozen=True)
class Span:
    """Where a mention is: tokens start..end-1 of a sentence."""

    sent: int
    start: int
    end: int


class Document:
    """The sentences of a set's context, with whatever annotation they have."""

    def __init__(self, raw: RawSet) -> None:
        tokens = raw.context.get("tokens")
        if not isinstance(tokens, list | tuple) or not tokens:
            raise ValueError(f"{raw.title}: mentions need the sentences of the text, context['tokens']")
        self.tokens: Sequence[Sequence[str]] = tokens
        self._raw = raw
        self._quotes = _quotations(self.tokens)

    def span(self, number: int) -> Span:
        """The place of an item, checked."""
        item, tokens = self._raw.items[number], self.tokens
        try:
            span = Span(*(int(item[key]) for key in ("sent", "start", "end")))
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{self._raw.title}: item {number} needs whole numbers sent, start, end, not {dict(item)}"
            ) from None
        if not (0 <= span.sent < len(tokens) and 0 <= span.start < span.end <= len(tokens[span.sent])):
            raise ValueError(f"{self._raw.title}: item {number} lies outside the text: {span}")
        return span

    def of_token(self, layer: str, sent: int, token: int) -> Any:
        """The annotation of one token, None where there is none."""
        sentences = self._raw.context.get(layer)
        if sentences is None or sent >= len(sentences) or token >= len(sentences[sent]):
            return None
        return sentences[sent][token]

    def of_sentence(self, layer: str, sent: int) -> Any:
        """The speaker or the paragraph of a sentence, None where not known."""
        given = self._raw.context.get(layer)
        value = given[sent] if isinstance(given, list | tuple) and sent < len(given) else None
        return None if is_missing(value) else value

    def quotation(self, span: Span) -> int:
        """The number of the quotation that a mention is in, -1 outside."""
        return self._quotes[span.sent][span.start]

    def head(self, item: Mapping[str, Any], span: Span) -> int:
        """The head token: given; or what hangs on a word outside; or the last before "of", "who" ..."""
        given = item.get("head")
        if isinstance(given, int) and span.start <= given < span.end:
            return given
        for token in range(span.start, span.end):
            above = self.of_token("head", span.sent, token)
            if above is not None and not span.start <= above < span.end:
                return token
        words = self.tokens[span.sent][span.start : span.end]
        for k, word in enumerate(words[1:], start=1):
            if word.lower() in lexicon.AFTER_HEAD:
                return span.start + k - 1
        return span.end - 1


def _quotations(tokens: Sequence[Sequence[str]]) -> list[list[int]]:
    """For each token the number of the quotation it is in, -1 outside."""
    inside, number, out = False, -1, []
    for sentence in tokens:
        row = []
        for token in sentence:
            if token in lexicon.OPENING or (token == '"' and not inside):
                inside, number = True, number + 1
            elif token in lexicon.CLOSING or token == '"':
                inside = False
            row.append(number if inside else -1)
        out.append(row)
    return out


def form_of(item: Mapping[str, Any], words: Sequence[str], tag: str | None) -> str:
    """PRON, PROP (a name) or NOM (a common noun): as given, by the head's tag, or by its letters."""
    given = str(item.get("form") or "").upper()
    if given in ("PRON", "PROP", "NOM"):
        return given
    lower = [w.lower() for w in words]
    if (len(words) == 1 and lower[0] in lexicon.PRONOUNS) or tag in ("PRON", "PRP", "PRP$", "WP", "WP$"):
        return "PRON"
    if tag is not None:
        return "PROP" if tag in ("PROPN", "NNP", "NNPS") else "NOM"
    return "PROP" if words[-1][:1].isupper() and lower[0] not in lexicon.DETERMINERS else "NOM"


def gender_of(words: Sequence[str], feats: str) -> int:
    """1 male, 2 female, 0 not known. A feature of the head counts before words."""
    if "Gender=Masc" in feats or "Gender=Fem" in feats:
        return 1 if "Gender=Masc" in feats else 2
    male, female = (any(w.rstrip(".") in kind for w in words) for kind in (lexicon.MALE, lexicon.FEMALE))
    return 0 if male == female else (1 if male else 2)


def number_of(words: Sequence[str], head: str, feats: str, form: str) -> int:
    """1 one, 2 many, 0 not known."""
    if "Number=" in feats and "and" not in words:
        return 2 if "Number=Plur" in feats or "Number=Ptan" in feats else 1
    if head in lexicon.PLURAL or ("and" in words and form != "PRON"):
        return 2
    if head in lexicon.SINGULAR or words[0] in ("a", "an", "this", "that") or form == "PROP":
        return 1
    if form == "PRON":
        return 0
    return 2 if head.endswith("s") and not head.endswith(("ss", "us", "is")) else 1


def animacy_of(head: str, kind: str, form: str, gender: int) -> int:
    """1 alive, 2 not, 0 not known."""
    if form == "PRON" and head in lexicon.INANIMATE_PRONOUNS:
        return 2
    if form == "PRON" and head in lexicon.PLURAL_PRONOUNS:
        return 0
    if head in lexicon.ANIMATE_PRONOUNS or gender or kind in lexicon.ANIMATE_TYPES:
        return 1
    return 2 if kind else 0
