"""The mentions of a set as columns, and English words that tell gender, number, person of a noun phrase."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.typing import Bools, Ints
from clustruct.data import Table, is_missing


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


MALE = _words(
    "he him his himself mr mister sir lord king prince duke earl baron count man men boy boys gentleman "
    "gentlemen father dad papa son brother uncle nephew grandfather husband widower bridegroom fellow lad "
    "monsieur actor waiter priest monk squire master guy"
)
FEMALE = _words(
    "she her hers herself mrs miss ms lady queen princess duchess countess baroness woman women girl girls "
    "mother mamma mama mum mom daughter sister aunt niece grandmother wife widow bride maid lass madam "
    "madame mademoiselle mistress actress waitress nun"
)
PLURAL = _words(
    "they them their theirs themselves we us our ours ourselves these those people men women children "
    "folk police both several many all"
)
SINGULAR = _words(
    "he him his himself she her hers herself it its itself i me my mine myself this that one each a an"
)
FIRST = _words("i me my mine myself we us our ours ourselves")
SECOND = _words("you your yours yourself yourselves thou thee thy thine thyself ye")
ANIMATE_PRONOUNS = _words(
    "he him his himself she her hers herself i me my mine myself we us our ours ourselves you your yours "
    "yourself yourselves thou thee thy thine thyself ye who whom whose"
)
INANIMATE_PRONOUNS = _words("it its itself this that which here there")
PLURAL_PRONOUNS = _words("they them their theirs themselves")
# One kind each: he, him, his, himself.
PRONOUN_KINDS = {
    word: number
    for number, kind in enumerate(
        (
            "i me my mine myself",
            "we us our ours ourselves",
            "you your yours yourself yourselves thou thee thy thine thyself ye",
            "he him his himself",
            "she her hers herself",
            "it its itself",
            "they them their theirs themselves themself",
            "who whom whose which",
            "this that these those",
            "here there",
        )
    )
    for word in kind.split()
}
PRONOUNS = frozenset(PRONOUN_KINDS) - _words("which here there")
REFLEXIVES = frozenset(word for word in PRONOUN_KINDS if word.endswith(("self", "selves")))
POSSESSIVES = _words("my your his her its our their whose thy mine yours hers ours theirs")
DEFINITE = _words("the this that these those") | POSSESSIVES
DEMONSTRATIVE = _words("this that these those")
INDEFINITE = _words("a an some any another no every each")
DETERMINERS = DEFINITE | INDEFINITE | frozenset(["'s"])
# What ends the core of a noun phrase whose syntax is not given.
AFTER_HEAD = _words(
    "of in on at by for with from to who whom whose which that where when , ; : -- - ( and or as"
)
EMPTY = DETERMINERS | _words("of in on at by for with from to and or , ; : . - -- _ ' \" `` '' ( )")
ANIMATE_TYPES = _words("per person animal")
OPENING, CLOSING = frozenset(["``", "\u201c", "\u00ab"]), frozenset(["''", "\u201d", "\u00bb"])


# Fields of an item, and layers of a document by token and by sentence.
FIELDS = ("sent", "start", "end", "type", "form", "head")
TOKEN_LAYERS = ("lemma", "upos", "xpos", "feats", "head", "deprel")
SENTENCE_LAYERS = ("speaker", "par")
SUBJECTS = ("nsubj", "nsubj:pass", "csubj", "nsubj:outer")
OBJECTS = ("obj", "iobj", "obl", "obl:agent")


class MentionTable:
    """Columns over the mentions of one set; strings are held as numbers, -1 for none."""

    def __init__(self, table: Table) -> None:
        document = AnnotatedText(table)
        spans = [document.span(i) for i in range(len(table))]
        rows = [_read(document, item, span) for item, span in zip(table.items, spans, strict=True)]

        def column(name: str) -> list[Any]:
            return [row[name] for row in rows]

        self.words, self.heads, self.acronyms = map(column, ("words", "head", "acronym"))
        self.content = [frozenset(words) - EMPTY for words in self.words]
        self.modifiers = [c - {head} for c, head in zip(self.content, self.heads, strict=True)]
        self.text, self.bare, self.head, self.lemma, self.kind, self.role = (
            _number(column(name)) for name in ("text", "bare", "head", "lemma", "kind", "role")
        )
        self.speaker, self.paragraph, self.verb = (
            _number(column(name)) for name in ("speaker", "paragraph", "verb")
        )
        self.gender, self.number, self.animacy, self.pronoun_kind = (
            np.array(column(name)) for name in ("gender", "number", "animacy", "pronoun_kind")
        )
        self.quotation, self.head_token, self.above, self.copula = (
            np.array(column(name)) for name in ("quotation", "head_token", "above", "copula")
        )
        self.sent, self.start, self.end = np.array(spans).T
        self.order = np.argsort(np.lexsort((-self.end, self.start, self.sent)))
        self._flags(column("form"), column("role"))

    def _flags(self, form: list[str], role: list[str | None]) -> None:
        def among(values: Sequence[str | None], words: Container[str | None]) -> Bools:
            return np.array([value in words for value in values])

        first = [words[0] for words in self.words]
        self.pronoun, self.name, self.common = (among(form, [kind]) for kind in ("PRON", "PROP", "NOM"))
        self.definite = among(first, DEFINITE) & ~self.pronoun
        self.demonstrative = among(first, DEMONSTRATIVE) & ~self.pronoun
        self.indefinite = among(first, INDEFINITE) & ~self.pronoun
        self.first_person = among(self.heads, FIRST) & self.pronoun
        self.second_person = among(self.heads, SECOND) & self.pronoun
        self.third_person = self.pronoun & ~self.first_person & ~self.second_person
        self.reflexive = among(self.heads, REFLEXIVES)
        self.subject, self.object = among(role, SUBJECTS), among(role, OBJECTS)
        self.appositive = among(role, ["appos"])


def _read(document: AnnotatedText, item: Mapping[str, Any], span: TokenSpan) -> dict[str, Any]:
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
    bare = [w for k, w in enumerate(words) if w not in DETERMINERS or k > 1]
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
        "pronoun_kind": PRONOUN_KINDS.get(head, -1) if form == "PRON" else -1,
        "speaker": document.of_sentence("speaker", span.sent),
        "paragraph": document.of_sentence("par", span.sent),
        "quotation": document.quotation(span),
        "head_token": token,
        "above": -2 if above is None else int(above),
        "verb": None if above is None or above < 0 else (span.sent, int(above)),
        "copula": _has_copula(document, span, token),
        "acronym": "".join(w[0] for w in given if w[:1].isupper()).lower() if len(given) > 1 else "",
    }


def _has_copula(document: AnnotatedText, span: TokenSpan, token: int) -> bool:
    """Whether "is" hangs on the head, so that the phrase is said of the verb's subject."""
    tokens = range(len(document.tokens[span.sent]))
    found = ([document.of_token(layer, span.sent, k) for layer in ("deprel", "head")] for k in tokens)
    return ["cop", token] in found


