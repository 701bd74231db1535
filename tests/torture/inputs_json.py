"""Bad JSONL: sets, documents with mentions, links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .inputs import EITHER, FINE, LEARN, NEED_LABELS, Kind, a_set, lines, packed

GOOD = lines(a_set(), a_set(id="s2"))
SECOND = ("a.jsonl:2",)
FIRST = ("a.jsonl:1",)


def kinds() -> Iterator[Kind]:
    """All of them."""
    yield from _whole()
    yield from _sets()
    yield from _items()
    yield from _mentions()
    yield from _context()


def _kind(name: str, content: Any, **more: Any) -> Kind:
    given = {"columns": (), "model": "sets", "file": "a.jsonl", **more}
    return Kind(f"JSONL: {name}", content, **given)


def _second(name: str, given: Any, **more: Any) -> Kind:
    """A fault in the second line."""
    more.setdefault("says", SECOND)
    return _kind(name, lines(a_set(id="s0"), given), **more)


def _whole() -> Iterator[Kind]:
    yield _kind("whole", GOOD, code=FINE)
    yield _kind("empty", "")
    yield _kind("blank lines", "\n \n")
    yield _kind("not JSON", GOOD + "{'a': 1}\n", says=("a.jsonl:3",))
    yield _kind("cut short", GOOD[:-20], says=SECOND)
    yield _kind("two objects on a line", GOOD.replace("\n", " "), says=FIRST)
    yield _kind("pretty-printed", "{\n" + GOOD[1:].replace(", ", ",\n"), says=FIRST)
    yield _kind("one list of all", "[" + GOOD.strip().replace("\n", ",") + "]", says=FIRST)
    yield _kind("bad UTF-8", GOOD.encode() + b'{"id": "\xff"}\n', says=("a.jsonl:3",))
    yield _kind("UTF-16", GOOD.encode("utf-16"), says=FIRST)
    yield _kind("byte order mark", b"\xef\xbb\xbf" + GOOD.encode(), code=FINE)
    yield _kind("nested deeply", GOOD + "[" * 100_000 + "\n", says=("a.jsonl:3",))
    yield _kind(
        "items nested deeply",
        lines(a_set(items=["x", "y", "z", "@"])).replace('"@"', "[" * 5000 + "]" * 5000),
    )
    yield _kind("10 MB line", GOOD + "x" * 10_000_000, says=("a.jsonl:3",))
    yield _kind("packed", packed(GOOD), file="a.jsonl.gz", code=FINE)
    yield _kind("packed, cut short", packed(GOOD)[:-9], file="a.jsonl.gz")
    yield _kind("a table called JSONL", "set,id\n1,a\n", says=FIRST)
    for word in ("null", "3", '"x"', "true", "[]", "{}", '{"id": 1}'):
        yield _kind(f"a line {word}", lines(a_set(), word), says=SECOND)
    yield _kind("NaN for a set", lines(a_set(), "NaN"), says=SECOND)


def _sets() -> Iterator[Kind]:
    for name, items in {
        "no items": [],
        "items null": None,
        "items a number": 7,
        "items a string": "abc",
        "items an object": {"a": 1},
    }.items():
        yield _second(name, a_set(items=items))
    yield _second("no key items", a_set(items=...))
    yield _second("same name twice", a_set(id="s0"))
    yield _second("labels missing", a_set(labels=...), commands=NEED_LABELS)
    for name, labels in {
        "labels null": None,
        "labels too few": [0],
        "labels too many": [0] * 9,
        "labels a number": 3,
        "labels a string": "abcd",
        "a label null": [0, 0, 1, None],
        "a label a list": [0, 0, 1, [1]],
        "a label an object": [0, 0, 1, {}],
        "a label NaN": [0, 0, 1, float("nan")],
    }.items():
        yield _second(name, a_set(labels=labels), commands=NEED_LABELS)
    yield _second("labels of all kinds", a_set(labels=[0, "0", True, 1.0]), code=EITHER)
    yield _second("labels of 400 digits", a_set(labels=[10**400, 10**400, 1, 1]), code=EITHER)
    yield _second("labels infinite", a_set(labels=[0, 0, 1, float("inf")]), code=EITHER)
    yield _kind("one cluster", lines(a_set(labels=[1] * 4)), commands=LEARN)
    yield _kind("all alone", lines(a_set(labels=[1, 2, 3, 4])), commands=LEARN)
    yield _kind("one item", lines(a_set(items=[{"name": "x"}], labels=[1])), commands=LEARN)
    yield _second("name a list", a_set(id=[1]), code=EITHER)
    yield _second("name an object", a_set(id={"a": 1}), code=EITHER)
    yield _second("name of 400 digits", a_set(id=10**400), code=EITHER)
    yield _second("name with escapes", a_set(id="\x1b[31m"), code=EITHER)
    yield _second("name a lone surrogate", a_set(id="\ud800"), code=EITHER)
    yield _second("group a list", a_set(group=[1]))
    yield _second("group an object", a_set(group={"a": 1}))
    yield _second("no such key for sets", a_set(), more=("--set", "day"), says=("a.jsonl:1", "a.jsonl:2"))
    yield _second("no such key to choose by", a_set(), more=("--where", "fold=1"), says=FIRST)
    yield _second("no such field", a_set(), more=("--fields", "nam"), says=("a.jsonl",))
    yield _second("no such cluster key", a_set(), more=("--cluster", "who"), commands=NEED_LABELS, says=FIRST)
    yield _second("no such id", a_set(), more=("--id", "nr"), says=FIRST)


def _items() -> Iterator[Kind]:
    others: list[Any] = [
        {"name": "Ann Lee", "age": 3},
        {"name": "Anne Lee", "age": 3},
        {"name": "Bob", "age": 5},
    ]

    def with_item(name: str, item: Any, **more: Any) -> Kind:
        return _second(f"an item {name}", a_set(items=[*others, item]), **more)

    for name, item in {"null": None, "a number": 3, "true": True}.items():
        yield with_item(name, item)
    for name, item in {"empty": {}, "a string": "Bob Ray", "a list": [1.0, 2.0], "an empty list": []}.items():
        yield with_item(name, item, code=EITHER)
    for name, value in {
        "infinite": float("inf"),
        "minus infinite": float("-inf"),
        "list with NaN": [float("nan")],
        "list with infinity": [1.0, float("inf")],
    }.items():
        yield with_item(f"with {name}", {"name": "Bob Roy", "age": value}, code=FINE)
    for name, value in {
        "400 digits": 10**400,
        "minus 400 digits": -(10**400),
        "1e308": 1e308,
        "1e-320": 1e-320,
        "an object": {"x": 1},
        "a list of lists": [[1], [2]],
        "a list of 400 digits": [10**400],
        "a list of objects": [{"a": 1}],
        "an empty list": [],
        "truth": True,
        "a lone surrogate": "\ud800",
        "escapes": "\x1b[31m",
        "a zero letter": "\0",
        "100,000 letters": "x y " * 25_000,
        "NaN": float("nan"),
        "a list of texts": ["a", None],
        "a date": "2020-02-30",
    }.items():
        yield with_item(f"with age {name}", {"name": "Bob Roy", "age": value}, code=EITHER)
        yield with_item(f"with name {name}", {"name": value, "age": 3}, code=EITHER)
    yield with_item("with an empty key", {"": 1, "name": "x"}, code=EITHER)
    yield with_item("with a key of escapes", {"\x1b[31m": 1, "name": "x"}, code=EITHER)
    yield _second("ids twice", a_set(items=[{"id": 1, "name": f"n{i}"} for i in range(4)]))
    yield _second("ids null", a_set(items=[{"id": None, "name": f"n{i}"} for i in range(4)]))
    yield _second("ids lists", a_set(items=[{"id": [i], "name": f"n{i}"} for i in range(4)]))
    mixed = [{"id": v, "name": f"n{i}"} for i, v in enumerate([1, "1", 2, 3])]
    yield _second("ids 1 and '1'", a_set(items=mixed), code=EITHER)
    other = [{"title": f"n{i}"} for i in range(4)]
    reading = ("predict", "evaluate", "explain", "report")
    yield _kind(
        "other fields",
        lines(a_set(items=other), a_set(id="t", items=other)),
        commands=reading,
        says=("name",),
    )
    kinds_swapped = [{"name": i, "age": f"word{i}"} for i in range(4)]
    yield _kind("kinds of fields swapped", lines(a_set(items=kinds_swapped)), commands=reading, code=EITHER)


def document(**changes: Any) -> dict[str, Any]:
    """A document of two sentences with four mentions."""
    places = [(0, 0, 2), (0, 3, 5), (1, 0, 1), (1, 2, 3)]
    made = [{"sent": s, "start": a, "end": b, "type": "PER", "form": "PROP"} for s, a, b in places]
    tokens = [["Ann", "Lee", "met", "Bob", "Ray", "."], ["Ann", "helped", "Bob", "."]]
    return {"id": "d1", "tokens": tokens, "mentions": made, "clusters": [0, 1, 0, 1], **changes}


def _mentions() -> Iterator[Kind]:
    def kind(name: str, given: dict[str, Any], **more: Any) -> Kind:
        more = {"model": "mentions", "columns": ("--kind", "mentions"), "says": SECOND, **more}
        learn = more["columns"]
        content = lines(document(id="d0"), {k: v for k, v in given.items() if v is not ...})
        found = Kind(f"mentions: {name}", content, file="a.jsonl", **{**more, "columns": (), "others": False})
        # Only learning is told the kind of the items.
        commands = [c for c in found.commands if c not in LEARN]
        return Kind(**{**vars(found), "commands": commands}) if learn else found

    def with_mention(name: str, change: dict[str, Any], **more: Any) -> Kind:
        made = document()
        made["mentions"][1] = {k: v for k, v in {**made["mentions"][1], **change}.items() if v is not ...}
        return kind(name, made, **more)

    yield kind("whole", document(), code=FINE)
    for name, tokens in {
        "tokens missing": ...,
        "tokens null": None,
        "tokens a string": "Ann met Bob",
        "tokens flat": ["Ann", "met"],
        "tokens numbers": [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4]],
        "tokens empty": [],
        "tokens null inside": [None, None],
        "tokens objects": [[{"a": 1}] * 6, [{}] * 4],
        "sentence a string": ["Ann Lee met Bob", "Ann helped"],
        "token null": [["Ann", None, "met", "Bob", "Ray", "."], ["Ann", "helped", "Bob", "."]],
    }.items():
        yield kind(name, document(tokens=tokens))
    for name, change in {
        "sentence missing": {"sent": ...},
        "sentence beyond": {"sent": 9},
        "sentence negative": {"sent": -1},
        "sentence a text": {"sent": "0"},
        "start beyond": {"start": 99},
        "end beyond": {"end": 99},
        "end before start": {"start": 4, "end": 3},
        "empty mention": {"start": 3, "end": 3},
        "start 2.9": {"start": 2.9},
        "start a text": {"start": "0"},
        "start null": {"start": None},
        "end missing": {"end": ...},
        "start of 400 digits": {"start": 10**400},
        "start negative": {"start": -1},
        "start true": {"start": True},
    }.items():
        yield with_mention(name, change)
    for name, change in {
        "type a number": {"type": 3},
        "type null": {"type": None},
        "form unknown": {"form": "???"},
        "type a list": {"type": []},
        "form missing": {"form": ...},
        "speaker a list": {"speaker": [1]},
    }.items():
        yield with_mention(name, change, code=EITHER)


def _context() -> Iterator[Kind]:
    for name, links in {
        "a number": 3,
        "a text": "abc",
        "null": None,
        "an object": {"a": 1},
        "of three": [[0, 1, 2]],
        "of one": [[0]],
        "of texts": [["a", "b"]],
        "fractions": [[0.5, 1]],
        "of 400 digits": [[10**400, 1]],
        "ragged": [[0, 1], [1]],
        "infinite": [[float("inf"), 0]],
    }.items():
        yield _second(f"links {name}", a_set(links=links), model="links", says=("a.jsonl",))
    for name, links in {
        "empty": [],
        "beyond": [[7, 9]],
        "negative": [[-1, -2]],
        "to itself": [[1, 1]],
    }.items():
        yield _second(f"links {name}", a_set(links=links), model="links", code=EITHER, says=("a.jsonl",))
