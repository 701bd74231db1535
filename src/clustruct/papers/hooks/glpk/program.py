"""LPX: a linear or integer program, its objective and its solution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from os import PathLike
from typing import Any, ClassVar

from . import highs
from .bar_collection import BarCollection, number, pairs


class Objective:
    """``obj[j]`` or ``obj["name"]`` is the coefficient of a column, ``obj[None]`` the constant (`shift`).

    maximize : bool, at first False
    value : of the last solver, the constant included
    """

    def __init__(self, cols: BarCollection, changed: Callable[[], None]) -> None:
        self._cols, self._changed = cols, changed
        self._maximize, self._shift = False, 0.0
        self.name: str | None = None
        self.value = 0.0

    @property
    def maximize(self) -> bool:
        return self._maximize

    @maximize.setter
    def maximize(self, given: object) -> None:
        self._maximize = bool(given)
        self._changed()

    @property
    def shift(self) -> float:
        return self._shift

    @shift.setter
    def shift(self, given: float) -> None:
        self._shift = number(given, "the shift")
        self._changed()

    def __len__(self) -> int:
        return len(self._cols)

    def __iter__(self) -> Iterator[float]:
        return iter(self[:])

    def __getitem__(self, at: Any) -> Any:
        if at is None:
            return self._shift
        costs = [self._cols[place]._cost for place in self._cols.places(at)]
        return costs if isinstance(at, slice | tuple | list) else costs[0]

    def __setitem__(self, at: Any, given: Any) -> None:
        """One number for all that is chosen, or as many numbers as there are."""
        if at is None:
            self.shift = given
            return
        places = self._cols.places(at)
        values = [given] * len(places) if isinstance(given, Real) else list(given)
        if len(values) != len(places):
            raise ValueError(f"{len(values)} coefficients for {len(places)} columns")
        for place, value in zip(places, values, strict=True):
            self._cols[place]._cost = number(value, "a coefficient")
        self._changed()


class LPX:
    """A linear program, empty or read from a file: ``LPX()``, ``LPX(mps=name)``, ``LPX(cpxlp=name)``.

    name : str or None
    obj : the `Objective`; rows, cols : what it consists of
    matrix : [(row, column, value), ...] of what is not zero; set by such triples, or by values row by row
    nnz : how many entries are not zero
    kind : int where a column is int or bool, else float; nint, nbin : how many such columns there are
    status : "opt" optimal, "undef" not solved, "nofeas" no feasible solution, "unbnd" unbounded, "feas" and
        "infeas" for what a limit of steps or time has left; status_s : that of the last simplex

    A change of the program makes the status "undef"; the values of the last solver stay.
    """

    MSG_OFF, MSG_ERR, MSG_ON, MSG_ALL = range(4)
    READERS: ClassVar[dict[str, str]] = {"mps": ".mps", "freemps": ".mps", "cpxlp": ".lp"}

    def __init__(self, **source: str | PathLike[str]) -> None:
        self.name: str | None = None
        self.erase()
        if source:
            kind, path = self._kind_of(source)
            highs.read_program(self, path, kind)

    def _kind_of(self, source: dict[str, Any]) -> tuple[str, Any]:
        (word, path), *more = source.items()
        if more or word not in self.READERS:
            raise TypeError(f"one file, by {', '.join(self.READERS)}=; not {', '.join(source)}")
        return self.READERS[word], path

    def erase(self) -> None:
        """Make it a new, empty program."""
        self.rows, self.cols = (BarCollection(columns, self._reset_status) for columns in (False, True))
        self.rows.others, self.cols.others = self.cols, self.rows
        self.obj = Objective(self.cols, self._reset_status)
        self.name = None
        self._reset_status()

    def _reset_status(self) -> None:
        self.status = self.status_s = "undef"

    @property
    def nnz(self) -> int:
        return sum(row.nnz for row in self.rows)

    @property
    def kind(self) -> type:
        return int if self.nint else float

    @property
    def nint(self) -> int:
        return sum(col.kind is not float for col in self.cols)

    @property
    def nbin(self) -> int:
        return sum(col.kind is bool for col in self.cols)

    @property
    def matrix(self) -> list[tuple[int, int, float]]:
        return [(row.index, at, value) for row in self.rows for at, value in row.matrix]

    @matrix.setter
    def matrix(self, given: Iterable[Any]) -> None:
        held: list[dict[int, float]] = [{} for _ in self.rows]
        width = len(self.cols)

        def place(where: tuple[Any, Any]) -> int:
            return self.rows.place(where[0]) * width + self.cols.place(where[1])

        entries = (e if isinstance(e, Real) else ((e[0], e[1]), e[2]) for e in given)
        for at, value in pairs(entries, place, width * len(self.rows)):
            row, column = divmod(at, width)
            if column in held[row]:
                raise ValueError(f"the entry ({row}, {column}) of the matrix is given twice")
            held[row][column] = value
        for bar, found in zip(self.rows, held, strict=True):
            bar.matrix = found.items()

    @matrix.deleter
    def matrix(self) -> None:
        self.matrix = []

    def simplex(self, **options: Any) -> str | None:
        """Solve without regard to `kind`. None, or "fault", "itlim", "tmlim".

        ``it_lim`` and ``tm_lim`` are limits of steps and of milliseconds, ``presolve`` and ``msg_lev``
        (`LPX.MSG_ALL`: the solver speaks, unless ``env.term_on`` is False) are those of GLPK. It begins
        with the basis of the last solution.
        """
        return highs.simplex(self, options)

    def exact(self, **options: Any) -> str | None:
        """`simplex`: there is no exact arithmetic here, so it is refused."""
        raise NotImplementedError("HiGHS has no simplex in exact arithmetic: use simplex()")

    def interior(self, **options: Any) -> str | None:
        """Solve by an interior-point method. None, or "fault", "nofeas", "noconv", "itlim", "tmlim"."""
        return highs.interior(self, options)

    def integer(self, **options: Any) -> str | None:
        """Solve with whole numbers where `kind` says so. None, or "fault", "tmlim".

        As in PyGLPK, a simplex solution must have been found before ("fault" without).
        """
        return "fault" if self.status_s != "opt" else self.intopt(**options)

    def intopt(self, **options: Any) -> str | None:
        """`integer`, whether or not there is a simplex solution."""
        return highs.integer(self, options)

    def write(self, **target: str | PathLike[str]) -> None:
        """Write a file: ``write(mps=name)``, ``write(freemps=name)`` or ``write(cpxlp=name)``."""
        kind, path = self._kind_of(target)
        highs.write_program(self, path, kind)

    def __repr__(self) -> str:
        named = "" if self.name is None else f" {self.name}"
        return f"<LPX{named}: {len(self.rows)} rows, {len(self.cols)} columns, {self.status}>"
