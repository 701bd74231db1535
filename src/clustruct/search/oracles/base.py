"""What a search for clusterings is: a predictor, and an oracle for training; and where they are found by
name.

separate:  argmax over y of H(y) = rule.violation(Delta(y_i, y), gain),   gain = <B(y), K> - <B(y_i), K>
predict:   argmax over y of <B(y), K>
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from importlib import import_module
from typing import ClassVar, Literal, TypeVar

import numpy as np
from scipy import sparse

from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import ItemSet, PairScores, pair_table
from clustruct.losses import Loss
from clustruct.losses.multiplier_search import MultiplierSearch, Point
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.agglomerative import WeightedLinks
from clustruct.search.correlation import exclusive
from clustruct.search.oracles import SEARCHES
from clustruct.ssvm import OracleKind

from .example_loss import ExampleLoss, Output

Objective = Literal["correlation", "kmeans", "links"]
PLAIN = SlackRule("margin", 1)
# What a search that adds the loss to the scores does by weighing it: see `separate_by_multipliers`.
SCALED = SlackRule("slack", 1)


@dataclass(frozen=True)
class PairCoefficients:
    """B of Psi = sum_ab B_ab psi_ab, in the form that a set's adjoint takes with least work.

    ``labels``: 1 for a < b together (correlation clustering); ``degrees``: e_ab for a < b (its relaxation);
    ``factor``: Y Y' over all ordered pairs, diagonal included (k-means and its relaxations); ``links``: the
    weights of some pairs (agglomerative clustering).
    """

    labels: Ints | None = None
    degrees: Floats | None = None
    factor: Floats | sparse.csr_array | None = None
    links: WeightedLinks | None = None

    def joint_feature(self, x: ItemSet) -> Floats:
        """Psi, in the units of the set."""
        if self.links is not None:
            return np.asarray(pair_table(x, self.links.index).T @ self.links.weights, np.float64)
        if self.factor is not None:
            return x.joint_feature_factor(self.factor)
        if self.degrees is not None:
            return x.joint_feature_edges(self.degrees)
        assert self.labels is not None
        return x.joint_feature_pairs(self.labels)


@dataclass(frozen=True)
class OracleResult:
    """The most violated output found, the coefficients of its pairs in Psi, and its loss.

    ``start`` is where the next search for the same example may begin, the output itself where None. ``bound``
    is what no output's violation exceeds, where the search knows more than its answer.
    """

    output: Output
    coefficients: PairCoefficients
    loss: float
    start: Output | None = None
    bound: float | None = None


@dataclass(frozen=True)
class SmoothedSearch:
    """What a smoothed search finds: the largest violation, its smoothed form, and the mean output of the
    latter. ``start`` is where the next search for the same example may begin.
    """

    violation: float
    value: float
    coefficients: PairCoefficients
    loss: float
    start: Floats | None = None


class Predictor(ABC):
    """A way to cluster a set by the scores of its pairs.

    ``objective`` says what is maximised: the sum of K over pairs together ("correlation", any number of
    clusters), or the mean within clusters ("kmeans", ``n_clusters`` given). ``relaxed`` predictions are no
    partitions. Options a search does not know are left aside. ``n_init`` is the number of random starts; only
    oracles look at ``loss_in_oracle``.
    """

    name: ClassVar[str]
    objective: ClassVar[Objective]
    relaxed: ClassVar[bool] = False
    # The largest sets that are taken, of all kinds and of those that list their pairs.
    most_items: ClassVar[float] = math.inf
    most_listed: ClassVar[float] = math.inf

    def __init__(self, *, loss_in_oracle: bool = True, n_init: int = 3, random_state: int = 0) -> None:
        self.loss_in_oracle, self.n_init, self.random_state = loss_in_oracle, n_init, random_state

    def describe(self) -> dict[str, object]:
        """Its name and options."""
        return {"name": self.name, **{name: repr(value) for name, value in sorted(vars(self).items())}}

    def scores(self, x: ItemSet, w: Floats, factor: float = 1.0) -> PairScores:
        """factor K of a set: listed where it lists its pairs and has no nodes, else a matrix."""
        if x.is_sparse and x.pairs is not None:
            values = np.asarray(x.pairs @ w, dtype=np.float64) * factor
            return PairScores(x.n_items, index=x.index, values=values, sources=x.sources)
        K = x.similarity(w)
        return PairScores(x.n_items, matrix=K if factor == 1.0 else K * factor, sources=x.sources)

    def check_set(self, x: ItemSet | PairScores) -> None:
        """Refuse a set for which a number for each of all pairs would be too much, before any work."""
        most = min(self.most_items, self.most_listed if x.is_sparse else math.inf)
        if x.n_items > most:
            raise ValueError(
                f"{x.n_items} items are too many for {self.name!r}, which needs a number for each of all "
                f"pairs: at most {most}; 'greedy' and 'local_search' take any number of listed pairs"
            )

    @abstractmethod
    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Output:
        """The clustering of highest score that the search finds."""

    def clusters(self, scores: PairScores, n_clusters: int | None = None) -> Output:
        """`predict`; where the scores have sources, whatever the search, the clusters in which no source is
        twice.
        """
        if scores.sources is None:
            return self.predict(scores, n_clusters)
        if self.objective != "correlation":
            raise ValueError(f"{self.name!r} cannot keep sources apart: use correlation clustering")
        return exclusive(scores, scores.sources, random_state=self.random_state)


class Oracle(Predictor):
    """A search for the most violated clustering.

    A subclass says what ``separate`` searches (``exactness``), and whether it can only do so by adding the
    loss to the scores (``adds_loss``), which asks for a loss that is linear in the coefficients and slack
    norm 1 (slack scaling then takes several searches, see `separate_by_multipliers`); and whether it has a
    smoothed form (``can_smooth``). With ``loss_in_oracle=False`` the loss is left out of the search (section
    3.6.5); the constraint counts it always.
    """

    exactness: ClassVar[OracleKind] = "undergenerating"
    adds_loss: ClassVar[bool] = False
    can_smooth: ClassVar[bool] = False
    default_loss: ClassVar[Loss]
    # Why items without a label and pairs that are not judged are refused; None: they are not.
    unjudged: ClassVar[str | None] = None

    @property
    def kind(self) -> OracleKind:
        """What is searched: all outputs, some of them, or more than there are."""
        if self.loss_in_oracle:
            return self.exactness
        return "heuristic" if self.exactness == "overgenerating" else "undergenerating"

    def kind_for(self, rule: SlackRule) -> OracleKind:
        """The same for a rule: with slack scaling an exact search may miss outputs, a relaxation does not."""
        if self.kind == "exact" and rule.scaling == "slack" and self.adds_loss:
            return "undergenerating"
        return self.kind

    @abstractmethod
    def is_linear(self, loss: Loss) -> bool:
        """Whether the loss is linear in the coefficients of pairs."""

    def refusal(self, rule: SlackRule, loss: Loss) -> str | None:
        """Why the search cannot work for this rule and loss, and what can; None where it can."""
        if (why := self.obstacle(rule, loss)) is None:
            return None
        others = [make_oracle(name) for name in oracle_names(self.objective)]
        able = [repr(other.name) for other in others if other.obstacle(rule, loss) is None]
        return f"the {self.name} oracle {why}: use oracle={' or '.join(able)}"

    def obstacle(self, rule: SlackRule, loss: Loss) -> str | None:
        """What stands against this rule and loss, or None."""
        if self.adds_loss and not self.is_linear(loss):
            pairs = "pairs" if self.objective == "correlation" else "Y Y'"
            return f"adds the loss to the similarities, and {loss} is not linear in {pairs}"
        if self.adds_loss and rule not in (PLAIN, SCALED):
            given = f"{rule.scaling} scaling with slack_norm={rule.norm}"
            return f"adds the loss to the similarities, which {given} does not allow"
        return None

    def example_loss(
        self,
        loss: Loss,
        truth: Ints,
        x: ItemSet,
        judged: Bools | None = None,
        known: Bools | None = None,
    ) -> ExampleLoss:
        """The loss of one example over the pairs that count for this objective: see `ExampleLoss`."""
        if self.unjudged is None:
            return ExampleLoss(loss, truth, x.index, judged, known)
        if judged is not None or not (known is None or np.all(known)):
            raise ValueError(self.unjudged)
        return self.loss_of(loss, truth, x.index)

    def loss_of(self, loss: Loss, truth: Ints, index: Ints | None) -> ExampleLoss:
        """The same where every item has a label and every pair is judged."""
        return ExampleLoss(loss, truth, index)

    @abstractmethod
    def coefficients(self, y: Output) -> PairCoefficients:
        """B(y)."""

    @abstractmethod
    def score(self, scores: PairScores, y: Output) -> float:
        """<B(y), K>."""

    def mix(self, one: OracleResult, other: OracleResult, share: float) -> OracleResult | None:
        """A relaxed output between two, with this share of the other; None where outputs cannot be mixed."""
        return None

    def further(self, scores: PairScores, loss: ExampleLoss, found: Output) -> list[Output]:
        """Outputs that a local search for slack scaling finds, from the best one of other searches too."""
        return []

    @abstractmethod
    def separate(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        """The output of largest violation that the search finds. ``start`` is that of an earlier result."""

    def is_quick(self, rule: SlackRule, loss: ExampleLoss) -> bool:
        """Whether `separate` is a quick search here, and `separate_thoroughly` finds more at more cost."""
        return False

    def separate_thoroughly(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        """As `separate`; what a training goes by before it ends."""
        return self.separate(scores, loss, rule, start)

    def smooth(
        self, scores: PairScores, loss: ExampleLoss, mu: float, start: Floats | None = None
    ) -> SmoothedSearch:
        """`separate` with an entropy of weight mu (margin scaling, slack norm 1)."""
        raise ValueError(f"the {self.name} oracle cannot be smoothed")

    def result(self, y: Output, loss: ExampleLoss, start: Output | None = None) -> OracleResult:
        """The result for an output."""
        return OracleResult(y, self.coefficients(y), loss(y), start)


_PREDICTORS: dict[str, type[Predictor]] = {}
Kind = TypeVar("Kind", bound=type[Predictor])


def register(kind: Kind) -> Kind:
    """Class decorator: make a search, a class below `Oracle` or `Predictor`, known by its name."""
    known = _PREDICTORS if kind.__module__.startswith("clustruct.search.oracles.") else _load_searches()
    if known.setdefault(kind.name, kind).__qualname__ != kind.__qualname__:
        raise ValueError(f"there is a search called {kind.name!r} already")
    known[kind.name] = kind
    return kind


def _load_searches(name: str | None = None) -> dict[str, type[Predictor]]:
    """All searches, or at least the one of that name where there is one."""
    if name not in _PREDICTORS:
        for module in [SEARCHES[name]] if name in SEARCHES else dict.fromkeys(SEARCHES.values()):
            import_module(f"clustruct.search.oracles.{module}")
    return _PREDICTORS


def predictor_names(objective: Objective) -> tuple[str, ...]:
    """Names of the searches that give partitions of highest score."""
    return tuple(sorted(n for n, k in _load_searches().items() if k.objective == objective and not k.relaxed))


def oracle_names(objective: Objective | None = None) -> tuple[str, ...]:
    """Names of the searches for violated clusterings."""
    fitting = [
        n for n, k in _load_searches().items() if issubclass(k, Oracle) and objective in (None, k.objective)
    ]
    return tuple(sorted(fitting))


def make_predictor(name: str, objective: Objective, *, n_init: int = 10, random_state: int = 0) -> Predictor:
    """The predictor of that name; the known names are in the error where there is none."""
    kind = _load_searches(name).get(name)
    if kind is None or kind.relaxed or kind.objective != objective:
        relaxed = kind is not None and kind.relaxed and kind.objective == objective
        hint = " (relaxed answers come from the method `relax`)" if relaxed else ""
        raise ValueError(
            f"predictor must be one of {', '.join(predictor_names(objective))}, not {name!r}{hint}"
        )
    return kind(n_init=n_init, random_state=random_state)


def make_search(name: str, *, n_init: int = 10, random_state: int = 0) -> Predictor:
    """The search of that name, relaxed or not, for what compares the answers of all of them."""
    known = _load_searches(name)
    if name not in known:
        raise ValueError(f"a search must be one of {', '.join(sorted(known))}, not {name!r}")
    return known[name](n_init=n_init, random_state=random_state)


def make_oracle(
    name: str,
    objective: Objective | None = None,
    *,
    loss_in_oracle: bool = True,
    n_init: int = 3,
    random_state: int = 0,
) -> Oracle:
    """The oracle of that name; the known names are in the error where there is none."""
    kind = _load_searches(name).get(name)
    if kind is None or not issubclass(kind, Oracle) or objective not in (None, kind.objective):
        raise ValueError(f"oracle must be one of {', '.join(oracle_names(objective))}, not {name!r}")
    return kind(loss_in_oracle=loss_in_oracle, n_init=n_init, random_state=random_state)


def separate_by_multipliers(
    oracle: Oracle, scores: PairScores, loss: ExampleLoss, start: Output | None = None
) -> OracleResult:
    """Slack scaling for a search that adds the loss to the scores (Finley 2009, section 6.3).

    Searches for ``max <B(y), K> / lambda + Delta(y)`` give ``max Delta(y) (1 + gain(y))``, with the
    multipliers of `clustruct.losses.multiplier_search`. The answer is the best of all outputs met,
    those of a local search among them; a relaxation gives the mixture of both ends of the bracket, which is
    its maximum. Where each search is a true maximum, the answer has a bound. Three searches on average, ten
    at most.
    """
    base = oracle.score(scores, loss.right)

    def point(found: OracleResult) -> Point[OracleResult]:
        return Point(found, found.loss, oracle.score(scores, found.output) - base)

    search = MultiplierSearch(Point(oracle.result(loss.right, loss), 0.0, 0.0))
    while (multiplier := search.multiplier) is not None:
        found = oracle.separate(scores.times(1.0 / multiplier), loss, PLAIN, start)
        start = found.output if found.start is None else found.start
        search.tell(point(found))
    further = oracle.further(scores, loss, search.best.output.output)
    met = [search.best, *(point(oracle.result(y, loss)) for y in further), *_mixture(oracle, search)]
    answer = max(met, key=lambda p: p.need).output
    bound = search.bound if oracle.kind in ("exact", "overgenerating") else None
    return replace(answer, start=start, bound=bound)


def _mixture(oracle: Oracle, search: MultiplierSearch[OracleResult]) -> list[Point[OracleResult]]:
    """The mixture of both ends of the bracket, where outputs may be mixed: loss and gain are linear in it."""
    low, high, share = search.low, search.high, search.mixture()
    if high is None or not 0.0 < share < 1.0:
        return []
    found = oracle.mix(low.output, high.output, share)
    if found is None:
        return []
    return [Point(found, found.loss, (1.0 - share) * low.gain + share * high.gain)]
