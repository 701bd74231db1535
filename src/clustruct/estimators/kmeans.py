"""Supervised k-means and spectral clustering in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from sklearn.base import BaseEstimator

from clustruct._typing import Labels
from clustruct.inference.spectral import count_range
from clustruct.itemsets import ItemSet
from clustruct.oracles import Oracle, make_oracle
from clustruct.slack_rule import Scaling
from clustruct.ssvm import Formulation
from clustruct.storage import register

from .kernel_learning import check_kernel_features
from .kmeans_prediction import KMeansPrediction
from .similarity_learning import AnyLoss, SimilarityLearning


@register("SupervisedKMeans")
class SupervisedKMeans(KMeansPrediction, SimilarityLearning, BaseEstimator):
    """Learn from example clusterings how to cluster new sets into a given number of clusters.

    A similarity K_ab = <w, psi_ab> is learned by a structural SVM such that k-means, which maximises
    trace(Y'KY), the mean similarity within clusters, reproduces the examples::

        min over w   1/2 |w|^2 + C mean_i xi_i
        for every set i and every clustering Y into k_i clusters:
            trace(Y_i'K_i Y_i) - trace(Y'K_i Y) >= Delta(Y_i, Y) - xi_i

    (Finley and Joachims, "Supervised k-means clustering", 2008; Finley 2009, chapter 4.)

    Parameters
    ----------
    n_clusters : int, optional
        How many clusters `predict` makes, where the call does not say. None: by the largest eigengap of
        the centred similarity, see `clustruct.inference.spectral.count_clusters`.
        In training each set has the k of its labels.
    C : float or "cv"
        Weight of the training loss against simplicity. "cv" chooses it by cross-validation over the
        sets from ``C_grid`` (with fewer than 3 sets: the middle of the grid), k as in the truth.
    oracle : "iterative", "spectral", "centred" or "discrete"
        How training looks for the most violated clustering: local search, k leading eigenvectors (a
        relaxation, more constraints than needed), a tighter relaxation, or eigenvectors made a partition.
    predictor : "iterative" or "discrete"
        How `predict` clusters. (The method `relax` gives spectral answers as they are.)
    loss : "normalised", or with oracle="iterative" any loss of `clustruct.losses`
        What counts as an error. The normalised loss (Delta_k) is the papers'.
    kernel_learning : bool
        Keep w >= 0, so that K is positive semidefinite; refused where a pair feature is no kernel.
    scaling, formulation, slack_norm
        The kind of structural SVM, see `clustruct.ssvm.fit`. All oracles but "iterative" need
        margin scaling and slack_norm=1.
    rescale : bool
        Divide dense features by their root mean square, take means over items, and measure C in the unit
        that the data suggest. ``w_`` is in the units of the input. False is the problem of the paper.
    n_init : int
        Random starts of each search in prediction; a third of it, at least one, in training.
    C_grid, cv : for C="cv"; powers of ten from 0.01 to 100, and 5 folds, by default
    rtol, max_iter : float, int
        When training ends: relative duality gap, rounds.
    n_jobs : int, optional
    random_state : int
    verbose : int
        1 prints how the training goes.

    Attributes
    ----------
    w_ : weights in the units of the input, one per feature
    feature_scale_ : what each feature was divided by for training; ``w_ * feature_scale_`` compares weights
    C_ : the C used
    k_range_ : where `predict` looks for k when it is not given
    cv_results_ : mean loss per C of the grid, where C="cv"
    result_ : FitResult of the last training, with history and certificate
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from clustruct.datasets import make_synth
    >>> from clustruct.estimators import SupervisedKMeans
    >>> X, y = make_synth(n_sets=4, n_clusters=3, cluster_size=8)
    >>> model = SupervisedKMeans(C=1.0).fit(X[:3], y[:3])
    >>> model.score(X[3:], y[3:]) > 0.9
    True
    """

    fitted: ClassVar = {**SimilarityLearning.fitted, "k_range_": tuple[int, int]}

    def __init__(
        self,
        n_clusters: int | None = None,
        C: float | str = "cv",
        oracle: str = "iterative",
        predictor: str = "discrete",
        loss: AnyLoss = "normalised",
        kernel_learning: bool = False,
        scaling: Scaling = "margin",
        formulation: Formulation = "auto",
        slack_norm: Literal[1, 2] = 1,
        rescale: bool = True,
        n_init: int = 10,
        C_grid: Sequence[float] | None = None,
        cv: int = 5,
        rtol: float = 1e-2,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.oracle = oracle
        self.predictor = predictor
        self.loss = loss
        self.kernel_learning = kernel_learning
        self.scaling = scaling
        self.formulation = formulation
        self.slack_norm = slack_norm
        self.rescale = rescale
        self.n_init = n_init
        self.C_grid = C_grid
        self.cv = cv
        self.rtol = rtol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _look_at(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        self.k_range_ = count_range(labels)
        if self.kernel_learning:
            check_kernel_features(sets)

    def check_parameters(self) -> None:
        self.check_prediction()
        super().check_parameters()

    def _oracle(self) -> Oracle:
        n_init = max(1, self.n_init // 3)
        return make_oracle(
            self.oracle, self.clustering_objective, n_init=n_init, random_state=self.random_state
        )

    def _nonnegative(self) -> bool:
        return self.kernel_learning
