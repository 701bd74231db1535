"""English words that tell gender, number, person and the like of a noun phrase."""

from __future__ import annotations


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
