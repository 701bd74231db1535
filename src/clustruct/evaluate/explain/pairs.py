"""Why two items are together or apart: the exact contribution of each feature to their similarity."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from clustruct.core.formatting import html_table
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints, LabelsLike
from clustruct.data import ItemSet, Table
from clustruct.features import PairFeatures
from clustruct.features.similarity import SimilarityTerms
from clustruct.learning.score_confidence import Scores, Similarities, symmetric_scores
from clustruct.pipeline import group, model_weights, score_set

if TYPE_CHECKING:
    from clustruct.estimators.base import PairSimilarity


@dataclass(frozen=True)
class PairExplanation:
    """The similarity of two items, feature by feature, largest contribution first.

    Attributes
    ----------
    a, b : int
        The items.
    similarity : float
        K_ab, the sum of the contributions.
    names : tuple of str
        Of the features.
    contributions : array of float
        w_j psi_ab,j, or what trees make of the feature (`explain_pair`).
    values : array of float
        psi_ab,j.
    weights : array of float
        w_j, in the units of the features; nan for a feature that trees look at.
    together : bool
        Whether the prediction puts them together.
    support_a, support_b : float
        Sum of K between the item and the rest of its cluster.
    path : tuple of int
        For a pair that is together though K_ab <= 0 or not compared: items from a to b, each similar to
        the next, along which the weakest link is as strong as can be; empty otherwise.
    path_similarities : tuple of float
        K of each link of the path.
    compared : bool, default=True
        Whether the set lists the pair; one that it does not list counts as 0 in predictions.
    note : str, default=""
        What there is to say about the contributions.
    """

    a: int
    b: int
    similarity: float
    names: tuple[str, ...]
    contributions: Floats
    values: Floats
    weights: Floats
    together: bool
    support_a: float
    support_b: float
    path: tuple[int, ...]
    path_similarities: tuple[float, ...]
    compared: bool = True
    note: str = ""

    def _repr_html_(self) -> str:
        """What notebooks show: the largest contributions."""
        said = "together" if self.together else "apart"
        caption = f"items {self.a} and {self.b}: {said}; similarity {self.similarity:.4g}, the sum of"
        columns = (self.names, self.values, self.weights, self.contributions)
        rows = [
            [name, *(None if np.isnan(n) else float(n) for n in numbers)]
            for name, *numbers in zip(*columns, strict=True)
        ]
        return html_table(caption, ["feature", "value", "weight", "contribution"], rows)

    def largest(self, n: int) -> list[tuple[str, float]]:
        """The n largest contributions by size, zeros left out; the rest is summed as the last entry."""
        shown = [(self.names[j], float(c)) for j, c in enumerate(self.contributions) if c != 0.0]
        if len(shown) <= n:
            return shown
        rest = shown[n - 1 :]
        return [*shown[: n - 1], (f"{len(rest)} others", float(sum(c for _, c in rest)))]


def pair_contributions(
    model: PairSimilarity,
    x: ItemSet,
    a: int,
    b: int,
    labels: LabelsLike | None = None,
    *,
    K: Similarities | None = None,
    psi: Floats | None = None,
    terms: SimilarityTerms | None = None,
) -> PairExplanation:
    """Explain the similarity K_ab = sum_j w_j psi_ab,j of two items under a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with weights: SupervisedCorrelationClustering, SupervisedKMeans, or
        PairwiseClassifierClustering with a linear classifier.
    x : ItemSet
        The item set.
    a, b : int
        Numbers of two items.
    labels : array-like, optional
        The predicted clustering of x, made here if not given.
    K : array or sparse matrix, optional
        The similarities ``model.decision_function(x)``, made here if not given.
    psi : array of float, optional
        The features of the pair, for one that x does not list; such a pair counts as 0 in predictions.
    terms : SimilarityTerms, optional
        What adds up to the similarity (of this pair alone), where that is not one term for each feature of x.

    Returns
    -------
    PairExplanation
        The contributions, the largest first, and the similarity that they add up to.

    Notes
    -----
    An intercept of the model is one more contribution, by that name. Where features of x are columns of
    trees, `explain_pair` tells what the features before them add.

    Examples
    --------
    >>> from clustruct import SupervisedCorrelationClustering
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]], feature_names=["words", "constant"])
    >>> model = SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1]])
    >>> found = pair_contributions(model, x, 0, 1)
    >>> found.names, found.together, bool(found.similarity > 0)
    (('words', 'constant'), True, True)
    >>> bool(abs(found.contributions.sum() - found.similarity) < 1e-12)
    True
    """
    w, intercept, names = model_weights(model, x)
    if a == b:
        raise ValueError(f"a pair is two items, but both are item {a}")
    compared = x.compares(a, b)
    if terms is None:
        terms = SimilarityTerms.linear((x.pair_features(a, b) if psi is None else psi)[None], names, w)
    if intercept != 0.0:
        terms = terms.beside(SimilarityTerms.linear(np.ones((1, 1)), ["intercept"], np.array([intercept])))
    contributions = terms.contributions[0]
    order = np.argsort(-np.abs(contributions), kind="stable")
    y = canonical_labels(group(model, x).labels if labels is None else labels, n_items=x.n_items)
    W = symmetric_scores(score_set(model, x).matrix_or_graph() if K is None else K)
    similarity = float(contributions.sum())
    together = bool(y[a] == y[b])
    support = [float(W[[i]][:, y == y[i]].sum()) for i in (a, b)]
    through = together and (similarity <= 0.0 or not compared)
    path = _strongest_path(W, np.flatnonzero(y == y[a]), a, b) if through else ()
    return PairExplanation(
        a=int(a),
        b=int(b),
        similarity=similarity,
        names=tuple(terms.names[j] for j in order),
        contributions=contributions[order],
        values=terms.values[0, order],
        weights=terms.weights[order],
        together=together,
        support_a=support[0],
        support_b=support[1],
        path=path,
        path_similarities=tuple(float(W[i, j]) for i, j in pairwise(path)),
        compared=compared,
        note=terms.note,
    )


def unlisted_features(features: PairFeatures, table: Table, x: ItemSet, a: int, b: int) -> Floats | None:
    """The features of a pair of items that is not among those that are compared; None where it is.

    Parameters
    ----------
    features : PairFeatures
        Fitted pair features.
    table : Table
        The set.
    x : ItemSet
        The set as the features make it of ``table``.
    a : int
        The number of one item.
    b : int
        The number of the other.

    Returns
    -------
    array of float or None
        The features of the pair.
    """
    if x.compares(a, b):
        return None
    _, values = next(features.pair_chunks(table, np.array([[min(a, b), max(a, b)]])))
    dense: Floats = sparse.csr_array(values).toarray()[0]
    return dense


def _strongest_path(W: Scores, members: Ints, a: int, b: int) -> tuple[int, ...]:
    """The path from a to b through positive pairs of the cluster whose weakest link is strongest.

    It lies on a maximum spanning tree. Empty where positive pairs do not connect the two.
    """
    inside = sparse.csr_array(W[members][:, members])
    inside.data = -np.maximum(inside.data, 0.0)
    inside.eliminate_zeros()
    # Older versions of SciPy take no other numbers here.
    inside.indices, inside.indptr = inside.indices.astype(np.int32), inside.indptr.astype(np.int32)
    tree = minimum_spanning_tree(inside)
    start, end = (int(np.flatnonzero(members == i)[0]) for i in (a, b))
    _, before = breadth_first_order(tree, start, directed=False)
    steps = [end]
    while steps[-1] != start:
        step = int(before[steps[-1]])
        if step < 0:
            return ()
        steps.append(step)
    return tuple(int(members[i]) for i in reversed(steps))
