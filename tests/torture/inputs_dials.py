"""What is asked of groups, further files, corrections, sources, curves and reasons, asked wrongly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from .inputs import (
    COLUMNS,
    EITHER,
    FINE,
    FURTHER,
    REFUSED,
    TABLE,
    USAGE,
    Content,
    Line,
    lines,
    people,
    unwritable,
)
from .inputs_living import BAD_STORES, CLASHES, DECISIONS, KNOWN, NEW, TAKEN, bad_groups, store
from .inputs_options import BAD_MODELS

FILES: dict[str, Content] = {"a.csv": TABLE, "known.csv": KNOWN, "n.csv": NEW, "sure.csv": people(6)}
TARGETS = (
    *("new.csv", "new.model", "new.svg", "new.tsv", "new.jsonl", "new.csv.gz"),
    *(word for word in FURTHER if word.startswith("new.")),
)
PREDICT = "predict a.csv --quiet --out new.csv --model"
SURE = f"{PREDICT} sure.model"
FIT = "fit sure.csv {columns} --C 1 --quiet --model new.model"


def line(words: str, code: tuple[int, ...], *says: str, **files: Content) -> Line:
    """A command line; {columns} stands for those of the table."""
    listed = [w for word in words.split() for w in (COLUMNS if word == "{columns}" else (word,))]
    many = 80 if code == USAGE else 1
    return Line("clustruct", listed, {**FILES, **files}, code, says, TARGETS, many)


def all_lines() -> Iterator[tuple[str, Line]]:
    """All of them, by name."""
    yield from _corrections()
    for found in (*_dials(), *_bounds(), *_files(), *_curves(), *_learning(), *_starts(), *_reasons()):
        yield " ".join(found.words).replace("\x1b", "ESC"), found


def _dials() -> Iterator[Line]:
    for option, values in {
        "--threshold": "0 1 -0.1 1.1 nan inf x 1e-400",
        "--precision": "0 1 -0.1 1.1 nan inf x",
        "--reject-below": "0 1 -0.1 1.1 nan x",
        "--max-size": "0 -1 1.5 x nan",
        "--min-groups": "0 -1 1.5 x",
        "--max-groups": "0 -1 1.5 x",
    }.items():
        for value in values.split():
            yield line(f"{SURE} {option} {value}", USAGE, option)
    for words in ("--threshold 0.5 --precision 0.9", "--min-groups 3 --max-groups 2"):
        yield line(f"{SURE} {words}", USAGE, words.split()[0])
    for words in ("--max-size 2", "--min-groups 2", "--max-groups 2", "--reject-below 0.5"):
        yield line(f"{SURE} --existing known.csv {words}", USAGE, words.split()[0])
    for name in ("--pairs", "--groups", "--wide", "--graph"):
        yield line(f"{SURE} --existing known.csv {name} new.pairs.csv", USAGE, name)
    for model in ("table.model", "sets.model", "vectors.model", "mentions.model"):
        for words in ("--threshold 0.5", "--precision 0.9", "--reject-below 0.5"):
            yield line(f"{PREDICT} {model} {words}", REFUSED, model)
    existing = "predict n.csv --quiet --out new.csv --model sure.model --existing known.csv"
    for words in ("--threshold 0.9", "--precision 0.9", "--threshold 0.9 --revise", "--revise --dry-run"):
        yield line(f"{existing} {words}", FINE)
    for words in (
        *("--threshold 1e-300", "--threshold 0.9999999999999999", "--precision 0.9999999", "--max-size 1"),
        *(
            "--max-size 99999999999999999999",
            "--max-groups 1",
            "--reject-below 0.999999999",
            "--min-groups 4",
        ),
        *("--max-size 3 --max-groups 2", "--max-size 1 --min-groups 4", "--min-groups 1 --max-groups 1"),
    ):
        yield line(f"{SURE} {words}", FINE)


def _bounds() -> Iterator[Line]:
    """What cannot hold is refused with the reason."""
    predict = "predict known.csv --quiet --out new.csv --model sure.model --id id"
    for words in (
        *("--min-groups 5", "--min-groups 99999999999999999999", "--max-groups 1 --max-size 2"),
        *("--max-groups 1 --max-size 1", "--max-groups 1 --reject-below 0.999999"),
    ):
        code = (*EITHER, 2) if "reject" in words else (1, 2)
        yield line(f"{predict} {words}", code, "known.csv", words.split()[0], "--max-groups")
    for words, text in {
        "--max-size 1": "k1,k2,yes",
        "--max-size 2": "k1,k2,yes\nk2,k3,yes",
        "--min-groups 4": "k1,k2,yes",
        "--max-groups 1": "k1,k2,no",
        "--max-groups 2": "k1,k2,no\nk1,k3,no\nk2,k3,no",
        "--max-groups 2 --max-size 2": "k1,k2,no\nk1,k3,no\nk1,k4,no",
    }.items():
        fix: dict[str, Content] = {"fix.csv": f"a,b,answer\n{text}\n"}
        yield line(f"{predict} {words} --constraints fix.csv", REFUSED, "known.csv", **fix)
    for kinds, code in ((DECISIONS, REFUSED), (CLASHES, REFUSED), (TAKEN, EITHER)):
        for content in kinds.values():
            held: dict[str, Content] = {"fix.csv": content}
            words = f"{predict} --max-size 3 --threshold 0.4 --constraints fix.csv --pairs new.pairs.csv"
            yield line(words, code, "fix.csv", **held)


def _files() -> Iterator[Line]:
    """Further files: none replaces an input or another one, all are there or none."""
    made = unwritable("csv", "a.csv") | unwritable("graphml", "a.csv")
    made |= {"hard.csv": lambda path: os.link(path.parent / "a.csv", path), "pipe.csv": os.mkfifo}
    for name in ("--pairs", "--groups", "--wide", "--graph"):
        end = "graphml" if name == "--graph" else "csv"
        for target in ("a.csv", "./a.csv", "sure.model", "fix.csv", f"none/new.{end}", "new.xlsx", "new"):
            fix: dict[str, Content] = {"fix.csv": "a,b,answer\n"} if target == "fix.csv" else {}
            more = "--constraints fix.csv" if fix else ""
            yield line(f"{SURE} {name} {target} {more}", REFUSED, target.removeprefix("./"), **fix)
        for target, content in made.items():
            if target.endswith(end):
                yield line(f"{SURE} {name} {target}", REFUSED, target, **{target: content})
        yield line(f"{SURE} {name} {'n' * 300}.{end}", REFUSED, "nnnn")
        yield line(f"{SURE} {name} new.csv", (1, 2), "same", "new.csv")
        yield line(f"{SURE} {name} ./new.csv", (1, 2), "same", "new.csv")
        quiet: dict[str, Content] = {f"dev.{end}": lambda path: path.symlink_to("/dev/null")}
        yield line(f"{SURE} {name} dev.{end}", FINE, **quiet)
        # One that fails at its end leaves no other behind.
        lost = {f"full.{end}": made[f"full.{end}"]}
        others = " ".join(w for w in FURTHER if w not in (name, FURTHER[FURTHER.index(name) + 1]))
        yield line(f"{SURE} {others} {name} full.{end}", REFUSED, f"full.{end}", **lost)
    yield line(f"{SURE} --pairs new.pairs.csv --groups new.pairs.csv", USAGE, "same")
    yield line(f"{SURE} {' '.join(FURTHER)}", FINE)
    for model in ("table.model", "linked.model"):
        words = f"predict known.csv --id id --quiet --out new.csv --model {model} {' '.join(FURTHER)}"
        yield line(f"{words} --allow-missing-fields", EITHER, "known.csv", model)
    wide = [
        {"id": f"s{i}", "items": [{"id": "x", "name": "Ann", "age": 1, **m}]} for i, m in enumerate(_FIELDS)
    ]
    for order in (wide, wide[::-1]):
        words = "predict w.jsonl --quiet --model sure.model --wide {} --pairs new.pairs.csv"
        for target in ("new.csv", "new.jsonl", "new.tsv"):
            found = line(words.format(target), EITHER, "w.jsonl", target)
            yield replace(found, files={**found.files, "w.jsonl": lines(*order)}, lines=1)


_FIELDS: list[dict[str, object]] = [
    {},
    {"town": "Ulm"},
    {"town": [1, {"a": 2}], "cluster": 7},
    {"set": "\ud800"},
]


def _curves() -> Iterator[Line]:
    curve = "evaluate sure.csv {columns} --quiet --model sure.model --curve"
    for target in ("new.svg", "new.SVG"):
        yield replace(line(f"{curve} {target}", FINE), targets=(*TARGETS, target))
    yield line(curve, FINE)
    yield line(f"{curve} --json", FINE)
    for target in ("new.xlsx", "new", "new.html", "new.csv"):
        yield line(f"{curve} {target}", USAGE, target)
    for target in ("sure.csv", "sure.model", "none/new.svg"):
        yield line(f"{curve} {target}", (1, 2), target)
    for target, content in unwritable("svg", "sure.csv").items():
        yield line(f"{curve} {target}", REFUSED, target, **{target: content})
    yield line("evaluate a.csv {columns} --quiet --model table.model --curve", REFUSED, "table.model")
    yield line("evaluate a.csv {columns} --quiet --predictions known.csv --curve new.svg", USAGE, "--curve")
    one = "set,id,who,name,age\n1,a,x,Ann,3\n1,b,y,Bob,4\n"
    yield line(
        "evaluate b.csv {columns} --quiet --model sure.model --curve new.svg", EITHER, **{"b.csv": one}
    )


def _corrections() -> Iterator[tuple[str, Line]]:
    """Files of corrections and of corrected items, for `fit`."""
    fit = "fit known.csv --id id --cluster cluster --C 1 --quiet --model new.model"
    for kinds, code in ((DECISIONS, REFUSED), (CLASHES, REFUSED), (TAKEN, EITHER)):
        for name, content in kinds.items():
            held: dict[str, Content] = {"fix.csv": content}
            allowed = EITHER if name in ("header alone", "a ring") else code
            for more in ("", "--disagreement majority", "--unlabelled unknown"):
                words = f"{fit} --corrections fix.csv {more}"
                loose = EITHER if "majority" in more and kinds is CLASHES else allowed
                yield f"corrections: {name} / fit {more}", line(words, loose, "fix.csv", **held)
    for name, content in BAD_STORES.items():
        words = f"{fit} --corrections bad.db"
        yield f"corrections: store, {name} / fit", line(words, REFUSED, "bad.db", **{"bad.db": content})
    fix: dict[str, Content] = {"fix.csv": "a,b,answer\nk1,k2,yes\nk1,k3,no\n", "s.db": store}
    for name, file, content, code in bad_groups():
        given = {**fix, file: content}
        words = f"{fit} --corrections fix.csv --corrected {file}"
        loose = code if name not in ("no groups", "an infinite number") else EITHER
        yield f"corrected: {name} / fit", line(words, loose, file, "fix.csv", **given)
        words = f"{fit} --corrections {file}"
        yield f"corrections: groups, {name} / fit", line(words, EITHER, file, **given)
    yield "corrections: a store / fit", line(f"{fit} --corrections s.db", EITHER, "s.db", **fix)
    for target in ("fix.csv", "s.db", "known.csv", "k.csv"):
        words = "fit known.csv --id id --cluster cluster --quiet --corrections fix.csv --corrections s.db"
        words += f" --corrected k.csv --model {target}"
        made = {**fix, "k.csv": KNOWN}
        yield f"corrections: the model is {target} / fit", line(words, REFUSED, target, **made)


def _learning() -> Iterator[Line]:
    for words in ("--disagreement majority", "--disagreement x", "--corrected a.csv", "--source"):
        yield line(f"{FIT} {words}", USAGE, words.split()[0])
    yield line(f"{FIT} --source none --within-source apart", USAGE, "--within-source")
    yield line(f"{FIT} --within-source x", USAGE, "--within-source")
    yield line(f"{FIT} --map name=full", USAGE, "--map")
    for name in ("nothing", "shops", "\x1b[31m"):
        yield line(f"{FIT} --source {name}", REFUSED, "sure.csv")
    for name in ("id", "who", "set", "name", "age", "Name"):
        yield line(f"{FIT} --source {name}", EITHER, "sure.csv", "source")
    yield line(f"{FIT} --source file", USAGE, "--source", "--set")
    two = "fit sure.csv l.csv --id id --cluster who --C 1 --quiet --model new.model --source file"
    linked: dict[str, Content] = {
        "l.csv": people(15, sources=True),
        "file.csv": "id,who,file\n1,a,b\n2,a,c\n",
    }
    one = "fit l.csv --id id --cluster who --C 1 --quiet --model new.model"
    yield line(f"{one} --source file", REFUSED, "l.csv", **linked)
    yield line(f"{one} --source shop", FINE, **linked)
    yield line(f"{one} --source shop --nonnegative --within-source uncompared", FINE, **linked)
    yield line(f"{two} --map name", USAGE, "--map", **linked)
    yield line(f"{two} --map name=nothing", REFUSED, "l.csv", **linked)
    yield line(f"{two.replace('l.csv', 'sure.csv')}", REFUSED, "sure.csv", **linked)
    yield line(f"{two.replace('l.csv', 'file.csv')}", REFUSED, "file.csv", **linked)
    yield line(f"{two.replace('l.csv', 'none.csv')}", REFUSED, "none.csv", **linked)
    gaps = people(15, sources=True).replace(",a\n", ",\n", 3)
    yield line(f"{one} --source shop", REFUSED, "l.csv", **{"l.csv": gaps})
    yield line(f"{FIT} --nonnegative --learner kmeans", (*EITHER, 2), "nonnegative", "kmeans")
    yield line(f"{FIT} --nonnegative --learner pairs", (*EITHER, 2), "nonnegative", "pairs")
    yield line(f"{FIT} --nonnegative", FINE)


def _starts() -> Iterator[Line]:
    for name, content in BAD_MODELS.items():
        yield line(f"{FIT} --start {name}", REFUSED, name, **{name: content})
    for name in ("sets.model", "vectors.model", "mentions.model", "linked.model"):
        code = EITHER if name == "sets.model" else REFUSED  # which has the same fields
        yield line(f"{FIT} --start {name}", code, name, "sure.csv")
    yield line(f"{FIT} --start sure.model", FINE)
    yield line(f"{FIT} --start table.model --kind text --C 3", FINE)
    yield line(f"{FIT} --start sure.model --checkpoint new.csv", USAGE, "--checkpoint")
    yield line("fit sure.csv {columns} --quiet --start sure.model --model sure.model", REFUSED, "sure.model")
    yield line("fit n.csv --id id --quiet --start sure.model --model new.model", REFUSED, "n.csv")


def _reasons() -> Iterator[Line]:
    explain = "explain a.csv {columns} --model sure.model --quiet"
    for words in ("a", "", "a b c"):
        yield line(f"{explain} --in 1 --why-not {words}", USAGE)
    yield line(f"{explain} --pair a b --why-not a b --in 1", USAGE, "--pair", "--why-not")
    yield line(f"{explain} --why-not a zz", REFUSED, "'zz'")
    yield line(f"{explain} --why-not a b", REFUSED, "--in")
    yield line(f"{explain} --why-not a a --in 1", REFUSED, "two different items")
    yield line(f"{explain} --why-not a \x1b[31m --in 1", REFUSED, "no item")
    yield line(f"{explain} --why-not a b --in 9", REFUSED, "there is no set '9'")
    for more in ("", "--json", "--top 1"):
        yield line(f"{explain} --why-not a b --in 1 {more}", FINE)
        yield line(f"{explain} --why-not a c --in 2 {more}", FINE)
    for model in ("table.model", "linked.model"):
        words = f"explain known.csv --id id --cluster cluster --model {model} --quiet --why-not k1 k3"
        yield line(f"{words} --allow-missing-fields", EITHER, "known.csv")
