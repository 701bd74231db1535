"""What the engine promises besides the optimum."""

import pickle
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from clustruct import ssvm
from clustruct.learning.problems import MulticlassProblem
from clustruct.ssvm import Constraints, SlackRule
from clustruct.ssvm.solvers import NSlack
from tests.reference import structural_svm as slow

# Random data: w = 0 is the optimum of some.
pytestmark = pytest.mark.filterwarnings("ignore::clustruct.ssvm.NothingLearned")


class TwentyLines(ssvm.Problem):
    """A problem as a newcomer would write it: pick the larger of two numbers."""

    oracle_kind = "exact"
    n_examples, n_features = 6, 2

    def __init__(self):
        self.x = np.random.default_rng(0).normal(size=(6, 2, 2))
        self.right = np.array([np.argmax(x[:, 0]) for x in self.x])

    def truth(self, i):
        return self.right[i]

    def joint_feature(self, i, y):
        return self.x[i, y]

    def loss(self, i, y):
        return 100.0 * (y != self.right[i])

    def separate(self, i, w, rule):
        scores, losses = self.x[i] @ w, np.array([self.loss(i, y) for y in (0, 1)])
        return int(np.argmax(rule.violation(losses, scores - scores[self.right[i]])))


def test_a_problem_in_twenty_lines():
    problem = TwentyLines()
    w = ssvm.fit(problem, C=10.0).w
    assert [int(np.argmax(x @ w)) for x in problem.x] == problem.right.tolist()


# --- errors before work -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C must be a positive number, not 0.0"),
        ({"C": -1.0}, "C must be a positive number"),
        ({"C": np.nan}, "C must be a positive number"),
        ({"epsilon": -1.0}, "must not be negative"),
        ({"epsilon": 0.0, "rtol": 0.0}, "nor both zero"),
        ({"formulation": "two-slack"}, "'one_slack' or 'smoothed', not 'two-slack'"),
        ({"scaling": "loss"}, "scaling must be 'margin' or 'slack'"),
        ({"slack_norm": 3}, "slack_norm must be 1 or 2"),
        ({"formulation": "one_slack", "slack_norm": 2}, "square of the mean slack is not the mean"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"sample_weight": [1.0, 2.0]}, r"shape \(2,\), the problem has 4 examples"),
        ({"sample_weight": [1.0, -2.0, 1.0, 1.0]}, "not negative"),
        ({"prior": [np.nan] * 5}, "prior has NaN"),
        ({"w0": np.zeros(3)}, "w0 must be 5 finite numbers"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        ssvm.fit(slow.random_problem(0), **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_examples": 0}, "no examples"),
        ({"n_features": 0}, "no features"),
        ({"oracle_kind": "guess"}, "oracle_kind must be one of"),
        ({"joint_feature": lambda i, y: np.zeros(3)}, "example 0: Psi has length 3, the problem says 5"),
        ({"joint_feature": lambda i, y: np.full(5, np.nan)}, "example 0: Psi has NaN or infinite"),
        ({"loss": lambda i, y: 1.0}, "example 0: the loss of the truth against itself must be 0, not 1.0"),
        ({"loss": lambda i, y: -float(y)}, "example [0-3]: the loss is negative"),
        ({"loss": lambda i, y: np.inf if y else 0.0}, "example [0-3]: the loss is NaN or infinite"),
    ],
)
@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_bad_problems(change, message, formulation):
    problem = slow.random_problem(0)
    for name, value in change.items():
        setattr(problem, name, value)
    with pytest.raises(ValueError, match=message):
        ssvm.fit(problem, formulation=formulation)


def test_missing_parts_are_named():
    class Half(ssvm.Problem):
        def truth(self, i):
            return 0

    class Unnamed(TwentyLines):
        @property
        def oracle_kind(self):
            raise AttributeError("not said")

    with pytest.raises(TypeError, match=r"Half with.* abstract methods .*joint_feature.*loss.*separate"):
        Half()
    with pytest.raises(TypeError, match="object is no structured problem: derive it from clustruct"):
        ssvm.fit(object())
    with pytest.raises(TypeError, match="Unnamed lacks the attribute 'oracle_kind'"):
        ssvm.fit(Unnamed())


