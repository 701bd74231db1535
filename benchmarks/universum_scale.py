"""What the scale of X does: at which C hinges of the Universum are active at all."""

from __future__ import annotations

from typing import Any

from benchmarks.universum_corpora import load
from benchmarks.universum_methods import chosen_universum, scores
from clustruct.estimators import UniversumClustering


def scale(name: str) -> list[dict[str, Any]]:
    """Rows of length one as they are, and with the default scale; U_select, C_universum = 1."""
    corpus = load(name)
    universum, rows = chosen_universum(corpus, "select"), []
    for factor in (1.0, "auto"):
        for C in (2.0, 8.0, 64.0):
            model = UniversumClustering(corpus.k, C=C, scale=factor, random_state=0)
            model.fit(corpus.X, universum=universum)
            outside = _spread(model.decision_function(universum), corpus.k) > model.universum_margin
            margins = _margins(model.decision_function(corpus.X))
            rows.append(
                {
                    "corpus": name,
                    "scale": f"{model.scale_:.3g}",
                    "C": C,
                    "Universum beyond 0.5": f"{100 * outside.mean():.0f} %",
                    "documents beyond margin 1": f"{100 * (margins > 1).mean():.0f} %",
                    "accuracy": scores(corpus.y, model.labels_)["accuracy"],
                }
            )
    return rows


def _spread(S: Any, k: int) -> Any:
    return k / (k - 1) * (S.max(axis=1) - S.mean(axis=1))


def _margins(S: Any) -> Any:
    S = S.copy()
    S.sort(axis=1)
    return S[:, -1] - S[:, -2]
