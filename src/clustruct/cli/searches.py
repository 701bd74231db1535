"""How training searches for violated clusterings, and how the linear programme is rounded (the 2005 paper).

``fit --oracle --formulation --loss-in-oracle --rounding``, ``predict --rounding``, ``evaluate --rounding``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import clustruct

from .output import UsageError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

# Predictors by the rule that makes clusters of the linear programme's answer.
ROUNDINGS = {"best": "lp", "algorithm5": "lp_algorithm5", "ball": "lp_ball"}


def add_searches(add: Callable[..., object]) -> None:
    """What the structural SVM is trained with."""
    search = "search for violated clusterings: greedy (default), local_search, lp, exact"
    add("--oracle", metavar="NAME", help=search)
    solver = "solver of the structural SVM: n_slack, one_slack, smoothed, auto"
    add("--formulation", metavar="NAME", help=solver)
    looked = "whether that search looks at the loss (default) or at the scores alone"
    add("--loss-in-oracle", action=argparse.BooleanOptionalAction, default=None, help=looked)
    add_rounding(add)


def add_rounding(add: Callable[..., object]) -> None:
    """How the relaxed answer becomes clusters."""
    text = "group by the linear programme, rounded: best, algorithm5 (2009), ball (2005)"
    add("--rounding", choices=tuple(ROUNDINGS), help=text)


def learner(args: argparse.Namespace) -> str:
    """The learner, which a linkage implies."""
    if args.learner is None:
        return "correlation" if args.linkage is None else "agglomerative"
    if args.linkage is not None and args.learner != "agglomerative":
        raise UsageError(f"--linkage goes with --learner agglomerative, not with {args.learner}")
    return str(args.learner)


def of_recipe(args: argparse.Namespace) -> dict[str, Any]:
    """Options of a recipe for searches; names are checked before any data is read."""
    given = {name: getattr(args, name) for name in ("oracle", "formulation", "loss_in_oracle")}
    objective = getattr(clustruct.pipeline.LEARNERS[learner(args)], "clustering_objective", None)
    if objective == "links" and (args.oracle or args.predictor):
        raise UsageError("--learner agglomerative searches by its --linkage: no --oracle or --predictor")
    if args.oracle is not None:
        try:
            clustruct.search.oracles.make_oracle(args.oracle, objective)
        except ValueError as error:
            raise UsageError(f"--{error}") from None
    known = ("auto", *clustruct.ssvm.solvers.SOLVERS)
    if args.formulation not in (None, *known):
        raise UsageError(f"--formulation must be one of {', '.join(known)}, not {args.formulation!r}")
    return {**given, "predictor": _predictor(args, objective)}


def _predictor(args: argparse.Namespace, objective: str | None) -> str | None:
    """The predictor of --predictor or of --rounding."""
    if args.rounding is None:
        return args.predictor
    if args.predictor is not None:
        raise UsageError("--predictor and --rounding both say how sets are clustered: give one of them")
    if objective != "correlation":
        raise UsageError(f"--rounding does not go with --learner {learner(args)}")
    return ROUNDINGS[args.rounding]


def set_rounding(args: argparse.Namespace, pipeline: Pipeline | None) -> None:
    """The clusterer of a model groups by the linear programme, where --rounding is given."""
    if args.rounding is None:
        return
    if pipeline is None:
        raise UsageError("--rounding goes with --model: predictions are judged as they are")
    if getattr(args, "existing", None) is not None:
        raise UsageError("--rounding does not go with --existing")
    model = pipeline[-1]
    if getattr(model, "clustering_objective", None) != "correlation" or not hasattr(model, "predictor"):
        raise UsageError(f"--rounding does not go with {type(model).__name__}, the clusterer of {args.model}")
    model.set_params(predictor=ROUNDINGS[args.rounding])
