"""Learning with hook modules: the same optimum as native problems, constraints, kernels."""

from pathlib import Path

import numpy as np
import pytest

from clustruct import ssvm
from clustruct.learning.problems import BinaryProblem, MulticlassProblem
from clustruct.losses.slack_rule import SlackRule
from clustruct.papers.hooks import HookError, importable, load_hooks, start_model, train
from clustruct.papers.hooks.hook_training import read_constraints
from clustruct.papers.hooks.svmapi import RBF, KernelParm, Sparm, Sparse

EXAMPLES = Path(__file__).parents[3] / "examples" / "hooks"


def learn(hooks, sample, kernel=None, **options):
    sparm = Sparm(**{"epsilon": 1e-6, **options})
    with importable():
        hooks.parse_parameters(sparm)
        sm = start_model(hooks, sample, sparm, kernel or KernelParm())
        return sm, train(hooks, sample, sm, sparm)[0]


@pytest.fixture(scope="module")
def multiclass():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * (rng.uniform(size=(80, 6)) < 0.6)
    X[:, 5] = 1.0
    y = np.argmax(X @ rng.normal(size=(6, 4)) + 0.5 * rng.normal(size=(80, 4)), axis=1)
    return X, y


@pytest.fixture
def module(tmp_path):
    """Load a module from text."""

    def load(source, name="hooks_under_test"):
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        return load_hooks(str(path))

    return load


MULTICLASS = load_hooks(str(EXAMPLES / "multiclass.py"))
COMBINATIONS = [(w, o, 1) for w in range(5) for o in (1, 2)] + [(w, o, 2) for w in (0, 1) for o in (1, 2)]


@pytest.mark.parametrize(("algorithm", "scaling", "norm"), COMBINATIONS)
def test_multiclass_by_hooks_is_the_native_problem(multiclass, algorithm, scaling, norm):
    X, y = multiclass
    sample = [(Sparse(x), int(c)) for x, c in zip(X, y, strict=True)]
    _, found = learn(MULTICLASS, sample, c=5.0, alg_type=algorithm, loss_type=scaling, slack_norm=norm)
    native = ssvm.fit(
        MulticlassProblem(X, y),
        5.0,
        epsilon=1e-7,
        rtol=1e-7,
        scaling="slack" if scaling == 1 else "margin",
        slack_norm=norm,
    )
    assert found.converged
    assert found.objective == pytest.approx(native.objective, rel=1e-4)


@pytest.mark.parametrize("algorithm", [2, 3, 4])
def test_squared_slacks_need_n_slack(multiclass, algorithm):
    X, y = multiclass
    sample = [(Sparse(x), int(c)) for x, c in zip(X, y, strict=True)]
    with pytest.raises(HookError, match=f"-p 2 goes with -w 0 or -w 1 only, not with -w {algorithm}"):
        learn(MULTICLASS, sample, alg_type=algorithm, slack_norm=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c": 0.0}, "-c must be a positive number"),
        ({"epsilon": -1.0}, "-e must be"),
        ({"loss_type": 3}, "-o must be 1"),
        ({"slack_norm": 0}, "-p must be"),
        ({"alg_type": 5}, "-w must be"),
    ],
)
def test_bad_parameters(multiclass, options, message):
    with pytest.raises(HookError, match=message):
        learn(MULTICLASS, [(Sparse([1.0]), 0)], **options)


