"""PyGLPK's interface: the programs of appendix B, brute force, duality, sequences, files."""

import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.exceptions import DataError
from clustruct.papers.hooks import glpk, load_hooks
from clustruct.papers.hooks.glpk import LPX
from clustruct.papers.hooks.modules import REQUIRED

B4 = [(-1, -3, -4), (2, 3, -4), (1, -2, 4), (1, 3, 4), (-1, 2, -3)]


def test_the_two_dimensional_program(capsys):
    """Appendix B.2, line by line, with Python 3's print."""
    lp = glpk.LPX()
    lp.obj.maximize = True
    lp.cols.add(2)
    for col in lp.cols:
        col.name = "x%d" % col.index  # noqa: UP031 (as printed)
        col.bounds = None, None
        lp.obj[col.index] = 1.0
    lp.rows.add(2)
    for row in lp.rows:
        row.name = "y%d" % row.index  # noqa: UP031
    lp.matrix = [3, 4, 9, 4]
    lp.rows[0].bounds = None, 12
    lp.rows[1].bounds = None, 18
    lp.simplex()
    for col in lp.cols:
        print("%s = %g" % (col.name, col.value))  # noqa: UP031
    assert capsys.readouterr().out == "x0 = 1\nx1 = 2.25\n"


def solve_sat(expression):
    """Appendix B.3, with Python 3's range, and the slice that the text explains."""
    if len(expression) == 0:
        return []
    numvars = max([max([abs(v) for v in clause]) for clause in expression])
    lp = glpk.LPX()
    glpk.env.term_on = False
    lp.cols.add(2 * numvars)
    for col in lp.cols:
        col.kind = bool

    def lit2col(lit):
        return [2 * (-lit) - 1, 2 * lit - 2][lit > 0]

    for i in range(1, numvars + 1):
        lp.rows.add(1)
        lp.rows[-1].matrix = [(lit2col(i), 1.0), (lit2col(-i), 1.0)]
        lp.rows[-1].bounds = 1.0
    for clause in expression:
        lp.rows.add(1)
        lp.rows[-1].matrix = [(lit2col(lit), 1.0) for lit in clause]
        lp.rows[-1].bounds = 1, None
    retval = lp.simplex()
    assert retval is None
    if lp.status != "opt":
        return None
    retval = lp.integer()
    assert retval is None
    if lp.status != "opt":
        return None
    return [col.value > 0.99 for col in lp.cols[::2]]


def satisfies(values, expression):
    return all(any(values[abs(lit) - 1] == (lit > 0) for lit in clause) for clause in expression)


def test_satisfiability_as_printed():
    assert satisfies(solve_sat(B4), B4)
    assert solve_sat([(-1,), (1,)]) is None
    assert solve_sat([]) == []


LITERALS = st.integers(1, 4).flatmap(lambda v: st.sampled_from([v, -v]))
CLAUSES = st.lists(st.lists(LITERALS, min_size=1, max_size=3, unique=True).map(tuple), min_size=1, max_size=9)


@settings(max_examples=60, deadline=None)
@given(CLAUSES)
def test_satisfiability_is_that_of_all_assignments(expression):
    n = max(abs(lit) for clause in expression for lit in clause)
    possible = any(satisfies(values, expression) for values in product([False, True], repeat=n))
    found = solve_sat(expression)
    assert (found is not None) == possible
    assert found is None or satisfies(found, expression)


def program(rng, n=3, m=3, maximize=False, integer=False):
    """A bounded program with small whole numbers, which may be infeasible."""
    lp = LPX()
    lp.cols.add(n)
    lp.rows.add(m)
    lp.obj.maximize, lp.obj.shift = maximize, 7.0
    lp.obj[:] = rng.integers(-4, 5, n).tolist()
    lp.matrix = rng.integers(-3, 4, n * m).tolist()
    for col in lp.cols:
        col.bounds = int(rng.integers(-3, 1)), int(rng.integers(1, 4))
        col.kind = int if integer else float
    for row in lp.rows:
        low = int(rng.integers(-5, 4))
        row.bounds = [(low, None), (None, low), (low, low + 3), low][rng.integers(0, 4)]
    return lp


def arrays(lp):
    A = np.zeros((len(lp.rows), len(lp.cols)))
    for i, j, value in lp.matrix:
        A[i, j] = value
    low, high = (
        np.array(
            [
                [-np.inf, np.inf][side] if bar.bounds[side] is None else bar.bounds[side]
                for bar in (*lp.cols, *lp.rows)
            ]
        )
        for side in (0, 1)
    )
    return A, np.array(lp.obj[:]), low, high


def feasible(x, A, low, high):
    values = np.concatenate([x, A @ x])
    return (values >= low - 1e-9).all() and (values <= high + 1e-9).all()


