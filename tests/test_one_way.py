"""One way from scores to groups, and one from tables: who may call a search, and who may score or group."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "clustruct"

# Where searches live. Everybody else has groups by scores from the one module that asks them.
SEARCHES = ("search",)
GROUPING = "learning/grouping.py"
CLUSTERINGS = {"alone", "bounded", "exact", "exclusive", "greedy", "local_search", "lp_relaxation"}
# Whoever shows, keeps or compares groups scores and groups by `pipeline.predict`.
SURFACES = ("cli", "studio", "distributed", "groups", "pipeline", "evaluate")
OF_MODEL = {
    *("predict", "set_scores", "group_scores", "decision_function", "pair_scores"),
    *("scores_of", "fit_predict"),
}
# Calls of these names that score or group no set: their sample is a row, or something is learned by them.
ALLOWED = {
    "cli/multilabel.py": {"predict"},
    "cli/universum.py": {"predict", "decision_function"},
    # estimators side by side, on sets that no pipeline makes
    "cli/marbles.py": {"predict", "local_search"},
    "cli/on_dask.py": {"predict"},  # `clustruct.distributed.predict`
    "cli/predict.py": {"predict"},  # `on_dask.predict`
    # the one way from tables: the clusterer scores and groups what it is given
    "pipeline/predict.py": {"set_scores", "group_scores", "decision_function", "scores_of", "predict"},
    "pipeline/recipe.py": {"pair_scores"},  # labels of training pairs that look wrong
    "studio/learning.py": {"pair_scores"},  # answers foretold by models of the other answers
    "evaluate/explain/cluster_alternatives.py": {"greedy"},  # a cluster cut up, to see what is lost
    # scorers and displays take any estimator, as those of scikit-learn
    "evaluate/metrics/evaluation.py": {"predict"},
    "evaluate/plot/similarity.py": {"predict", "decision_function"},
    "evaluate/plot/split_merge.py": {"predict"},
}


def names_of(tree):
    """Attributes, with how they are written and whether they are called; and what `search` gives."""
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr, ast.unparse(node), id(node) in functions
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("clustruct.search"):
            yield from ((alias.name, f"{node.module}.{alias.name}", False) for alias in node.names)


def offences(name, text):
    """What breaks the rule in a module."""
    package = name.split("/", maxsplit=1)[0]
    allowed, wrong = ALLOWED.get(name, set()), []
    for what, written, called in names_of(ast.parse(text)):
        searches = what == "clusters" and called  # else it is a field
        if searches and package not in SEARCHES and name != GROUPING:
            wrong.append(written)
        direct = what in CLUSTERINGS and written.startswith("clustruct.search")
        if package in SURFACES and (direct or what in OF_MODEL) and what not in allowed:
            wrong.append(written)
    return wrong


@pytest.fixture(scope="module")
def texts():
    return {str(p.relative_to(SOURCE)): p.read_text("utf-8") for p in sorted(SOURCE.rglob("*.py"))}


def test_one_module_groups_by_scores_and_one_groups_tables(texts):
    assert {name: wrong for name, text in texts.items() if (wrong := offences(name, text))} == {}


def test_what_is_allowed_is_there(texts):
    for name, allowed in ALLOWED.items():
        assert allowed <= {what for what, *_ in names_of(ast.parse(texts[name]))}, name


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("estimators/supervised_kmeans.py", "labels = search.clusters(scores)"),
        ("learning/problems/training.py", "labels = self.predictor.clusters(scores, 3)"),
        ("learning/calibration/precision_curve.py", "labels = predictor.clusters(part.scores)"),
        ("cli/evaluate.py", "labels = pipeline.predict([raw])[0]"),
        ("groups/linking.py", "labels = pipeline[-1].group_scores(scores).labels"),
        ("distributed/pair_scores.py", "values = features.scores_of(columns, pairs, w, 0.0)"),
        ("studio/engine.py", "K = model.decision_function([x])[0]"),
        ("pipeline/warm_start.py", "from clustruct.search.correlation import local_search"),
        ("evaluate/report/figures.py", "each = map(model.predict, sets)"),
        ("cli/explain.py", "labels = clustruct.search.correlation.greedy(K)"),
        ("evaluate/explain/findings.py", "labels = model.predict(x)"),
    ],
)
def test_a_planted_call_is_found(texts, name, line):
    assert len(offences(name, f"{texts[name]}\n\n{line}\n")) == 1
