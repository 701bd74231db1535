"""Contributions by field, and the smallest change that makes a prediction another."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from clustruct import Recipe
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.evaluate.explain import (
    by_field,
    counterfactual,
    feature_fields,
    item_set_of,
    pair_contributions,
)
from clustruct.features import likeness_features


@pytest.fixture(scope="module")
def fitted() -> tuple[Pipeline, Table]:
    sets = make_records(n_sets=4, n_people=5, random_state=1)
    return Recipe(C=1.0).fit(sets[:3]).pipeline_, sets[3]


def test_fields_add_up_to_the_similarity(fitted: tuple[Pipeline, Table]) -> None:
    pipeline, table = fitted
    why = pair_contributions(pipeline[-1], item_set_of(pipeline, table), 0, 1)
    found = by_field(why, feature_fields(pipeline[0]))
    assert sum(one.contribution for one in found) == pytest.approx(why.similarity)
    for one in found:
        assert sum(c for *_, c in one.features) == pytest.approx(one.contribution)
    assert set(table.fields()) <= {one.field for one in found}


def pairs(labels: np.ndarray, together: bool) -> list[tuple[int, int]]:
    m = len(labels)
    return [(a, b) for a in range(m) for b in range(a + 1, m) if (labels[a] == labels[b]) == together][:4]


@pytest.mark.parametrize("together", [True, False])
def test_a_change_makes_the_prediction_another(fitted: tuple[Pipeline, Table], together: bool) -> None:
    pipeline, table = fitted
    labels = pipeline.predict([table])[0]
    for a, b in pairs(labels, together):
        found = counterfactual(pipeline, table, a, b, labels)
        assert found.together == together
        assert found.changes
        # Made by hand on the two items alone, with what their clusters have besides.
        mates = [i for i in range(len(table)) if labels[i] in (labels[a], labels[b]) and i not in (a, b)]
        items = [dict(table.items[i]) for i in (a, b, *mates)]
        for change in found.changes:
            items[0][change.field], items[1][change.field] = change.values
        again = pipeline.predict([Table(items)])[0]
        assert bool(again[0] == again[1]) != together
        fields = {change.field for change in found.changes}
        assert len(fields) == len(found.changes)


def test_items_that_are_apart_are_joined_by_making_fields_equal_or_missing(
    fitted: tuple[Pipeline, Table],
) -> None:
    pipeline, table = fitted
    labels = pipeline.predict([table])[0]
    a, b = pairs(labels, False)[0]
    kinds = {change.kind for change in counterfactual(pipeline, table, a, b, labels).changes}
    assert kinds <= {"equal", "missing"}


def test_nonnegative_keeps_likeness_from_counting_against_a_pair() -> None:
    sets = make_records(n_sets=4, n_people=5, random_state=1)
    pipeline = Recipe(C=1.0, nonnegative=True).fit(sets[:3]).pipeline_
    names = [str(name) for name in pipeline[0].get_feature_names_out()]
    alike = set(likeness_features(names))
    weights = dict(zip(names, pipeline[-1].w_.tolist(), strict=True))
    assert all(weights[name] >= 0.0 for name in alike)
    assert weights["constant"] < 0.0
    assert pipeline.score(sets[3:], [table.labels for table in sets[3:]]) > 0.8
