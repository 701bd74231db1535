"""Sets made by features that know others alone, against features that were fitted to those."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from clustruct import Recipe
from clustruct.data import Table, all_pairs
from clustruct.data.datasets import make_records
from clustruct.features import Blocking, PairFeatures, guess_blocks
from clustruct.features.base import Unlearned
from clustruct.pipeline.training_pairs import OutOfFold

WORDS = ["storm", "flood", "rain", "bank", "vote", "court", "film", "song", "goal", "match", "price", "oil"]


def news(seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, 30)).capitalize() for _ in range(8)]
    return Table([{"title": text[:40], "text": text} for text in texts], labels=[0, 0, 1, 1, 2, 2, 3, 3])


@pytest.mark.parametrize("kind", ["records", "text"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("at_once", [10, 1000])
def test_as_features_that_were_fitted_to_the_others(kind, listed, at_once, monkeypatch):
    monkeypatch.setattr("clustruct.features.base.PAIRS_AT_ONCE", at_once)
    sets = make_records(n_sets=5, n_people=8) if kind == "records" else [news(s) for s in range(5)]
    blocking = Blocking(from_size=2, n_neighbors=3) if listed else None
    features = PairFeatures(guess_blocks(sets, kind), blocking=blocking).fit(sets)
    made = features.transform(sets)
    chosen, held_out = np.array([0, 2, 4]), np.array([3, 1])
    found = OutOfFold(features, sets, made)(chosen, held_out)
    other = clone(features).fit([sets[i] for i in chosen])
    for i, x in zip(held_out, found, strict=True):
        pairs = all_pairs(x.n_items) if x.pair_index is None else x.pair_index
        assert (x.pair_index is not None) == listed
        chunks = [chunk for _, chunk in other.pair_chunks(sets[i], pairs)]
        expected = sparse.vstack(chunks) if any(map(sparse.issparse, chunks)) else np.concatenate(chunks)
        dense = [m.toarray() if sparse.issparse(m) else m for m in (x.pairs, expected, made[i].pairs)]
        np.testing.assert_allclose(dense[0], dense[1], atol=1e-12)
        assert not np.allclose(dense[0], dense[2], atol=1e-6)  # the features that know the set say otherwise


def test_held_out_sets_are_made_without_them(monkeypatch):
    asked = []
    ask = OutOfFold.__call__

    def note(self, chosen, held_out):
        asked.append((sorted(chosen), sorted(held_out)))
        return ask(self, chosen, held_out)

    monkeypatch.setattr(OutOfFold, "__call__", note)
    sets = make_records(n_sets=6, n_people=12, errors=0.8)
    with_them = Recipe().fit(sets).pipeline_[-1].calibration_
    assert sorted(i for _, held_out in asked for i in held_out) == [*range(6)]
    assert all(sorted([*chosen, *held_out]) == [*range(6)] for chosen, held_out in asked)
    monkeypatch.setattr(OutOfFold, "__call__", lambda *_: None)
    without = Recipe().fit(sets).pipeline_[-1].calibration_
    assert with_them.log_loss != without.log_loss


def test_the_columns_of_blocks_that_learn_nothing_stay():
    sets = make_records(n_sets=3, n_people=8)
    features = PairFeatures(guess_blocks(sets, "records")).fit(sets)
    made = features.transform(sets)
    [x] = OutOfFold(features, sets, made)(np.array([0, 1]), np.array([2]))
    sizes = [len(block.get_feature_names_out()) for block in features.blocks_]
    still = np.repeat([isinstance(block, Unlearned) for block in features.blocks_], sizes)
    assert still.any()
    assert not still.all()
    np.testing.assert_array_equal(x.pairs[:, still], made[2].pairs[:, still])
