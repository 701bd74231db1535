"""The state of an estimator: its parameters, and the attributes that `fit` found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .hints import Shape, Sizes, fits

__all__ = ["EstimatorState", "ParameterState"]

# Searches from more starts than this are nobody's wish: a file that asks for them would stall `predict`.
MOST_STARTS = 10_000
MOST_FEATURES = 2**40
FEATURES = {"n_features_in_": int, "feature_names_in_": (Shape(("n_features_in_",), np.object_), None)}


class ParameterState:
    """``state()`` and ``from_state()`` for what has scikit-learn's parameters and learns something.

    A subclass says in `learned` what that is, and takes it back, checked, in `restore`.
    """

    # How many processes to use and what to print is a matter of the machine, not of the model.
    not_stored: ClassVar[tuple[str, ...]] = ("n_jobs", "verbose")

    def learned(self) -> dict[str, Any]:
        """What `fit` found: values, arrays and registered objects."""
        return {}

    def restore(self, learned: Mapping[str, Any]) -> None:
        """Take what `learned` gave, checked, as if fitted."""

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be."""

    def state(self) -> dict[str, Any]:
        """Parameters and what was learned: all that a file keeps."""
        held: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        parameters = {name: value for name, value in held.items() if name not in self.not_stored}
        return {"parameters": parameters, "learned": self.learned()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The fitted object of a state; ValueError where it is not one."""
        try:
            self = cls(**state["parameters"])
            self.check_parameters()
            self.restore(state["learned"])
        except (AttributeError, KeyError, TypeError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise ValueError(f"the state of a {cls.__name__} is damaged: {reason}") from None
        return self


class EstimatorState(ParameterState):
    """The state of an estimator that names its fitted attributes.

    ``fitted`` has a hint for each: a type, or a `Shape` of finite numbers in which the name of an integer
    parameter or "n_features_in_" stands for its value. An attribute may be absent where its hint admits None.
    """

    fitted: ClassVar[Mapping[str, Any]] = {}

    def learned(self) -> dict[str, Any]:
        """The fitted attributes by name."""
        check_is_fitted(self)
        return {name: getattr(self, name) for name in (*FEATURES, *self.fitted) if hasattr(self, name)}

    def restore(self, learned: Mapping[str, Any]) -> None:
        """Set the fitted attributes, each checked against its hint."""
        given: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        _check_chance(given)
        sizes: Sizes = {name: value for name, value in given.items() if type(value) is int}
        sizes["n_features_in_"] = n = learned["n_features_in_"]
        if not fits(n, int) or not 0 <= n < MOST_FEATURES:
            raise ValueError(f"n_features_in_ cannot be {n!r:.60}")
        hints = {**FEATURES, **self.fitted}
        if not set(learned) <= set(hints):
            raise ValueError(f"a {type(self).__name__} does not have {', '.join(set(learned) - set(hints))}")
        for name, hint in hints.items():
            value = learned.get(name)
            if not fits(value, hint, sizes) or (isinstance(value, float) and not np.isfinite(value)):
                raise ValueError(f"{name} of a {type(self).__name__} does not fit")
            if name in learned:
                setattr(self, name, learned[name])


def _check_chance(parameters: Mapping[str, Any]) -> None:
    starts = parameters.get("n_init", 1)
    if not fits(starts, int) or starts > MOST_STARTS:
        raise ValueError(f"n_init cannot be {starts!r:.60}")
    seed = parameters.get("random_state")
    if not fits(seed, int | None):
        raise ValueError(f"random_state cannot be {seed!r:.60}")
