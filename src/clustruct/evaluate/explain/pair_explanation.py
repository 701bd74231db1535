"""Why two items are together or apart: what each feature and each field adds to their similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from sklearn.pipeline import Pipeline

from clustruct.core.formatting import html_table
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints, LabelsLike
from clustruct.data import ItemSet, Table
from clustruct.features import PairFeatures
from clustruct.features.base import product_names
from clustruct.features.similarity import PairMap, SimilarityTerms
from clustruct.features.similarity.base import by_trees
from clustruct.learning.score_confidence import Scores, Similarities, symmetric_scores
from clustruct.pipeline import group, model_weights, score_set

if TYPE_CHECKING:
    from clustruct.estimators.base import PairSimilarity


@dataclass(frozen=True)
class PairExplanation:
    """The similarity of two items as the sum of the features' contributions, largest first.

    A contribution is w_j psi_ab,j, or what trees make of the feature (`explain_pair`; weights are nan
    there). ``support_a`` is the sum of K between a and the rest of its cluster. For a pair that is together
    though K_ab <= 0 or not compared, ``path`` leads from a to b by items each similar to the next, its
    weakest link as strong as can be. A pair that the set does not list (``compared``) counts as 0 in
    predictions.
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
        answer = "together" if self.together else "apart"
        caption = f"items {self.a} and {self.b}: {answer}; similarity {self.similarity:.4g}, the sum of"
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
    """Explain the similarity K_ab = sum_j w_j psi_ab,j of two items under a fitted model, largest part first.

    ``K``, ``labels`` and ``psi`` are made here where they are not given; ``psi`` is for a pair that x does
    not list, which counts as 0 in predictions. ``terms`` add up to the similarity of this pair alone, where
    that is not one term for each feature. An intercept of the model is one more contribution, by that name.
    Where features of x are columns of trees, `explain_pair` says what the features before them add.

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
    """The features of a pair of items that is not among those that are compared; None where it is."""
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


# What features are of that look at no field, or at several.
NO_FIELD, SEVERAL = "in general", "all fields together"


@dataclass(frozen=True)
class FieldContribution:
    """What one field adds to the similarity of two items, with its features by size of contribution: name,
    value, weight and contribution of each.
    """

    field: str
    contribution: float
    features: tuple[tuple[str, float, float, float], ...]


def feature_fields(features: PairFeatures) -> dict[str, str]:
    """The field that each feature looks at, by its name.

    Examples
    --------
    >>> from clustruct.features import Numbers
    >>> from clustruct.data import Table
    >>> found = feature_fields(PairFeatures([Numbers("n")]).fit([Table([{"n": 1}, {"n": 2}])]))
    >>> sorted(set(found.values()))
    ['in general', 'n']
    """
    found: dict[str, str] = {}
    for block in features.blocks_:
        fields = list(dict.fromkeys(block.used_fields()))
        owner = NO_FIELD if not fields else fields[0] if len(fields) == 1 else SEVERAL
        found |= {str(name): owner for name in block.get_feature_names_out()}
    names = list(found)
    for (i, j), name in zip(
        features.product_columns_, product_names(features.product_columns_, names), strict=True
    ):
        both = dict.fromkeys([found[names[i]], found[names[j]]])
        found[name] = " and ".join(both)
    if features.map_ is None:
        return found
    # A column of a map that is called as a feature is that one once more: the constant.
    columns = dict.fromkeys(features.map_.names(), SEVERAL)
    return columns | {by_trees(name): owner for name, owner in found.items()} | found


def by_field(why: PairExplanation, fields: dict[str, str]) -> list[FieldContribution]:
    """The contributions of a pair summed by field, the largest sum first; they add up to the similarity."""
    held: dict[str, list[tuple[str, float, float, float]]] = {}
    rows = zip(why.names, why.values, why.weights, why.contributions, strict=True)
    for name, value, weight, contribution in rows:
        entry = (name, float(value), float(weight), float(contribution))
        held.setdefault(fields.get(name, NO_FIELD), []).append(entry)
    found = [FieldContribution(field, _sum(entries), tuple(entries)) for field, entries in held.items()]
    return sorted(found, key=lambda one: -abs(one.contribution))


def _sum(entries: Sequence[tuple[str, float, float, float]]) -> float:
    return float(sum(contribution for *_, contribution in entries))


def field_sums(terms: SimilarityTerms, fields: dict[str, str]) -> dict[str, Floats]:
    """What each field adds to the similarities of some pairs, the largest mean size first."""
    found: dict[str, Floats] = {}
    for name, column in zip(terms.names, terms.contributions.T, strict=True):
        field = fields.get(name, NO_FIELD)
        found[field] = found.get(field, 0.0) + column
    return dict(sorted(found.items(), key=lambda entry: -float(np.abs(entry[1]).sum())))


def explain_pair(
    pipeline: Pipeline,
    given: Table | ItemSet,
    a: int,
    b: int,
    labels: LabelsLike | None = None,
    *,
    x: ItemSet | None = None,
) -> PairExplanation:
    """Explain the similarity of two items of a set by the features that a pipeline begins with.

    Of a linear similarity that is `pair_contributions`. Where trees stand in the place of the features, or
    beside them, each feature has what it adds to what the trees say: the splits on the path of the pair have
    the steps of value that follow them. Contributions add up to the similarity, as ever. A pair that is not
    compared is explained as if it were. ``labels`` and ``x``, the set as the clusterer meets it, are made
    here where they are not given.

    Examples
    --------
    >>> from clustruct import Recipe
    >>> from clustruct.data.datasets import make_records
    >>> from clustruct.evaluate.explain import by_field, feature_fields
    >>> sets = make_records(n_sets=4, n_people=5)
    >>> model = Recipe(C=1.0, similarity="trees").fit(sets[:3])
    >>> why = explain_pair(model.pipeline_, sets[3], 0, 1)
    >>> bool(abs(why.contributions.sum() - why.similarity) < 1e-9)
    True
    >>> {"name", "street"} <= {one.field for one in by_field(why, feature_fields(model.pipeline_[0]))}
    True
    """
    x = pipeline[:-1].transform([given])[0] if x is None else x
    w, _, _ = model_weights(pipeline[-1], x)
    return pair_contributions(pipeline[-1], x, a, b, labels, terms=_terms(pipeline, given, x, a, b, w))


def _terms(
    pipeline: Pipeline, given: Table | ItemSet, x: ItemSet, a: int, b: int, w: Floats
) -> SimilarityTerms | None:
    """What adds up to the similarity of the pair; None where that are the features of x."""
    *before, last = [step for _, step in pipeline.steps[:-1]] or [None]
    listed = x.compares(a, b)
    if isinstance(last, PairMap) and listed:
        plain: Any = pipeline[:-2].transform([given])[0] if before else given
        names = plain.feature_names or [f"feature {j}" for j in range(plain.n_features)]
        return last.terms(plain.pair_features(a, b)[None], names, w)
    if isinstance(last, PairFeatures) and isinstance(given, Table) and (last.map_ is not None or not listed):
        return last.check_tables().terms(given, np.array([[min(a, b), max(a, b)]]), w)
    return None


def field_sizes(
    pipeline: Pipeline, sets: Sequence[Table], *, most: int = 2000, random_state: int = 0
) -> dict[str, float]:
    """How much each field counts: the mean size of what it adds to the similarity of a pair.

    All sets count alike; of more than ``most`` compared pairs in all, so many are drawn at random. What all
    pairs have in common is no field.

    Examples
    --------
    >>> from clustruct import Recipe
    >>> from clustruct.data.datasets import make_records
    >>> sets = make_records(n_sets=4, n_people=5)
    >>> model = Recipe(C=1.0, similarity="trees").fit(sets[:3])
    >>> "phone" in field_sizes(model.pipeline_, sets[3:])
    True
    """
    features, (w, _, _) = pipeline[0].check_tables(sets), model_weights(pipeline[-1])
    fields, draw = feature_fields(features), np.random.default_rng(random_state)
    held: dict[str, list[Floats]] = {}
    for table in sets:
        pairs = features.compared_pairs(table)
        each = max(most // len(sets), 1)
        some = pairs if len(pairs) <= each else pairs[np.sort(draw.choice(len(pairs), each, replace=False))]
        for field, sums in field_sums(features.terms(table, some, w), fields).items():
            held.setdefault(field, []).append(np.abs(sums))
    sizes = {field: float(np.concatenate(parts).mean()) for field, parts in held.items() if field != NO_FIELD}
    return dict(sorted(sizes.items(), key=lambda entry: -entry[1]))