def test_a_rule_must_be_claimed():
    """A search that does not go by the rule would pass silently."""
    with pytest.raises(ValueError, match=r"TwentyLines has no oracle for slack scaling.*supports"):
        ssvm.fit(TwentyLines(), scaling="slack")
    with pytest.raises(ValueError, match="slack norm 2"):
        ssvm.fit(TwentyLines(), slack_norm=2)


def test_infeasible_constraints_are_refused():
    from scipy.optimize import Bounds, LinearConstraint

    problem = slow.random_problem(0)
    with pytest.raises(ValueError, match="no w meets the linear constraints"):
        ssvm.fit(problem, constraints=["nonnegative", LinearConstraint(-np.ones((1, 5)), 1.0, np.inf)])
    with pytest.raises(ValueError, match="feature 0: the lower bound"):
        ssvm.fit(problem, constraints=Bounds(1.0, 0.0))
    with pytest.raises(ValueError, match="3 columns, the problem has 5 features"):
        ssvm.fit(problem, constraints=LinearConstraint(np.ones((1, 3)), 0.0))
    with pytest.raises(TypeError, match="constraints must be"):
        ssvm.fit(problem, constraints="positive")


def test_unsupported_rule_is_refused():
    problem = slow.random_problem(0)
    problem.supports = lambda rule: rule == SlackRule("margin", 1)
    ssvm.fit(problem)
    with pytest.raises(ValueError, match="Enumerated has no oracle for slack scaling, slack norm 1"):
        ssvm.fit(problem, scaling="slack")


# --- ending -----------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_max_iter_warns_with_the_gap(formulation):
    problem = slow.random_problem(0, n=30, outputs=8)
    with pytest.warns(ConvergenceWarning, match=r"max_iter after 2 rounds with a gap of \d"):
        result = ssvm.fit(problem, 100.0, formulation=formulation, max_iter=2, cache_size=0)
    assert result.stop_reason == "max_iter"
    assert not result.converged
    assert np.isfinite(result.gap)
    assert result.gap > 0


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_time_limit(formulation):
    problem = slow.random_problem(0, n=10, outputs=8)
    fast = problem.separate

    def sleepy(i, w, rule):
        time.sleep(0.01)
        return fast(i, w, rule)

    problem.separate = sleepy
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        result = ssvm.fit(problem, 1e4, formulation=formulation, time_limit=0.05, rtol=1e-12, epsilon=1e-12)
    assert result.seconds < 10.0


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("calls", [1, 45])
def test_interrupt_keeps_the_best(formulation, calls):
    problem = slow.random_problem(0, n=20, outputs=8)
    fast, count = problem.separate, iter(range(10_000))

    def interrupted(i, w, rule):
        if next(count) == calls:
            raise KeyboardInterrupt
        return fast(i, w, rule)

    problem.separate = interrupted
    result = ssvm.fit(problem, 100.0, formulation=formulation)
    assert result.stop_reason == "interrupted"
    assert np.isfinite(result.w).all()
    if calls > 20:
        assert slow.objective(problem, result.w, 100.0) <= slow.objective(problem, np.zeros(5), 100.0)


def test_callback_sees_every_round_and_may_stop():
    seen = []
    problem = slow.random_problem(0, n=30, outputs=8)
    result = ssvm.fit(problem, 100.0, callback=lambda it: seen.append(it) or len(seen) == 2)
    assert result.stop_reason == "callback"
    assert tuple(seen) == result.history
    assert [h.iteration for h in seen] == [1, 2]
    assert seen[1].oracle_calls > seen[0].oracle_calls
    assert seen[0].seconds >= seen[0].oracle_seconds


# --- same answer ------------------------------------------------------------------------


