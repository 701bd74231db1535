"""Bad input of every kind given to every command: refused in one line that says where, no file touched."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from clustruct import load, save

from . import (
    commands,
    inputs_dials,
    inputs_hooks,
    inputs_json,
    inputs_link,
    inputs_living,
    inputs_options,
    inputs_rows,
    inputs_tables,
    inputs_vectors,
)
from .fuzz_hooks import HookModels
from .inputs import COLUMNS, MORE, READERS, TABLE, Line, a_set, lines, lines_of, people, write
from .inputs_json import document
from .tally import FINE, Outcome, Part, fault, refused, thinned


@cache
def all_lines() -> dict[str, Line]:
    """Command lines by name."""
    found: dict[str, Line] = {}
    for kind in (*inputs_tables.kinds(), *inputs_json.kinds(), *inputs_vectors.kinds()):
        found.update(lines_of(kind))
        found.update(inputs_link.lines_of(kind))
    for name, line in (
        *inputs_options.all_lines(),
        *inputs_hooks.lines(),
        *inputs_living.all_lines(),
        *inputs_dials.all_lines(),
        *inputs_link.all_lines(),
        *inputs_vectors.options(),
        *inputs_rows.all_lines(),
    ):
        while name in found:
            name += "+"
        found[name] = line
    return found


def count_kinds() -> int:
    """How many kinds of bad input there are, whatever commands they are given to."""
    return len({name.split(" / ")[0] for name in [*all_lines(), *inputs_hooks.LIBRARY]})


def write_models(folder: Path) -> None:
    """A model for every kind of data."""
    sets = [a_set(), a_set(id="s2")]
    linked = [a_set(id=f"s{i}", links=[[0, 1], [2, 3]]) for i in range(2)]
    write(folder, "table.csv", TABLE)
    write(folder, "sets.jsonl", lines(*sets))
    write(folder, "links.jsonl", lines(*linked))
    write(folder, "mentions.jsonl", lines(document(), document(id="d2")))
    write(folder, "sure.csv", people(6))
    write(folder, "linked.csv", people(15, sources=True))
    inputs_vectors.write_vectors(folder / "vectors.npz")
    for name, more in {
        "table.csv": COLUMNS,
        "sure.csv": (*COLUMNS, "--calibrate"),
        "linked.csv": (*COLUMNS[2:], "--calibrate", "--source", "shop", "--within-source", "apart"),
        "vectors.npz": COLUMNS,
        "sets.jsonl": (),
        "links.jsonl": (),
        "mentions.jsonl": ("--kind", "mentions"),
    }.items():
        model = folder / f"{name.split('.')[0]}.model"
        ran = commands.run(
            "clustruct", ["fit", folder / name, *more, "--C", "1", "--quiet", "--model", model]
        )
        if ran.code != 0:
            raise RuntimeError(f"{name} cannot be learned: {ran}")
    save(folder / "bare.model", load(folder / "table.model")[-1])
    inputs_rows.write_models(folder)
    HookModels().prepare(folder, 0)


class BadInputs(Part):
    name = "inputs"
    about = "bad input of over 300 kinds given to every command"

    def cases(self, scale: float, seed: int) -> list[str]:
        return thinned([*all_lines(), *inputs_hooks.LIBRARY], scale)

    def prepare(self, folder: Path, seed: int) -> None:
        write_models(folder)

    def start(self, folder: Path, seed: int) -> None:
        """All commands once."""
        for name in (*READERS, *MORE, "link first"):
            self.run(f"packed table / {name}", folder, seed)

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            if case in inputs_hooks.LIBRARY:
                return _read(case, Path(own))
            for model in folder.glob("*.model"):
                shutil.copy(model, own)
            return judged(all_lines()[case], Path(own))


def judged(line: Line, folder: Path) -> Outcome:
    """Run a command line in a folder of its own."""
    for name, content in line.files.items():
        write(folder, name, content)
    with commands.watching(folder, line.targets) as watched:
        ran = commands.run(line.command, line.words, folder)
    return watched.verdict(ran.code) or commands.judged(ran, line.says, line.code, line.lines)


def _read(case: str, folder: Path) -> Outcome:
    reader, content, place = inputs_hooks.LIBRARY[case]
    write(folder, "a.svm", content)
    try:
        reader(folder / "a.svm")
    except ValueError as error:
        if place is None or place not in str(error):
            return fault("unnamed", f"{place} not in: {error}")
        return refused(error)
    return FINE if place is None else fault("silent", "read without a word")
