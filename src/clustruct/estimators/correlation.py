"""Supervised correlation clustering in scikit-learn's manner."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clustruct._typing import Labels
from clustruct.inference import correlation
from clustruct.itemsets import ItemSet
from clustruct.losses import as_loss
from clustruct.problems.correlation import CorrelationProblem, Oracle
from clustruct.problems.units import feature_scale, natural_C
from clustruct.slack_rule import Scaling
from clustruct.ssvm import Formulation
from clustruct.storage import register

from .inputs import read_sets
from .scoring import SetScoring
from .similarity_learning import SimilarityLearning

Predictor = Literal["greedy", "local_search", "lp", "exact"]


@register("SupervisedCorrelationClustering")
class SupervisedCorrelationClustering(SimilarityLearning, SetScoring, BaseEstimator):
    """Learn from example clusterings how to cluster new sets; the number of clusters is found, not given.

    A similarity K_ab = <w, psi_ab> of pairs is learned by a structural SVM such that correlation
    clustering, which maximises the sum of K over pairs put together, reproduces the examples::

        min over w   1/2 |w|^2 + C mean_i xi_i
        for every set i and every clustering y:
            <w, Psi(x_i, y_i)> - <w, Psi(x_i, y)> >= Delta(y_i, y) - xi_i

    (Finley and Joachims, "Supervised clustering with support vector machines", ICML 2005.)

    Parameters
    ----------
    C : float or "cv"
        Weight of the training loss against simplicity. "cv" chooses it by cross-validation over the
        sets from ``C_grid`` (with fewer than 3 sets: the middle of the grid; with one
        set that lists its pairs: what is nearest to 10).
    loss : "pairwise", "mitre", "purity", a Loss, or a function of two label vectors
        What counts as an error, see `clustruct.losses`.
    oracle : "greedy", "local_search", "lp" or "exact"
        How training looks for the most violated clustering. Greedy is fast and rarely worse.
    predictor : "greedy", "local_search", "lp" or "exact"
        How `predict` clusters. "lp" rounds the linear relaxation.
    scaling, slack_norm, formulation
        The kind of structural SVM, see `clustruct.ssvm.fit`.
    loss_in_oracle : bool
        Whether the search for violated clusterings looks at the loss.
    nonnegative : bool
        Keep all weights at or above zero.
    rescale : bool
        Divide features by their root mean square, take means over pairs, and measure C in the unit that
        the data suggest, so that C = 1 is a fair choice for all data. ``w_`` is given in the units of
        the input. False is the problem of the 2005 paper, with 1/m^2 and losses up to 100.
    C_grid : sequence of float, optional
        For C="cv". Powers of ten from 0.01 to 100 by default.
    cv : int
        Folds for C="cv".
    rtol, max_iter : float, int
        When training ends: relative duality gap, rounds.
    n_jobs : int, optional
        Sets searched in parallel.
    random_state : int

    Attributes
    ----------
    w_ : weights in the units of the input, one per feature
    C_ : the C used
    cv_results_ : mean loss per C of the grid, where C="cv"
    result_ : FitResult of the last training, with history and certificate
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct import ItemSet, SupervisedCorrelationClustering
    >>> rng = np.random.default_rng(0)
    >>> def toy():
    ...     y = rng.integers(0, 3, 12)
    ...     a, b = np.triu_indices(12, 1)
    ...     same = (y[a] == y[b]) + 0.3 * rng.normal(size=len(a))
    ...     return ItemSet(pairs=np.column_stack([same, np.ones(len(a))])), y
    >>> train, test = [toy() for _ in range(6)], [toy() for _ in range(3)]
    >>> model = SupervisedCorrelationClustering(C=10.0).fit(*zip(*train))
    >>> model.score(*zip(*test)) > 0.95
    True
    """

    def __init__(
        self,
        C: float | str = "cv",
        loss: Any = "pairwise",
        oracle: Oracle = "greedy",
        predictor: Predictor = "local_search",
        scaling: Scaling = "margin",
        formulation: Formulation = "n_slack",
        slack_norm: Literal[1, 2] = 1,
        loss_in_oracle: bool = True,
        nonnegative: bool = False,
        rescale: bool = True,
        C_grid: Any = None,
        cv: int = 5,
        rtol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.oracle = oracle
        self.predictor = predictor
        self.scaling = scaling
        self.formulation = formulation
        self.slack_norm = slack_norm
        self.loss_in_oracle = loss_in_oracle
        self.nonnegative = nonnegative
        self.rescale = rescale
        self.C_grid = C_grid
        self.cv = cv
        self.rtol = rtol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        if self.predictor not in ("greedy", "local_search", "lp", "exact"):
            raise ValueError(f"predictor must be greedy, local_search, lp or exact, not {self.predictor!r}")
        if self.oracle in ("lp", "exact"):
            self._refuse_added_loss("oracle='greedy' or 'local_search'")
        as_loss(self.loss)

    def _feature_scale(self, sets: list[ItemSet]) -> NDArray[np.float64]:
        return feature_scale(sets) if self.rescale else np.ones(sets[0].n_features)

    def _problem(self, sets: list[ItemSet], labels: list[Labels]) -> tuple[CorrelationProblem, float]:
        problem = CorrelationProblem(
            sets,
            labels,
            self.loss,
            self.oracle,
            loss_in_oracle=self.loss_in_oracle,
            feature_scale=self.feature_scale_,
            pair_mean=self.rescale,
        )
        return problem, natural_C(problem) if self.rescale else 1.0

    def _nonnegative(self) -> bool:
        return self.nonnegative

    def _cluster_held_out(self, x: ItemSet, truth: Labels, w: NDArray[np.float64]) -> Labels:
        return self._cluster(pair_scores(x, w))

    def decision_function(self, X: Any, groups: Any = None) -> Any:
        """The learned similarity of every pair: one symmetric matrix per set (positive: together).

        A sparse matrix for a set that lists its pairs (`pair_index`) and has no node features.
        """
        check_is_fitted(self)
        given = read_sets(self, X, groups, reset=False)
        answers = [pair_scores(x, self.w_) for x in given.sets]
        return answers[0] if given.single else answers

    def predict(self, X: Any, groups: Any = None) -> Any:
        """Cluster new sets: a list of label vectors for a list of sets, one vector for one table."""
        check_is_fitted(self)
        given = read_sets(self, X, groups, reset=False)
        return given.restore([self._cluster(pair_scores(x, self.w_)) for x in given.sets])

    def _cluster(self, K: Any) -> Labels:
        return cluster(K, self.predictor, self.random_state)


def pair_scores(x: ItemSet, w: NDArray[np.float64]) -> Any:
    """K_ab = <w, psi_ab>, sparse where most pairs have no features at all."""
    return x.similarity(w, sparse=x.nodes is None and x.pair_index is not None)


def cluster(K: Any, predictor: Predictor, random_state: int = 0) -> Labels:
    """Correlation clustering of similarities by the procedure named."""
    if predictor == "greedy":
        return correlation.greedy(K)
    if predictor == "local_search":
        return correlation.local_search(K, random_state=random_state)
    if predictor == "exact":
        return correlation.exact(K)
    return correlation.round_edges(correlation.lp_relaxation(K), K=K)
