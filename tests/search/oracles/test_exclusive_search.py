"""The search for violated partitions without two items of a source, beside brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.partitions import canonical_labels
from clustruct.data import ItemSet, PairScores
from clustruct.losses import PairwiseFLoss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.oracles import ExampleLoss, make_oracle
from clustruct.search.oracles.pair_count_search import ExclusiveSearch


def case(seed: int, n: int, k: int) -> tuple[PairScores, np.ndarray]:
    """Scores of some pairs of n and k items of two sources, and a truth of single items and pairs."""
    rng = np.random.default_rng(seed)
    sources = np.repeat([0, 1], [n, k])
    index = np.array([(a, n + b) for a in range(n) for b in range(k) if rng.random() < 0.7 or a == b])
    mates = rng.permutation(max(n, k))
    truth = np.concatenate([np.arange(n), [mates[b] if mates[b] < n else n + b for b in range(k)]])
    values = rng.normal(scale=10.0, size=len(index))
    return PairScores(n + k, index=index, values=values, sources=sources), canonical_labels(truth)


def matchings(n: int, k: int):
    """All partitions without two items of a source."""
    for choice in product(range(-1, k), repeat=n):
        used = [b for b in choice if b >= 0]
        if len(set(used)) == len(used):
            right = {b: a for a, b in enumerate(choice) if b >= 0}
            yield canonical_labels([*range(n), *(right.get(b, n + b) for b in range(k))])


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3), k=st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_a_search_is_near_the_best_and_never_below_the_truth(seed: int, n: int, k: int) -> None:
    scores, truth = case(seed, n, k)
    search = ExclusiveSearch(scores, ExampleLoss(PairwiseFLoss(), truth, scores.index))
    best = max(search.value(y) for y in matchings(n, k))
    for found in (search.greedy(), search.local_search()):
        assert len({*zip(found.tolist(), scores.sources.tolist(), strict=True)}) == n + k
        assert 0.0 <= search.value(found) <= best + 1e-9
    assert search.value(search.local_search()) >= search.value(search.greedy()) - 1e-9


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3), k=st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_with_a_linear_loss_it_is_exact(seed: int, n: int, k: int) -> None:
    scores, truth = case(seed, n, k)
    rule, loss = SlackRule(), ExampleLoss(PairwiseLoss(), truth, scores.index)
    a, b = scores.index.T

    def violation(y: np.ndarray) -> float:
        gain = scores.values @ ((y[a] == y[b]) * 1.0 - (truth[a] == truth[b]))
        return float(rule.violation(loss(y), gain))

    found = make_oracle("greedy").separate(scores, loss, rule).output
    assert violation(found) == pytest.approx(max(map(violation, matchings(n, k))))


def test_sources_pass_from_set_to_scores_and_to_parts() -> None:
    x = ItemSet(pairs=[[1.0], [2.0]], pair_index=[[0, 2], [1, 2]], n_items=3, sources=[5, 5, 7])
    assert x.subset([2, 0]).sources.tolist() == [7, 5]
    assert x.digest != ItemSet(pairs=[[1.0], [2.0]], pair_index=[[0, 2], [1, 2]], n_items=3).digest
    predictor = make_oracle("greedy")
    assert predictor.scores(x, np.ones(1)).sources.tolist() == [5, 5, 7]
    assert predictor.clusters(predictor.scores(x, np.ones(1))).tolist() == [0, 1, 1]
    assert predictor.predict(predictor.scores(x, np.ones(1))).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="sources must be 3 integers"):
        ItemSet(pairs=[[1.0]], pair_index=[[0, 2]], n_items=3, sources=[1, 2])
