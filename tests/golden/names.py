"""The only place of the golden record that knows how things are called in the package.

The cases use the words of this file: kinds of estimators, names of searches, options, keys. Where the package
renames or moves something, adapt this file and nothing else; golden.json stays as it is.
"""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import numpy as np
from scipy import sparse

import clustruct
from clustruct import ItemSet, Table, features, losses, ssvm
from clustruct.cli import classify as classify_command
from clustruct.cli import learn as learn_command
from clustruct.cli import main as main_command
from clustruct.core.kernels import Kernel
from clustruct.data import all_pairs, datasets
from clustruct.data import field_kinds as kinds_of_fields
from clustruct.data import io as files
from clustruct.evaluate import metrics
from clustruct.features.document_vectors import document_pipeline
from clustruct.learning import problems
from clustruct.papers.multilabel import make_multilabel_chain, make_multilabel_count
from clustruct.papers.multilabel import mrf as mrf_search
from clustruct.papers.multilabel.multilabel_problem import MultiLabelProblem
from clustruct.papers.toy_marbles import make_marbles
from clustruct.papers.universum import label_free as universum_choice
from clustruct.papers.universum import outside_documents
from clustruct.search import correlation as correlation_search
from clustruct.search import kmeans as kmeans_search
from clustruct.search import spectral
from tests.reference import kmeans as slow_kmeans

HOOK_EXAMPLES = Path(__file__).parents[2] / "examples" / "hooks"

# ---------------------------------------------------------------- estimators, their options and their values

ESTIMATORS = {
    "correlation": clustruct.SupervisedCorrelationClustering,
    "kmeans": clustruct.SupervisedKMeans,
    "pair_classifier": clustruct.estimators.baselines.PairwiseClassifierClustering,
    "default": clustruct.estimators.baselines.DefaultClustering,
    "pair_kmeans": clustruct.estimators.baselines.PairKMeans,
    "untrained_kmeans": clustruct.estimators.baselines.UntrainedKMeans,
    "multilabel": clustruct.MultiLabelMRF,
    "universum": clustruct.UniversumClustering,
    "cpm3c": clustruct.papers.cpm3c.CPM3C,
    "plsa": clustruct.papers.document_clustering.PLSA,
    "clgr": clustruct.papers.document_clustering.CLGR,
}
# Word of the cases -> word of the package, where the two differ; options of estimators and of the engine.
OPTIONS: dict[str, str] = {
    "candidates": "blocking",
    "neighbours": "n_neighbors",
    "set_weight": "sample_weight",
}
# The same for values that are words, by option.
VALUES: dict[str, dict[str, str]] = {}


# Words that the package answers with (why a training ended, kinds of oracles, blocks and fields) -> word of
# the record, where the two differ.
ANSWERS: dict[str, str] = {"stable_contrast": "stable contrast"}


def answer(word):
    return ANSWERS.get(word, word)


def translated(options):
    """Options of a case in the package's words."""
    return {
        OPTIONS.get(name, name): VALUES.get(name, {}).get(value, value) if isinstance(value, str) else value
        for name, value in options.items()
    }


def make(kind, /, **options):
    return ESTIMATORS[kind](**translated(options))


def fitted(model, *given, **options):
    """fit, with the options that belong to a call: groups, set_weight, sample_weight, universum."""
    return model.fit(*given, **translated(cut(given[0], options)))


def predicted(model, X, **options):
    return model.predict(X, **translated(cut(X, options)))


def cut(X, options):
    """The groups of one table name its sets."""
    if not hasattr(X, "shape") or "groups" not in options:
        return options
    return {"set_ids" if name == "groups" else name: value for name, value in options.items()}


def changed(model, **options):
    """A fitted model with other options for its predictions."""
    return model.set_params(**translated(options))


def weights(model):
    """Weights in the units of the input."""
    return model.w_


def coefficients(model):
    """One row of weights per label or cluster."""
    return model.coef_


def result(model):
    return model.result_


def chosen_C(model):
    return model.C_


def losses_of_choice(model):
    return model.cv_results_["mean_loss"]


def set_losses(model, X, y):
    return model.set_losses(X, y)


def relaxed_similarity(model, x, k):
    """Y Y' of the spectral answer: the only part of it that has a meaning."""
    Y = model.relax([x], n_clusters=k)[0].Y
    return Y @ Y.T


def multilabel_parts(model):
    return {"edges": model.edges_, "edge_weights": model.edge_weights_, "intercept": model.intercept_}


def relaxed_labels(model, X):
    return model.predict_relaxed(X).nodes


def undecided_share(model, X):
    return model.undecided_share(X)