def _number(values: list[Any]) -> Ints:
    """Equal values, equal numbers; None is -1."""
    number: dict[Any, int] = {}
    return np.array([-1 if v is None else number.setdefault(v, len(number)) for v in values], dtype=np.int64)


class TokenSpan(NamedTuple):
    """Where a mention is: tokens start..end-1 of a sentence."""

    sent: int
    start: int
    end: int


class AnnotatedText:
    """The sentences of a set's context, with whatever annotation they have."""

    def __init__(self, table: Table) -> None:
        tokens = table.context.get("tokens")
        if not isinstance(tokens, list | tuple) or not tokens:
            raise DataError(f"{table.title}: mentions need the sentences of the text, context['tokens']")
        _check_layer(table, "tokens", (str,))
        for layer in TOKEN_LAYERS:
            _check_layer(
                table, layer, (int, np.integer, NoneType) if layer == "head" else (str, int, NoneType)
            )
        self.tokens: Sequence[Sequence[str]] = tokens
        self._table = table
        self._quotes = _quotations(self.tokens)

    def span(self, number: int) -> TokenSpan:
        item, tokens = self._table.items[number], self.tokens
        given: dict[str, Any] = {key: item.get(key) for key in TokenSpan._fields}
        for key, value in given.items():
            if not isinstance(value, int | np.integer) or isinstance(value, bool):
                what = f"needs a whole number for {key!r}, not {value!r:.40}"
                raise DataError(f"{self._table.item_title(number)} {what}")
        span = TokenSpan(**given)
        if not (0 <= span.sent < len(tokens) and 0 <= span.start < span.end <= len(tokens[span.sent])):
            place = ", ".join(f"{key} {value!r:.20}" for key, value in given.items())
            raise DataError(f"{self._table.item_title(number)} lies outside the text: {place}")
        return span

    def of_token(self, layer: str, sent: int, token: int) -> Any:
        sentences = self._table.context.get(layer)
        if sentences is None or sent >= len(sentences) or token >= len(sentences[sent]):
            return None
        return sentences[sent][token]

    def of_sentence(self, layer: str, sent: int) -> Any:
        """The speaker or the paragraph of a sentence, None where not known."""
        given = self._table.context.get(layer)
        value = given[sent] if isinstance(given, list | tuple) and sent < len(given) else None
        if isinstance(value, list | dict):
            what = f"{layer} of sentence {sent + 1} must be a name or a number"
            raise DataError(f"{self._table.title}: {what}, not {value!r:.40}")
        return None if is_missing(value) else value

    def quotation(self, span: TokenSpan) -> int:
        """The number of the quotation that a mention is in, -1 outside."""
        return self._quotes[span.sent][span.start]

    def head(self, item: Mapping[str, Any], span: TokenSpan) -> int:
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
            if word.lower() in AFTER_HEAD:
                return span.start + k - 1
        return span.end - 1


