"""Bad files of groups, constraints, decisions and stores, and what they are given to."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clustruct.groups.schema import FORMAT

from .inputs import EITHER, FINE, REFUSED, TABLE, USAGE, Content, Line, lines, packed

KNOWN = "id,cluster,name,age\nk1,g1,Ann Lee,31\nk2,g1,Anne Lee,31\nk3,g2,Bob Ray,52\nk4,g2,Bob Roy,52\n"
NEW = "id,name,age\nn1,Ann Li,31\nn2,Bob Rey,52\nn3,Dora Hill,80\n"
FILES: dict[str, Content] = {"known.csv": KNOWN, "n.csv": NEW, "a.csv": TABLE}
TARGETS = ("new.csv", "new.jsonl", "new.db", "s.db-wal", "s.db-shm")
PREDICT = "predict n.csv --model table.model --quiet --out new.csv"


def line(words: str, code: tuple[int, ...], *says: str, **files: Content) -> Line:
    """A command line over the known and the new items."""
    many = 60 if code == USAGE else 1
    changed = [name for name in ("s.db",) if code != REFUSED and not name.startswith("bad")]
    return Line("clustruct", words.split(), {**FILES, **files}, code, says, (*TARGETS, *changed), many)


def all_lines() -> Iterator[tuple[str, Line]]:
    """All of them, by name."""
    yield from _groups()
    yield from _decisions()
    yield from _stores()
    for found in (*_usage(), *_targets()):
        yield " ".join(found.words).replace("\x1b", "ESC"), found


def store(path: Path) -> None:
    """A store of the known items with a decision."""
    from clustruct.groups import Decision, Item, Store

    with Store.create(path) as made:
        rows = [text.split(",") for text in KNOWN.splitlines()[1:]]
        made.add_items([Item(i, {"name": name, "age": float(age)}, "known.csv") for i, _, name, age in rows])
        made.record_run({i: g for i, g, *_ in rows})
        made.decide(Decision("different", ("k1", "k3"), author="ann"))
        made.decide(Decision("confirm", group="g1", author="bob"))


def bad_groups() -> Iterator[tuple[str, str, Content, tuple[int, ...]]]:
    """Files of groups: what is wrong, the file, its content, exit codes."""
    head, *rows = KNOWN.splitlines()
    for name, content in {
        "empty": "",
        "header alone": head + "\n",
        "no ids": KNOWN.replace("id,", "nr,", 1),
        "no groups": KNOWN.replace("cluster", "town"),
        "an item twice": KNOWN + rows[0] + "\n",
        "an item without an id": KNOWN + ",g1,Eve,3\n",
        "a short row": KNOWN + "k5,g1\n",
        "a column twice": KNOWN.replace("name,age", "name,name"),
        "bad UTF-8": KNOWN.encode() + b"k5,g1,\xff,3\n",
        "zero bytes": bytes(500),
        "a model": b"clustruct model\n" + bytes(100),
        "a folder": lambda path: path.mkdir(),
        "not there": lambda path: None,
        "a link to itself": lambda path: path.symlink_to(path.name),
        "a device": lambda path: path.symlink_to("/dev/null"),
    }.items():
        yield name, "bad.csv", content, REFUSED
    yield "an infinite number", "bad.csv", KNOWN + "k5,g1,Eve,inf\n", FINE
    for name, content in {
        "no group at all": "id,cluster,name,age\nk1,,Ann,3\nk2,,Bob,4\n",
        "some without a group": KNOWN + "k5,,Eve,3\n",
        "escapes in groups": KNOWN + "k5,\x1b[31mred,Eve,3\n",
        "escapes in ids": KNOWN + "\x1b]0;x,g9,Eve,3\n",
        "a zero letter": KNOWN + "k5,g\0x,Eve,3\n",
        "formulas": KNOWN + "=1+1,@SUM(A1),Eve,3\n",
        "a group of 100,000 letters": KNOWN + f"k5,{'g' * 100_000},Eve,3\n",
        "numbers of 400 digits": KNOWN + f"k5,{'9' * 400},Eve,3\n",
        "the new items themselves": KNOWN + "n1,g1,Ann Li,31\n",
    }.items():
        yield name, "bad.csv", content, EITHER
    one: dict[str, Any] = {"id": "s", "items": [{"id": "k1", "name": "Ann", "age": 3}], "labels": ["g"]}
    for name, content in {
        "JSONL: not JSON": "{'id': 1}\n",
        "JSONL: labels too few": lines({**one, "labels": []}),
        "JSONL: items without ids": lines({**one, "items": [{"name": "Ann", "age": 3}]}),
        "JSONL: an item in two sets": lines(one, {**one, "id": "t"}),
        "JSONL: a list": "[1]\n",
        "JSONL: cut short": lines(one)[:-10],
    }.items():
        # Of several sets the ids have the names of these before them: for a comparison that is in order.
        yield name, "bad.jsonl", content, EITHER if "two sets" in name else REFUSED
    yield "packed, cut short", "bad.csv.gz", packed(KNOWN)[:-9], REFUSED
    yield "no such kind of file", "bad.xlsx", KNOWN, REFUSED


def _groups() -> Iterator[tuple[str, Line]]:
    for name, file, content, code in bad_groups():
        given = {file: content}
        for usage, words in {
            "predict --existing": f"{PREDICT} --existing {file}",
            "predict --existing --revise": f"{PREDICT} --existing {file} --revise",
            "store --items": f"store new.db --create --items {file}",
            "diff old": f"diff {file} known.csv",
            "diff new": f"diff known.csv {file} --match",
        }.items():
            # To be compared groups need no fields, and may be none; the first column may be of ids.
            loose = usage.startswith("diff") and name in ("header alone", "no ids")
            yield f"groups: {name} / {usage}", line(words, EITHER if loose else code, file, **given)
    lacking = KNOWN.replace("name,age", "title,age")
    yield (
        "groups: a field missing / predict --existing",
        line(f"{PREDICT} --existing bad.csv", REFUSED, "name", **{"bad.csv": lacking}),
    )
    text = KNOWN.replace(",31", ",old").replace(",52", ",older")
    yield (
        "groups: text where numbers were / predict --existing",
        line(f"{PREDICT} --existing bad.csv", EITHER, "age", **{"bad.csv": text}),
    )


DECISIONS = {
    "empty": "",
    "header alone": "a,b,answer\n",
    "no answers": "a,b,why\nk1,k2,x\n",
    "no such answer": "a,b,answer\nk1,k2,perhaps\n",
    "an item and itself": "a,b,answer\nk1,k1,yes\n",
    "no id": "a,b,answer\nk1,,yes\n",
    "an item nobody knows": "a,b,answer\nk1,zz,yes\n",
    "neither pairs nor decisions": "x,y\n1,2\n",
    "a short row": "a,b,answer\nk1,k2\n",
    "bad UTF-8": b"a,b,answer\nk1,\xff,yes\n",
    "no such decision": "decision,a,b\nmarry,k1,k2\n",
    "merge of nobody": "decision,group,into\nmerge,zz,g1\n",
    "merge into itself": "decision,group,into\nmerge,g1,g1\n",
    "merge without into": "decision,group,into\nmerge,g1,\n",
    "split of what is not in it": 'decision,group,items\nsplit,g1,"[""k3""]"\n',
    "items an object": 'decision,group,items\nsplit,g1,"{""a"": 1}"\n',
    "items nested deeply": f"decision,group,items\nsplit,g1,{'[' * 5000}{']' * 5000}\n",
    "piles of nobody": 'decision,piles\nsort,"[[""k1""],[""zz""]]"\n',
    "no piles": "decision,piles\nsort,\n",
    "piles of one item": 'decision,piles\nsort,"[[""k1""]]"\n',
    "an item in two piles": 'decision,piles\nsort,"[[""k1"",""k2""],[""k1""]]"\n',
    "an empty pile": 'decision,piles\nsort,"[[""k1"",""k2""],[]]"\n',
    "piles that are no lists": 'decision,piles\nsort,"[""k1"",""k2""]"\n',
    "piles nested deeply": f"decision,piles\nsort,{'[' * 5000}{']' * 5000}\n",
    "piles of pairs": 'decision,a,b,piles\nsame,k1,k2,"[[""k1""],[""k2""]]"\n',
    "move of nobody": "decision,a,into\nmove,zz,g1\n",
    "undo of nothing": "decision,undoes\nundo,77\n",
    "undo of itself": "decision,undoes\nundo,1\n",
    "undo of a word": "decision,undoes\nundo,x\n",
    "undo of 400 digits": f"decision,undoes\nundo,{'9' * 400}\n",
    "not there": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "random bytes": bytes(range(256)) * 20,
    "a row of 33 MB": "a,b,answer\nk1,k2," + "x" * (33 * 2**20) + "\n",
}
# What two people, or one, cannot both mean: a store writes it down, and says so when groups are made.
CLASHES = {
    "said twice, yes and no": "a,b,answer,author\nk1,k2,yes,ann\nk1,k2,no,bob\n",
    "a ring": "a,b,answer\nk1,k2,yes\nk2,n1,yes\nn1,k1,no\n",
    "piles and a pair": 'decision,a,b,piles\nsort,,,"[[""k1"",""k2"",""k3""]]"\ndifferent,k2,k3,\n',
}
TAKEN = {
    "escapes in a note": "decision,a,b,note\nsame,k1,k2,\x1b[31m\n",
    "a number of 400 digits": f"number,decision,a,b\n{'9' * 400},same,k1,k2\n",
    "a number that is none": "number,decision,a,b\nx,same,k1,k2\n",
    "a time that is none": "decision,a,b,time\nsame,k1,k2,yesterday\n",
    "unsure": "a,b,answer\nk1,k2,unsure\n",
    "one item that is no list": "decision,group,items\nsplit,g1,k1\n",
}


def _decisions() -> Iterator[tuple[str, Line]]:
    given: dict[str, Content] = {"s.db": store}
    uses = {
        "predict --existing table": f"{PREDICT} --existing known.csv --constraints FIX",
        "predict --existing store": f"{PREDICT} --existing s.db --constraints FIX",
        "store --decisions": "store s.db --decisions FIX",
        "predict": "predict known.csv --model table.model --quiet --out new.csv --constraints FIX",
    }
    for kinds, code in ((DECISIONS, REFUSED), (CLASHES, REFUSED), (TAKEN, EITHER)):
        for name, content in kinds.items():
            for usage, words in uses.items():
                allowed = EITHER if kinds is CLASHES and usage == "store --decisions" else code
                files = {**given, "fix.csv": content}
                yield (
                    f"decisions: {name} / {usage}",
                    line(words.replace("FIX", "fix.csv"), allowed, "fix.csv", **files),
                )
    for name, text in {
        "not JSON": "{'decision': 'same'}\n",
        "a list": "[]\n",
        "items numbers": json.dumps({"decision": "split", "group": "g1", "items": [1, 2]}) + "\n",
        "items null": json.dumps({"decision": "split", "group": "g1", "items": None}) + "\n",
        "a key of lists": json.dumps({"decision": ["same"], "a": "k1", "b": "k2"}) + "\n",
        "an author of objects": json.dumps({"decision": "same", "a": "k1", "b": "k2", "author": {}}) + "\n",
        "a group of numbers": json.dumps({"decision": "confirm", "group": 7}) + "\n",
        "nested deeply": "[" * 100_000 + "\n",
        "a lone surrogate": '{"decision": "same", "a": "k1", "b": "\\ud800"}\n',
    }.items():
        for usage, words in uses.items():
            files = {**given, "fix.jsonl": text}
            code = EITHER if name.startswith("an author") else REFUSED
            yield (
                f"decisions: JSONL, {name} / {usage}",
                line(words.replace("FIX", "fix.jsonl"), code, "fix.jsonl", **files),
            )


def _changed(*statements: str) -> Any:
    """A store of which somebody has changed the tables."""

    def make(path: Path) -> None:
        store(path)
        db = sqlite3.connect(path)
        for statement in statements:
            db.execute(statement)
        db.commit()
        db.execute("PRAGMA journal_mode = DELETE")
        db.close()

    return make


def _part(share: float) -> Any:
    def make(path: Path) -> None:
        store(path)
        data = path.read_bytes()
        path.write_bytes(data[: round(share * len(data))])

    return make


def _beside(end: str, content: bytes) -> Any:
    def make(path: Path) -> None:
        store(path)
        Path(f"{path}{end}").write_bytes(content)

    return make


def _filled(path: Path) -> None:
    """The head of a store, and after it anything."""
    store(path)
    path.write_bytes(path.read_bytes()[:100] + bytes(range(256)) * 60)


BAD_STORES: dict[str, Any] = {
    "empty": "",
    "text": "hello",
    "header alone": _part(0.002),
    "cut to half": _part(0.5),
    "cut short": _part(0.9),  # less may be the empty end of the last page
    "other bytes behind the head": _filled,
    "a folder": lambda path: path.mkdir(),
    "not there": lambda path: None,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
    "somebody else's database": lambda path: sqlite3.connect(path).executescript("CREATE TABLE t (x)"),
    "a later format": _changed(f"PRAGMA user_version = {FORMAT + 1}"),
    "a format below zero": _changed("PRAGMA user_version = -5"),
    "no application": _changed("PRAGMA application_id = 0"),
    "a table more": _changed("CREATE TABLE extra (x)"),
    "a table less": _changed("DROP TABLE members"),
    "a view for a table": _changed("DROP TABLE members", "CREATE VIEW members AS SELECT 1 item, 2 grp"),
    "a trigger": _changed("CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM members; END"),
    "triggers gone": _changed("DROP TRIGGER log_is_kept"),
}
# Tables as they must be, with contents that nobody would write.
BAD_CONTENTS = {
    "fields no JSON": "UPDATE items SET fields = '{' WHERE id = 'k1'",
    "fields a list": "UPDATE items SET fields = '[1]' WHERE id = 'k1'",
    **{
        name: f"INSERT INTO log VALUES (90, '{kind}', '', '', '{content}')"
        for name, (kind, content) in {
            "a run no JSON": ("run", "x"),
            "no such decision": ("marry", "{}"),
            "a decision of nobody": ("merge", '{"group": "zz", "into": "g1"}'),
            "a decision about nobody": ("same", '{"items": ["k1", "zz"]}'),
            "a decision with more": ("same", '{"items": ["k1", "k2"], "x": 1}'),
            "a decision of one item": ("same", '{"items": ["k1"]}'),
            "a pair of lists": ("same", '{"items": [[1], {}]}'),
            "piles of nobody": ("sort", '{"piles": [["k1"], ["zz"]]}'),
            "piles that are texts": ("sort", '{"piles": ["k1", "k2"]}'),
            "a sort without piles": ("sort", '{"items": ["k1", "k2"]}'),
            "undo of the future": ("undo", '{"undoes": 99}'),
            "undo of a text": ("undo", '{"undoes": "x"}'),
        }.items()
    },
}
# Groups beside the log that do not follow from it: found by --verify.
UNVERIFIED = {
    "groups that are not those of the log": "UPDATE members SET grp = 'g9' WHERE item = 'k1'",
    "an id that nobody gave": "INSERT INTO ids VALUES ('g9', 1, NULL, '[]', '[]')",
    "a group gone": "DELETE FROM members WHERE item = 'k1'",
}
STORE_USES = {
    "store": "store BAD",
    "store --verify": "store BAD --verify",
    "store --decide": "store BAD --decide same k1 k2",
    "store --groups-out": "store BAD --groups-out new.csv",
    "predict --existing": f"{PREDICT} --existing BAD",
    "diff": "diff BAD known.csv",
}


def _stores() -> Iterator[tuple[str, Line]]:
    for name, content in BAD_STORES.items():
        for usage, words in STORE_USES.items():
            yield (
                f"store: {name} / {usage}",
                line(words.replace("BAD", "bad.db"), REFUSED, "bad.db", **{"bad.db": content}),
            )
    for kinds in (BAD_CONTENTS, UNVERIFIED):
        for name, statement in kinds.items():
            for usage, words in STORE_USES.items():
                sure = usage == "store --verify" or (kinds is BAD_CONTENTS and usage == "predict --existing")
                yield (
                    f"store: {name} / {usage}",
                    _loose(
                        line(
                            words.replace("BAD", "bad.db"),
                            REFUSED if sure else EITHER,
                            "bad.db",
                            **{"bad.db": _changed(statement)},
                        )
                    ),
                )
    for end in ("-journal", "-wal", "-shm"):
        made = _beside(end, bytes(range(256)) * 8)
        for usage, words in STORE_USES.items():
            yield (
                f"store: nonsense in {end} / {usage}",
                _loose(line(words.replace("BAD", "bad.db"), EITHER, "bad.db", **{"bad.db": made})),
            )


def _loose(found: Line) -> Line:
    """A store that can be used is written to, and SQLite takes away what lies beside it."""
    more = [f"bad.db{end}" for end in ("", "-journal", "-wal", "-shm")]
    return Line(found.command, found.words, found.files, found.code, found.says, (*found.targets, *more))


def _usage() -> Iterator[Line]:
    for words in ("store", "diff", "diff known.csv"):
        yield line(words, USAGE)
    for name in ("store", "diff"):
        yield line(f"{name} --help", FINE)
        yield line(f"{name} known.csv known.csv --nonsense", USAGE)
    yield line("diff known.csv known.csv", FINE)
    yield line("diff known.csv known.csv --top 0", USAGE, "--top")
    yield line("diff known.csv known.csv --cluster nothing", REFUSED, "known.csv")
    yield line("diff known.csv known.csv --id nothing", REFUSED, "known.csv")
    given: dict[str, Content] = {"s.db": store}
    for words in (
        *("marry k1 k2", "same k1", "same k1 k1", "same k1 k2 k3", "merge g1", "merge g1 g1", "split g1"),
        *("confirm", "undo x", "undo -1", "undo", "move", "note"),
    ):
        code = EITHER if words == "note" else USAGE
        yield line(f"store s.db --decide {words}", code, "--decide", **given)
    for words in (
        *("same k1 zz", "merge g1 zz", "merge zz g1", "split g1 k3", "split zz k1", "confirm zz", "undo 99"),
        *("undo 1", "move k1 zz", "undo 99999999999999999999999999", "same k1 \x1b[31m"),
    ):
        yield line(f"store s.db --decide {words}", REFUSED, "decision", "s.db", **given)
    yield line("store s.db --show zz", REFUSED, "zz", **given)
    yield line("store s.db --show \x1b[31m", REFUSED, "s.db", **given)
    yield line("store s.db --create", REFUSED, "s.db", **given)
    yield line("store none/s.db --create", REFUSED, "none")
    yield line("store known.csv/s.db --create", REFUSED, "known.csv")
    yield line(f"store {'n' * 300}.db --create", REFUSED, "nnnn")
    yield line("store s.db --items known.csv --cluster nothing", REFUSED, "known.csv", **given)
    yield line("store s.db --items known.csv --id nothing", REFUSED, "known.csv", **given)
    alone = ("--revise", "--dry-run", "--settle 2", "--existing known.csv --confidence")
    for words in (*alone, *("--settle " + more for more in SETTLE)):
        yield line(f"{PREDICT} {words}", USAGE, words.split()[0])
    yield line(f"{PREDICT} --existing known.csv --constraints known.csv", REFUSED, "known.csv")
    yield line(f"{PREDICT} --existing known.csv --cluster nothing", REFUSED, "known.csv")
    yield line(f"{PREDICT} --existing known.csv --where id=zz", REFUSED, "n.csv")


SETTLE = ("2 --existing known.csv", "0 --existing s.db", "x --existing s.db", "2 --existing s.db --revise")


def _targets() -> Iterator[Line]:
    """No input is written over."""
    given: dict[str, Content] = {"s.db": store, "fix.csv": "a,b,answer\nk1,k2,yes\n"}
    predict = "predict n.csv --model table.model --quiet"
    for target in ("n.csv", "known.csv", "fix.csv", "table.model"):
        words = f"{predict} --existing known.csv --constraints fix.csv --out {target}"
        yield line(words, REFUSED, target, **given)
    yield line(f"{predict} --existing s.db --out s.db", REFUSED, "s.db", **given)
    for end in ("xlsx", "parquet", "npy", ""):
        target = f"new.{end}".rstrip(".")
        yield line(f"{predict} --existing s.db --out {target}", REFUSED, target, **given)
        yield line(f"store s.db --groups-out {target}", REFUSED, target, **given)
        yield line(f"store s.db --decisions-out {target}", REFUSED, target, **given)
    for out in ("--groups-out", "--decisions-out"):
        yield line(f"store s.db {out} s.db", REFUSED, "s.db", **given)
        yield line(f"store s.db --items known.csv {out} known.csv", REFUSED, "known.csv", **given)
        yield line(f"store s.db --decisions fix.csv {out} fix.csv", REFUSED, "fix.csv", **given)
        yield line(f"store s.db {out} none/new.csv", REFUSED, "none", **given)
        yield line(f"store s.db --decide same k1 k2 {out} none/new.csv", REFUSED, "none", **given)
    yield line("store s.db --groups-out new.csv --decisions-out new.csv", REFUSED, "new.csv", **given)
    yield line("store new.db --create --items n.csv --groups-out n.csv", REFUSED, "n.csv")
    yield line("store new.db --create --items none.csv", REFUSED, "none.csv")
    yield line("store new.db --create --decisions fix.csv", REFUSED, "fix.csv", **given)
    yield line("store new.db --create --decide same k1 k2", REFUSED, "decision")
