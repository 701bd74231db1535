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


def _baselines(results: dict[str, Any]) -> str:
    rows = []
    for name, found in results.items():
        base, default = BASELINES[published_set(name)]
        mean, error = found["rows"]["baseline"]["test"]["exact"]
        rows.append(
            [name, f"{mean:.2f} ± {error:.2f} ({base:.2f})", f"{found['default']:.2f} ({default:.2f})"]
        )
    return _table(
        "Table 5.1: without edges, and a constant answer. Ours (published)",
        ["set", "baseline", "default"],
        rows,
    )


def _losses(name: str, found: dict[str, Any]) -> str:
    rows = []
    for oracle, published in LOSSES[published_set(name)].items():
        model = found["rows"][oracle]
        cells = []
        for predictor, then in zip(PREDICTORS, published, strict=True):
            mean, error = model["test"][predictor]
            mark = "" if mean <= then else " ↑"
            cells.append(f"{mean:.2f} ± {error:.2f} ({then:.2f}){mark}")
        tossed = model["test"]["cut_random"]
        rows.append([oracle, f"{model['C']:g}", *cells, f"{tossed[0]:.2f} ± {tossed[1]:.2f}"])
    head = ["oracle", "C", *PREDICTORS, "cut, tossed"]
    return _table(f"Tables 5.2, 5.3: {name}. Ours (published), ↑ above it", head, rows)


def _undecided(results: dict[str, Any]) -> str:
    rows = [
        [
            oracle,
            *(
                f"{100 * found['rows'][oracle]['undecided']:.2f} ({then[published_set(name)]:.2f})"
                for name, found in results.items()
            ),
        ]
        for oracle, then in UNDECIDED.items()
    ]
    return _table("Table 5.4: undecided labels in percent. Ours (published)", ["oracle", *results], rows)


def _rho(kind: str, results: dict[str, Any]) -> str:
    count = len(next(iter(results.values()))["rho"][kind])
    rows = []
    for k in range(count):
        cells = []
        for name, found in results.items():
            row = found["rho"][kind][k]
            then = RHO_LOSSES[published_set(name)][RHOS.index(row["rho"])]
            cells.append(
                f"{row['train_exact']:.2f} / {row['test']['exact'][0]:.2f} ({then[0]:.2f} / {then[1]:.2f})"
            )
        rows.append([f"{next(iter(results.values()))['rho'][kind][k]['rho']:g}", *cells])
    what = "not above rho times the best (5.5.2)" if kind == "rho_below" else "at least rho times the best"
    title = f"Table 5.5: {what}. Train / test, ours (published)"
    return _table(title, ["rho", *results], rows)