def vertices(lp):
    """All feasible points at which n bounds hold with equality."""
    A, _, low, high = arrays(lp)
    n = A.shape[1]
    normals = np.vstack([np.eye(n), A])
    sides = [(v, b) for v in range(len(normals)) for b in {low[v], high[v]} if np.isfinite(b)]
    for chosen in combinations(sides, n):
        N = normals[[v for v, _ in chosen]]
        if abs(np.linalg.det(N)) > 1e-9:
            x = np.linalg.solve(N, [b for _, b in chosen])
            if feasible(x, A, low, high):
                yield x


@pytest.mark.parametrize("method", ["simplex", "interior"])
@pytest.mark.parametrize("maximize", [False, True])
def test_optimum_is_the_best_vertex(method, maximize):
    solved = 0
    for seed in range(25):
        lp = program(np.random.default_rng(seed), maximize=maximize)
        c = np.array(lp.obj[:])
        values = [float(c @ x) + 7.0 for x in vertices(lp)]
        failed = getattr(lp, method)()
        if not values:
            assert (failed, lp.status) == ((None, "nofeas") if method == "simplex" else ("nofeas", "undef"))
            continue
        assert (failed, lp.status) == (None, "opt")
        assert lp.obj.value == pytest.approx(max(values) if maximize else min(values), abs=1e-6)
        x = np.array([col.primal for col in lp.cols])
        assert feasible(x, *(arrays(lp)[k] for k in (0, 2, 3))) or method == "interior"
        np.testing.assert_allclose([row.value for row in lp.rows], arrays(lp)[0] @ x, atol=1e-6)
        solved += 1
    assert 5 < solved < 25


@pytest.mark.parametrize("maximize", [False, True])
def test_whole_numbers_are_the_best_point_of_the_grid(maximize):
    outcomes = set()
    for seed in range(25):
        lp = program(np.random.default_rng(seed), maximize=maximize, integer=True)
        A, c, low, high = arrays(lp)
        grid = product(*(np.arange(col.bounds[0], col.bounds[1] + 1) for col in lp.cols))
        values = [float(c @ x) + 7.0 for x in map(np.array, grid) if feasible(x, A, low, high)]
        assert lp.intopt() is None
        outcomes.add(lp.status)
        if not values:
            assert lp.status == "nofeas"
            continue
        assert lp.status == "opt"
        assert lp.obj.value == pytest.approx(max(values) if maximize else min(values))
        assert all(col.value == round(col.value) for col in lp.cols)
    assert outcomes == {"opt", "nofeas"}


def is_degenerate(lp):
    """Whether a basic variable stands at a bound: then a dual holds in one direction only."""
    basic = [bar for bar in (*lp.rows, *lp.cols) if bar.status == "bs"]
    return any(b is not None and abs(bar.value - b) < 1e-6 for bar in basic for b in bar.bounds)


def value_with(lp, bar, bounds):
    """The optimum with other bounds of one variable."""
    kept, bar.bounds = bar.bounds, bounds
    lp.simplex()
    value = lp.obj.value
    bar.bounds = kept
    lp.simplex()
    return value


@pytest.mark.parametrize("maximize", [False, True])
def test_duals_are_the_price_of_bounds(maximize):
    """c - A'y = d; basic variables have no price, others stand at the bound that theirs is dz/db of."""
    priced, step = 0, 1e-5
    for seed in range(40):
        lp = program(np.random.default_rng(seed), maximize=maximize)
        lp.simplex()
        if lp.status != "opt":
            continue
        A, c, _, _ = arrays(lp)
        y, d = np.array([row.dual for row in lp.rows]), np.array([col.dual for col in lp.cols])
        np.testing.assert_allclose(c - A.T @ y, d, atol=1e-9)
        for bar in (*lp.rows, *lp.cols):
            if bar.status == "bs":
                assert bar.dual == pytest.approx(0.0, abs=1e-9)
                continue
            at = {"nl": 0, "nu": 1, "ns": 0}[bar.status]
            assert bar.value == pytest.approx(bar.bounds[at])
            if bar.status != "ns" and not is_degenerate(lp):
                moved, before, dual = list(bar.bounds), lp.obj.value, bar.dual
                moved[at] += step
                assert (value_with(lp, bar, moved) - before) / step == pytest.approx(dual, abs=1e-4)
                priced += 1
    assert priced > 10


