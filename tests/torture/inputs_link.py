"""Bad tables, names and targets given to ``link``: once as the first table, once as the second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .inputs import COLUMNS, EITHER, FINE, REFUSED, USAGE, Content, Kind, Line, a_set, lines, unwritable
from .inputs_json import document

GOOD = "id,name,age\ng1,Ann Li,31\ng2,Bob Rey,52\ng3,Dora Hill,80\n"
OTHER = "nr,full,years\nh1,Ann Lea,31\nh2,Bob Roy,52\nh3,Dora Hell,80\n"
FILES: dict[str, Content] = {"good.csv": GOOD, "other.csv": OTHER}
MAPPED = "--map id=nr --map name=full --map age=years"
TARGETS = ("new.csv", "new.parquet", "new.jsonl")
# Kinds that are about what `link` does not look at: sets, labels, groups, ids of several sets.
UNSEEN = (
    "set",
    "a column missing",
    "group",
    "label",
    "cluster",
    "id twice",
    "ids twice",
    "every item alone",
    "same name twice",
)


def lines_of(kind: Kind) -> Iterator[tuple[str, Line]]:
    """The lines that a kind of data is given to, where it is a table and needs no other options."""
    asked = [word for word in kind.more if word.startswith("--")]
    fits = kind.model == "table" and not kind.second and set(kind.columns) <= set(COLUMNS)
    tried = kind.others or "predict" in kind.commands
    if not fits or not tried or set(asked) - {"--delimiter", "--number-ids"}:
        return
    file = "good.csv"
    name = ["--id", "id"] if "--id" in kind.columns else []
    sure = "predict" in kind.commands and not any(word in kind.name for word in UNSEEN)
    for usage, data in (("first", [kind.file, file]), ("second", [file, kind.file])):
        words = ["link", *data, "--model", f"{kind.model}.model", "--number-ids", *name, *kind.more]
        says = kind.says or (kind.file,) if sure and not kind.more else (kind.file, file, *kind.says)
        files = {kind.file: kind.content, file: GOOD, **kind.also}
        found = Line("clustruct", [*words, "--quiet", "--out", "new.csv"], files)
        code = kind.code if sure else EITHER
        yield f"{kind.name} / link {usage}", replace(found, code=code, says=says, targets=TARGETS)


def line(words: str, code: tuple[int, ...], *says: str, **files: Content) -> Line:
    """A command line over two tables."""
    many = 40 if code == USAGE else 1
    return Line("clustruct", words.split(), {**FILES, **files}, code, says, TARGETS, many)


def all_lines() -> Iterator[tuple[str, Line]]:
    """Options, models and targets."""
    for found in (*_usage(), *_names(), *_sets(), *_targets()):
        yield " ".join(found.words), found


LINK = "link good.csv other.csv --quiet"
SURE = f"{LINK} --model sure.model {MAPPED}"


def _usage() -> Iterator[Line]:
    for words in ("link", "link good.csv --model table.model", f"{LINK} {MAPPED}", f"{SURE} --nonsense"):
        yield line(words, USAGE)
    yield line("link good.csv other.csv more.csv --model table.model", USAGE)
    yield line("link --help", FINE)
    for option, values in {
        "--threshold": "0 1 -1 2 nan inf x",
        "--precision": "0 1 -1 2 nan inf x",
        "--map": "name =full name= a:=full =",
        "--delimiter": ";; \\",
    }.items():
        for value in values.split():
            code = EITHER if value == "\\" else USAGE
            yield line(f"{SURE} {option} {value}", code if value != "a:=full" else (1, 2), option)
    yield line(f"{SURE} --threshold 0.5 --precision 0.9", USAGE, "--threshold", "--precision")
    for more in ("", "--one-to-one", "--no-one-to-one", "--unmatched", "--json", "--threshold 0.9"):
        yield line(f"{SURE} {more} --out new.csv", FINE)
        yield line(f"{LINK} --model linked.model {MAPPED} {more} --out new.csv", FINE)
    yield line(f"{SURE} --precision 0.999999", FINE)
    for option in ("--threshold 0.5", "--precision 0.9"):
        yield line(f"{LINK} --model table.model {MAPPED} {option}", REFUSED, "table.model")
    for model in ("none.model", "good.csv", "bare.model", "linear.model", "mentions.model", "vectors.model"):
        yield line(f"{LINK} --model {model} {MAPPED}", REFUSED, model, "good.csv", "--map")


def _names() -> Iterator[Line]:
    link = "link good.csv other.csv --quiet --model sure.model"
    yield line(link, REFUSED, "other.csv")
    yield line("link other.csv good.csv --quiet --model sure.model", REFUSED, "other.csv")
    yield line("link good.csv good.csv --quiet --model sure.model", REFUSED, "good.csv")
    yield line("link good.csv ./good.csv --quiet --model sure.model", REFUSED, "good.csv")
    yield line(f"{link} --map id=nr", REFUSED, "other.csv")
    yield line(f"{link} --map id=nr --map name=ful --map age=years", REFUSED, "other.csv")
    yield line(f"{link} {MAPPED} --map nam=full", REFUSED, "--map")
    yield line(f"{link} {MAPPED} --map a:name=full", REFUSED, "good.csv")
    yield line(f"{link} {MAPPED} --map name=years", (*EITHER, 2), "--map", "other.csv")
    yield line(f"{link} --map id=nr --map name=full --map age=full", EITHER, "other.csv")
    yield line(f"{link} {MAPPED} --map name=\x1b[31m", (*EITHER, 2), "--map", "other.csv")
    yield line(f"{link} {MAPPED} --id nothing", REFUSED, "good.csv")
    swap = "link other.csv good.csv --quiet --model sure.model --out new.csv"
    yield line(f"{swap} --map a:id=nr --map a:name=full --map a:age=years", FINE)
    for name, content in {
        "columns that end alike": "id,name,age,name_a,id_b,score\nh1,Ann,31,x,y,z\n",
        "names of the output": "id,name,age,id_a,probability\nh1,Ann,31,x,y\n",
    }.items():
        found = line(f"link good.csv b.csv --quiet --model sure.model --out {TARGETS[0]}", EITHER, "b.csv")
        yield replace(found, files={**found.files, "b.csv": content}, words=[*found.words, "--verbose"])
        for target in TARGETS[1:]:
            words = f"link b.csv good.csv --quiet --model sure.model --out {target}"
            made = line(words, EITHER, "b.csv", **{"b.csv": content})
            yield made if "end" in name else replace(made, words=[*made.words, "--unmatched"])


def _sets() -> Iterator[Line]:
    """JSONL: a table is one set."""
    whole = a_set(labels=...)
    bad = {**whole["items"][0], "age": float("inf")}
    for name, content, says in (
        ("two.jsonl", lines(whole, {**whole, "id": "s2"}), "two.jsonl"),
        ("cut.jsonl", lines(whole)[:-9], "cut.jsonl:1"),
        ("items.jsonl", lines({**whole, "items": None}), "items.jsonl:1"),
        ("none.jsonl", lines({**whole, "items": []}), "none.jsonl:1"),
        ("infinite.jsonl", lines({**whole, "items": [bad, *whole["items"][1:]]}), "infinite.jsonl:1"),
        ("list.jsonl", "[1]\n", "list.jsonl:1"),
        ("mentions.jsonl", lines(document()), "mentions.jsonl"),
    ):
        for data in (f"{name} good.csv", f"good.csv {name}"):
            words = f"link {data} --quiet --model sure.model --number-ids"
            yield line(words, REFUSED, says, **{name: content})
    yield line("link good.csv one.jsonl --quiet --model sure.model", EITHER, **{"one.jsonl": lines(whole)})


def _targets() -> Iterator[Line]:
    """No input is written over, and nothing is written that cannot be."""
    for target in ("good.csv", "other.csv", "sure.model", "./good.csv", "none/new.csv", "new.xlsx", "new"):
        yield line(f"{SURE} --out {target}", REFUSED, target.removeprefix("./"))
    for target, content in unwritable("csv", "other.csv").items():
        yield line(f"{SURE} --out {target}", REFUSED, target, **{target: content})
    yield line(f"{SURE} --out dev.csv", FINE, **{"dev.csv": lambda path: path.symlink_to("/dev/null")})
    for target in TARGETS:
        yield line(f"{SURE} --out {target} --unmatched", FINE)
