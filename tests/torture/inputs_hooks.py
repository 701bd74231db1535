"""Bad input of the hook commands, and bad files of SVM^light."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from clustruct.data.io.feature_rows import read_svmlight, sets_from_svmlight
from clustruct.papers.multilabel import read_multilabel
from tests.papers.hooks import sources

from .inputs import FINE, REFUSED, USAGE, Content, Line

GOOD = "1 1:0.5 3:2\n-1 2:1\n1 1:1 2:-1\n-1 3:1\n"
FILES: dict[str, Content] = {"train.dat": GOOD, "good.py": sources.BARE}


def lines() -> Iterator[tuple[str, Line]]:
    """Command lines of the hook commands."""
    for text, code, says, files in (*_modules(), *_data(), *_options(), *_models(), *_targets()):
        command, *words = text.split()
        made = Line(command, ["-v", "0", *words] if "--m" in words else words, {**FILES, **files}, code, says)
        yield text, Line(**{**vars(made), "targets": ("new.model", "new.out"), "lines": 20})


Made = tuple[str, tuple[int, ...], tuple[str, ...], dict[str, Content]]
LEARN = "clustruct-learn --m {} train.dat new.model"


def _modules() -> Iterator[Made]:
    changed = {
        "syntax.py": "def read_examples(:\n",
        "empty.py": "",
        "import.py": "import not_there_at_all\n" + sources.BARE,
        "raises.py": sources.BARE + "\nraise KeyError('x')\n",
        "leaves.py": sources.BARE + "\nimport sys; sys.exit(3)\n",
        "bytes.py": b"\xff\xfe\x00",
        "zero.py": "\0",
        "old.py": sources.OLD,
        "few.py": sources.BARE.replace("filename, sparm", "filename", 1),
    }
    bodies = {
        "read_none": "def read_examples(filename, sparm): return None",
        "read_number": "def read_examples(filename, sparm): return 3",
        "read_flat": "def read_examples(filename, sparm): return [1, 2, 3]",
        "read_nothing": "def read_examples(filename, sparm): return []",
        "size_none": "def init_model(sample, sm, sparm): pass",
        "size_negative": "def init_model(sample, sm, sparm): sm.size_psi = -1",
        "size_text": "def init_model(sample, sm, sparm): sm.size_psi = 'x'",
        "size_small": "def init_model(sample, sm, sparm): sm.size_psi = 1",
        "psi_none": "def psi(x, y, sm, sparm): return None",
        "psi_nan": "def psi(x, y, sm, sparm): return svmapi.Sparse([(1, float('nan'))])",
        "psi_negative": "def psi(x, y, sm, sparm): return svmapi.Sparse([(-1, 1.0)])",
        "psi_text": "def psi(x, y, sm, sparm): return 'x'",
        "loss_none": "def loss(y, ybar, sparm): return None",
        "loss_nan": "def loss(y, ybar, sparm): return float('nan')",
        "loss_negative": "def loss(y, ybar, sparm): return -1.0",
        "loss_raises": "def loss(y, ybar, sparm): return 1 / 0",
        "oracle_raises": "def find_most_violated_constraint(x, y, sm, sparm): raise RuntimeError('no')",
        "oracle_none": "def find_most_violated_constraint(x, y, sm, sparm): return None",
        "constraints_number": "def init_constraints(sample, sm, sparm): return 3",
        "parse_raises": "def parse_parameters(sparm): raise ValueError('bad')",
        "object_kept": "def init_model(sample, sm, sparm): sm.size_psi = 4; sm.kept = object()",
    }
    for name, text in changed.items():
        yield LEARN.format(name), REFUSED, (name.removesuffix(".py"),), {name: text}
    for name, body in bodies.items():
        files: dict[str, Content] = {f"{name}.py": f"{sources.BARE}\n{body}\n"}
        says = (name, "train.dat", body.split("(")[0].removeprefix("def "), "size_psi")
        yield LEARN.format(f"{name}.py"), (0, 1), says, files
    yield LEARN.format("none"), REFUSED, ("none",), {}
    yield LEARN.format("none.py"), REFUSED, ("none.py",), {}
    yield LEARN.format("."), REFUSED, (".",), {}


def _data() -> Iterator[Made]:
    bad: dict[str, Content] = {
        "empty": "",
        "words": "yes no\n",
        "no value": "1 1:\n",
        "no index": "1 :2\n",
        "text": "1 a:b\n",
        "bytes": b"\xff\xfe",
        "comment alone": "# nothing\n",
        "folder": lambda path: path.mkdir(),
        "missing": lambda path: None,
    }
    for name, content in bad.items():
        file = f"{name.replace(' ', '_')}.dat"
        text = f"clustruct-learn --m good.py {file} new.model"
        yield text, REFUSED, (file, "good.py"), {file: content}


def _options() -> Iterator[Made]:
    for words in ("-c ten", "-c", "-w 1.5", "-t 9", "-q 3", "-e x", "-p x", "-v x", "--m"):
        yield (
            f"clustruct-learn --m good.py {words} train.dat new.model",
            (1, 2),
            (words.split()[0], "file names", "module"),
            {},
        )
    for words in (
        "-c -1",
        "-c 0",
        "-c nan",
        "-c inf",
        "-e -1",
        "-e nan",
        "-w 9",
        "-w -1",
        "-o 7",
        "-p 3",
        "-f -1",
    ):
        yield f"clustruct-learn --m good.py {words} train.dat new.model", (1, 2), (words.split()[0], "C"), {}
    for words in (
        "-t 2 -g -1",
        "-t 1 -d -3",
        "-t 1 -d 1000",
        "-t 3 -s 1e300",
        "-t 2 -g nan",
        "-t 2 -g 1e300",
    ):
        yield f"clustruct-learn --m good.py {words} train.dat new.model", (0, 1, 2), (), {}
    for name in ("clustruct-learn", "clustruct-classify"):
        yield name, USAGE, (), {}
        yield f"{name} --help", FINE, (), {}
        yield f"{name} --m good.py train.dat", USAGE, ("file names",), {}
        yield f"{name} --m good.py a b c d e", USAGE, ("file names",), {}


def _models() -> Iterator[Made]:
    def cut(path: Path) -> None:
        path.write_bytes((path.parent / "linear.model").read_bytes()[:-10])

    bad: dict[str, Content] = {
        "empty.m": "",
        "text.m": "hello",
        "folder.m": lambda path: path.mkdir(),
        "none.m": lambda path: None,
        "archive.m": b"PK\x03\x04" + bytes(50),
        "pickle.m": b"\x80\x04K\x01.",
        "cut.m": cut,
        "other.m": lambda path: path.write_bytes((path.parent / "table.model").read_bytes()),
        "null.m": lambda path: path.symlink_to("/dev/null"),
    }
    for name, content in bad.items():
        yield f"clustruct-classify --m good.py train.dat {name} new.out", REFUSED, (name,), {name: content}


def _targets() -> Iterator[Made]:
    classify = "clustruct-classify --m good.py train.dat linear.model"
    yield f"{classify} train.dat", (1, 2), ("train.dat",), {}
    yield f"{classify} linear.model", (1, 2), ("linear.model",), {}
    yield f"{classify} good.py", (1, 2), ("good.py",), {}
    yield (
        f"{classify} link.dat",
        (1, 2),
        ("link.dat",),
        {"link.dat": lambda path: path.symlink_to("train.dat")},
    )
    yield f"{classify} none/new.out", (1, 2), ("none",), {}
    yield f"{classify} .", (1, 2), (".",), {}
    yield f"{classify} dev.out", FINE, (), {"dev.out": lambda path: path.symlink_to("/dev/null")}
    yield f"{classify} full.out", REFUSED, ("full.out",), {"full.out": lambda p: p.symlink_to("/dev/full")}
    learn = "clustruct-learn --m good.py train.dat"
    yield f"{learn} train.dat", (1, 2), ("train.dat",), {}
    yield f"{learn} good.py", (1, 2), ("good.py",), {}
    yield f"{learn} none/new.model", (1, 2), ("none",), {}
    yield f"{learn} .", (1, 2), (".",), {}
    yield f"{learn} link.dat", (1, 2), ("link.dat",), {"link.dat": lambda path: path.symlink_to("train.dat")}


# Files of SVM^light, read by the library: content, and the place that a refusal must name (None: fine).
SVM_LIGHT: dict[str, tuple[str | bytes, str | None]] = {
    "whole": (GOOD, None),
    "empty": ("", "a.svm"),
    "comments alone": ("# x\n\n", "a.svm"),
    "target a word": ("1 1:1\nyes 1:2\n", "a.svm:2"),
    "target infinite": ("1 1:1\ninf 1:2\n", "a.svm:2"),
    "target NaN": ("1 1:1\nnan 1:2\n", "a.svm:2"),
    "no value": ("1 1:1\n1 2:\n", "a.svm:2"),
    "no index": ("1 1:1\n1 :2\n", "a.svm:2"),
    "index zero": ("1 1:1\n1 0:2\n", "a.svm:2"),
    "index negative": ("1 1:1\n1 -3:2\n", "a.svm:2"),
    "index of 400 digits": (f"1 1:1\n1 {10**400}:2\n", "a.svm:2"),
    "index beyond 2^31": ("1 1:1\n1 2147483648:2\n", "a.svm:2"),
    "index falls": ("1 1:1\n1 3:1 2:1\n", "a.svm:2"),
    "index twice": ("1 1:1\n1 2:1 2:1\n", "a.svm:2"),
    "index a word": ("1 1:1\n1 a:1\n", "a.svm:2"),
    "value a word": ("1 1:1\n1 1:a\n", "a.svm:2"),
    "value infinite": ("1 1:1\n1 1:1e999\n", "a.svm:2"),
    "value NaN": ("1 1:1\n1 1:nan\n", "a.svm:2"),
    "value with underscore": ("1 1:1\n1 1:1_0\n", "a.svm:2"),
    "Arabic digits": ("1 1:1\n1 \u0661:\u0661\n", "a.svm:2"),
    "qid a word": ("1 qid:a 1:1\n", "a.svm:1"),
    "qid negative": ("1 qid:-1 1:1\n", "a.svm:1"),
    "qid of 400 digits": (f"1 qid:{10**400} 1:1\n", "a.svm:1"),
    "qid missing": ("1 qid:1 1:1\n1 1:1\n", "a.svm"),
    "qid superscript": ("1 qid:\u00b2 1:1\n", "a.svm:1"),
    "bad UTF-8": (b"1 1:1\n1 \xff:1\n", "a.svm:2"),
    "zero bytes": (b"1 1:1\n\0\0\n", "a.svm:2"),
    "two colons": ("1 1:1\n1 1:2:3\n", "a.svm:2"),
    "semicolons": ("1;1:1\n", "a.svm:1"),
}
MULTILABEL: dict[str, tuple[str | bytes, str | None]] = {
    "whole": ("0,2 1:1\n1 2:1\n", None),
    "label a word": ("0 1:1\na 1:1\n", "a.svm:2"),
    "label negative": ("0 1:1\n-1 1:1\n", "a.svm:2"),
    "label huge": ("0 1:1\n99999999999 1:1\n", "a.svm:2"),
    "index a word": ("0 1:1\n1 a:1\n", "a.svm:2"),
    "index huge": (f"0 1:1\n1 {10**30}:1\n", "a.svm:2"),
    "value a word": ("0 1:1\n1 1:a\n", "a.svm:2"),
    "value NaN": ("0 1:1\n1 1:nan\n", "a.svm:2"),
    "index zero": ("0 1:1\n1 0:1\n", "a.svm"),
    "bad UTF-8": (b"0 1:1\n1 \xff:1\n", "a.svm:2"),
    "empty": ("", "a.svm"),
}
Reader = Callable[[Path], Any]
LIBRARY: dict[str, tuple[Reader, str | bytes, str | None]] = {
    **{f"read_svmlight: {name}": (read_svmlight, *held) for name, held in SVM_LIGHT.items()},
    **{f"sets_from_svmlight: {name}": (sets_from_svmlight, *held) for name, held in SVM_LIGHT.items()},
    **{f"read_multilabel: {name}": (read_multilabel, *held) for name, held in MULTILABEL.items()},
}