@pytest.mark.parametrize(("kernel_type", "algorithm"), [(0, 0), (0, 4), (1, 0), (1, 4)])
def test_kernel_id_separates_spaces(multiclass, module, kernel_type, algorithm):
    """A class per kernel_id is multiclass again, in the primal (-t 0) and in the dual (-t 1 -d 1 -r 0)."""
    X, y = multiclass
    hooks = module(
        """
import svmapi
def read_examples(filename, sparm): pass
def init_model(sample, sm, sparm):
    sm.size_psi, sm.classes = 6, sorted({y for x, y in sample})
def psi(x, y, sm, sparm): return svmapi.Document([svmapi.Sparse(x, kernel_id=y)])
def classify_example(x, sm, sparm): pass
def find_most_violated_constraint(x, y, sm, sparm):
    need = lambda z: (z != y) + sm.svm_model.classify(psi(x, z, sm, sparm))
    return max(sm.classes, key=need)
"""
    )
    sample = [(Sparse(x), 10 + int(c)) for x, c in zip(X, y, strict=True)]
    kernel = KernelParm(kernel_type, poly_degree=1, coef_const=0.0)
    sm, found = learn(hooks, sample, kernel, c=5.0, alg_type=algorithm, epsilon=1e-4)
    native = ssvm.fit(MulticlassProblem(X, y), 5.0, epsilon=1e-7, rtol=1e-7)
    assert found.objective == pytest.approx(native.objective, rel=2e-4)
    scores = [[sm.svm_model.classify(Sparse(x, kernel_id=10 + c)) for c in range(4)] for x in X]
    np.testing.assert_allclose(scores, X @ native.w.reshape(4, -1).T, atol=0.03)


def test_rbf_kernel_by_factor():
    """With -t 2 the objective is that of the kernel expansion written out."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = np.where(np.sum(X**2, axis=1) > 1.4, 1, -1)
    sample = [(Sparse([1.0, *x]), int(c)) for x, c in zip(X, y, strict=True)]
    binary = load_hooks(str(EXAMPLES / "binary.py"))
    sm, found = learn(binary, sample, KernelParm(RBF, rbf_gamma=0.5), c=60.0, alg_type=0)
    mine = np.array([sm.svm_model.classify(x) for x, _ in sample])
    assert np.mean(np.sign(mine) == y) >= 0.95
    assert len(sm.svm_model.alpha) < 60
    a = sm.svm_model.alpha
    S = np.array([[dict(d[0]).get(k, 0.0) for k in range(3)] for d in sm.svm_model.supvec])
    G = np.exp(-0.5 * np.sum((S[:, None] - S[None]) ** 2, axis=2))
    hinge = np.mean(np.maximum(0.0, 1.0 - y * mine))
    assert 0.5 * a @ G @ a + 60.0 * hinge == pytest.approx(found.objective, rel=1e-6)


class TestConstraints:
    """``init_constraints`` in its hard and its shared-slack form."""

    SOURCE = """
import svmapi
def read_examples(filename, sparm): pass
def init_model(sample, sm, sparm): sm.size_psi = 3
def psi(x, y, sm, sparm): return svmapi.Sparse(x, factor=0.5 * y)
def classify_example(x, sm, sparm): return 1 if sm.svm_model.classify(x) > 0 else -1
def find_most_violated_constraint(x, y, sm, sparm):
    return -y if y * sm.svm_model.classify(x) < 1 else y
def init_constraints(sample, sm, sparm):
    return [(svmapi.Document([svmapi.Sparse([(k, SCALE)])], slackid=SLACKID), RIGHT) for k in (0, 1)]
"""

    @pytest.fixture
    def data(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(70, 3))
        return X, np.where(X @ [-1.0, 2.0, 0.5] + 0.3 * rng.normal(size=70) > 0, 1, -1)

    def run(self, module, data, slackid, scale=1.0, right=0.0, **options):
        names = {"SCALE": scale, "SLACKID": slackid, "RIGHT": right}
        source = "\n".join(f"{k} = {v!r}" for k, v in names.items()) + self.SOURCE
        X, y = data
        sample = [(Sparse(x), int(c)) for x, c in zip(X, y, strict=True)]
        sm, found = learn(module(source), sample, c=10.0, **options)
        return sm.w, found

    @pytest.mark.parametrize("algorithm", [0, 4])
    def test_hard(self, module, data, algorithm):
        w, found = self.run(module, data, None, alg_type=algorithm)
        native = ssvm.fit(
            BinaryProblem(*data), 10.0, constraints=_bounds([0.0, 0.0, -np.inf]), epsilon=1e-7, rtol=1e-7
        )
        assert found.objective == pytest.approx(native.objective, rel=1e-5)
        assert (w[:2] >= 0.0).all()

    def test_hard_rows_of_several_weights(self, module, data):
        hooks = module(
            self.SOURCE.split("def init_constraints")[0]
            + """