class Threaded(slow.Enumerated):
    parallel_backend = "threads"


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_parallel_equals_serial(formulation):
    base = slow.random_problem(3, n=25, outputs=6)
    serial = ssvm.fit(base, 10.0, formulation=formulation)
    for kind in (slow.Enumerated, Threaded):
        problem = kind(base.psi, base.losses)
        parallel = ssvm.fit(problem, 10.0, formulation=formulation, n_jobs=2)
        np.testing.assert_array_equal(parallel.w, serial.w)
        assert parallel.oracle_calls == serial.oracle_calls


def test_vectorised_parallel_equals_serial():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 5)), rng.integers(0, 4, 3000)
    fits = [ssvm.fit(MulticlassProblem(X, y), 10.0, n_jobs=j, formulation="one_slack") for j in (1, 2)]
    np.testing.assert_array_equal(fits[0].w, fits[1].w)


def test_same_seed_same_answer():
    problem = slow.random_problem(3, n=80, outputs=6)
    fits = [ssvm.fit(problem, 10.0, random_state=s) for s in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0].w, fits[1].w)
    assert fits[2].objective == pytest.approx(fits[0].objective, rel=2e-3)


# --- warm start, cache, working set ------------------------------------------------------


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_warm_start_saves_calls(formulation):
    problem = slow.random_problem(2, n=100, outputs=10, features=20)
    options = {"formulation": formulation, "rtol": 1e-4}
    cold = ssvm.fit(problem, 20.0, **options)
    warm = ssvm.fit(problem, 20.0, w0=ssvm.fit(problem, 10.0, **options), **options)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-3)
    assert warm.oracle_calls < cold.oracle_calls
    again = ssvm.fit(problem, 20.0, w0=cold, **options)
    assert again.n_iter <= 2
    from_w = ssvm.fit(problem, 20.0, w0=cold.w, **options)
    assert from_w.objective == pytest.approx(cold.objective, rel=1e-3)


def test_cache_saves_oracle_calls():
    problem = slow.random_problem(2, n=50, outputs=20, features=20)
    calls = [
        ssvm.fit(problem, 100.0, formulation="one_slack", cache_size=size).oracle_calls for size in (0, 10)
    ]
    assert calls[1] < 0.6 * calls[0]


class Recorder(slow.Enumerated):
    """Remembers its answers, and after some calls has nothing to say but the truth."""

    oracle_kind = "undergenerating"

    def separate(self, i, w, rule):
        self.seen = getattr(self, "seen", [])
        y = super().separate(i, w, rule) if len(self.seen) < 40 else 0
        self.seen.append((i, y))
        return y


def test_kept_answers_count_where_the_oracle_forgets():
    """The best of fresh, kept and true answer is used: every answer ever given holds at the end."""
    base = slow.random_problem(5, n=8, outputs=6)
    problem = Recorder(base.psi, base.losses)
    result = ssvm.fit(problem, 10.0, formulation="one_slack", cache_size=1000)
    assert len(problem.seen) > 40
    xi = np.zeros(8)
    for i, y in problem.seen:
        xi[i] = max(xi[i], base.losses[i, y] + (base.psi[i, y] - base.psi[i, 0]) @ result.w)
    assert result.mean_slack == pytest.approx(xi.mean(), rel=1e-9)
    assert result.mean_slack > 0


class Improving(slow.Enumerated):
    """A search that sees two outputs at first and all of them later, as a better start may bring about."""

    oracle_kind = "undergenerating"
    late = 3.5

    def separate(self, i, w, rule):
        self.calls = getattr(self, "calls", 0) + 1
        seen = 2 if self.calls < self.late * self.n_examples else self.n_outputs
        scores = self.psi[i, :seen] @ w
        return int(np.argmax(rule.violation(self.losses[i, :seen], scores - scores[0])))


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("n", [5, 20, 80])
def test_a_value_below_the_bound_is_given_up(formulation, n):
    """What an oracle saw less of looked cheap; the dual shows that it was not."""
    for seed in (3, 4):
        base = slow.random_problem(seed, n=n, outputs=12, features=8)
        for late in (1.5, 2.5, 3.5, 4.5):
            problem = Improving(base.psi, base.losses)
            problem.late = late
            result = ssvm.fit(problem, 30.0, formulation=formulation, rtol=1e-4, cache_size=5)
            assert result.gap >= -1e-9 * result.objective


