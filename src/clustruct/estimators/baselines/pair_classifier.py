"""The pair classifier baseline (PCC) and the default clusterings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import squareform
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from clustruct.core import memory
from clustruct.core.exceptions import ModelFileError
from clustruct.core.partitions import UNKNOWN
from clustruct.core.storage import FEATURES, Shape, fits, register, register_foreign
from clustruct.core.typing import Bools, Floats, Indices, Ints, Labels
from clustruct.data import ItemSet, PairScores, pair_table
from clustruct.data.matrices import Matrix
from clustruct.estimators.base import AnyLoss, PairSimilarity, SetClusterer
from clustruct.estimators.inputs import Groups, SetsLike, check_labels, read_labels, read_sets
from clustruct.estimators.training_shape import TrainingShape
from clustruct.learning.problems import feature_scale

# What files keep of a classifier of two classes: its parameters matter for training only.
WEIGHTS = {
    "coef_": Shape((1, "n_features_in_")),
    "intercept_": Shape((1,)),
    "classes_": Shape((2,), np.generic),
    "n_features_in_": int,
}
# Features divided by their root mean square are no larger, whatever they were.
LARGEST = 1e15


class PairScoring(PairSimilarity):
    """A clusterer that scores pairs one by one (`pair_scores`): those listed, or all."""

    def _check_pairs(self, n_pairs: int) -> None:
        """Refuse more pairs than fit, as they are, scaled, and held by the classifier."""
        advice = "list likely pairs only (Blocking, pair_index; --block), or take selection='canopy'"
        n_bytes = 3 * 8.0 * n_pairs * self.n_features_in_
        memory.require(n_bytes, f"features of {n_pairs:,} pairs", advice, self.memory_limit)

    def _similarity(self, x: ItemSet) -> Floats | sparse.csr_array:
        """A symmetric matrix; sparse for a set that lists its pairs, where all others are apart."""
        m, pairs = x.n_items, x.pair_list
        self._check_pairs(len(pairs))
        outputs = self.pair_scores(x, pairs)
        if not x.is_sparse:
            return np.asarray(squareform(outputs, checks=False)) if m > 1 else np.zeros((m, m))
        upper = sparse.csr_array((outputs, (pairs[:, 0], pairs[:, 1])), shape=(m, m))
        return sparse.csr_array(upper + upper.T)

    def _set_scores(self, x: ItemSet) -> PairScores:
        return replace(PairScores.from_matrix(self._similarity(x)), sources=x.sources)


@register("PairwiseClassifierClustering")
@dataclass(eq=False, repr=False)
class PairwiseClassifierClustering(PairScoring):
    """Classify pairs as together or apart, and cluster with the classifier's outputs as similarities.

    The baseline that supervised clustering is compared with (dissertation 1.3 and 3.6): one binary
    example per pair of every set. It does not see that pairs hang together.

    Parameters
    ----------
    classifier : scikit-learn classifier with `decision_function`, optional
        A linear SVM by default (on features divided by their root mean square).
    selection : "all", "canopy" or "chain"
        Which pairs train. "canopy": those whose a-priori similarity (the feature ``canopy_feature``) lies
        in ``canopy_range``. "chain" (1.3.2): items in order; each with its closest earlier mate is a
        positive pair, with the items between them that are not its mates negative pairs. Mates that are
        pronouns (`fit` is given which) are passed over.
    predictor : as for `SupervisedCorrelationClustering`
        How outputs become clusters. "components" joins all pairs above zero, "nearest_mate" links each
        item to the nearest earlier item that the classifier calls a mate (1.3.2).
    loss : str, Loss or callable, default="pairwise"
        What `score` counts.
    canopy_feature, canopy_range
        Column of the pair features, and its (low, high).
    random_state : int, default=0
        Seed, or a generator, of whatever is drawn.
    memory_limit : int or str, optional
        What needs more (bytes, or words such as "8G") is refused; by default what needs more than there
        is.

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct import ItemSet
    >>> from clustruct.estimators.baselines import PairwiseClassifierClustering
    >>> x = ItemSet(pairs=np.array([[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]]))
    >>> PairwiseClassifierClustering().fit([x], [[0, 0, 1]]).predict([x])
    [array([0, 0, 1])]
    """

    not_stored = (*PairSimilarity.not_stored, "classifier")
    fitted: ClassVar = {
        **FEATURES,
        "feature_scale_": Shape(("n_features_in_",)),
        "constant_": float | None,
        "classifier_": (LinearSVC, LogisticRegression, None),
        "shown_": TrainingShape | None,
    }

    classifier: ClassifierMixin | None = None
    selection: Literal["all", "canopy", "chain"] = "all"
    predictor: str = "greedy"
    loss: AnyLoss = "pairwise"
    canopy_feature: int = 0
    canopy_range: tuple[float, float] = (0.0, np.inf)
    random_state: int = 0
    memory_limit: memory.Size = None

    def check_parameters(self) -> None:
        if self.selection not in ("all", "canopy", "chain"):
            raise ValueError(f"selection must be all, canopy or chain, not {self.selection!r}")
        self._predictor()
        super().check_parameters()

    def check_attributes(self) -> None:
        if self.constant_ is None and self.classifier_.n_features_in_ != self.n_features_in_:
            raise ValueError("the classifier does not fit the features")

    def fit(
        self,
        X: SetsLike,
        y: object = None,
        set_ids: ArrayLike | None = None,
        groups: Groups = None,
        pronouns: Sequence[Bools] | None = None,
    ) -> Self:
        """Train the classifier on the pairs of all sets. Arguments as for the supervised clusterers;
        ``pronouns`` has for each set a flag for each of its items, for selection="chain". ``groups`` is not
        needed.
        """
        self.check_parameters()
        given = read_sets(self, X, set_ids, reset=True)
        labels = read_labels(y, given)
        check_labels(labels)
        flags = _checked_flags(pronouns, given.sets)
        self._check_memory(given.sets)
        self.feature_scale_ = feature_scale(given.sets)
        chosen = [self._select(x, v, f) for x, v, f in zip(given.sets, labels, flags, strict=True)]
        chosen = [p[(v[p] != UNKNOWN).all(axis=1)] for p, v in zip(chosen, labels, strict=True)]
        self._check_pairs(sum(map(len, chosen)))
        features = np.concatenate([_dense(pair_table(x, p)) for x, p in zip(given.sets, chosen, strict=True)])
        together = np.concatenate([v[p[:, 0]] == v[p[:, 1]] for v, p in zip(labels, chosen, strict=True)])
        self._train(features, together)
        self.shown_ = TrainingShape.of(given.sets, labels, self.pair_scores)
        return self

    def _train(self, features: Floats, together: Bools) -> None:
        self.constant_ = None
        if len(together) == 0 or together.all() or not together.any():
            # All pairs alike: nothing to learn but that.
            self.constant_ = 1.0 if len(together) and together.all() else -1.0
            return
        default = LinearSVC(random_state=self.random_state, max_iter=10_000, dual="auto")
        model = default if self.classifier is None else clone(self.classifier)
        self.classifier_ = model.fit(scaled_features(features, self.feature_scale_), together)

    def _select(self, x: ItemSet, labels: Labels, pronoun: Bools | None) -> Indices:
        if self.selection == "all":
            return x.pair_list
        if self.selection == "chain":
            return chain_pairs(labels, pronoun)
        return canopy_pairs(x, self.canopy_feature, self.canopy_range)

    def linear_similarity(self) -> tuple[Floats, float] | None:
        if self.constant_ is not None:
            return np.zeros(self.n_features_in_), float(self.constant_)
        if not hasattr(self.classifier_, "coef_"):
            return None
        intercept = float(np.ravel(self.classifier_.intercept_)[0])
        return np.ravel(self.classifier_.coef_) / self.feature_scale_, intercept

    def pair_scores(self, x: ItemSet, pairs: Ints) -> Floats:
        if self.constant_ is not None or len(pairs) == 0:
            return np.full(len(pairs), self.constant_ or 0.0)
        rows = _dense(pair_table(x, pairs)) / self.feature_scale_
        return np.asarray(self.classifier_.decision_function(rows), np.float64)


def canopy_pairs(x: ItemSet, feature: int, span: tuple[float, float]) -> Indices:
    """The scored pairs whose feature lies in the span: neither hopeless nor obvious."""
    pairs = x.pair_list
    value = _dense(pair_table(x, pairs)[:, [feature]]).ravel()
    return np.asarray(pairs[(value >= span[0]) & (value <= span[1])])


def chain_pairs(labels: Labels, pronoun: Bools | None = None) -> Indices:
    """Each item with its closest earlier mate (not a pronoun) and the strangers between the two (1.3.2).

    >>> chain_pairs(np.array([0, 1, 1, 0])).tolist()
    [[1, 2], [0, 3], [1, 3], [2, 3]]
    >>> chain_pairs(np.array([0, 0, 0]), pronoun=np.array([False, True, False])).tolist()
    [[0, 1], [0, 2]]
    """
    found: list[tuple[int, int]] = []
    usable = np.ones(len(labels), bool) if pronoun is None else ~np.asarray(pronoun, bool)
    for i in range(len(labels)):
        mates = np.flatnonzero((labels[:i] == labels[i]) & usable[:i])
        if not len(mates):
            continue
        closest = int(mates[-1])
        found.append((closest, i))
        found.extend((j, i) for j in range(closest + 1, i) if labels[j] != labels[i])
    return np.array(found, np.intp).reshape(-1, 2)


def _dense(rows: Matrix) -> Floats:
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray())


def scaled_features(features: Floats, scale: Floats) -> Floats:
    """Features in units of their scale; refused where that has not made them of usual size: liblinear, which
    cannot be stopped, never returns from numbers such as 1e160.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rows = features / scale
    bad = np.flatnonzero(~(np.abs(rows) <= LARGEST).all(axis=0))
    if len(bad):
        most = np.abs(features[:, bad[0]]).max()
        raise ValueError(
            f"feature {bad[0]} is too large for a classifier, up to {most:.3g}: divide it by that"
        )
    return rows


