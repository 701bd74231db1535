"""Programs in files: MPS, read and written by HiGHS, and the LP format of CPLEX, read by HiGHS.

In the LP format a row with two bounds becomes two rows, and a program has no name.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import highspy

from clustruct.core.exceptions import DataError
from clustruct.core.storage.targets import replacing

from .bars import Bar
from .solving import FREE, model_of

if TYPE_CHECKING:
    from .program import LPX

# Names that the LP format can have: no number in front, nor what reads as one (e5), no word of its own.
LP_NAME = re.compile(
    r"(?![eE]\d*$)(?!(free|inf|infinity|st|end|max|min|bin|gen|int)$)[A-Za-z_][\w.]*", re.ASCII
)
# HiGHS takes this for no bound.
NO_BOUND = -1e30


def write(program: LPX, path: str | PathLike[str], suffix: str) -> None:
    """Write a program; the file appears whole or not at all. Names that a format cannot have are changed."""
    if suffix == ".lp":
        with replacing(Path(path)) as f:
            f.writelines(f"{line}\n".encode() for line in _lp_lines(program))
        return
    lp = model_of(program, integer=any(col.kind is not float for col in program.cols))
    lp.model_name_ = program.name or ""
    lp.col_names_ = [col.name or f"c{col.index}" for col in program.cols]
    lp.row_names_ = [row.name or f"r{row.index}" for row in program.rows]
    highs = _silent()
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder, f"program{suffix}")
        highs.passModel(lp)
        if highs.writeModel(str(beside)) == highspy.HighsStatus.kError:
            raise DataError(f"{path}: the program cannot be written (are two names alike?)")
        with replacing(Path(path)) as f, beside.open("rb") as text:
            shutil.copyfileobj(text, f)


def _lp_lines(program: LPX) -> Iterator[str]:
    """The LP format. All columns stand in the objective, which keeps their order."""
    if not len(program.cols):
        raise ValueError("the LP format has no programs without columns")
    names, row_names = _lp_names(program.cols, "c"), _lp_names(program.rows, "r")

    def terms(entries: list[tuple[int, float]]) -> str:
        return " ".join(f"{value:+.17g} {names[at]}" for at, value in entries)

    yield "maximize" if program.obj.maximize else "minimize"
    yield f" obj: {terms(list(enumerate(program.obj)))} {program.obj.shift:+.17g}"
    yield "subject to"
    for row in program.rows:
        left, (low, high) = terms(row.matrix or [(0, 0.0)]), row.bounds
        sides = {"": ("=", low)} if low == high is not None else {"": (">=", low), "_upper": ("<=", high)}
        kept = {end: side for end, side in sides.items() if side[1] is not None} or {"": (">=", NO_BOUND)}
        for end, (sign, bound) in kept.items():
            yield f" {row_names[row.index]}{end if len(kept) > 1 else ''}: {left} {sign} {bound:.17g}"
    yield "bounds"
    for col, name in zip(program.cols, names, strict=True):
        low, high = col.bounds
        least, most = "-inf" if low is None else f"{low:.17g}", "inf" if high is None else f"{high:.17g}"
        yield f" {least} <= {name} <= {most}"
    yield "general"
    yield from (f" {name}" for col, name in zip(program.cols, names, strict=True) if col.kind is not float)
    yield "end"


def _lp_names(bars: Iterable[Bar], letter: str) -> list[str]:
    """The names of bars, or a letter and a number where the format cannot have a name."""
    found: dict[str, None] = {}
    given = {bar.name for bar in bars}
    for at, bar in enumerate(bars):
        name = bar.name if bar.name and LP_NAME.fullmatch(bar.name) else f"{letter}{at}"
        while name in found or (name != bar.name and name in given):
            name += "_"
        found[name] = None
    return list(found)


def read(program: Any, path: str | PathLike[str], suffix: str) -> None:
    """Read a program into an empty one."""
    where = Path(path)
    if not where.is_file():
        raise DataError(f"{path}: there is no such file")
    highs = _silent()
    with tempfile.TemporaryDirectory() as folder:
        # HiGHS goes by the end of the name.
        beside = shutil.copyfile(where, Path(folder, f"program{suffix}"))
        if highs.readModel(str(beside)) == highspy.HighsStatus.kError:
            raise DataError(f"{path}: not a readable {suffix[1:].upper()} file")
    _fill(program, highs.getLp())
    program.name = _name(where) if suffix == ".mps" else None


def _name(path: Path) -> str | None:
    """What stands after NAME; HiGHS takes the name of the file."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        found = next((line for line in lines if line.startswith("NAME")), "")
    return " ".join(found.split()[1:]) or None


def _silent() -> highspy.Highs:
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("keep_n_rows", 1)  # rows without bounds are rows
    return highs


def _fill(program: Any, lp: highspy.HighsLp) -> None:
    program.obj.maximize = lp.sense_ == highspy.ObjSense.kMaximize
    program.obj.shift = lp.offset_
    for bars, size in ((program.rows, lp.num_row_), (program.cols, lp.num_col_)):
        if size:
            bars.add(size)
    _limit(program.rows, lp.row_lower_, lp.row_upper_, lp.row_names_)
    _limit(program.cols, lp.col_lower_, lp.col_upper_, lp.col_names_)
    starts, indices = ([int(at) for at in part] for part in (lp.a_matrix_.start_, lp.a_matrix_.index_))
    values = list(lp.a_matrix_.value_)
    for col, low, high in zip(program.cols, starts, starts[1:], strict=False):
        col.matrix = list(zip(indices[low:high], values[low:high], strict=True))
    if lp.num_col_:
        program.obj[:] = list(lp.col_cost_)
    for col, kind in zip(program.cols, lp.integrality_, strict=False):
        if kind == highspy.HighsVarType.kInteger:
            col.kind = int


def _limit(bars: Any, lower: Any, upper: Any, names: Any) -> None:
    for bar, low, high in zip(bars, lower, upper, strict=True):
        bar.bounds = None if low <= -FREE else float(low), None if high >= FREE else float(high)
    for bar, name in zip(bars, names, strict=False):
        bar.name = name or None