def margin_clusters(model):
    """What a maximum-margin clusterer has found."""
    return {
        "objective": model.objective_,
        "labels": model.labels_,
        "weights": model.coef_,
        "scale": model.scale_,
        "steps": model.n_iter_,
        "stop_reason": answer(model.result_.stop_reason),
    }


def topics(model):
    return {"labels": model.labels_, "components": model.components_, "steps": model.n_iter_}


def log_likelihood(model):
    return model.result_.log_likelihood


def embedded(model):
    return model.labels_, model.embedding_


def fit_numbers(found):
    """Objective, gap and certificate of a training; no times and no notes."""
    certificate = found.certificate
    return {
        "objective": found.objective,
        "dual": found.dual,
        "mean_slack": found.mean_slack,
        "stop_reason": answer(found.stop_reason),
        "rounds": found.n_iter,
        "oracle_calls": found.oracle_calls,
        "certificate": {
            "kind": answer(certificate.oracle_kind),
            "lower": certificate.lower,
            "upper": certificate.upper,
            "training_loss": certificate.training_loss,
        },
    }


# -------------------------------------------------------------------------------- data, losses, scores

item_set = ItemSet
raw_set = Table
make_mentions = datasets.make_mentions
make_multilabel_chain = make_multilabel_chain
make_multilabel_count = make_multilabel_count
make_news = datasets.make_news
make_records = datasets.make_records
make_synth = datasets.make_synth
write_sets = files.write_sets
save_model = clustruct.save
load_model = clustruct.load
split_by_clusters = clustruct.learning.model_selection.split_by_clusters


def pair_index(x):
    return x.pair_index


def pair_rows(x):
    return x.pairs.toarray() if hasattr(x.pairs, "toarray") else x.pairs


def marble_sets(*given, **options):
    """Item sets of marbles and their labels."""
    made = make_marbles(*given, **options)
    return [m.item_set() for m in made], [m.labels for m in made]


def raw_items(table):
    return table.items


def raw_labels(tables):
    return [table.labels for table in tables]


LOSSES = {
    "pairwise": losses.PairwiseLoss,
    "mitre": losses.MitreLoss,
    "purity": losses.MutualPurityLoss,
    "normalised": losses.NormalisedLoss,
}


def loss(name, **costs):
    return LOSSES[name](**translated(costs))


def scores(truths, found):
    """Every score: mean over sets, and pooled."""
    said = metrics.evaluate(truths, found)
    return {"mean": own_keys(dict(said.mean)), "pooled": own_keys(dict(said.micro))}


# --------------------------------------------------------------------------------------------------- searches

CORRELATION_SEARCHES = {
    "greedy": correlation_search.greedy,
    "local_search": correlation_search.local_search,
    "exact": correlation_search.exact,
}
MRF_SEARCHES = {
    name: getattr(mrf_search, name)
    for name in ("greedy", "loopy_bp", "combine", "exact", "linear_program", "graph_cut", "max_product")
}
closest_above, closest_below = mrf_search.closest_above, mrf_search.closest_below
mrf_score = mrf_search.score
chow_liu_edges = mrf_search.chow_liu_edges
correlation_objective = correlation_search.objective
round_edges = correlation_search.round_edges
kmeans_iterative = kmeans_search.iterative
spectral_relax, discretise = spectral.relax, spectral.discretise
relaxed_objective = slow_kmeans.relaxed_objective
ROUNDINGS = {"best": "best", "first": "algorithm5", "ball": "ball"}


def cluster(search, K, **links):
    return CORRELATION_SEARCHES[search](K, **translated(links))


def lp_relaxation(K, **links):
    return correlation_search.lp_relaxation(K, **translated(links))


def relaxed_value(relaxed):
    return relaxed.value


def mrf_nodes(found):
    """Node labels, 1/2 where a relaxation leaves them open."""
    return getattr(found, "nodes", found)


# ----------------------------------------------------------------------------------------------------- engine


def correlation_problem(sets, labels, pair_mean):
    assert pair_mean
    return problems.ClusteringProblem(sets, labels, units=problems.Units.of_means(sets, "correlation"))


PROBLEMS = {
    "binary": problems.BinaryProblem,
    "multiclass": problems.MulticlassProblem,
    "correlation": correlation_problem,
    "multilabel": MultiLabelProblem,
}


def problem(kind, /, *given, **options):
    return PROBLEMS[kind](*given, **translated(options))


def engine_fit(of, C, **options):
    return ssvm.fit(of, C, **translated(options))


def engine_weights(found):
    return found.w


def round_numbers(entry):
    """What a callback is told of a round."""
    return {"round": entry.iteration, "primal": entry.primal, "dual": entry.dual, "held": entry.constraints}


def kernel(kind, /, **options):
    return Kernel(kind, **translated(options))


def kernel_scores(w, vectors, part=0):
    return w.scores(vectors, part)