def init_constraints(sample, sm, sparm):
    return [(svmapi.Document([svmapi.Sparse([1.0, 1.0]), svmapi.Sparse([0, 0, 1.0], factor=-1)]), 2.0)]
"""
        )
        X, y = data
        sm, _ = learn(hooks, [(Sparse(x), int(c)) for x, c in zip(X, y, strict=True)], c=10.0)
        assert sm.w @ [1, 1, -1] == pytest.approx(2.0, abs=1e-6)

    @pytest.mark.parametrize(("scaling", "norm"), [(2, 1), (1, 1), (2, 2), (1, 2)])
    @pytest.mark.parametrize("n", [40, 70])
    def test_shared_slack_is_charged_like_one_more_example(self, module, data, scaling, norm, n):
        """Against the same problem written out for an independent solver (n below and above the pool's)."""
        X, y = (part[:n] for part in data)
        w, found = self.run(
            *(module, (X, y), n + 1), scale=2.0, right=1.0, alg_type=0, loss_type=scaling, slack_norm=norm
        )
        from scipy.optimize import minimize

        def objective(v):
            hinge = np.maximum(0.0, 1.0 - y * (X @ v))
            extra = max(0.0, 1.0 - 2.0 * min(v[0], v[1]))
            total = np.sum(hinge**norm) + extra**norm
            return 0.5 * v @ v + 10.0 / (n * norm) * total

        assert found.objective == pytest.approx(objective(w), rel=1e-5)
        other = minimize(objective, w, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
        assert objective(w) <= other.fun * (1 + 1e-5)

    def test_sharing_the_slack_of_an_example(self, module, data):
        X, y = data
        w, found = self.run(module, data, 3, scale=2.0, right=4.0, alg_type=0)
        hinge = np.maximum(0.0, 1.0 - y * (X @ w))
        hinge[2] = max(hinge[2], 4.0 - 2.0 * min(w[0], w[1]))
        assert 0.5 * w @ w + 10.0 * hinge.mean() == pytest.approx(found.objective, rel=1e-5)

    def test_shared_slack_with_a_kernel(self, module, data):
        """-t 1 -d 1 -r 0 is the linear kernel in the dual."""
        X, y = (part[:30] for part in data)
        source = f"SCALE, SLACKID, RIGHT = 2.0, 31, 1.0\n{self.SOURCE}"
        sample = [(Sparse(x), int(c)) for x, c in zip(X, y, strict=True)]
        dual = KernelParm(1, poly_degree=1, coef_const=0.0)
        _, kernel = learn(module(source), sample, dual, c=10.0, alg_type=0)
        _, linear = learn(module(source), sample, c=10.0, alg_type=0)
        assert kernel.objective == pytest.approx(linear.objective, rel=1e-5)

    def test_one_slack_keeps_them_exactly_and_says_so(self, module, data):
        with pytest.warns(UserWarning, match="2 constraints with a slackid.*keeps them exactly"):
            w, _ = self.run(module, data, 71, scale=100.0, right=1.0, alg_type=4)
        assert (w[:2] >= 0.01 - 1e-12).all()

    def test_what_cannot_be(self, module, data):
        with pytest.raises(HookError, match="right side -1; it must be at least 0"):
            self.run(module, data, 71, right=-1.0, alg_type=0)
        with pytest.raises(HookError, match="count from 1"):
            self.run(module, data, 0, alg_type=0)
        X, y = data
        sample = [(Sparse(x), int(c)) for x, c in zip(X, y, strict=True)]
        source = "SCALE, SLACKID, RIGHT = 1.0, None, 0.0\n" + self.SOURCE
        with pytest.raises(HookError, match="need a linear model"):
            learn(module(source), sample, KernelParm(RBF))


def _bounds(low):
    from scipy.optimize import Bounds

    return Bounds(np.array(low), np.full(len(low), np.inf))


BASE = """
import svmapi
def read_examples(filename, sparm): pass
def init_model(sample, sm, sparm): sm.size_psi = 2
def psi(x, y, sm, sparm): return svmapi.Sparse([(y, x)])
def classify_example(x, sm, sparm): return int(sm.w[1] * x > sm.w[0] * x)
"""
SAMPLE = [(1.0, 1), (-1.0, 0), (2.0, 1)]


def test_without_an_oracle_the_predictor_serves(module):
    sm, result = learn(module(BASE), SAMPLE, c=10.0)
    assert [sm.svm_model.classify(Sparse([(y, 1.0)])) >= 0 for y in (0, 1)] == [False, True]
    assert result.certificate.oracle_kind == "undergenerating"


def test_a_search_for_the_other_scaling_is_no_search(module):
    source = BASE + "def find_most_violated_constraint_margin(x, y, sm, sparm): return 1 - y\n"
    with pytest.warns(UserWarning, match="has find_most_violated_constraint_margin but no search for slack"):
        learn(module(source), SAMPLE, loss_type=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("def psi(x, y, sm, sparm): return 3", r"psi\(x, y, sm, sparm\) of example 0: a Sparse"),
        (
            "def psi(x, y, sm, sparm): return svmapi.Sparse([(2, x)])",
            "index 2, but init_model set sm.size_psi",
        ),
        ("def loss(y, ybar, sparm): return 1", r"example 0: loss\(y, y, sparm\) must be 0"),
        ("def loss(y, ybar, sparm): pass", "example 0: loss must return a number, not None"),
        ("def init_model(sample, sm, sparm): pass", "init_model must set sm.size_psi"),
        ("def init_constraints(sample, sm, sparm): return [3]", "item 0 must be a .Document, number. pair"),
        (
            "def psi(x, y, sm, sparm): return {}[y]",
            r"(?s)psi\(x, y, sm, sparm\) failed: KeyError.*line 7, in psi",
        ),
        (
            "def classify_example(x, sm, sparm): return {}.iteritems()",
            r"(?s)AttributeError.*line 7, in classify_example.*\.iteritems belongs to Python 2: use \.items",
        ),
    ],
)
def test_faults_of_a_module_are_named(module, change, message):
    with pytest.raises(HookError, match=message):
        learn(module(BASE + change), SAMPLE)


def test_a_kernel_id_that_no_truth_has(module):
    change = "def find_most_violated_constraint(x, y, sm, sparm): return 7\n"
    change += "def psi(x, y, sm, sparm): return svmapi.Sparse([x], kernel_id=y)\n"
    with pytest.raises(HookError, match="kernel_id 7, which no true output has"):
        learn(module(BASE + change), SAMPLE)
    with pytest.raises(HookError, match="index 2, but init_model set"):
        learn(module(BASE.replace("(y, x)", "(2, x)")), SAMPLE, KernelParm(RBF))


def test_unknown_labels_cannot_be_trained_on(module):
    with pytest.raises(HookError, match="example 1 has no label"):
        learn(module(BASE), [(1.0, 0), (1.0, None)])


def test_missing_hooks_are_named(module):
    with pytest.raises(HookError, match="lacks the required hooks psi, classify_example"):
        module(BASE.split("def psi")[0])
    with pytest.raises(HookError, match="lacks the required hook classify_example"):
        module(BASE.split("def classify")[0])


def test_a_module_named_like_one_of_pythons_own(module):
    import json

    assert module(BASE, "json").name == "hook_module_json"
    assert json.dumps(1) == "1"


def test_mutable_outputs_are_asked_for_every_time(module):
    """A list may change after it was returned: nothing is held for it."""
    hooks = module(
        BASE.replace("Sparse([(y, x)])", "Sparse([(y[0], x)])").replace("return int(", "return [int(", 1)[:-1]
        + "]\n"
    )
    sample = [(x, [y]) for x, y in SAMPLE]
    sm, _ = learn(hooks, sample, c=10.0)
    other, _ = learn(module(BASE), SAMPLE, c=10.0)
    np.testing.assert_allclose(sm.w, other.w)


def test_a_module_that_leaves_is_refused(tmp_path):
    """It does not end the command with an exit code of its own."""
    path = tmp_path / "leaves.py"
    path.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(HookError, match=r"leaves\.py calls exit\(3\) while it is imported"):
        load_hooks(str(path))


def test_constraints_are_a_list():
    with pytest.raises(HookError, match=r"init_constraints must return a list .* not 5"):
        read_constraints(5, 3, SlackRule())
