"""Held-out answers: counted as pairs one by one are, and the guess is left only for something better."""

from itertools import combinations

import numpy as np
import pytest

from clustruct.data import Evidence, ItemSet, PairScores
from clustruct.learning.label_free_similarity import intercept_of_share, label_free_similarity
from clustruct.learning.model_selection.answer_choice import FOLDS, Pieces, choose_answer_weight
from clustruct.search.correlation import local_search


def made(seed, n=60, k=20):
    """A set of which two features of pairs speak: one clearly, one hardly."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    a, b = np.triu_indices(n, 1)
    mates = (y[a] == y[b]).astype(float)
    noise = rng.normal(size=(len(a), 2))
    x = ItemSet(pairs=np.column_stack([mates + 0.25 * noise[:, 0], mates + 2.0 * noise[:, 1]]))
    return x, y


def judged(y, rng, n):
    pairs = [tuple(sorted(rng.choice(len(y), 2, replace=False).tolist())) for _ in range(n)]
    pairs += [(a, b) for a, b in combinations(range(len(y)), 2) if y[a] == y[b]][:n]
    same = [(a, b) for a, b in pairs if y[a] == y[b]]
    return Evidence.of_pairs(len(y), same, [(a, b) for a, b in pairs if y[a] != y[b]])


@pytest.mark.parametrize("seed", range(5))
def test_pieces_count_their_pairs_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    sets = [made(seed), made(seed + 10)]
    evidence = [judged(y, rng, 15) for _, y in sets]
    pieces = Pieces.of(label_free_similarity([x for x, _ in sets]), evidence)
    groups = [rng.integers(0, 8, 60), rng.integers(8, 16, 60)]
    found, joined, different = pieces.count(groups)
    labels = np.concatenate(groups)
    expected = np.zeros((3, pieces.n))
    apart = {tuple(pair) for pair in pieces.apart.tolist()}
    for a, b in combinations(range(120), 2):
        p, q = sorted((int(pieces.of_item[a]), int(pieces.of_item[b])))
        together = labels[a] == labels[b]
        if p == q >= 0:
            expected[0, p] += together
        elif (p, q) in apart:
            expected[1, [p, q]] += together / 2
            expected[2, [p, q]] += 0.5
    np.testing.assert_allclose([found, joined, different], expected)


def test_pieces_are_dealt_out_whatever_the_order_of_items():
    x, y = made(3)
    rng = np.random.default_rng(0)
    known = judged(y, rng, 20)
    order = rng.permutation(60)
    shuffled = x.subset(order)
    one = Pieces.of(label_free_similarity([x]), [known])
    other = Pieces.of(label_free_similarity([shuffled]), [known.take(order)])
    assert one.n == other.n >= FOLDS

    def folds(pieces, items):
        fold = np.append(pieces.fold, -1)[pieces.of_item]
        return dict(zip(items.tolist(), fold.tolist(), strict=True))

    assert folds(one, np.arange(60)) == folds(other, order)


def test_the_share_of_pairs_stays_that_of_the_guess():
    rng = np.random.default_rng(1)
    scores, given = rng.normal(size=500), rng.random(500) ** 4
    b = intercept_of_share(scores, given)
    assert (1.0 / (1.0 + np.exp(-scores - b))).mean() == pytest.approx(given.mean())


def pairwise_f(y, found):
    a, b = np.triu_indices(len(y), 1)
    true, made_ = y[a] == y[b], found[a] == found[b]
    return 2.0 * (true & made_).sum() / (true.sum() + made_.sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("only", ["same", "different", "both"])
def test_answers_of_any_kind_do_not_hurt(seed, only):
    """A file of matches alone, taken by itself, says that all belongs together."""
    x, y = made(seed, n=150, k=50)
    rng = np.random.default_rng(seed)
    same = [(a, b) for a, b in combinations(range(150), 2) if y[a] == y[b]]
    same = [same[i] for i in rng.permutation(len(same))[:60]]
    different = [(a, b) for a, b in rng.integers(0, 150, (60, 2)).tolist() if y[a] != y[b]]
    known = Evidence.of_pairs(150, same if only != "different" else (), different if only != "same" else ())
    similarity = label_free_similarity([x])
    choice = choose_answer_weight(similarity, [known])

    def f_of(w, b):
        pairs = x.pair_list
        scores = PairScores(150, index=pairs, values=x.pairs @ w + b)
        return pairwise_f(y, local_search(scores, sweeps=0))

    assert f_of(*choice.linear) >= f_of(*similarity.linear) - 0.01
    held = choice.held_out
    assert held is not None
    assert held.same >= (60 if only != "different" else 0)
    assert held.found <= held.same
    assert held.joined <= held.different


def test_one_piece_is_not_held_out_and_the_guess_counts():
    x, y = made(0)
    mates = np.flatnonzero(y == y[0])[:2].tolist()
    choice = choose_answer_weight(label_free_similarity([x]), [Evidence.of_pairs(60, [tuple(mates)])])
    assert choice.held_out is None
    assert any(one.prior is None for one in choice.settings)
    assert choice.summary()["guess"] == "part"
