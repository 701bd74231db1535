"""Programs solved by HiGHS, its answers in the words of GLPK, and programs in files.

MPS is read and written by HiGHS, the LP format of CPLEX only read: there a row with two bounds becomes two
rows, and a program has no name.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.storage.targets import replacing

from .bar_collection import Bar

if TYPE_CHECKING:
    from .program import LPX
if TYPE_CHECKING:
    from .program import LPX

_STATUS = highspy.HighsModelStatus
_BASIS = highspy.HighsBasisStatus
FREE = highspy.kHighsInf
OPTIONS = ("it_lim", "tm_lim", "presolve", "msg_lev")
SPEAKS = 2  # MSG_ON
# How variables stand in a basis, HiGHS's words for GLPK's and back.
TO_BASIS = {"bs": _BASIS.kBasic, "nl": _BASIS.kLower, "nu": _BASIS.kUpper, "nf": _BASIS.kZero}
FROM_BASIS = {kind: word for word, kind in TO_BASIS.items()}
STATUSES = {_STATUS.kOptimal: "opt", _STATUS.kInfeasible: "nofeas", _STATUS.kUnbounded: "unbnd"}
LIMITS = {_STATUS.kIterationLimit: "itlim", _STATUS.kTimeLimit: "tmlim", _STATUS.kInterrupt: "tmlim"}


class Environment:
    """What holds for all programs: ``term_on`` False keeps solvers silent whatever ``msg_lev`` says."""

    def __init__(self) -> None:
        self.term_on = True


env = Environment()


def model_of(program: LPX, *, integer: bool) -> highspy.HighsLp:
    """The program as HiGHS has it."""
    lp, rows, cols = highspy.HighsLp(), list(program.rows), list(program.cols)
    lp.num_col_, lp.num_row_ = len(cols), len(rows)
    lp.sense_ = highspy.ObjSense.kMaximize if program.obj.maximize else highspy.ObjSense.kMinimize
    lp.offset_ = program.obj.shift
    lp.col_cost_ = np.array([col._cost for col in cols])
    (lp.col_lower_, lp.col_upper_), (lp.row_lower_, lp.row_upper_) = _bounds(cols), _bounds(rows)
    entries = [row.matrix for row in rows]
    matrix = lp.a_matrix_
    matrix.format_, matrix.num_col_, matrix.num_row_ = highspy.MatrixFormat.kRowwise, len(cols), len(rows)
    matrix.start_ = np.cumsum([0, *map(len, entries)])
    matrix.index_ = np.array([at for row in entries for at, _ in row], dtype=np.int32)
    matrix.value_ = np.array([value for row in entries for _, value in row], dtype=float)
    if integer:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[col.kind is not float] for col in cols]
    return lp


def _bounds(bars: list[Bar]) -> tuple[Any, Any]:
    low = [-FREE if bar.bounds[0] is None else bar.bounds[0] for bar in bars]
    return np.array(low), np.array([FREE if bar.bounds[1] is None else bar.bounds[1] for bar in bars])


def simplex(program: LPX, options: Mapping[str, Any]) -> str | None:
    """Solve the relaxation, from the basis of the last solution."""
    return _continuous(program, options, "simplex")


def interior(program: LPX, options: Mapping[str, Any]) -> str | None:
    """Solve the relaxation; GLPK's interior point says by its return value that there is no solution."""
    failed = _continuous(program, options, "ipm")
    if failed is None and program.status != "opt":
        failed = "nofeas" if program.status == "nofeas" else "noconv"
        program.status = "undef"
    return failed


def _continuous(program: LPX, options: Mapping[str, Any], solver: str) -> str | None:
    if not len(program.rows) or not len(program.cols):
        program.status = "undef"
        return "fault"
    highs = _solver(options)
    highs.setOptionValue("solver", solver)
    highs.passModel(model_of(program, integer=False))
    if solver == "simplex":
        highs.setBasis(_basis(program))  # one that does not fit is refused, and nothing is lost
    highs.run()
    status = highs.getModelStatus()
    if status == _STATUS.kUnboundedOrInfeasible:
        status = _settle_status(program)
    _keep(program, highs, status)
    found = highs.getBasis()
    if found.valid:
        for bars, kinds in ((program.cols, found.col_status), (program.rows, found.row_status)):
            for bar, kind in zip(bars, kinds, strict=True):
                bar.status = _in_basis(bar, kind)
    held = highs.getSolution()
    if held.dual_valid:
        for bars, duals in ((program.cols, held.col_dual), (program.rows, held.row_dual)):
            for bar, dual in zip(bars, duals, strict=True):
                bar.dual = dual
    if solver == "simplex":
        program.status_s = program.status
    return LIMITS.get(status)


