"""What the scale of X does: at which C hinges of the Universum are active at all."""

from __future__ import annotations

from typing import Any

from clustruct.papers.universum import UniversumClustering
from studies.results import Results
from studies.universum2011.corpora import Corpus, load
from studies.universum2011.methods import chosen_universum, scores


def scale(results: Results, quick: bool, *, name: str) -> list[dict[str, Any]]:
    """Rows of length one as they are, and with the default scale; U_select, C_universum = 1."""
    corpus = load(name, quick)
    return [
        results.get(f"{factor}, C = {C:g}", lambda f=factor, C=C: _one(corpus, f, C))
        for factor in (1.0, "auto")
        for C in (2.0, 8.0, 64.0)
    ]


def _one(corpus: Corpus, factor: Any, C: float) -> dict[str, Any]:
    universum = chosen_universum(corpus, "select")
    model = UniversumClustering(corpus.k, C=C, scale=factor, random_state=0)
    model.fit(corpus.X, universum=universum)
    outside = _spread(model.decision_function(universum), corpus.k) > model.universum_margin
    margins = _margins(model.decision_function(corpus.X))
    return {
        "scale": f"{model.scale_:.3g}",
        "C": f"{C:g}",
        "Universum beyond 0.5": f"{100 * outside.mean():.0f} %",
        "documents beyond margin 1": f"{100 * (margins > 1).mean():.0f} %",
        "accuracy": scores(corpus.y, model.labels_)["accuracy"],
    }


def _spread(S: Any, k: int) -> Any:
    return k / (k - 1) * (S.max(axis=1) - S.mean(axis=1))


def _margins(S: Any) -> Any:
    S = S.copy()
    S.sort(axis=1)
    return S[:, -1] - S[:, -2]
