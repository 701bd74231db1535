"""Encodings, scripts, and characters that cannot be seen."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from ..sheets import Sheet
from .registry import Change, Rng, add, in_all, in_some

WRITTEN = ("text", "category")
ALPHABETS = {
    "cyrillic": "абвгдежзиклмнопрстуфхцчшыэ",
    "greek": "αβγδεζηθικλμνξοπρστυφχψωϊϋ",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنه",
    "hebrew": "אבגדהוזחטיכלמנסעפצקרשתךםןף",
    "devanagari": "कखगघचछजझटठडढतथदधनपफबभमयरलव",
    "thai": "กขคงจฉชซญฎฏฐณดตถทธนบปผพฟมย",
    "georgian": "აბგდევზთიკლმნოპჟრსტუფქღყშჩ",
    "armenian": "աբգդեզէըթժիլխծկհձղճմյնշոչպ",
    "hangul": "가나다라마바사아자차카타파하거너더러머버서어저처커터",
    "han": "天地人山水火木金土日月星風雨雪花鳥魚虫石竹米田東西南",
    "hiragana": "あいうえおかきくけこさしすせそたちつてとなにぬねのは",
    "ethiopic": "ሀለሐመሠረሰሸቀበተቸኀነኘአከኸወዐዘዠየደጀገ",
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
EMOJI = "😀🎉🌍🚀🐙🍕🎸🏠👩‍🔬🇫🇷"
VOWELS = str.maketrans("aeiouAEIOU", "áéíóúÁÉÍÓÚ")
UNREADABLE = ("UTF-8", "utf-8", "encoding")


def _in_alphabet(letters: str) -> Change:
    table = str.maketrans(LETTERS + LETTERS.upper(), letters + letters)
    return in_all(*WRITTEN, change=lambda cell: cell.translate(table))


def _in_form(**changes: str | bytes) -> Change:
    def change(sheet: Sheet, rng: Rng) -> Sheet:
        return replace(sheet, form=replace(sheet.form, **changes))

    return change


def _accented(then: Change) -> Change:
    accents = in_all(*WRITTEN, change=lambda cell: cell.translate(VOWELS))
    return lambda sheet, rng: then(accents(sheet, rng), rng)


def _inside(mark: str) -> Change:
    def change(cell: str, rng: Rng) -> str:
        a = int(rng.integers(len(cell) + 1))
        return cell[:a] + mark + cell[a:]

    return in_some(*WRITTEN, "code", change=change)


def _wide(cell: str, rng: Rng) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in cell)


def _digits(zero: str) -> Change:
    table = {ord("0") + d: chr(ord(zero) + d) for d in range(10)}
    return in_all("number", "code", "date", "vector", change=lambda cell: cell.translate(table))


def _category_as_emoji(sheet: Sheet, rng: Rng) -> Sheet:
    for k in sheet.of_kind("category"):
        values = sorted(set(sheet.columns[k].cells) - {""})
        named = {value: chr(0x1F600 + a) for a, value in enumerate(values)}
        sheet = sheet.mapped(k, named.__getitem__)
    return sheet


def _utf16(sheet: Sheet, rng: Rng) -> Sheet:
    return replace(sheet, form=replace(sheet.form, encoding="utf-16"))


add("bom", "script", "undoable", _in_form(encoding="utf-8-sig"))
add("utf-16", "script", "undoable", _utf16, refusals=UNREADABLE)
add("latin-1", "script", "undoable", _accented(_in_form(encoding="latin-1")), ["text"], UNREADABLE)
add("accents", "script", "undoable", _accented(lambda sheet, rng: sheet), ["text"])
decompose = in_some(*WRITTEN, change=lambda cell, rng: unicodedata.normalize("NFD", cell), share=0.5)
add("NFD in places", "script", "undoable", _accented(decompose), ["text"])
add("full width in places", "script", "undoable", in_some(*WRITTEN, "code", "number", "date", change=_wide))
for word, mark in {
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "soft hyphen": "\u00ad",
    "byte order mark inside": "\ufeff",
    "left-to-right mark": "\u200e",
    "right-to-left mark": "\u200f",
}.items():
    add(word, "script", "undoable", _inside(mark), ["text", "code"])
embed = in_some(*WRITTEN, "code", change=lambda cell, rng: f"\u202b{cell}\u202c")
add("right-to-left embedding", "script", "undoable", embed, ["text"])
for word, letters in ALPHABETS.items():
    add(f"in {word}", "script", "undoable", _in_alphabet(letters), ["text"])
add("Arabic digits", "script", "undoable", _digits("\u0660"), ["number", "code", "date", "vector"])
add("Devanagari digits", "script", "undoable", _digits("\u0966"), ["number", "code", "date", "vector"])
smile = in_some("text", change=lambda cell, rng: f"{cell} {EMOJI[int(rng.integers(8))]}")
add("emoji behind some", "script", "undoable", smile, ["text"])
add("emoji for words", "script", "undoable", _category_as_emoji, ["category"])
nbsp = in_some("text", change=lambda cell, rng: cell.replace(" ", "\u00a0"), share=0.5)
add("no-break spaces", "script", "undoable", nbsp, ["text"])
ideographic = in_some("text", change=lambda cell, rng: cell.replace(" ", "\u3000"), share=0.5)
add("ideographic spaces", "script", "undoable", ideographic, ["text"])
dash = in_some("text", "code", change=lambda cell, rng: cell.replace("-", "\u2013"), share=0.5)
add("long dashes", "script", "undoable", dash, ["text"])


def _mojibake(cell: str, rng: Rng) -> str:
    return cell.encode().decode("latin-1")


garbled = _accented(in_some("text", change=_mojibake, share=0.1, loses=True))
add("garbled accents", "script", "loses", garbled, ["text"])
twins = str.maketrans("aeopcx", "\u0430\u0435\u043e\u0440\u0441\u0445")
looks = in_some("text", change=lambda cell, rng: cell.translate(twins), share=0.1, loses=True)
add("letters that look alike", "script", "loses", looks, ["text"])
ligatures = in_some("text", change=lambda cell, rng: cell.replace("st", "ﬆ"), share=0.5)
add("ligatures", "script", "undoable", ligatures, ["text"])