def integer(program: LPX, options: Mapping[str, Any]) -> str | None:
    """Solve with whole numbers."""
    if not len(program.rows) or not any(col.kind is not float for col in program.cols):
        return "fault"
    highs = _solver({"presolve": True, **options})
    highs.passModel(model_of(program, integer=True))
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_abs_gap", 0.0)
    highs.run()
    status = highs.getModelStatus()
    if status == _STATUS.kUnboundedOrInfeasible:
        status = _settle_status(program, integer=True)
    _keep(program, highs, status)
    if program.status == "infeas":
        program.status = "undef"
    for col in program.cols if program.status in ("opt", "feas") else ():
        if col.kind is not float:
            col.primal = float(round(col.primal))
    return LIMITS.get(status)


def _solver(options: Mapping[str, Any]) -> highspy.Highs:
    unknown = [word for word in options if word not in OPTIONS]
    if unknown:
        raise TypeError(f"options are {', '.join(OPTIONS)}; there is no {', '.join(unknown)}")
    highs = highspy.Highs()
    speaks = env.term_on and options.get("msg_lev", 0) >= SPEAKS
    highs.setOptionValue("output_flag", bool(speaks))
    highs.setOptionValue("presolve", "on" if options.get("presolve") else "off")
    highs.setOptionValue("threads", 1)
    if "it_lim" in options:
        highs.setOptionValue("simplex_iteration_limit", int(options["it_lim"]))
        highs.setOptionValue("ipm_iteration_limit", int(options["it_lim"]))
    if "tm_lim" in options:
        highs.setOptionValue("time_limit", options["tm_lim"] / 1000.0)
    return highs


def _settle_status(program: LPX, integer: bool = False) -> highspy.HighsModelStatus:
    """Whether a program without an optimum is infeasible or unbounded: solved without objective, or not."""
    highs = _solver({})
    lp = model_of(program, integer=integer)
    lp.col_cost_ = np.zeros(len(program.cols))
    highs.passModel(lp)
    highs.run()
    feasible = highs.getModelStatus() == _STATUS.kOptimal
    return _STATUS.kUnbounded if feasible else _STATUS.kInfeasible


def _keep(program: LPX, highs: highspy.Highs, status: highspy.HighsModelStatus) -> None:
    """Status, values and objective."""
    feasible = highs.getInfo().primal_solution_status == highspy.kSolutionStatusFeasible
    program.status = STATUSES.get(status) or (
        ("feas" if feasible else "infeas") if status in LIMITS else "undef"
    )
    held = highs.getSolution()
    if held.value_valid:
        for bars, values in ((program.cols, held.col_value), (program.rows, held.row_value)):
            for bar, value in zip(bars, values, strict=True):
                bar.primal = value
        program.obj.value = highs.getInfo().objective_function_value


def _basis(program: LPX) -> highspy.HighsBasis:
    basis = highspy.HighsBasis()
    basis.col_status = [_to_basis(col) for col in program.cols]
    basis.row_status = [_to_basis(row) for row in program.rows]
    return basis


def _to_basis(bar: Bar) -> highspy.HighsBasisStatus:
    """How a bar stands in the basis; a bound that is no longer there is no place to stand at."""
    if bar.status == "bs":
        return _BASIS.kBasic
    low, high = bar.bounds
    if low is None and high is None:
        return _BASIS.kZero
    return _BASIS.kUpper if low is None or (bar.status == "nu" and high is not None) else _BASIS.kLower


def _in_basis(bar: Bar, kind: highspy.HighsBasisStatus) -> str:
    word = FROM_BASIS.get(kind, "nf")
    fixed = bar.bounds[0] is not None and bar.bounds[0] == bar.bounds[1]
    return "ns" if fixed and word != "bs" else word


# Names that the LP format can have: no number in front, nor what reads as one (e5), no word of its own.
LP_NAME = re.compile(
    r"(?![eE]\d*$)(?!(free|inf|infinity|st|end|max|min|bin|gen|int)$)[A-Za-z_][\w.]*", re.ASCII
)
# HiGHS takes this for no bound.
NO_BOUND = -1e30


def write_program(program: LPX, path: str | PathLike[str], suffix: str) -> None:
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


def read_program(program: Any, path: str | PathLike[str], suffix: str) -> None:
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
