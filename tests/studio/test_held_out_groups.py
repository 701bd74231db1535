"""Answers and confirmed groups as teachers: what is held out is not learned from, the better one is told."""

import numpy as np
import pytest

from clustruct.data import Evidence
from clustruct.data.datasets import make_records
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.features import PairFeatures, guess_blocks
from clustruct.studio.learning import (
    GROUP_FOLDS,
    HeldOutGroups,
    confirmed_labels,
    group_folds,
    groups_foretell_as_well,
)


@pytest.fixture(scope="module")
def people():
    """Sets whose groups of two and more are confirmed, with the truth."""
    sets = make_records(n_sets=3, n_people=10)
    x = PairFeatures(guess_blocks(sets)).fit_transform(sets)
    truth = [np.unique([str(y) for y in table.labels], return_inverse=True)[1] for table in sets]
    evidence = []
    for y in truth:
        first = {c: int(np.argmax(y == c)) for c in np.unique(y).tolist()}
        same = [(first[c], i) for i, c in enumerate(y.tolist()) if i != first[c]]
        other = [(first[a], first[b]) for a in first for b in first if a < b]
        evidence.append(Evidence.of_pairs(len(y), same, other, complete=[a for a, _ in same]))
    return x, truth, evidence


def test_each_confirmed_group_is_hidden_once_and_nothing_is_known_of_its_items_then(people):
    x, _, evidence = people
    found = list(group_folds(x, evidence))
    assert len(found) == GROUP_FOLDS
    for s, m in enumerate(evidence):
        hidden = np.array([fold.hidden[s] for fold in found])
        assert (hidden.sum(axis=0) == (confirmed_labels(m) >= 0)).all()
        for out in hidden:
            rest = m.without(out)
            assert (rest.piece[out] < 0).all()
            assert not rest.complete.any()
            pairs = np.column_stack(np.triu_indices(len(out), 1))
            kept = ~out[pairs].any(axis=1)
            assert not rest.judges(pairs[~kept]).any()
            inside = kept & (m.piece[pairs[:, 0]] == m.piece[pairs[:, 1]])
            assert rest.judges(pairs[inside]).all()


def test_the_better_teacher_is_told(people, monkeypatch):
    x, truth, evidence = people
    number = {id(one): y for one, y in zip(x, truth, strict=True)}

    def right(one, pairs):
        y = number[id(one)]
        return np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1.0, -1.0)

    first = LatentPairClustering().fit(x)
    monkeypatch.setattr(HeldOutGroups, "scores_of_groups", lambda self: right)
    assert groups_foretell_as_well(x, evidence, first)
    monkeypatch.setattr(HeldOutGroups, "scores_of_groups", lambda self: lambda one, pairs: -right(one, pairs))
    assert not groups_foretell_as_well(x, evidence, first)


def test_both_are_trained_on_what_is_not_hidden(people):
    x, _, evidence = people
    fold = next(iter(group_folds(x, evidence)))
    for scores in (fold.scores_of_groups(), fold.scores_of_answers(LatentPairClustering().fit(x))):
        same, guess = fold.foretell(scores)
        assert len(same) > 20
        assert np.mean(same == guess) > 0.8
