"""Bad rows and options for the commands of learners of rows: universum and multilabel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import commands
from .inputs import EITHER, FINE, REFUSED, USAGE, Content, Line, packed, write

SVM = "1 1:1 2:.5\n1 1:.9 2:.4\n2 1:-1 3:2\n2 1:-1.1 3:2.2\n1,2 2:.1 3:1\n"
PLAIN = SVM.replace("1,2", "1")
NUMBERS = "id,a,b,x,y\n" + "".join(f"r{i},{i % 3 - 1},{i * 0.5 - 1},{i % 2},{i // 3}\n" for i in range(6))
TEXTS = "id,text,x,y\n" + "".join(
    f"r{i},{'storm rain coast' if i % 2 else 'bank loan rate'} word{i % 3},{i % 2},{i // 3}\n"
    for i in range(6)
)
FIT = {
    "universum": "universum fit {data} --clusters 2 --quiet --model new.model {more}",
    "multilabel": "multilabel fit {data} --C 1 --quiet --model new.model {more}",
}
USE = ("predict {data} --out new.csv --quiet", "evaluate {data} --quiet")
# Files that no command of these takes, and a word that the refusal must have.
BAD_ROWS: dict[str, tuple[str, Content, str]] = {
    "empty": ("a.svm", "", "a.svm"),
    "comments alone": ("a.svm", "# nothing\n\n", "a.svm"),
    "no features": ("a.svm", "1\n2\n", "a.svm"),
    "a word for a number": ("a.svm", PLAIN + "1 1:x\n", "a.svm:6"),
    "not a number": ("a.svm", PLAIN + "1 1:nan\n", "a.svm:6"),
    "infinite": ("a.svm", PLAIN + "1 1:inf\n", "a.svm:6"),
    "too large": ("a.svm", PLAIN + "1 1:1e999\n", "a.svm:6"),
    "indices that fall": ("a.svm", PLAIN + "1 2:1 1:1\n", "a.svm:6"),
    "index nought": ("a.svm", PLAIN + "1 0:1\n", "a.svm:6"),
    "index too large": ("a.svm", PLAIN + "1 99999999999:1\n", "a.svm:6"),
    "no index": ("a.svm", PLAIN + "1 :1\n", "a.svm:6"),
    "a target of words": ("a.svm", PLAIN + "one 1:1\n", "a.svm:6"),
    "labels with a gap": ("a.svm", PLAIN + "1,,2 1:1\n", "a.svm:6"),
    "not UTF-8": ("a.svm", PLAIN.encode() + b"\xff 1:1\n", "a.svm:6"),
    "damaged gzip": ("a.svm.gz", packed(PLAIN * 50)[:-20], "a.svm.gz"),
    "not gzip": ("a.svm.gz", PLAIN, "a.svm.gz"),
    "sets": ("a.jsonl", '{"items": [{"a": 1}]}\n', "a.jsonl"),
    "empty table": ("a.csv", "", "a.csv"),
    "header alone": ("a.csv", "id,a,b,x,y\n", "a.csv"),
    "a short row": ("a.csv", NUMBERS + "r9,1\n", "a.csv:8"),
    "a word in a table": ("a.csv", NUMBERS + "r9,1,two,0,1\n", "a.csv:8"),
    "an empty cell": ("a.csv", NUMBERS + "r9,1,,0,1\n", "a.csv:8"),
    "an infinite cell": ("a.csv", NUMBERS + "r9,1,inf,0,1\n", "a.csv:8"),
    "an id twice": ("a.csv", NUMBERS + "r0,1,2,0,1\n", "a.csv:8"),
    "a column twice": ("a.csv", NUMBERS.replace("id,a,b", "id,a,a"), "a.csv:1"),
    "a table that is none": ("a.parquet", "no table", "a.parquet"),
}


def write_models(folder: Path) -> None:
    """A model of each kind: of SVM^light rows, of numbers and of texts."""
    for name, content in {
        "rows.svm": SVM,
        "plain.svm": PLAIN,
        "numbers.csv": NUMBERS,
        "texts.csv": TEXTS,
    }.items():
        write(folder, name, content)
    for model, data, more in (
        ("universum", "plain.svm", ""),
        ("universum-numbers", "numbers.csv", "--features a,b"),
        ("universum-texts", "texts.csv", "--text text"),
        ("multilabel", "rows.svm", ""),
        ("multilabel-numbers", "numbers.csv", "--features a,b --labels x,y"),
        ("multilabel-texts", "texts.csv", "--text text --labels x,y"),
    ):
        words = (
            FIT[model.split("-")[0]]
            .format(data=data, more=more)
            .replace("new.model", f"{model}.model")
            .split()
        )
        ran = commands.run("clustruct", words, folder)
        if ran.code != 0:
            raise RuntimeError(f"{data} cannot be learned: {ran}")


def line(words: str, code: tuple[int, ...], *says: str, **files: Content) -> Line:
    """A command line beside good rows of every kind."""
    held = {"rows.svm": SVM, "plain.svm": PLAIN, "numbers.csv": NUMBERS, "texts.csv": TEXTS}
    held |= {name.replace("_", "."): content for name, content in files.items()}
    return Line(
        "clustruct", words.split(), held, code, says, ("new.model", "new.csv"), 60 if code == USAGE else 1
    )


def all_lines() -> Iterator[tuple[str, Line]]:
    """All of them, by name."""
    for what, (name, content, place) in BAD_ROWS.items():
        for found, command in _given(name):
            yield f"rows: {what} / {command}", _with(line(found, REFUSED, place), name, content)
    for words, code, says in (*_fits(), *_uses()):
        yield words, line(words, code, *says)


def _with(found: Line, name: str, content: Content) -> Line:
    return Line(
        found.command, found.words, {**found.files, name: content}, found.code, found.says, found.targets
    )


def _given(name: str) -> Iterator[tuple[str, str]]:
    """The command lines that a bad file is given to."""
    table = name.endswith((".csv", ".parquet"))
    kind = "-numbers" if table else ""
    for command, template in FIT.items():
        roles = {"universum": "--features a,b", "multilabel": "--features a,b --labels x,y"}[command]
        yield template.format(data=name, more=roles if table else ""), f"{command} fit"
        for use in USE:
            label = " --label x" if table and command == "universum" and use.startswith("evaluate") else ""
            words = f"{command} {use.format(data=name)} --model {command}{kind}.model{label}"
            yield words, f"{command} {use.split()[0]}"


def _fits() -> Iterator[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    fit, labels = FIT["universum"], FIT["multilabel"]
    yield fit.format(data="plain.svm", more=""), FINE, ()
    yield labels.format(data="rows.svm", more="--edges tree"), FINE, ()
    yield fit.format(data="texts.csv", more="--text text --words 1"), EITHER, ()
    yield fit.format(data="none.svm", more=""), REFUSED, ("none.svm",)
    yield fit.format(data=".", more=""), REFUSED, (".",)
    yield fit.format(data="plain.svm", more="--universum none.svm"), REFUSED, ("none.svm",)
    yield fit.format(data="plain.svm", more="--universum-label 7"), REFUSED, ("plain.svm",)
    yield fit.format(data="plain.svm", more="--clusters 9"), REFUSED, ("plain.svm",)
    yield fit.format(data="plain.svm", more="--label x"), REFUSED, ("plain.svm",)
    yield fit.format(data="numbers.csv", more="--features a,z"), REFUSED, ("numbers.csv",)
    yield fit.format(data="numbers.csv", more="--features a,b --universum rows.svm"), REFUSED, ("rows.svm",)
    yield fit.format(data="plain.svm", more="--model plain.svm"), REFUSED, ("plain.svm",)
    yield fit.format(data="plain.svm", more="--universum rows.svm --model rows.svm"), REFUSED, ("rows.svm",)
    yield fit.format(data="plain.svm", more="--model no/where.model"), REFUSED, ("no/where.model",)
    yield fit.format(data="numbers.csv", more="--features a,b --memory-limit 1"), REFUSED, ("numbers.csv",)
    yield labels.format(data="numbers.csv", more="--features a"), REFUSED, ("numbers.csv",)
    yield labels.format(data="numbers.csv", more="--labels x,a --features b"), REFUSED, ("numbers.csv:2",)
    yield labels.format(data="rows.svm", more="--labels x"), REFUSED, ("rows.svm",)
    for more in (
        "--C 0",
        "--C nan",
        "--clusters 1",
        "--balance -1",
        "--starts 0",
        "--text text --features a",
    ):
        yield fit.format(data="texts.csv", more=more), USAGE, ()
    for more in ("--oracle magic", "--edges some", "--folds 1", "--C much", "--n-jobs two"):
        yield labels.format(data="rows.svm", more=more), USAGE, ()
    yield from (
        (words, USAGE, ()) for words in ("universum", "multilabel", "universum fly", "multilabel fit")
    )


def _uses() -> Iterator[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    for command in FIT:
        data = "plain.svm" if command == "universum" else "rows.svm"
        for use in USE:
            words = f"{command} {use.format(data=data)} --model"
            yield f"{words} {command}.model", FINE, ()
            yield f"{words} {command}-numbers.model", REFUSED, (data,)
            other = "multilabel" if command == "universum" else "universum"
            yield f"{words} {other}.model", REFUSED, (f"{other}.model",)
            yield f"{words} table.model", REFUSED, ("table.model",)
            yield f"{words} plain.svm", REFUSED, ("plain.svm",)
            yield f"{words} none.model", REFUSED, ("none.model",)
        texts = f"{command} predict texts.csv --model {command}-texts.model --quiet"
        yield f"{texts} --out new.csv", FINE, ()
        yield f"{texts} --features x --out new.csv", USAGE, ()
        yield f"{texts} --out texts.csv", REFUSED, ("texts.csv",)
        yield f"{texts} --out {command}-texts.model", REFUSED, (f"{command}-texts.model",)
        yield f"{texts} --out new.xls", REFUSED, ("new.xls",)
        yield (
            f"{command} predict numbers.csv --model {command}-texts.model --quiet",
            REFUSED,
            ("numbers.csv",),
        )
    yield "universum evaluate numbers.csv --model universum-numbers.model --quiet", REFUSED, ("numbers.csv",)