def _check_layer(table: Table, layer: str, kinds: tuple[type, ...]) -> None:
    """A layer has a list for each sentence, and in it a value for each token."""
    given = table.context.get(layer)
    if given is None:
        return
    if not isinstance(given, list | tuple):
        raise DataError(f"{table.title}: {layer} must have a list for each sentence, not {given!r:.40}")
    for number, sentence in enumerate(given, 1):
        if not isinstance(sentence, list | tuple):
            what = f"sentence {number} of {layer} must be a list with an entry for each token"
            raise DataError(f"{table.title}: {what}, not {sentence!r:.40}")
        wrong = [token for token in sentence if not isinstance(token, kinds)]
        if wrong:
            raise DataError(f"{table.title}: sentence {number} of {layer} holds {wrong[0]!r:.40}")


def _quotations(tokens: Sequence[Sequence[str]]) -> list[list[int]]:
    inside, number, out = False, -1, []
    for sentence in tokens:
        row = []
        for token in sentence:
            if token in OPENING or (token == '"' and not inside):
                inside, number = True, number + 1
            elif token in CLOSING or token == '"':
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
    if (len(words) == 1 and lower[0] in PRONOUNS) or tag in ("PRON", "PRP", "PRP$", "WP", "WP$"):
        return "PRON"
    if tag is not None:
        return "PROP" if tag in ("PROPN", "NNP", "NNPS") else "NOM"
    return "PROP" if words[-1][:1].isupper() and lower[0] not in DETERMINERS else "NOM"


def gender_of(words: Sequence[str], feats: str) -> int:
    """1 male, 2 female, 0 not known. A feature of the head counts before words."""
    if "Gender=Masc" in feats or "Gender=Fem" in feats:
        return 1 if "Gender=Masc" in feats else 2
    male, female = (any(w.rstrip(".") in kind for w in words) for kind in (MALE, FEMALE))
    return 0 if male == female else (1 if male else 2)


def number_of(words: Sequence[str], head: str, feats: str, form: str) -> int:
    """1 one, 2 many, 0 not known."""
    if "Number=" in feats and "and" not in words:
        return 2 if "Number=Plur" in feats or "Number=Ptan" in feats else 1
    if head in PLURAL or ("and" in words and form != "PRON"):
        return 2
    if head in SINGULAR or words[0] in ("a", "an", "this", "that") or form == "PROP":
        return 1
    if form == "PRON":
        return 0
    return 2 if head.endswith("s") and not head.endswith(("ss", "us", "is")) else 1


def animacy_of(head: str, kind: str, form: str, gender: int) -> int:
    """1 alive, 2 not, 0 not known."""
    if form == "PRON" and head in INANIMATE_PRONOUNS:
        return 2
    if form == "PRON" and head in PLURAL_PRONOUNS:
        return 0
    if head in ANIMATE_PRONOUNS or gender or kind in ANIMATE_TYPES:
        return 1
    return 2 if kind else 0


def pronouns(table: Table) -> Bools:
    """Which mentions of a set are pronouns, by their `form` or by their words.

    Parameters
    ----------
    table : Table
        A set of mentions.

    Returns
    -------
    array of bool
        True for each mention that is a pronoun.

    Examples
    --------
    >>> items = [{"sent": 0, "start": 0, "end": 1}, {"sent": 0, "start": 2, "end": 3}]
    >>> pronouns(Table(items, context={"tokens": [["Ann", "saw", "him"]]}))
    array([False,  True])
    """
    return MentionTable(table).pronoun
