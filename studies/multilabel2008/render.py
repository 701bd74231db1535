"""Tables of the multi-label study as markdown, ours beside the published figures."""

from __future__ import annotations

from typing import Any

from studies.multilabel2008.published import BASELINES, LOSSES, PREDICTORS, RHO_LOSSES, RHOS, UNDECIDED
from studies.rendering import grid


def published_set(name: str) -> str:
    """A set with a constant feature stands beside the published one."""
    return name.split("-")[0]


def tables(results: dict[str, Any]) -> str:
    parts = [_baselines(results)]
    parts += [_losses(name, found) for name, found in results.items()]
    parts += [_undecided(results)]
    for kind in ("rho_below", "rho_above"):
        having = {name: found for name, found in results.items() if kind in found["rho"]}
        if having:
            parts.append(_rho(kind, having))
    return "\n\n".join(parts)


def one_set(rows: dict[str, Any]) -> str:
    """All tables of one set."""
    return tables({rows["set"]: rows})


def _table(title: str, head: list[str], rows: list[list[str]]) -> str:
    return f"**{title}**\n\n{grid(head, rows)}"


def rho_tables(rows: dict[str, Any]) -> str:
    """The rho tables of one set."""
    return "\n\n".join(_rho(kind, {rows["set"]: rows}) for kind in rows["rho"])


def _loss(found: list[float], published: float | None = None) -> str:
    """Mean and standard error, and the published figure, marked where it is lower."""
    shown = f"{found[0]:.2f} ± {found[1]:.2f}"
    return shown if published is None else f"{shown} ({published:.2f})" + " ↑" * (found[0] > published)


def _heading(name: str) -> str:
    return "Ours (published)" if published_set(name) in LOSSES else "Not among the published sets"


def _baselines(results: dict[str, Any]) -> str:
    rows = []
    for name, found in results.items():
        mean, error = found["rows"]["baseline"]["test"]["exact"]
        cells = [f"{mean:.2f} ± {error:.2f}", f"{found['default']:.2f}"]
        if published_set(name) in BASELINES:
            then = BASELINES[published_set(name)]
            cells = [f"{cell} ({value:.2f})" for cell, value in zip(cells, then, strict=True)]
        rows.append([name, *cells])
    title = f"Table 5.1: without edges, and a constant answer. {_heading(next(iter(results)))}"
    return _table(title, ["set", "baseline", "default"], rows)


def _losses(name: str, found: dict[str, Any]) -> str:
    published, rows = LOSSES.get(published_set(name), {}), []
    for oracle, model in found["rows"].items():
        if oracle == "baseline":
            continue
        then = published.get(oracle, [None] * len(PREDICTORS))
        cells = [_loss(model["test"][p], value) for p, value in zip(PREDICTORS, then, strict=True)]
        rows.append([oracle, f"{model['C']:g}", *cells, _loss(model["test"]["cut_random"])])
    head = ["oracle", "C", *PREDICTORS, "cut, tossed"]
    marked = ", ↑ above it" * bool(published)
    return _table(f"Tables 5.2, 5.3: {name}. {_heading(name)}{marked}", head, rows)


def _undecided(results: dict[str, Any]) -> str:
    rows = []
    for oracle in next(iter(results.values()))["rows"]:
        if oracle == "baseline":
            continue
        cells = []
        for name, found in results.items():
            then = UNDECIDED.get(oracle, {}).get(published_set(name))
            shown = f"{100 * found['rows'][oracle]['undecided']:.2f}"
            cells.append(shown if then is None else f"{shown} ({then:.2f})")
        rows.append([oracle, *cells])
    title = f"Table 5.4: undecided labels in percent. {_heading(next(iter(results)))}"
    return _table(title, ["oracle", *results], rows)


def _rho(kind: str, results: dict[str, Any]) -> str:
    rows = []
    for k, first in enumerate(next(iter(results.values()))["rho"][kind]):
        cells = []
        for name, found in results.items():
            row = found["rho"][kind][k]
            then = RHO_LOSSES[published_set(name)][RHOS.index(row["rho"])]
            cells.append(
                f"{row['train_exact']:.2f} / {row['test']['exact'][0]:.2f} ({then[0]:.2f} / {then[1]:.2f})"
            )
        rows.append([f"{first['rho']:g}", *cells, *[f"{first['C']:g}"] * ("folds" in first)])
    what = "not above rho times the best (5.5.2)" if kind == "rho_below" else "at least rho times the best"
    chosen = ["C"] * all("folds" in row for row in next(iter(results.values()))["rho"][kind])
    title = f"Table 5.5: {what}. Train / test, ours (published)"
    return _table(title, ["rho", *results, *chosen], rows)
