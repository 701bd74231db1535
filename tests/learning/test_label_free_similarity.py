"""Learning without labels where most columns tell nothing, where they repeat each other, and where what
is missing tells only which list a row is from.
"""

import numpy as np
import pytest

from benchmarks.wide import SHAPES, score
from clustruct.learning.fellegi_sunter import field_discounts, fit_mixture, fit_three_classes


@pytest.mark.parametrize(
    ("shape", "kind"), [("sparse", "places"), ("lists", "organisations"), ("lists", "papers")]
)
def test_all_columns_of_a_wide_table_are_about_as_good_as_the_telling_ones(shape, kind):
    table, telling = SHAPES[shape](kind, 0, 200)
    assert score(table).f1 >= score(table, telling).f1 - 0.05


def test_columns_that_agree_together_do_not_take_over_the_few_telling_ones():
    table, telling = SHAPES["sparse"]("products", 0, 200)
    assert score(table, telling).f1 > 0.9


def test_a_field_and_its_copies_weigh_as_much_as_the_field():
    rng = np.random.default_rng(0)
    field, other = rng.normal(size=(2, 4000))
    missing = np.zeros((4000, 4), np.bool_)
    found = field_discounts(np.column_stack([field, field, field, other]), missing, np.ones(4000))
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1 / 3, 1.0], atol=0.01)


def test_fields_that_agree_among_mates_alone_are_independent():
    """What makes them agree together is what is looked for."""
    rng = np.random.default_rng(1)
    mates = rng.random(4000) < 0.3
    values = mates[:, None] * 3.0 + rng.normal(size=(4000, 3))
    apart = np.where(mates, 0.0, 1.0)
    np.testing.assert_allclose(field_discounts(values, np.zeros((4000, 3), np.bool_), apart), 1.0, atol=0.02)


def test_what_is_missing_says_nothing():
    """Half of the fields are there together in the pairs of one list, and nowhere else."""
    rng = np.random.default_rng(2)
    mates, of_list = rng.random(3000) < 0.1, rng.random(3000) < 0.2
    alike, other = (
        rng.choice(4, (3000, 3), p=[0, 0.1, 0.1, 0.8]),
        rng.choice(4, (3000, 3), p=[0, 0.8, 0.1, 0.1]),
    )
    telling = np.where(mates[:, None], alike, other)
    noise = np.where(of_list[:, None], rng.integers(1, 4, (3000, 6)), 0)
    start = np.where(telling.sum(axis=1) + noise.sum(axis=1) > 12, 0.9, 0.1)
    found = fit_mixture(np.column_stack([telling, noise]), start)
    assert not found.weights[:, 0].any()
    assert ((found.posterior > 0.5) == mates).mean() > 0.95
    assert abs(found.posterior[of_list].mean() - found.posterior[~of_list].mean()) < 0.05


@pytest.mark.parametrize("kind", ["papers", "places"])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_one_town_are_not_the_mates_of_a_small_table(kind, seed):
    table, telling = SHAPES["sparse"](kind, seed, 80)
    assert min(score(table, telling).f1, score(table).f1) > 0.9


@pytest.mark.parametrize("second", [0.15, 0.85])
def test_near_misses_are_told_from_mates_by_the_fields_they_agree_in(second):
    """The middle class agrees in one field of five, or in four."""
    rng = np.random.default_rng(3)
    kind = rng.choice(3, 6000, p=[0.8, 0.15, 0.05])
    chance = np.array([0.1, second, 0.95])[kind][:, None]
    gamma = 1 + (rng.random((6000, 5)) < chance)
    gamma[:, 0] = 1 + (rng.random(6000) < np.array([0.1, 0.95, 0.95])[kind])
    start = np.eye(3)[kind] * 0.7 + 0.1
    found = fit_three_classes(gamma, start, np.ones(5))
    assert (found.near_misses > 0.0) == (second > 0.5)
    assert (found.posterior[:, 2] > 0.5)[kind == 0].mean() < 0.01
