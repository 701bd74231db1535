"""What few labels taught and what was guessed without any, and a figure that counts what prediction does."""

import numpy as np
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.core.partitions import canonical_labels
from clustruct.data import PairScores, all_pairs
from clustruct.data.datasets import make_records
from clustruct.learning import search_groups
from clustruct.learning.model_selection.guess_mixing import mix
from clustruct.learning.model_selection.reached_pairs import reach_pairs
from clustruct.pipeline import Recipe, fit_without_labels
from clustruct.search.oracles import make_predictor


class _Rest:
    """Pairs that are compared when they are asked for, and which of them were."""

    def __init__(self, pairs, rows, sources=None):
        self.pair_list, self._rows, self.sources = pairs, rows, sources
        self.asked = []

    def scores(self, pairs, W):
        self.asked += pairs.tolist()
        place = {tuple(pair): k for k, pair in enumerate(self.pair_list.tolist())}
        return self._rows[[place[tuple(pair)] for pair in pairs.tolist()]] @ W


def _random_table(rng, m=60):
    """Thin pairs of m items, few of which score above zero, and some items that have labels."""
    pairs = all_pairs(m)
    pairs = pairs[rng.random(len(pairs)) < 0.1]
    rows = np.column_stack([rng.normal(-0.5, 1.0, len(pairs)), rng.normal(-0.8, 1.0, len(pairs))])
    return pairs, rows, rng.random(m) < 0.1


@pytest.mark.parametrize("seed", range(20))
def test_the_groups_of_named_items_are_those_of_the_whole_table(seed):
    rng = np.random.default_rng(seed)
    pairs, rows, named = _random_table(rng)
    own = named[pairs].any(axis=1)
    rest = _Rest(pairs[~own], rows[~own])
    x = ItemSet(pairs=rows[own], pair_index=pairs[own], n_items=len(named))
    reached = reach_pairs(x, rest, named, np.eye(2))
    for weights in (np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.5, 0.5])):
        scores = PairScores(len(named), index=pairs, values=rows @ weights)
        whole = search_groups(make_predictor("greedy", "correlation"), scores)
        part = search_groups(make_predictor("greedy", "correlation"), reached.scores(weights))
        for a in np.flatnonzero(named):
            here = reached.items[part == part[np.searchsorted(reached.items, a)]]
            assert set(here) == set(np.flatnonzero(whole == whole[a]))


def test_only_pairs_that_matter_are_compared():
    """A chain 0-1-2 is followed; 3-4 and 5-6 touch no item that is tied to a named one."""
    pairs = np.array([[0, 1], [0, 3], [1, 2], [2, 3], [3, 4], [5, 6]])
    values = np.array([[1.0], [-1.0], [2.0], [-1.0], [9.0], [9.0]])
    named = np.arange(7) == 0
    rest = _Rest(pairs[2:], values[2:])
    x = ItemSet(pairs=values[:2], pair_index=pairs[:2], n_items=7)
    reached = reach_pairs(x, rest, named, np.ones((1, 1)))
    assert rest.asked == [[1, 2], [2, 3]]
    assert reached.items.tolist() == [0, 1, 2, 3]


def test_scores_are_made_of_one_size_before_they_are_mixed():
    w, v = np.array([8.0, 0.0]), np.array([0.0, 1.0])
    np.testing.assert_array_equal(mix(w, v, 0.0, 4.0, 0.5), w)
    np.testing.assert_array_equal(mix(w, v, 1.0, 4.0, 0.5), 8.0 * v)
    np.testing.assert_array_equal(mix(np.zeros(2), v, 0.3, 0.0, 0.5), v)


