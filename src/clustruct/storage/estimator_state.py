"""The state of an estimator: its parameters, and the attributes that it learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from clustruct.exceptions import ModelFileError

from .hints import Shape, fits

__all__ = ["FEATURES", "EstimatorState"]

# Searches from more starts than this are nobody's wish: a file that asks for them would stall `predict`.
MOST_STARTS = 10_000
# What every estimator knows of the features it was fitted to.
FEATURES: Mapping[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": (Shape(("n_features_in_",), np.object_), None),
}


class EstimatorState:
    """``state()`` and ``from_state()`` for what has scikit-learn's parameters and learns something.

    ``fitted`` names the attributes that `fit` sets, each with a hint: a type, or a `Shape` of finite numbers
    in which the name of an integer parameter or attribute stands for its value. An attribute may be absent
    where its hint admits None. Parameters and attributes that hang together are checked by
    `check_parameters` and `check_fitted`: a file may come from anyone.
    """

    fitted: ClassVar[Mapping[str, Any]] = {}
    # How many processes to use and what to print is a matter of the machine, not of the model.
    not_stored: ClassVar[tuple[str, ...]] = ("n_jobs", "verbose")

    def check_parameters(self) -> None:
        """ValueError that names a parameter which is not what it must be."""

    def check_fitted(self) -> None:
        """ValueError where the learned attributes do not fit the parameters or each other."""

    def state(self) -> dict[str, Any]:
        """Parameters and what was learned: all that a file keeps."""
        held = {name: getattr(self, name) for name in self.fitted if hasattr(self, name)}
        for name, hint in self.fitted.items():
            if name not in held and not fits(None, hint):
                raise ModelFileError(f"this {type(self).__name__} is not fitted: it has no {name}")
        return {"parameters": _parameters(self), "learned": held}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The fitted object of a state; ValueError where it is not one."""
        try:
            self = cls(**state["parameters"])
            self.check_parameters()
            _check_chance(state["parameters"])
            _set(self, state["learned"])
            self.check_fitted()
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"the state of a {cls.__name__} is damaged: {error!r}") from None
        return self


def _parameters(estimator: Any) -> dict[str, Any]:
    held = estimator.get_params(deep=False)
    return {name: value for name, value in held.items() if name not in estimator.not_stored}


def _set(estimator: EstimatorState, learned: Mapping[str, Any]) -> None:
    sizes = {name: value for name, value in _parameters(estimator).items() if type(value) is int}
    for name, hint in estimator.fitted.items():
        value = learned.get(name)
        if not fits(value, hint, sizes) or (isinstance(value, float) and not np.isfinite(value)):
            raise ValueError(f"{name} of a {type(estimator).__name__} does not fit")
        if name in learned:
            setattr(estimator, name, value)
        if type(value) is int:
            sizes[name] = value


def _check_chance(parameters: Mapping[str, Any]) -> None:
    starts, seed = parameters.get("n_init", 1), parameters.get("random_state")
    if not fits(starts, int) or starts > MOST_STARTS or not fits(seed, int | None):
        raise ValueError(f"n_init and random_state cannot be {starts!r:.60} and {seed!r:.60}")
