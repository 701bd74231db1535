"""Slack scaling for searches that add the loss to the scores (Finley 2009, section 6.3).

    max over y of Delta(y) (1 + gain(y))   by some searches for   max over y of <B(y), K> / lambda + Delta(y)

See `clustruct.losses.slack_rule.multiplier_search` for the multipliers. The answer is the best of all outputs
met, those of a local search among them where the oracle has one; a relaxation gives the mixture of the two
ends of the bracket, which is its maximum, so that it goes on searching more than there is. Where each search
is a true maximum, the answer comes with a bound.
"""

from __future__ import annotations

from dataclasses import replace

from clustruct.data import PairScores
from clustruct.losses.slack_rule.multiplier_search import MultiplierSearch, Point

from .base import PLAIN, Oracle, OracleResult
from .example_loss import ExampleLoss, Output


def separate_scaled(
    oracle: Oracle, scores: PairScores, loss: ExampleLoss, start: Output | None = None
) -> OracleResult:
    """The output that needs the most slack (slack scaling, norm 1) among those that the oracle's searches for
    margins find.

    Cost: about three such searches, ten at most in practice.
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
    met = [search.best, *(point(oracle.result(y, loss)) for y in further), *_mixed(oracle, search)]
    answer = max(met, key=lambda p: p.need).output
    bound = search.bound if oracle.kind in ("exact", "overgenerating") else None
    return replace(answer, start=start, bound=bound)


def _mixed(oracle: Oracle, search: MultiplierSearch[OracleResult]) -> list[Point[OracleResult]]:
    """The mixture of both ends of the bracket, where outputs may be mixed: loss and gain are linear in it."""
    low, high, share = search.low, search.high, search.mixture()
    if high is None or not 0.0 < share < 1.0:
        return []
    found = oracle.mixed(low.output, high.output, share)
    if found is None:
        return []
    return [Point(found, found.loss, (1.0 - share) * low.gain + share * high.gain)]