def test_idle_planes_leave():
    problem = slow.random_problem(2, n=100, outputs=30, features=20)
    kept = ssvm.fit(problem, 1000.0, rtol=1e-6)
    dropped = ssvm.fit(problem, 1000.0, rtol=1e-6, formulation=NSlack(prune_after=2))
    assert dropped.objective == pytest.approx(kept.objective, rel=1e-5)
    assert len(dropped.planes) < len(kept.planes)


def test_block_rows_equal_their_dense_form():
    """The compact planes of a vectorised problem train as written-out rows do."""

    class Written(MulticlassProblem):
        def separate_batch(self, indices, w, rule):
            batch = super().separate_batch(indices, w, rule)
            rows = batch.rows(np.arange(len(indices))).tocsr()
            return Constraints(batch.losses, rows.toarray() if self.dense else rows)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), rng.integers(0, 3, 90)
    compact = ssvm.fit(MulticlassProblem(X, y), 20.0, rtol=1e-6)
    for dense in (True, False):
        problem = Written(X, y)
        problem.dense = dense
        assert ssvm.fit(problem, 20.0, rtol=1e-6).objective == pytest.approx(compact.objective, rel=1e-5)


def test_results_print_and_pickle_small():
    result = ssvm.fit(slow.random_problem(0, n=100))
    assert repr(result).startswith("FitResult(converged after ")
    stored = pickle.dumps(result)
    again = pickle.loads(stored)
    assert len(stored) < 20_000
    assert again.planes is None
    np.testing.assert_array_equal(again.w, result.w)
    assert ssvm.fit(slow.random_problem(0, n=100), w0=again).converged


# --- bounds and certificates --------------------------------------------------------------


@pytest.mark.parametrize("scaling", ["margin", "slack"])
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_counts_stay_under_the_bounds(scaling, C):
    """Theorem 4 (constraints, n-slack) and Theorem 7 (iterations, one-slack)."""
    for seed in range(4):
        problem = slow.random_problem(seed, n=10, outputs=6)
        epsilon, n = 0.1, problem.n_examples
        R = np.max(np.linalg.norm(problem.psi - problem.psi[:, :1], axis=2))
        D = problem.losses.max()
        options = {"scaling": scaling, "epsilon": epsilon, "rtol": 0.0, "cache_size": 0}
        many = ssvm.fit(problem, C, formulation="n_slack", **options)
        power = 1 if scaling == "margin" else 3
        assert max(h.constraints for h in many.history) <= max(
            2 * n * D / epsilon, 8 * C * D**power * R**2 / epsilon**2
        )
        one = ssvm.fit(problem, C, formulation="one_slack", **options)
        R2 = R**2 if scaling == "margin" else R**2 * D**2
        bound = np.ceil(max(0.0, np.log2(D / (4 * R2 * C)))) + np.ceil(16 * R2 * C / epsilon)
        assert epsilon < 4 * R**2 * C
        assert one.n_iter <= bound
        for result in (one, many):
            xi = slow.slacks(problem, result.w, scaling, 1)
            assert np.mean(xi) <= result.mean_slack + epsilon


def test_certificate_says_what_holds():
    problem = slow.random_problem(0)
    exact = ssvm.fit(problem).certificate
    assert exact.lower <= exact.upper
    problem.oracle_kind = "undergenerating"
    under = ssvm.fit(problem).certificate
    assert under.upper is None
    assert under.training_loss is None
    assert "only the lower end holds" in str(under)
    problem.oracle_kind = "overgenerating"
    over = ssvm.fit(problem).certificate
    assert over.lower is None
    assert over.upper == exact.upper
    assert "upper end holds" in str(over)


