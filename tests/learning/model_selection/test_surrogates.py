"""Trainings for several losses, judged by one on held-out sets, and averaged."""

import numpy as np
import pytest

import clustruct
from clustruct.core.callbacks import training_callback
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import evaluate
from clustruct.learning.model_selection import split_sets
from clustruct.learning.model_selection.task_choice import SURROGATE_RTOL, mean_direction
from tests.estimators.test_checkpoints import Begun, make, toy

OTHERS = ("variation_of_information", "b_cubed")
SETTINGS = {"loss": "lea", "surrogates": OTHERS, "C": 10.0, "rtol": SURROGATE_RTOL, "calibrate": False}


def trained(loss, scaling, sets, labels):
    return make("correlation", **SETTINGS | {"loss": loss, "scaling": scaling, "surrogates": ()}).fit(
        sets, labels
    )


def test_the_best_on_held_out_sets_are_averaged_as_by_hand():
    sets, labels = toy(n=9)
    held_out, folds = {}, {}
    for loss in ("lea", *OTHERS):
        for scaling in ("margin", "slack"):
            found = [None] * len(sets)
            for seen, rest in split_sets(len(sets), 3, 0):
                model = trained(loss, scaling, [sets[i] for i in seen], [labels[i] for i in seen])
                folds.setdefault((loss, scaling), []).append(model.w_)
                for i, one in zip(rest, model.predict([sets[i] for i in rest]), strict=True):
                    found[i] = one
            held_out[loss, scaling] = 100.0 * (1.0 - evaluate(labels, found).per_set["lea_f1"].mean())
    best = sorted(held_out, key=held_out.get)[:3]
    alone = [trained(*one, sets, labels) for one in best]
    model = make("correlation", **SETTINGS, n_averaged=3).fit(sets, labels)
    weights = [*(one.w_ for one in alone), *(w for one in best for w in folds[one])]
    expected = mean_direction(weights, alone[0].feature_scale_)
    np.testing.assert_allclose(model.w_, expected, rtol=1e-9)
    np.testing.assert_array_equal(model.result_.w, alone[0].w_)


def test_what_was_tried_is_kept():
    sets, labels = toy(n=9)
    grid = {"C": "cv", "C_grid": (1.0, 10.0), "n_averaged": 1}
    model = make("correlation", **SETTINGS | grid).fit(sets, labels)
    results = model.cv_results_
    best = int(np.argmin(results["mean_loss"]))
    assert len(results["C"]) == 3 * 2 * 2
    assert best == 0  # the best first
    assert ((results["pairwise_f"] > 0.0) & (results["pairwise_f"] <= 1.0)).all()
    assert results["C"][best] == model.C_
    np.testing.assert_allclose(results["losses"].mean(axis=1), results["mean_loss"])
    loss = str(results["surrogate"][best]) or "lea"
    alone = make(
        "correlation", loss=loss, scaling=str(results["scaling"][best]), C=model.C_, rtol=SURROGATE_RTOL
    )
    np.testing.assert_allclose(model.result_.w, alone.fit(sets, labels).w_, rtol=1e-9)


def test_the_mean_does_not_depend_on_the_lengths_of_the_others():
    rng = np.random.default_rng(0)
    a, b, scale = rng.normal(size=4), rng.normal(size=4), rng.uniform(1.0, 2.0, 4)
    mean = mean_direction([a, b], scale)
    np.testing.assert_allclose(mean, mean_direction([a, 7.0 * b], scale))
    assert np.linalg.norm(mean * scale) == pytest.approx(np.linalg.norm(a * scale))
    np.testing.assert_array_equal(mean_direction([0.0 * a, b], scale), mean_direction([b], scale))
    assert not mean_direction([0.0 * a], scale).any()


def test_a_file_keeps_what_was_averaged_and_nothing_goes_on_from_it(tmp_path):
    sets, labels = toy()
    model = make("correlation", **SETTINGS | {"C": "cv", "C_grid": (10.0,)}).fit(sets, labels)
    clustruct.save(tmp_path / "m.model", model)
    read = clustruct.load(tmp_path / "m.model")
    np.testing.assert_array_equal(read.w_, model.w_)
    assert (tuple(read.surrogates), read.n_averaged) == (OTHERS, 5)
    assert read.cv_results_["surrogate"].tolist() == model.cv_results_["surrogate"].tolist()
    assert read.past_ is None
    for one, other in zip(read.predict(sets), model.predict(sets), strict=True):
        np.testing.assert_array_equal(one, other)


def test_probabilities_are_learned():
    sets, labels = toy(n=9, m=12)
    options = SETTINGS | {"C": "cv", "C_grid": (10.0,), "calibrate": "auto"}
    model = make("correlation", **options).fit(sets, labels)
    assert model.calibration_ is not None
    assert 0.0 <= model.pair_probabilities(np.array([0.0]))[0] <= 1.0


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.ChoiceWarning")
def test_an_end_in_the_choice_keeps_the_training_under_way():
    def end():
        raise KeyboardInterrupt

    sets, labels = toy()
    begun = Begun(at=3, end=end)
    with training_callback(begun):
        model = make("correlation", **SETTINGS).fit(sets, labels)
    assert len(begun.trainings) == 3
    assert model.result_.stop_reason == "interrupted"
    assert np.isfinite(model.w_).all()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"surrogates": "b_cubed"}, "a list of names"),
        ({"surrogates": ("nothing",)}, "nothing"),
        ({"surrogates": OTHERS, "n_averaged": 0}, "n_averaged"),
        ({"surrogates": OTHERS, "checkpoint": "x"}, "checkpoint"),
    ],
)
def test_what_cannot_be_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        make("correlation", **given).fit(*toy())


def test_two_sets_are_too_few():
    sets, labels = toy(n=2)
    with pytest.raises(ValueError, match="3 sets at least, not 2"):
        make("correlation", **SETTINGS).fit(sets, labels)


@pytest.mark.parametrize("similarity", ["linear", "auto"])
def test_a_recipe_says_what_held_out_sets_say_of_the_best(similarity):
    sets = make_records(n_sets=4, n_people=5)
    recipe = clustruct.Recipe(loss="lea", surrogates=["b_cubed"], similarity=similarity).fit(sets)
    results, told = recipe.pipeline_[-1].cv_results_, recipe.training_
    assert told["held_out_loss"] == results["mean_loss"].min()
    assert told["held_out_pairwise_f"] == results["pairwise_f"][0]
    assert told["C"] == results["C"][0]
