"""What the tables of chapter 3 are made with: tests over groups, cosines, weights, the choice of sets."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from clustruct import ItemSet
from studies.correlation2005 import models, news, render
from studies.correlation2005.published import COREFERENCE, LOSSES, NEWS, WITHOUT_LOSS
from studies.study import NoData


@pytest.fixture
def part():
    """Sets with a feature that tells pairs apart with some noise, and a constant."""
    rng = np.random.default_rng(0)

    def make():
        y = rng.integers(0, 3, 10)
        a, b = np.triu_indices(10, 1)
        like = (y[a] == y[b]) + 0.4 * rng.normal(size=len(a))
        return ItemSet(pairs=np.column_stack([like, rng.normal(size=len(a)), np.ones(len(a))])), y

    train, test = [make() for _ in range(6)], [make() for _ in range(3)]
    return models.Part(
        *map(list, zip(*train, strict=True)), [0, 0, 1, 1, 2, 2], *map(list, zip(*test, strict=True)), 3
    )


def test_groups_count_once_in_a_test():
    """Sets of one group share stories: the same set twice says no more than once."""
    a, b = [1.0, 2.0, 4.0], [1.5, 2.2, 5.0]
    once = render.p_value(a, b, ["x", "y", "z"])
    assert once == pytest.approx(ttest_rel(a, b).pvalue)
    assert render.p_value([*a, 4.0, 4.0], [*b, 5.0, 5.0], ["x", "y", "z", "z", "z"]) == pytest.approx(once)
    assert render.p_value([*a, 4.0, 4.0], [*b, 5.0, 5.0]) != pytest.approx(once)
    assert render.p_value(a, a) == 1.0


def test_cosine_does_not_see_lengths():
    w = np.array([1.0, -2.0, 0.5])
    assert render.cosine(w, 7.0 * w) == pytest.approx(1.0)
    assert render.cosine(w, -w) == pytest.approx(-1.0)


@pytest.mark.parametrize("kind", ["C_G", "PCC"])
def test_weights_give_the_similarities(part, kind):
    """Also for a classifier, whose intercept is part of the constant's weight."""
    model = models.trained(part, models.learner("C_G") if kind == "C_G" else None)
    x = part.Z[0]
    pairs = np.column_stack(np.triu_indices(x.n_items, 1))
    np.testing.assert_allclose(x.pairs @ models.weights(model), model.pair_scores(x, pairs), atol=1e-9)


def test_every_predictor_is_tried(part):
    found = models.tested(models.trained(part, models.learner("C_R")), part, tuple(models.PREDICTORS))
    assert found["C"] in models.GRID
    assert list(found["losses"]) == ["C_G", "C_R*", "C_R*, ball"]
    assert all(0.0 <= x <= 40.0 for losses in found["losses"].values() for x in losses["pairwise"])


def test_sets_of_all_groups_come_first():
    sets = [SimpleNamespace(group=g) for g in "aaabbc"]
    assert news._spread(sets, list(range(6))) == [0, 3, 5, 1, 4, 2]


def test_published_tables_agree_where_they_overlap():
    """Tables 3.1 and 3.3, and 3.2 and 3.4, print some figures twice."""
    for loss in ("mitre", "pairwise"):
        assert COREFERENCE[loss]["C_G"] == LOSSES[loss][loss] == WITHOUT_LOSS[f"coreference, {loss}"][0]
    assert NEWS["C_G"]["C_G"] == WITHOUT_LOSS["news, C_G"][0]
    assert NEWS["C_R*"]["C_R"] == WITHOUT_LOSS["news, C_R"][0]


def test_small_run_on_mentions(tmp_path):
    from studies.correlation2005.study import STUDY

    table = STUDY["mentions-litbank"]
    try:
        rows = STUDY.run(table, quick=True, folder=tmp_path)
    except NoData as why:
        pytest.skip(str(why))
    text = table.render(rows)
    for piece in ("Table 3.1", "Table 3.3", "Table 3.4", "(41.30)", "4 documents"):
        assert piece in text
