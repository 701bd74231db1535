"""Clustering of documents, with other documents that belong to none of the clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustruct.callbacks import observed
from clustruct.storage import register
from clustruct.universum.cccp import CCCPResult, cccp
from clustruct.universum.problem import MarginProblem

from .margin_clustering import MarginClustering, Start


@register("UniversumClustering")
class UniversumClustering(MarginClustering):
    """Maximum-margin clustering with Universum (M2DCU).

    Weights w_1 .. w_k are sought with which the documents to be clustered lie far from all borders between
    clusters, and documents of the Universum, known to belong to no cluster, lie close to them::

        min over W   1/2 |W|^2 + C/(nk) sum_{i, r != u_i} max(0, 1 - (w_{u_i} - w_r) . x_i)
                     + C_universum/N sum_i max(0, k/(k-1) (max_p w_p . x*_i - mean_p w_p . x*_i) - eps)
        subject to   |(w_p - w_q) . sum_i x_i| <= balance     for all p, q

    where u_i = argmax_p w_p . x_i is the cluster of document i and eps the Universum margin (Zhang, Wang and
    Si, "Document clustering with Universum", 2011). The procedure is CCCP: fix u, solve the convex problem
    by a two-view cutting plane, label anew. Unlike the paper's, it keeps the maximum in the Universum term,
    so the objective never rises. Without a Universum, or with C_universum = 0, it is the paper's M2DCU-0.
    Cost per cutting plane O(k nnz), usually 5 to 40 planes in all.

    Parameters
    ----------
    n_clusters : int
    C : float
        Weight of the documents' margins; the paper's grid is 2 to 64.
    C_universum : float
        Weight of the Universum; the paper's grid is 0.001 to 10.
    balance : float
        How far apart the clusters' total scores may lie; the paper's grid is 0.001 to 10, inf is no balance.
        Data with mean zero are not balanced by it: do not centre.
    init : "principal", "kmeans", n labels, or weights of shape (n_clusters, n_features)
        Where CCCP starts: k-means in the k - 1 leading principal directions (hardly depends on chance),
        k-means on all features, or what is given.
    n_init : int
        Number of starts; the one that ends with the lowest objective is kept. All but the first are k-means.
    universum_margin : float
        How far from the borders a Universum document may lie at no cost (the paper's epsilon_1).
    scale : "auto" or float
        X and the Universum are multiplied by it. The margin is 1, so the scale is the unit of C: "auto"
        brings the root mean square distance from the mean to 10, with which the paper's grids make sense.
    tol, inner_tol : float
        CCCP ends when a step lowers the objective by no more than this share; each convex problem is
        solved to this relative gap.
    max_iter : int
    random_state : int, RandomState or None
    verbose : int
        1 prints some CCCP steps, 2 all of them. A `training_callback` is called with every step as well; it
        and Ctrl-C end the search with what was reached.

    Attributes
    ----------
    labels_ : the cluster of each row of X; a cluster may stay empty, and then has the last number
    coef_ : weights in the units of the input, one row per cluster
    objective_ : the value reached, in scaled units
    scale_ : the factor used
    result_ : CCCPResult of the best start, with the objective and inner iterations of each CCCP step
    n_iter_ : number of CCCP steps
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct.estimators import UniversumClustering
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [0.1, 0.9], [2.0, 0.1], [2.1, 0.0], [1.9, 0.2]])
    >>> model = UniversumClustering(n_clusters=2, random_state=0).fit(X, universum=[[1.0, 0.5]])
    >>> same = model.labels_ == model.labels_[0]
    >>> same.tolist()
    [True, True, True, False, False, False]
    >>> bool((np.diff(model.result_.objectives) <= 0).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        C: float = 8.0,
        C_universum: float = 1.0,
        balance: float = 0.1,
        init: str | ArrayLike = "principal",
        n_init: int = 1,
        universum_margin: float = 0.5,
        scale: str | float = "auto",
        tol: float = 0.01,
        inner_tol: float = 0.01,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.C_universum = C_universum
        self.balance = balance
        self.init = init
        self.n_init = n_init
        self.universum_margin = universum_margin
        self.scale = scale
        self.tol = tol
        self.inner_tol = inner_tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None, universum: ArrayLike | None = None) -> UniversumClustering:
        """Cluster the rows of X; rows of ``universum`` belong to none of the clusters. y is not used."""
        self._fit(X, universum)
        return self

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        super().check_parameters()
        self._positive("C", "tol", "inner_tol", "max_iter")
        self._positive("C_universum", "balance", "universum_margin", zero=True)

    def _solve(self, X: Any, universum: Any, start: Start) -> CCCPResult:
        problem = MarginProblem(
            X, self.n_clusters, self.C, self.balance, universum, self.C_universum, self.universum_margin
        )
        labels, W = start
        if W is not None:
            W = problem.balanced(W)
            labels = problem.assign(W)
        callback = observed(self.C, self.tol, self.verbose)
        return cccp(problem, labels, W, self.tol, self.inner_tol, self.max_iter, callback)