def test_what_is_unbounded_or_infeasible():
    lp = LPX()
    assert lp.simplex() == "fault"
    lp.cols.add(1)
    lp.rows.add(1)
    lp.obj[0] = 1.0
    assert (lp.rows[0].bounds, lp.cols[0].bounds) == ((None, None), (0.0, 0.0))
    assert (lp.simplex(), lp.status, lp.obj.value) == (None, "opt", 0.0)
    lp.cols[0].bounds = None
    assert lp.status == "undef"
    assert (lp.simplex(), lp.status) == (None, "unbnd")
    assert lp.interior() == "noconv"
    lp.rows[0].matrix = [1.0]
    lp.rows[0].bounds, lp.cols[0].bounds = (2, None), (None, 1)
    for options in ({}, {"presolve": True}):
        assert (lp.simplex(**options), lp.status) == (None, "nofeas")
    assert lp.integer() == "fault"
    lp.cols[0].kind = int
    assert (lp.intopt(), lp.status) == (None, "nofeas")
    lp.rows[0].bounds = None
    lp.cols[0].bounds = None
    assert (lp.intopt(), lp.status) == (None, "unbnd")


def test_limits_are_told():
    lp = program(np.random.default_rng(3), n=12, m=10)
    for row in lp.rows:
        row.bounds = None, 5
    assert lp.simplex(it_lim=0) == "itlim"
    assert lp.status in ("feas", "infeas")
    assert lp.integer() == "fault"
    with pytest.raises(TypeError, match="there is no callback"):
        lp.simplex(callback=None)


def test_a_solution_is_begun_with_the_last_basis():
    """Another row, as in a cutting plane: few steps are left, so that a small limit is enough."""
    rng = np.random.default_rng(0)
    lp = program(rng, n=15, m=12, maximize=True)
    for row in lp.rows:
        row.bounds = None, int(rng.integers(1, 6))
    lp.simplex()
    assert lp.status == "opt"
    lp.rows.add(1)
    lp.rows[-1].matrix = [1.0] * 15
    lp.rows[-1].bounds = None, lp.obj.value * 10 + 1000
    assert (lp.simplex(it_lim=0), lp.status) == (None, "opt")


