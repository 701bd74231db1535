"""Supervised correlation clustering in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clustruct.oracles import Oracle, Predictor, make_oracle, make_predictor
from clustruct.slack_rule import Scaling
from clustruct.ssvm import Formulation
from clustruct.storage import register

from .inputs import Table, read_sets
from .scoring import SetScoring
from .similarity_learning import AnyLoss, SimilarityLearning


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
    predictor : "greedy", "local_search", "exact", "lp", "lp_algorithm5", "lp_ball", "components" or
    "nearest_mate"
        How `predict` clusters. "lp" takes the clustering nearest to the linear relaxation and improves it;
        the next two round it as the papers do (Algorithm 5, ball growing); the last two join pairs one by
        one.
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
    verbose : int
        1 prints how the training goes.

    Attributes
    ----------
    w_ : weights in the units of the input, one per feature
    feature_scale_ : what each feature was divided by for training; ``w_ * feature_scale_`` compares weights
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
        loss: AnyLoss = "pairwise",
        oracle: str = "greedy",
        predictor: str = "local_search",
        scaling: Scaling = "margin",
        formulation: Formulation = "n_slack",
        slack_norm: Literal[1, 2] = 1,
        loss_in_oracle: bool = True,
        nonnegative: bool = False,
        rescale: bool = True,
        C_grid: Sequence[float] | None = None,
        cv: int = 5,
        rtol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: int = 0,
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
        self.verbose = verbose

    def _oracle(self) -> Oracle:
        return make_oracle(self.oracle, self.clustering_objective, loss_in_oracle=self.loss_in_oracle)

    def _predictor(self) -> Predictor:
        return make_predictor(self.predictor, self.clustering_objective, random_state=self.random_state)

    def _nonnegative(self) -> bool:
        return self.nonnegative

    def decision_function(self, X: Table, set_ids: ArrayLike | None = None) -> Any:
        """The learned similarity of every pair: one symmetric matrix per set (positive: together).

        A sparse matrix for a set that lists its pairs (`pair_index`) and has no node features.
        """
        check_is_fitted(self)
        given = read_sets(self, X, set_ids, reset=False)
        answers = [x.similarity(self.w_, sparse=x.is_sparse) for x in given.sets]
        return answers[0] if given.single else answers

    def predict(self, X: Table, set_ids: ArrayLike | None = None) -> Any:
        """Cluster new sets: a list of label vectors for a list of sets, one vector for one table."""
        check_is_fitted(self)
        given = read_sets(self, X, set_ids, reset=False)
        search = self._predictor()
        for x in given.sets:
            search.check_set(x)
        return given.restore([search.predict(search.scores(x, self.w_)) for x in given.sets])
