"""Labels that are not known: None, NaN or -1."""

import numpy as np
import pandas as pd
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ChoiceWarning
from clustruct.core.partitions import partial_labels
from clustruct.estimators.baselines import PairKMeans, PairwiseClassifierClustering


def table(seed=0, m=60, k=20, listed=True, noise=0.35, chance=0.15):
    """One table: pairs of items, listed where they are together or by chance."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, m)
    a, b = np.triu_indices(m, 1)
    same = y[a] == y[b]
    pairs = np.column_stack(
        [same + noise * rng.normal(size=len(a)), rng.normal(size=len(a)), np.ones(len(a))]
    )
    if not listed:
        return ItemSet(pairs=pairs), y
    kept = same | (rng.random(len(a)) < chance)
    return ItemSet(pairs=pairs[kept], pair_index=np.column_stack([a, b])[kept], n_items=m), y


def hide(y, share=0.5):
    """The clusters with the smaller numbers are labelled."""
    return np.where(y < share * (y.max() + 1), y, -1)


MODEL = SupervisedCorrelationClustering(C=10.0)


def weights(x, labels, **options):
    return SupervisedCorrelationClustering(**{"C": 10.0, **options}).fit(x, labels).w_


@pytest.mark.parametrize("loss", ["pairwise", "pairwise_f"])
@pytest.mark.parametrize("unlabelled", ["apart", "unknown"])
def test_none_nan_and_minus_one_mean_the_same(unlabelled, loss):
    x, y = table()
    labels = hide(y)
    named = [None if v < 0 else f"cluster {v}" for v in labels]
    other = np.where(labels < 0, np.nan, labels)
    frame = pd.Series(named, dtype="string")
    wanted = weights(x, labels, unlabelled=unlabelled, loss=loss)
    for given in (named, other, labels.tolist(), frame):
        np.testing.assert_array_equal(weights(x, given, unlabelled=unlabelled, loss=loss), wanted)


def test_minus_one_is_no_cluster():
    """Before, -1 was a cluster: items of different clusters were taught to be together."""
    x, y = table()
    assert not np.allclose(weights(x, hide(y)), weights(x, np.where(hide(y) < 0, 99, y)))


def test_unlabelled_items_teach_what_is_apart():
    x, y = table(m=200, k=60, noise=0.5)
    labels, other = hide(y, 0.3), hide(y, 0.3)[hide(y, 0.3) >= 0]
    inside = SupervisedCorrelationClustering(C=10.0).fit(x, labels)
    alone = SupervisedCorrelationClustering(C=10.0).fit(x.subset(labels >= 0), other)
    rest, truth = x.subset(labels < 0), y[labels < 0]
    assert inside.set_losses([rest], [truth])[0] <= alone.set_losses([rest], [truth])[0]


@pytest.mark.parametrize(
    ("unlabelled", "loss"), [("apart", "pairwise"), ("apart", "pairwise_f"), ("unknown", "pairwise")]
)
@pytest.mark.parametrize("listed", [True, False])
def test_the_order_of_rows_does_not_matter(listed, unlabelled, loss):
    x, y = table(m=30, k=10, listed=listed)
    order = np.random.default_rng(1).permutation(30)
    model = SupervisedCorrelationClustering(C=10.0, unlabelled=unlabelled, loss=loss)
    wanted = model.fit(x, hide(y)).result_.objective
    found = model.fit(x.subset(order), hide(y)[order]).result_.objective
    assert found == pytest.approx(wanted, rel=0.05)  # the search is not exact


@pytest.mark.parametrize("loss", ["pairwise", "pairwise_f"])
@pytest.mark.parametrize("unlabelled", ["apart", "unknown"])
def test_background_without_a_listed_pair_changes_nothing(unlabelled, loss):
    x, y = table()
    more = ItemSet(pairs=x.pairs, pair_index=x.pair_index, n_items=x.n_items + 7)
    labels = hide(y)
    wanted = weights(x, labels, unlabelled=unlabelled, loss=loss)
    found = weights(more, np.append(labels, [-1] * 7), unlabelled=unlabelled, loss=loss)
    np.testing.assert_array_equal(found, wanted)


def test_pairs_of_two_unlabelled_items_change_nothing():
    x, y = table()
    labels = hide(y)
    far = (labels[x.pair_index] < 0).all(axis=1)
    pairs = np.where(far[:, None], 1e3, x.pairs)
    other = ItemSet(pairs=pairs, pair_index=x.pair_index, n_items=x.n_items)
    np.testing.assert_array_equal(weights(other, labels), weights(x, labels))


def test_listed_and_complete_pairs_of_one_table_teach_the_same():
    x, y = table(m=30, k=10, listed=False)
    a, b = np.triu_indices(30, 1)
    listed = ItemSet(pairs=x.pairs, pair_index=np.column_stack([a, b]), n_items=30)
    np.testing.assert_allclose(weights(x, hide(y)), weights(listed, hide(y)))


def test_sets_of_a_list_may_have_some_items_without_a_label():
    sets, labels = zip(*[table(seed, m=20, k=6, listed=False) for seed in range(4)], strict=True)
    partly = [np.where(np.arange(20) == 3, -1, y) for y in labels]
    partly[1] = labels[1]
    model = SupervisedCorrelationClustering(C=10.0).fit(list(sets), partly)
    assert model.score(list(sets), partly) > 0.9


@pytest.mark.parametrize("model", [SupervisedKMeans(C=1.0), PairKMeans()], ids=["kmeans", "pairs"])
def test_k_means_needs_all_labels(model):
    x, y = table(m=12, k=4, listed=False)
    y = y.copy()
    y[5] = -1
    with pytest.raises(ValueError, match=f"set 0: item 5 has no label.*{type(model).__name__} needs"):
        model.fit([x], [y])


@pytest.mark.parametrize("model", [MODEL, PairwiseClassifierClustering()], ids=["structural", "pairs"])
def test_a_set_without_any_label_is_refused(model):
    x, y = table(m=12, k=4)
    with pytest.raises(ValueError, match="set 1: no item has a label"):
        model.fit([x, x], [y, [None] * 12])


def test_a_pair_classifier_leaves_such_pairs_out():
    x, y = table(m=40, k=10)
    labels = hide(y)
    found = PairwiseClassifierClustering().fit(x, labels)
    own = (labels[x.pair_index] >= 0).all(axis=1)
    some = ItemSet(pairs=x.pairs[own], pair_index=x.pair_index[own], n_items=40)
    wanted = PairwiseClassifierClustering().fit(some, np.where(labels < 0, 100 + np.arange(40), labels))
    scores = found.pair_scores(x, x.pair_index), wanted.pair_scores(x, x.pair_index)
    assert np.corrcoef(*scores)[0, 1] > 0.999


def test_wrong_words_and_losses_are_refused():
    x, y = table(m=12, k=4)
    with pytest.raises(ValueError, match="unlabelled must be 'apart' or 'unknown', not 'some'"):
        SupervisedCorrelationClustering(unlabelled="some").fit(x, y)
    with pytest.raises(ValueError, match="not every label is known"):
        SupervisedCorrelationClustering(C=1.0, loss="mitre").fit(x, hide(y))


def test_scores_look_at_labelled_items():
    x, y = table(m=40, k=10)
    model = SupervisedCorrelationClustering(C=10.0).fit(x, hide(y))
    predicted = model.predict(x)
    known = hide(y) >= 0
    from clustruct.losses import PairwiseLoss

    assert model.set_losses(x, hide(y))[0] == PairwiseLoss()(y[known], predicted[known])


def test_C_is_chosen_by_clusters_that_are_held_out():
    x, y = table(m=150, k=50)
    model = SupervisedCorrelationClustering(loss="pairwise_f").fit(x, hide(y, 0.7))
    found = model.cv_results_
    labelled = len(np.unique(partial_labels(hide(y, 0.7)))) - 1
    assert found["losses"].shape == (len(found["C"]), labelled)
    assert ((found["pairwise_f"] > 0.2) & (found["pairwise_f"] <= 1.0)).all()
    assert model.C_ in found["C"]


def test_few_clusters_are_too_few_to_choose_by():
    x, y = table(m=40, k=10)
    with pytest.warns(ChoiceWarning, match="C = 10 was taken, not chosen: .* too few to hold some out"):
        assert SupervisedCorrelationClustering().fit(x, hide(y)).C_ == 10.0


def test_what_was_shown_is_the_whole_table():
    x, y = table(m=60)
    assert SupervisedCorrelationClustering(C=1.0).fit(x, hide(y)).shown_.set_sizes[-1] == 60


def test_a_choice_that_was_ended_says_how_many_clusters_were_not_seen():
    x, y = table(m=150, k=50)

    class Interrupt(Callback):
        def on_iteration(self, training, iteration):
            raise KeyboardInterrupt

    with (
        training_callback(Interrupt()),
        pytest.warns(ChoiceWarning, match="has not seen .. of the .. labelled"),
    ):
        model = SupervisedCorrelationClustering().fit(x, hide(y, 0.7))
    assert "left_out_clusters" in model.cv_results_
    assert model.result_.stop_reason == "interrupted"