class KernelClasses(ssvm.Problem):
    """Multiclass with a kernel, one part of the space for each class."""

    oracle_kind = "exact"
    n_features = 1

    def __init__(self, X, y):
        self.X, self.y, self.n_examples, self.n_classes = X, y, len(y), int(y.max()) + 1

    def truth(self, i):
        return self.y[i]

    def loss(self, i, y):
        return float(y != self.y[i])

    def joint_feature(self, i, y):
        return ssvm.VectorSum(np.ones(1), self.X[[i]], np.array([y]))

    def separate(self, i, w, rule):
        scores = np.array([kernel_scores(w, self.X[[i]], c)[0] for c in range(self.n_classes)])
        losses = (np.arange(self.n_classes) != self.y[i]).astype(float)
        return int(np.argmax(rule.violation(losses, scores - scores[self.y[i]])))

    def supports(self, rule):
        return True


# --------------------------------------------------------------------------------------------------- features

BLOCKS = {
    "constant": features.Constant,
    "dates": features.Dates,
    "links": features.Links,
    "lists": features.Lists,
    "mentions": features.Mentions,
    "numbers": features.Numbers,
    "strings": features.Strings,
    "terms": features.Terms,
    "text": features.TextCosines,
    "vectors": features.Vectors,
}
guess_blocks = features.guess_blocks
pair_recall = features.pair_recall
documents = document_pipeline
# Two features whose products are taken, as patterns of their names.
PRODUCTS = [("name: words*", "city: same")]


def pair_features(blocks, **options):
    return features.PairFeatures(blocks, **translated(options))


def candidates(**options):
    return features.Blocking(**translated(options))


def field_kinds(sets):
    return {field: answer(kind) for field, kind in kinds_of_fields(sets).items()}


def block(kind, /, *given, **options):
    return BLOCKS[kind](*given, **translated(options))


def block_values(of, table, sets):
    """The values of all pairs of a set, the block being fitted to the sets."""
    values = of.fit(sets).transform(table, all_pairs(len(table)))
    return values.toarray() if hasattr(values, "toarray") else values


def block_kind(of):
    return next(word for word, kind in BLOCKS.items() if type(of) is kind)


def candidate_pairs(of, table):
    return of.pairs(table)


def neighbours_taken(of):
    return of.n_neighbors_


# -------------------------------------------------------------------------------------------------- Universum

random_box = outside_documents.random_box
mean_of_centres = outside_documents.mean_of_centres


def selected_rows(kind, *given, **options):
    select = {"mixture": outside_documents.select_by_mixture, "between": outside_documents.select_between}
    return select[kind](*given, **options).numbers


def trials(*given, **options):
    """Scores of the settings of a grid, and which one each rule takes."""
    tried = universum_choice.try_grid(*given, **options)
    taken = {
        answer(rule): tried.index(universum_choice.choose(tried, rule)) for rule in universum_choice.RULES
    }
    return [trial.scores for trial in tried], taken


# --------------------------------------------------------------------------------------------------- commands

# Option of the cases -> option of the command, where the two differ.
COMMAND_OPTIONS: dict[str, str] = {
    "candidates": "blocking",
    "neighbours": "n_neighbors",
    "set_weight": "sample_weight",
}
# Key that a command prints -> key of the record, where the two differ.
PRINTED_KEYS: dict[str, str] = {
    "least_confident_items": "least_sure_items",
    "least_confident_clusters": "least_sure_clusters",
}
MAINS = {
    "clustruct": main_command.main,
    "clustruct-learn": learn_command.main,
    "clustruct-classify": classify_command.main,
}


def run(command, *words):
    """Exit code and what was printed to stdout."""
    out, err = io.StringIO(), io.StringIO()
    line = [COMMAND_OPTIONS.get(str(word), str(word)) for word in words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = MAINS[command](line)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    return code, out.getvalue()


def own_keys(found):
    """What a command printed, by the keys of the record."""
    if isinstance(found, dict):
        return {PRINTED_KEYS.get(key, key): own_keys(value) for key, value in found.items()}
    return [own_keys(value) for value in found] if isinstance(found, list) else found


def hook_module(name):
    return str(HOOK_EXAMPLES / f"{name}.py")


def make_hook_data(folder):
    """train-... and test-... files for each of the example modules."""
    runpy.run_path(str(HOOK_EXAMPLES / "make_data.py"))["main"](str(folder))


def hook_weights(model_file):
    """What a model file of a hook module holds: weights, or support vectors and their factors."""
    held = clustruct.load(model_file)
    if held.support is None:
        return {"w": held.w}
    return {"alpha": held.support.coefficients, "support_data": sparse.csr_array(held.support.vectors).data}
