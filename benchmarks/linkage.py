"""Links beside greedy correlation clustering, and slack scaling beside margins: CPU seconds, side by side.

python -m benchmarks.linkage
"""

from __future__ import annotations

import numpy as np

from benchmarks.correlation import Result, noisy, sparse_planted, timed
from benchmarks.printing import command
from clustruct.data import PairScores
from clustruct.losses import NormalisedLoss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.agglomerative import LINKAGES, left_links, single_link
from clustruct.search.correlation import greedy
from clustruct.search.oracles import ExampleLoss, make_oracle

REPEATS = 5


def _seconds(call: object, repeats: int = REPEATS) -> float:
    """The least of some runs, after one that may compile."""
    assert callable(call)
    call()
    return min(timed(call)[1] for _ in range(repeats))


def sparse_links(quick: bool) -> list[Result]:
    """24,000 items and 400,000 edges."""
    scores = PairScores.from_matrix(sparse_planted(24_000, 500_000, 1200)[0])
    base = _seconds(lambda: greedy(scores))
    rows = [{"search": "greedy", "seconds": base, "of greedy": 1.0}]
    for search in (single_link, left_links):
        seconds = _seconds(lambda s=search: s(scores))
        rows.append({"search": search.__name__, "seconds": seconds, "of greedy": seconds / base})
    return rows


def dense_links(quick: bool) -> list[Result]:
    """All pairs of a set."""
    rows = []
    for m in (100, 300) if quick else (100, 300, 1000):
        K = noisy(m, 0.6)
        base = _seconds(lambda K=K: greedy(K))
        found = {name: _seconds(lambda K=K, link=link: link(K)) / base for name, link in LINKAGES.items()}
        rows.append({"items": m, "greedy seconds": base, **{f"{n} of greedy": v for n, v in found.items()}})
    return rows


def slack_searches(quick: bool) -> list[Result]:
    """What slack scaling costs beside margin scaling, per call of the oracle."""
    rows, truth = [], np.arange(24) // 4
    scores = PairScores(24, matrix=0.05 * noisy(24, 0.6))
    for name in ("exact", "lp", "spectral", "single", "left"):
        oracle = make_oracle(name)
        loss = ExampleLoss(NormalisedLoss() if name == "spectral" else PairwiseLoss(), truth)
        if name in ("single", "left"):
            loss = oracle.example_loss(PairwiseLoss(), truth, scores)  # type: ignore[arg-type]
            loss.right = oracle.span(scores, truth)  # type: ignore[attr-defined]
        margin, slack = (
            _seconds(lambda r=rule, o=oracle, d=loss: o.separate(scores, d, r))
            for rule in (SlackRule("margin"), SlackRule("slack"))
        )
        rows.append({"oracle": name, "margin ms": 1e3 * margin, "slack of margin": slack / margin})
    return rows


PARTS = {"sparse": sparse_links, "dense": dense_links, "slack scaling": slack_searches}

if __name__ == "__main__":
    command(PARTS, __doc__)