def _checked_flags(pronouns: Sequence[Bools] | None, sets: list[ItemSet]) -> list[Bools | None]:
    """One flag per item of each set, or None for each set."""
    if pronouns is None:
        return [None] * len(sets)
    if len(pronouns) != len(sets):
        raise ValueError(f"pronouns has flags for {len(pronouns)} sets, X has {len(sets)}")
    for i, (flags, x) in enumerate(zip(pronouns, sets, strict=True)):
        if np.shape(flags) != (x.n_items,):
            raise ValueError(f"set {i}: pronouns has shape {np.shape(flags)} for {x.n_items} items")
    return [np.asarray(flags, dtype=np.bool_) for flags in pronouns]


@register("DefaultClustering")
@dataclass(eq=False, repr=False)
class DefaultClustering(SetClusterer):
    """Every item alone, or all in one cluster: the clusterings that need no learning.

    Examples
    --------
    >>> from clustruct.estimators.baselines import DefaultClustering
    >>> import numpy as np
    >>> DefaultClustering("alone").fit([np.eye(3)]).predict([np.eye(3)])
    [array([0, 1, 2])]
    """

    fitted = FEATURES
    needs_labels = False

    kind: Literal["alone", "together"] = "alone"
    loss: AnyLoss = "pairwise"

    def check_parameters(self) -> None:
        if self.kind not in ("alone", "together"):
            raise ValueError(f"kind must be 'alone' or 'together', not {self.kind!r}")
        super().check_parameters()

    def fit(
        self, X: SetsLike, y: object = None, set_ids: ArrayLike | None = None, groups: Groups = None
    ) -> Self:
        """Nothing is learned; the number of features is remembered."""
        self.check_parameters()
        read_sets(self, X, set_ids, reset=True)
        return self

    def _clusters(self, sets: list[ItemSet], truth: list[Labels] | None = None) -> list[Any]:
        return [np.arange(x.n_items) if self.kind == "alone" else np.zeros(x.n_items, np.int64) for x in sets]


def classifier_state(classifier: LinearSVC | LogisticRegression) -> dict[str, Any]:
    check_is_fitted(classifier)
    return {name: getattr(classifier, name) for name in WEIGHTS}


def classifier_from_state(make: Callable[[], Any], state: Mapping[str, Any]) -> Any:
    classifier, sizes = make(), {"n_features_in_": state["n_features_in_"]}
    for name, hint in WEIGHTS.items():
        if not fits(state[name], hint, sizes):
            raise ModelFileError(f"damaged, {name} of a classifier does not fit")
        setattr(classifier, name, state[name])
    return classifier


for _cls in (LinearSVC, LogisticRegression):
    register_foreign(_cls.__name__, _cls, classifier_state, partial(classifier_from_state, _cls))
