"""The order of sets and items, and the scale of features, change nothing but rounding (DEFECTS 10)."""

import numpy as np
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.core.partitions import canonical_labels

KMEANS = {
    "iterative": {},
    "discrete": {"oracle": "discrete"},
    "spectral": {"oracle": "spectral"},
    "centred": {"oracle": "centred"},
    "slack": {"loss": "pairwise", "scaling": "slack"},
    "squared": {"loss": "pairwise", "slack_norm": 2},
}
CORRELATION = {
    "greedy": {},
    "local": {"oracle": "local_search"},
    "mitre": {"loss": "mitre", "scaling": "slack"},
}
SCALES = [1e-100, 1e-50, 1e-10, 1e10, 1e50, 1e90, 1e100]


def toy(seed, n=5, m=8, k=3):
    """Rows of n sets of three clusters each, and their labels."""
    rng = np.random.default_rng(seed)
    labels = [rng.permutation(np.arange(m) % k) for _ in range(n)]
    return [rng.normal(size=(k, 4))[y] + 0.7 * rng.normal(size=(m, 4)) for y in labels], labels


def node_set(X, factor=1.0):
    return ItemSet(nodes=X * factor)


def pair_set(X, factor=1.0):
    a, b = np.triu_indices(len(X), 1)
    return ItemSet(pairs=np.column_stack([np.abs(X[a] - X[b]), np.ones(len(a))]) * factor)


def assert_same(one, other):
    assert one.result_.objective == pytest.approx(other.result_.objective, rel=1e-9)
    assert np.allclose(one.w_, other.w_, atol=1e-9 * np.abs(other.w_).max())


def shuffled(tables, labels, rng):
    orders = [rng.permutation(len(y)) for y in labels]
    return [X[o] for X, o in zip(tables, orders, strict=True)], [
        y[o] for y, o in zip(labels, orders, strict=True)
    ]


@pytest.mark.parametrize("options", KMEANS.values(), ids=KMEANS)
@pytest.mark.parametrize("form", [node_set, pair_set])
def test_kmeans_does_not_depend_on_the_order(options, form):
    for seed in range(3):
        tables, labels = toy(seed)
        model = SupervisedKMeans(C=1.0, **options)
        usual = model.fit([form(X) for X in tables], labels)
        new = [form(X) for X in toy(seed + 50)[0]]
        predicted = usual.predict(new, n_clusters=3)
        for again in range(3):
            rng = np.random.default_rng(again)
            mixed, y = shuffled(tables, labels, rng)
            order = rng.permutation(len(y))
            sets, truth = [form(mixed[i]) for i in order], [y[i] for i in order]
            other = SupervisedKMeans(C=1.0, **options).fit(sets, truth)
            assert_same(other, usual)
            for x, given in zip(new, predicted, strict=True):
                o = rng.permutation(8)
                found = other.predict([x.subset(o)], n_clusters=3)[0]
                assert np.array_equal(found, canonical_labels(given[o]))


@pytest.mark.parametrize("options", CORRELATION.values(), ids=CORRELATION)
def test_correlation_does_not_depend_on_the_order_of_items(options):
    """Sets are asked one after another, and a search that misses constraints may see others in another order:
    see `docs/engine.md`. Items do not matter."""
    for seed in range(3):
        tables, labels = toy(seed)
        usual = SupervisedCorrelationClustering(C=1.0, **options).fit([pair_set(X) for X in tables], labels)
        mixed, y = shuffled(tables, labels, np.random.default_rng(seed))
        other = SupervisedCorrelationClustering(C=1.0, **options).fit([pair_set(X) for X in mixed], y)
        assert other.result_.objective == pytest.approx(usual.result_.objective, rel=1e-6)
        assert np.allclose(other.w_, usual.w_, atol=1e-6 * np.abs(usual.w_).max())


def test_correlation_by_an_exact_search_does_not_depend_on_the_order_of_sets():
    tables, labels = toy(0)
    model = SupervisedCorrelationClustering(C=1.0, oracle="exact", rtol=1e-6)
    usual = model.fit([pair_set(X) for X in tables], labels).result_.objective
    other = model.fit([pair_set(X) for X in tables[::-1]], labels[::-1]).result_.objective
    assert other == pytest.approx(usual, rel=3e-6)


@pytest.mark.parametrize("factor", SCALES)
@pytest.mark.parametrize(
    ("make", "form", "power"),
    [
        (SupervisedKMeans, node_set, 2),
        (SupervisedKMeans, pair_set, 1),
        (SupervisedCorrelationClustering, node_set, 2),
        (SupervisedCorrelationClustering, pair_set, 1),
    ],
)
def test_the_scale_of_the_features_changes_nothing(make, form, power, factor):
    tables, labels = toy(1)
    new = toy(51)[0]
    usual = make(C=1.0).fit([form(X) for X in tables], labels)
    other = make(C=1.0).fit([form(X, factor) for X in tables], labels)
    assert other.result_.objective == pytest.approx(usual.result_.objective, rel=1e-2)
    scaled = other.feature_scale_ / usual.feature_scale_ / factor**power
    assert np.allclose(scaled, 1.0)
    for X in new:
        one, two = usual.predict([form(X)])[0], other.predict([form(X, factor)])[0]
        assert np.array_equal(one, two)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("make", [SupervisedKMeans, SupervisedCorrelationClustering])
def test_what_numbers_cannot_hold_is_refused_by_name(make, factor):
    """Products of two entries of 1e200; pair features of that size are taken."""
    tables, labels = toy(1)
    with pytest.raises(ValueError, match=r"entries of feature 0 are too (small|large) for double precision"):
        make(C=1.0).fit([node_set(X, factor) for X in tables], labels)
    other = make(C=1.0).fit([pair_set(X, factor) for X in tables], labels)
    usual = make(C=1.0).fit([pair_set(X) for X in tables], labels)
    for X in toy(51)[0]:
        assert np.array_equal(usual.predict([pair_set(X)])[0], other.predict([pair_set(X, factor)])[0])


@pytest.mark.parametrize("factor", [1e50, 1e90, 1e100, 1e150])
@pytest.mark.parametrize("make", [SupervisedKMeans, SupervisedCorrelationClustering])
@pytest.mark.parametrize("form", [node_set, pair_set])
def test_without_rescaling_huge_features_are_refused(make, form, factor):
    tables, labels = toy(1)
    with pytest.raises(ValueError, match="too large"):
        make(C=1.0, rescale=False).fit([form(X, factor) for X in tables], labels)
