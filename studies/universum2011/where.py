"""Where the documents of other categories lie among the true classes (to explain results; uses labels)."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.results import Results
from studies.universum2011.corpora import TARGETS, load
from studies.universum2011.methods import chosen_universum


def where(results: Results, quick: bool, *, name: str) -> list[dict[str, Any]]:
    """For each source the share of its documents nearest to each class, and how far ahead the nearest is.

    Nearness is to the classes' mean directions, less the mean of all targets. "ahead" is the mean gap between
    the best and the second best class over the same gap of the targets themselves: 0 is between two
    classes, 1 is as deep inside one as a target.
    """
    corpus = load(name, quick)
    centre = corpus.X.mean(axis=0)
    classes = np.array([corpus.X[corpus.y == c].mean(axis=0) - centre for c in range(corpus.k)])
    own = _ahead((corpus.X - centre) @ classes.T)
    sets = {str(c): corpus.rest[corpus.rest_categories == c] for c in np.unique(corpus.rest_categories)}
    sets |= {"all of U_rest": corpus.rest, "U_select": chosen_universum(corpus, "select")}
    sets |= {"U_rand": corpus.universum("rand"), "U_mean": corpus.universum("mean")}
    rows = []
    for source, U in sets.items():
        S = (U - centre) @ classes.T
        shares = np.bincount(np.argmax(S, axis=1), minlength=corpus.k) / len(U)
        row: dict[str, Any] = {"source": source, "documents": len(U)}
        row |= {t: f"{100 * s:.0f} %" for t, s in zip(TARGETS[name], shares, strict=True)}
        rows.append({**row, "ahead": _ahead(S) / own})
    return rows


def _ahead(S: Any) -> float:
    ordered = np.sort(S, axis=1)
    return float((ordered[:, -1] - ordered[:, -2]).mean())
