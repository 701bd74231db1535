"""The comparison method CPM3C in scikit-learn's manner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustruct.callbacks import observed
from clustruct.estimators.margin_clustering import MarginClustering, Start
from clustruct.storage import register
from clustruct.universum.cpm3c import CPM3CResult, centre_weights, cpm3c
from clustruct.universum.problem import MarginProblem


@register("CPM3C")
class CPM3C(MarginClustering):
    """Maximum-margin clustering by cutting planes with CCCP inside (Zhao, Wang and Zhang 2008)::

        min over W   1/2 |W|^2 + C/n sum_i max(0, 1 - (w_{u_i} - w_{v_i}) . x_i)
        subject to   |(w_p - w_q) . sum_i x_i| <= balance     for all p, q

    u_i is the best cluster of document i, v_i the second best. Cutting planes are meant for convex problems;
    here they are not, so the objective may rise and the end is no certificate. It is here to be compared
    with: use `UniversumClustering`.

    Parameters
    ----------
    n_clusters, C, balance, init, n_init, scale, tol, max_iter, random_state, verbose
        As for `UniversumClustering`; max_iter is the number of constraints.
    epsilon : float
        Violation, in units of the slack, with which the search for constraints ends.

    Attributes
    ----------
    labels_, coef_, objective_, scale_, n_iter_, n_features_in_, feature_names_in_
    result_ : CPM3CResult, with the objective after each outer round

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct.baselines import CPM3C
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [0.1, 0.9], [2.0, 0.1], [2.1, 0.0], [1.9, 0.2]])
    >>> labels = CPM3C(n_clusters=2, random_state=0).fit_predict(X)
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False, False]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        C: float = 8.0,
        balance: float = 0.1,
        init: str | ArrayLike = "principal",
        n_init: int = 1,
        scale: str | float = "auto",
        epsilon: float = 0.01,
        tol: float = 0.01,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.balance = balance
        self.init = init
        self.n_init = n_init
        self.scale = scale
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> CPM3C:
        """Cluster the rows of X. y is not used."""
        self._fit(X, None)
        return self

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        super().check_parameters()
        self._positive("C", "epsilon", "tol", "max_iter")
        self._positive("balance", zero=True)

    def _solve(self, X: Any, universum: Any, start: Start) -> CPM3CResult:
        problem = MarginProblem(X, self.n_clusters, self.C, self.balance)
        labels, W = start
        W = centre_weights(problem, labels) if W is None else problem.balanced(W)
        callback = observed(self.C, self.epsilon, self.verbose)
        return cpm3c(problem, W, self.epsilon, self.tol, self.max_iter, callback)