def test_rows_and_columns_are_sequences():
    lp = LPX()
    assert (lp.cols.add(3), lp.cols.add(2), len(lp.cols)) == (0, 3, 5)
    for col in lp.cols:
        col.name = "abcde"[col.index]
    held = list("abcde")
    for at in (slice(None), slice(-3, None), slice(None, None, 2), slice(1, 4), slice(None, None, -1)):
        assert [col.name for col in lp.cols[at]] == held[at]
    assert lp.cols["c"] is lp.cols[2] is lp.cols[-3]
    assert [col.index for col in lp.cols["a", 3]] == [0, 3]
    assert [col.name for col in lp.cols["b":"d"]] == ["b", "c"]
    assert ("c" in lp.cols, "z" in lp.cols, lp.cols[1] in lp.cols) == (True, False, True)
    gone = lp.cols[1]
    del lp.cols["b"]
    del lp.cols[-2:]
    assert ([col.name for col in lp.cols], gone.valid, "b" in lp.cols) == (["a", "c"], False, False)
    with pytest.raises(RuntimeError, match="deleted"):
        _ = gone.index
    for wrong, kind in ((5, IndexError), ("b", KeyError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(kind):
            lp.cols[wrong]
    with pytest.raises(ValueError, match="'a' is taken"):
        lp.cols[1].name = "a"
    del lp.cols[0].name
    lp.cols[1].name = "a"
    assert lp.cols["a"].index == 1


def test_the_matrix_in_all_its_forms():
    lp = LPX()
    lp.cols.add(3)
    lp.rows.add(2)
    lp.cols[2].name = "z"
    dense = [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)]
    lp.matrix = [1, 0, 2, 0, 3]
    assert (lp.matrix, lp.nnz) == (dense, 3)
    lp.matrix = [(1, 1, 3.0), (0, "z", 2.0), (0, 0, 1.0)]
    assert lp.matrix == dense
    assert (lp.rows[0].matrix, lp.cols[1].matrix, lp.cols["z"].nnz) == ([(0, 1.0), (2, 2.0)], [(1, 3.0)], 1)
    lp.cols[0].matrix = [(-1, 5.0)]
    lp.rows[0].matrix = [("z", 4.0)]
    assert lp.matrix == [(0, 2, 4.0), (1, 0, 5.0), (1, 1, 3.0)]
    del lp.cols[1]
    assert lp.matrix == [(0, 1, 4.0), (1, 0, 5.0)]
    before = lp.matrix
    for wrong, kind in (
        ([(0, 0, 1), (0, 0, 2)], ValueError),
        ([1] * 5, IndexError),
        ([(0, 9, 1)], IndexError),
        ([(0, 0, float("nan"))], TypeError),
    ):
        with pytest.raises(kind):
            lp.matrix = wrong
    assert lp.matrix == before
    del lp.matrix
    assert lp.nnz == 0


def test_objective_by_number_name_and_slice():
    lp = LPX()
    lp.cols.add(3)
    lp.cols[1].name = "b"
    lp.obj[:] = 1.0
    lp.obj["b"] = 5
    lp.obj[-1] = -2
    lp.obj[None] = 9
    assert (list(lp.obj), lp.obj["b"], lp.obj[None], lp.obj.shift, len(lp.obj)) == ([1, 5, -2], 5, 9, 9, 3)
    lp.obj[::2] = [7, 8]
    assert lp.obj[:] == [7, 5, 8]
    with pytest.raises(ValueError, match="2 coefficients for 3 columns"):
        lp.obj[:] = [1, 2]


def test_kinds_and_bounds():
    lp = LPX()
    lp.cols.add(2)
    lp.rows.add(1)
    lp.cols[0].kind = bool
    assert (lp.cols[0].bounds, lp.cols[0].kind, lp.kind, lp.nint, lp.nbin) == ((0.0, 1.0), bool, int, 1, 1)
    lp.cols[0].bounds = 0, 2
    assert (lp.cols[0].kind, lp.nbin) == (int, 0)
    with pytest.raises(ValueError, match="rows are of kind float"):
        lp.rows[0].kind = int
    for wrong, kind in (((2, 1), ValueError), ((1, 2, 3), TypeError), ("ab", TypeError), (np.nan, TypeError)):
        with pytest.raises(kind):
            lp.cols[1].bounds = wrong
    assert lp.cols[1].bounds == (0.0, 0.0)


@pytest.mark.parametrize("form", ["mps", "freemps", "cpxlp"])
@pytest.mark.parametrize("seed", range(8))
def test_files_give_back_the_program(tmp_path, form, seed):
    rng = np.random.default_rng(seed)
    lp = program(rng, n=4, m=3, maximize=bool(seed % 2), integer=bool(seed % 3))
    lp.name = "toy"
    lp.cols[0].name, lp.rows[1].name, lp.cols[1].bounds = "first", "second", None
    if form == "cpxlp":  # has rows of one bound only: one of two becomes two rows
        for row in lp.rows:
            row.bounds = row.bounds[0], None
    path = tmp_path / "program.txt"
    lp.write(**{form: path})
    back = LPX(**{form: path})
    assert (back.matrix, back.obj[:], back.obj.shift) == (lp.matrix, lp.obj[:], 7.0)
    assert (back.obj.maximize, back.name) == (lp.obj.maximize, None if form == "cpxlp" else "toy")
    assert [bar.bounds for bar in (*back.cols, *back.rows)] == [bar.bounds for bar in (*lp.cols, *lp.rows)]
    assert [col.kind for col in back.cols] == [col.kind for col in lp.cols]
    assert (back.cols["first"].index, back.rows["second"].index) == (0, 1)


def test_a_range_in_the_lp_format_is_two_rows(tmp_path):
    lp = program(np.random.default_rng(1))
    for row in lp.rows:
        row.bounds = -4, 4
    lp.write(cpxlp=tmp_path / "a.lp")
    back = LPX(cpxlp=tmp_path / "a.lp")
    assert len(back.rows) == 6
    lp.simplex()
    back.simplex()
    assert (lp.status, back.obj.value) == ("opt", pytest.approx(lp.obj.value))


def test_bad_files_and_words_are_refused(tmp_path):
    (tmp_path / "a.mps").write_text("this is no program\n")
    for words, message in (
        ({"mps": tmp_path / "a.mps"}, r"a\.mps: not a readable MPS file"),
        ({"cpxlp": tmp_path / "none.lp"}, r"none\.lp: there is no such file"),
    ):
        with pytest.raises(DataError, match=message):
            LPX(**words)
    with pytest.raises(TypeError, match="one file, by mps, freemps, cpxlp=; not glp"):
        LPX(glp=Path("a"))
    with pytest.raises(NotImplementedError):
        LPX().exact()


def test_names_that_the_lp_format_cannot_have(tmp_path):
    lp = program(np.random.default_rng(1))
    for col, name in zip(lp.cols, ["e5", "two words", "c0"], strict=True):
        col.name = name
    lp.write(cpxlp=tmp_path / "a.lp")
    assert [col.name for col in LPX(cpxlp=tmp_path / "a.lp").cols] == ["c0_", "c1", "c0"]
    with pytest.raises(ValueError, match="without columns"):
        LPX().write(cpxlp=tmp_path / "b.lp")
    assert not (tmp_path / "b.lp").exists()


def test_hook_modules_import_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["import glpk", *(f"def {name}(*args): pass" for name in REQUIRED)]
    (tmp_path / "searcher.py").write_text("\n".join(lines))
    assert load_hooks("searcher.py").module.glpk is glpk
    assert "glpk" not in sys.modules
    (tmp_path / "glpk.py").write_text("mine = True\n")
    try:
        assert load_hooks("searcher.py").module.glpk.mine
    finally:
        sys.modules.pop("glpk", None)