def _chained_set(rng, n_clusters=60):
    """Clusters of two rows whose second row looks like a further, unlabelled row that looks like many others:
    between labelled rows there is no error, through unlabelled ones there are chains.
    """
    first = 2 * np.arange(n_clusters)
    mates = np.column_stack([first, first + 1])
    strangers = 2 * n_clusters + np.arange(n_clusters)
    bridges = np.column_stack([first + 1, strangers])
    chains = np.column_stack([strangers[:-1], strangers[1:]])
    pairs = np.concatenate([mates, bridges, chains])
    kind = np.repeat([0, 1, 2], [len(mates), len(bridges), len(chains)])
    likeness = np.choose(kind, [2.0, -1.0, 3.0]) + 0.3 * rng.normal(size=len(pairs))
    likeness[(kind == 1) & (rng.random(len(pairs)) < 0.3)] = 2.0
    truth = canonical_labels(np.concatenate([np.repeat(np.arange(n_clusters), 2), 1000 + strangers]))
    y = truth.copy()
    y[strangers] = -1
    table = np.column_stack([likeness, np.ones(len(pairs))])
    return ItemSet(pairs=table, pair_index=pairs, n_items=len(truth)), truth, y


def test_links_between_unlabelled_rows_and_chains_count():
    """Groups of dozens of rows come about through rows without a label: the figure knows of them."""
    x, _, y = _chained_set(np.random.default_rng(0))
    model = SupervisedCorrelationClustering(loss="pairwise_f", oracle="greedy").fit([x], [y])
    found = model.predict([x])[0]
    own = np.flatnonzero(y >= 0)
    sizes = np.bincount(found)
    touched = np.isin(found, found[own])
    right = sum(found[2 * c] == found[2 * c + 1] for c in range(60))
    wrong = sum(int(sizes[found[a]]) - 1 for a in own) - 2 * right
    true_f = 2 * right / (2 * right + wrong / 2 + (60 - right))
    assert touched.any()
    assert model.held_out_.low <= true_f + 0.02
    assert model.held_out_.f == pytest.approx(true_f, abs=0.15)


@pytest.fixture(scope="module")
def people():
    return make_records(n_sets=1, n_people=150, random_state=3)[0]


def _fit_few(people, n, seed, **settings):
    names = sorted(set(people.labels))
    drawn = {names[k] for k in np.random.default_rng(seed).permutation(len(names))[:n]}
    labels = [label if label in drawn else None for label in people.labels]
    own = np.array([label is not None for label in labels])
    return Recipe(**settings).fit([people], [labels]), own


def _f_of_others(recipe, people, own):
    """F of pairs with an unlabelled row."""
    predicted = np.asarray(recipe.predict([people])[0])
    truth = np.unique(people.labels, return_inverse=True)[1]
    a, b = all_pairs(len(truth)).T
    kept = ~(own[a] & own[b])
    same, found = (truth[a] == truth[b])[kept], (predicted[a] == predicted[b])[kept]
    return 2 * (same & found).sum() / (same.sum() + found.sum())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("n", "seed"), [(12, 1), (25, 2), (40, 0)])
def test_few_labels_do_not_hurt(people, n, seed):
    recipe, own = _fit_few(people, n, seed)
    bare = fit_without_labels(Recipe(), [people])
    assert _f_of_others(recipe, people, own) >= _f_of_others(bare, people, own) - 0.01
    assert 0.0 < recipe.pipeline_[-1].guess_share_ <= 1.0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_given_C_is_the_plain_structural_machine(people):
    recipe, _ = _fit_few(people, 20, 0, C=10.0)
    assert recipe.pipeline_[-1].guess_share_ == 0.0
    assert recipe.training_["held_out_pairwise_f"] is None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_summary_has_the_interval(people):
    recipe, own = _fit_few(people, 40, 0)
    facts = recipe.training_
    assert facts["held_out_low"] <= facts["held_out_pairwise_f"] <= facts["held_out_high"]
    assert facts["held_out_low"] <= _f_of_others(recipe, people, own) <= facts["held_out_high"] + 0.01
    assert facts["guess_share"] == recipe.pipeline_[-1].guess_share_