class Rho(slow.Enumerated):
    """Gives the worst output that is still within rho of the best."""

    oracle_kind, oracle_rho = "undergenerating", 0.8

    def separate(self, i, w, rule):
        value = self.psi[i] @ w + self.losses[i]
        good = np.flatnonzero(value >= self.oracle_rho * value.max())
        return int(good[np.argmin(value[good])])


def test_certificate_of_a_rho_oracle():
    """Theorem 9: an oracle at least rho times as good as the best brackets the optimum."""
    for seed in range(5):
        base = slow.random_problem(seed, n=8)
        problem = Rho(np.abs(base.psi), base.losses)
        found = ssvm.fit(problem, 5.0, constraints="nonnegative").certificate
        _, value = slow.solve(problem, 5.0, lower=0.0)
        assert found.lower <= value * (1 + 1e-6)
        assert value <= found.upper * (1 + 1e-6)


class ExactWithScores(slow.Enumerated):
    def truth_scores(self, indices, w):
        return self.psi[indices, 0] @ w


def worst_loss(problem, w, rho, weights=None):
    """The mean loss of the worst predictor whose answers score at least rho times the best."""
    scores = problem.psi @ w
    good = scores >= rho * scores.max(axis=1, keepdims=True) - 1e-12
    return np.average(np.where(good, problem.losses, 0.0).max(axis=1), weights=weights)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("kind", [Rho, ExactWithScores])
def test_the_training_loss_of_every_rho_predictor_is_bounded(kind, formulation):
    """Theorem 10, over all outputs; the bound falls as the predictor gets better, and is not far away."""
    nearest = np.inf
    for seed in range(8):
        base = slow.random_problem(seed, n=6)
        problem, weights = kind(np.abs(base.psi), base.losses), np.arange(1.0, 7.0)
        for C in (0.1, 5.0):
            options = {"constraints": "nonnegative", "formulation": formulation, "sample_weight": weights}
            found = ssvm.fit(problem, C, **options)
            bounds = [found.certificate.training_loss_bound(rho) for rho in (0.0, 0.3, 0.8, 0.95, 1.0)]
            assert bounds == sorted(bounds, reverse=True)
            for rho, bound in zip((0.0, 0.3, 0.8, 0.95, 1.0), bounds, strict=True):
                loss = worst_loss(problem, found.w, rho, weights)
                assert loss <= bound + 1e-9
                nearest = min(nearest, bound - loss)
            assert found.certificate.training_loss == found.certificate.training_loss_bound(
                problem.oracle_rho or 1.0
            )
    assert nearest < 0.5


def test_a_bound_that_is_not_known_is_none():
    problem = slow.random_problem(0)
    found = ssvm.fit(problem, 1.0).certificate
    assert found.training_loss_bound() == found.training_loss
    assert found.training_loss_bound(0.9) is None
    scaled = ssvm.fit(ExactWithScores(problem.psi, problem.losses), 1.0, scaling="slack").certificate
    assert scaled.training_loss_bound(0.9) is None
    with pytest.raises(ValueError, match="rho must lie between 0 and 1"):
        found.training_loss_bound(1.5)


def test_a_certificate_of_an_earlier_file_is_read():
    found = ssvm.fit(slow.random_problem(0), 1.0).certificate
    held = found.state()
    del held["slack"], held["truth_score"]
    old = ssvm.Certificate.from_state(held)
    assert (old.upper, old.training_loss, old.training_loss_bound()) == (
        found.upper,
        found.training_loss,
        None,
    )


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_callback_sees_the_working_set(formulation):
    problem = MulticlassProblem(np.eye(3), [0, 1, 2])
    seen = []
    result = ssvm.fit(
        problem, 10.0, formulation=formulation, callback=lambda entry: seen.append(entry.working_set.dump())
    )
    assert len(seen) >= 1
    assert all(len(planes.a) == len(planes.b) > 0 for planes in seen)
    assert all(entry.working_set is None for entry in result.history)
