"""Fitted estimators as plain values, and back.

Kept is what prediction, scores and explanations need: parameters, weights by feature name, and how training
went.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.baselines import DefaultClustering, PairKMeans, PairwiseClassifierClustering, UntrainedKMeans
from clustruct.estimators import SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.exceptions import ModelFileError
from clustruct.losses import MitreLoss, MutualPurityLoss, NormalisedLoss, PairwiseLoss

from .training import result_from_state, result_state

__all__ = ["estimator_from_state", "estimator_state"]

State = dict[str, Any]
LOSSES = {
    "pairwise": PairwiseLoss,
    "mitre": MitreLoss,
    "purity": MutualPurityLoss,
    "normalised": NormalisedLoss,
}
# How many processes to use is a matter of the machine, not of the model.
NOT_KEPT = ("n_jobs", "classifier")


@dataclass(frozen=True)
class _Kind:
    """How one class of estimators is kept: what it learned as values, and values put back."""

    build: type
    learned: Callable[[Any], State]
    restore: Callable[[Any, Mapping[str, Any], int], None]


def estimator_state(estimator: Any) -> State:
    """Kind, parameters, feature names and what was learned."""
    name = type(estimator).__name__
    if name not in KINDS:
        raise ModelFileError(f"no model file for {name}; there is one for {', '.join(KINDS)}")
    parameters = {k: v for k, v in estimator.get_params(deep=False).items() if k not in NOT_KEPT}
    parameters["loss"] = _loss_state(parameters["loss"])
    names = [str(n) for n in getattr(estimator, "feature_names_in_", [])]
    return {
        "kind": name,
        "parameters": parameters,
        "n_features": int(estimator.n_features_in_),
        "feature_names": names or None,
        "learned": KINDS[name].learned(estimator),
    }


def estimator_from_state(state: Mapping[str, Any]) -> Any:
    """The fitted estimator of a state; ModelFileError where it is not one."""
    kind = KINDS.get(str(state.get("kind")))
    if kind is None:
        raise ModelFileError(f"unknown kind of model {state.get('kind')!r}; known are {', '.join(KINDS)}")
    parameters = dict(state["parameters"])
    parameters["loss"] = _loss_from_state(parameters["loss"])
    if parameters.get("n_init", 1) > 10_000:
        raise ModelFileError(f"n_init of {parameters['n_init']} cannot be meant")
    if type(parameters.get("random_state", 0)) is not int:
        raise ModelFileError("damaged, its random_state is not a number")
    estimator = kind.build(**parameters)
    if hasattr(estimator, "check_parameters"):
        estimator.check_parameters()
    n, names = state["n_features"], state["feature_names"]
    if type(n) is not int or not 0 <= n < 2**40 or (names is not None and len(names) != n):
        raise ModelFileError("damaged, its features and their names do not fit")
    estimator.n_features_in_ = n
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    kind.restore(estimator, state["learned"], n)
    return estimator


def _loss_state(loss: Any) -> Any:
    if isinstance(loss, str):
        return loss
    for name, kind in LOSSES.items():
        if type(loss) is kind:
            return {"name": name, **vars(loss)}
    raise ModelFileError(
        f"the loss {loss!r} is code and cannot be kept in a model file; to keep the model without it, "
        "use set_params(loss='pairwise') on the fitted estimator first"
    )


def _loss_from_state(state: Any) -> Any:
    if isinstance(state, str):
        return state
    return LOSSES[state["name"]](**{k: v for k, v in state.items() if k != "name"})


def _weights(estimator: Any) -> Any:
    """By feature name where names tell features apart, else in order."""
    names = [str(n) for n in getattr(estimator, "feature_names_in_", [])]
    # Many weights are an array: a header is for reading.
    if len(set(names)) != len(estimator.w_) or len(names) > 10_000 or any(n.startswith("$") for n in names):
        return np.array(estimator.w_)
    return dict(zip(names, estimator.w_.tolist(), strict=True))


def _read_weights(given: Any, n: int, names: Any) -> NDArray[np.float64]:
    if isinstance(given, Mapping):
        if names is None or list(given) != list(names):
            raise ModelFileError("damaged, its weights and feature names do not fit")
        given = np.array(list(given.values()), dtype=np.float64)
    return vector(given, n)


def vector(given: Any, n: int) -> NDArray[np.float64]:
    """n finite numbers."""
    if not isinstance(given, np.ndarray) or given.shape != (n,) or given.dtype != np.float64:
        raise ModelFileError("damaged, its weights do not fit its features")
    if not np.isfinite(given).all():
        raise ModelFileError("damaged, its weights are not finite")
    return given


def _learned_similarity(estimator: Any) -> State:
    state: State = {"weights": _weights(estimator), "intercept": float(getattr(estimator, "intercept_", 0.0))}
    for name in ("C_", "k_range_"):
        if hasattr(estimator, name):
            state[name] = getattr(estimator, name)
    if hasattr(estimator, "feature_scale_"):
        state["scale"] = np.asarray(estimator.feature_scale_, dtype=np.float64)
    if hasattr(estimator, "cv_results_"):
        state["cv_results_"] = {k: np.asarray(v, float) for k, v in estimator.cv_results_.items()}
    if hasattr(estimator, "result_"):
        state["result"] = result_state(estimator.result_)
    return state


def _restore_similarity(estimator: Any, learned: Mapping[str, Any], n: int) -> None:
    estimator.w_ = _read_weights(learned["weights"], n, getattr(estimator, "feature_names_in_", None))
    if learned["intercept"]:
        estimator.intercept_ = float(learned["intercept"])
    if "C_" in learned and not isinstance(learned["C_"], int | float):
        raise ModelFileError("damaged, its C is not a number")
    for name in ("C_", "k_range_", "cv_results_"):
        if name in learned:
            setattr(estimator, name, learned[name])
    if "scale" in learned:
        estimator.feature_scale_ = vector(learned["scale"], n)
    if "result" in learned:
        estimator.result_ = result_from_state(learned["result"], estimator.w_)


def _learned_pairs(estimator: Any) -> State:
    state: State = {"constant": estimator.constant_, "scale": np.asarray(estimator.feature_scale_)}
    if estimator.constant_ is None:
        model = estimator.classifier_
        if type(model).__name__ not in ("LinearSVC", "LogisticRegression"):
            raise ModelFileError(f"no model file for the classifier {type(model).__name__}")
        state |= {"classifier": type(model).__name__, "intercept": float(np.ravel(model.intercept_)[0])}
        state["coefficients"] = np.array(model.coef_[0], dtype=np.float64)
    return state


def _restore_pairs(estimator: Any, learned: Mapping[str, Any], n: int) -> None:
    estimator.feature_scale_ = vector(learned["scale"], n)
    estimator.constant_ = learned["constant"]
    if estimator.constant_ is not None:
        estimator.constant_ = float(estimator.constant_)
        return
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    model: Any = LinearSVC() if learned["classifier"] == "LinearSVC" else LogisticRegression()
    model.coef_ = vector(learned["coefficients"], n)[None, :]
    model.intercept_ = np.array([float(learned["intercept"])])
    model.classes_ = np.array([False, True])
    model.n_features_in_ = n
    estimator.classifier_ = model


def _nothing(estimator: Any, *rest: Any) -> Any:
    return {}


_SIMILARITIES = (SupervisedCorrelationClustering, SupervisedKMeans, PairKMeans, UntrainedKMeans)
KINDS = {
    **{c.__name__: _Kind(c, _learned_similarity, _restore_similarity) for c in _SIMILARITIES},
    "PairwiseClassifierClustering": _Kind(PairwiseClassifierClustering, _learned_pairs, _restore_pairs),
    "DefaultClustering": _Kind(DefaultClustering, _nothing, _nothing),
}
