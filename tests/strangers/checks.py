"""What is asked of a case: commands end, equal rows are one, what is printed is true, oddities cost nil."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from clustruct.cli import COMMANDS

from .cases import Case
from .forms import check_forms
from .runs import Finding, Run, pairwise_f, read_rows, scores
from .sheets import Sheet, write_sheet
from .tables import make_sheet

TOLERANCE = 1.0
# Tables over which a cost is averaged that was more than that on the first.
DRAWS = 3
# Most cases are learned with a given C, a fifth of the work; the others choose it by held-out labels.
QUICKLY = ("--C", "10")
REASON_GIVEN = re.compile(r"apart from rows equal to them")


@dataclass
class Verdict:
    """What a case showed; ``figures`` are counted over all cases."""

    case: str
    findings: list[Finding] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)


def check(case: Case, folder: Path, dear: bool = False, forms: bool = False) -> Verdict:
    """Everything that is asked of a case.

    ``dear``: with C chosen, and the slower commands, too; ``forms``: also from other formats and frames.
    """
    shutil.rmtree(folder, ignore_errors=True)
    run = Run(folder / "odd", case.odd(), case.refusals)
    how = () if dear else QUICKLY
    further = ["--confidence", *(["--pairs", "pairs.csv", "--wide", "wide.csv"] if dear else [])]
    if run.fit_labels(*how) and run.predict("labels", *further):
        check_fit(run)
        check_predict(run, "labels")
        check_evaluate(run)
        if dear:
            run_dear(run)
    if run.fit_none() and run.predict("none"):
        check_predict(run, "none")
    verdict = Verdict(case.word, run.findings, run.refused)
    if case.compares and run.groups:
        compare(case, run, verdict, folder, how)
    if forms and run.groups:
        findings, tried = check_forms(run.sheet, folder / "forms", case.draw)
        verdict.findings += findings
        verdict.figures["forms"] = tried
    held = held_out(run) if "labels" in run.groups else None
    if held is not None:
        low, value, high = held
        rows = [a for a, label in enumerate(run.sheet.labels) if not label]
        true = pairwise_f(run.groups["labels"], run.sheet.truth, rows)
        verdict.figures |= {"held out": value, "low": low, "high": high, "true": true}
    shutil.rmtree(folder, ignore_errors=True)
    return verdict


def check_commands(case: Case, folder: Path) -> Verdict:
    """That commands end, that equal rows are one, and that counts are true; nothing is compared."""
    shutil.rmtree(folder, ignore_errors=True)
    run = Run(folder, case.odd(), case.refusals)
    if "look" in COMMANDS:
        run.call("look", "look", run.data.name, *run.roles, "--cluster", run.sheet.label_name)
    if run.fit_labels(*QUICKLY) and run.predict("labels", "--confidence"):
        check_fit(run)
        check_predict(run, "labels")
        check_evaluate(run)
    if run.fit_none() and run.predict("none"):
        check_predict(run, "none")
    shutil.rmtree(folder, ignore_errors=True)
    return Verdict(case.word, run.findings, run.refused)


def held_out(run: Run) -> tuple[float, float, float] | None:
    """The held-out figure and its interval, if it has one."""
    out = run.printed["fit"].out
    found = re.search(r"pairwise F (\d+(?:\.\d+)?) %", out)
    if found is None:
        return None
    value = float(found[1])
    # "90 %: 85.1 to 97.2" in whatever words.
    interval = re.search(r"pairwise F [\d.]+ %[^\n]*?(\d+(?:\.\d+)?)(?: %)? (?:to|-) (\d+(?:\.\d+)?)", out)
    return (
        (float(interval[1]), value, float(interval[2])) if interval else (float("nan"), value, float("nan"))
    )


def check_fit(run: Run) -> None:
    """Counts that ``fit`` prints."""
    sheet = run.sheet
    trained = range(len(sheet))
    if sheet.set_names is not None:
        there = {s for s, label in zip(sheet.set_names, sheet.labels, strict=True) if label}
        trained = [a for a in trained if sheet.set_names[a] in there]  # type: ignore[assignment]
    items = run.number("fit", r"with ([\d,]+) items?")
    if items is not None and items != len(trained):
        run.find("lie", "fit", f"says {items:g} items of {len(trained)}")
    labelled = run.number("fit", r"([\d,]+) of the items ha(?:ve|s) a cluster")
    known = sum(1 for a in trained if sheet.labels[a].strip() not in ("", "-1", "NA", "null"))
    if labelled is not None and labelled != known:
        run.find("lie", "fit", f"says {labelled:g} labelled items of {known}")


def check_predict(run: Run, model: str) -> None:
    """Counts of items and groups, and that equal rows are together."""
    name, groups = f"predict ({model})", run.groups[model]
    items, found = run.number(name, r"([\d,]+) items?\b"), run.number(name, r"in ([\d,]+) clusters?")
    if items is not None and items != len(run.sheet):
        run.find("lie", name, f"says {items:g} items of {len(run.sheet)}")
    if found is not None and found != len(set(groups)):
        run.find("lie", name, f"says {found:g} clusters of {len(set(groups))}")
    apart = list(equal_rows_apart(run.sheet, groups))
    both = run.printed[name].out + run.printed[name].err
    if apart and not REASON_GIVEN.search(both):
        run.find("equal", name, f"{len(apart)} sets of equal rows apart: {apart[:2]}")
    if (run.folder / "pairs.csv").exists() and model == "labels":
        check_uncompared(run, name, both)


def equal_rows_apart(sheet: Sheet, groups: list[tuple[str, str]]) -> Iterator[list[str]]:
    """The groups of equal rows that are not in one group, where nothing says otherwise: labels, sources."""
    if any(column.kind == "source" for column in sheet.columns):
        return
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for a in range(len(sheet)):
        cells = tuple(column.cells[a].strip() for column in sheet.columns)
        if any(cells) and len(set(cells)) > 1:
            alike[(*(() if sheet.set_names is None else (sheet.set_names[a],)), *cells)].append(a)
    for rows in alike.values():
        labelled = {sheet.labels[a] for a in rows}
        if len({groups[a] for a in rows}) > 1 and len(labelled) == 1:
            yield [sheet.ids[a] for a in rows[:3]]


def check_uncompared(run: Run, name: str, printed: str) -> None:
    """Items that stand in no compared pair are counted in what is printed."""
    printed_count = re.search(r"([\d,]+) items? (?:was|were) compared with nothing", printed)
    pairs = read_rows(run.folder / "pairs.csv")
    compared = {item.strip() for row in pairs for item in (row["id_1"], row["id_2"])}
    sets = run.sheet.set_names or [""] * len(run.sheet)
    sizes, ids = Counter(sets), [item.strip() for item in run.sheet.ids]
    alone = sum(item not in compared and sizes[s] > 1 for item, s in zip(ids, sets, strict=True))
    if printed_count is not None and abs(int(printed_count[1].replace(",", "")) - alone) > 0:
        run.find("lie", name, f"says {printed_count[1]} items compared with nothing, {alone} are")
    if printed_count is None and alone:
        run.find("lie", name, f"{alone} items were compared with nothing, and nothing says so")


def check_evaluate(run: Run) -> None:
    """The pairwise F that ``evaluate`` prints is the one of the groups that ``predict`` wrote."""
    truth = run.truth_file()
    words = [truth.name, *run.roles, "--cluster", run.sheet.label_name, "--model", "labels.model"]
    if not run.call("evaluate", "evaluate", *words):
        return
    said = run.number("evaluate", r"(?m)^pairwise f1\s+[\d.]+\s+([\d.]+)$")
    true = pairwise_f(run.groups["labels"], run.sheet.truth, range(len(run.sheet)))
    if said is None or abs(said - true) > 0.011:
        run.find("lie", "evaluate", f"says pairwise F {said}, the groups of predict have {true:.2f}")


def run_dear(run: Run) -> None:
    """The commands that take longer, or say the same at more length."""
    truth, label = run.folder / f"truth{run.sheet.form.end}", run.sheet.label_name
    known = [truth.name, *run.roles, "--cluster", label]
    run.call("explain", "explain", *known, "--model", "labels.model")
    run.call("report", "report", *known, "--model", "labels.model", "--out", "report.html")
    run.call("show", "show", "labels.model")
    run.call("cv", "cv", *known, "--folds", "2", "--C", "1")
    if "look" in COMMANDS:
        run.call("look", "look", run.data.name, *run.roles, "--cluster", label)
    wide = ["--items", "wide.csv", "--id", run.sheet.id_name]
    if run.sheet.set_names is None and run.call("store", "store", "groups.db", "--create", *wide):
        items = run.number("store", r"([\d,]+) items? in")
        if items != len(run.sheet):
            run.find("lie", "store", f"says {items} items of {len(run.sheet)}")
        words = [run.data.name, *run.roles, "--model", "labels.model", "--existing", "groups.db"]
        run.call("predict --existing", "predict", *words, "--dry-run")
    link_sources(run)


def link_sources(run: Run) -> None:
    """Two sources as two tables, linked."""
    sources = [column for column in run.sheet.columns if column.kind == "source"]
    if not sources or len(set(sources[0].cells)) != 2:
        return
    files = []
    for k, source in enumerate(sorted(set(sources[0].cells))):
        rows = [a for a, cell in enumerate(sources[0].cells) if cell == source]
        files.append(write_sheet(run.folder / f"source{k}", run.sheet.picked(rows)).name)
    run.call("link", "link", *files, *run.roles, "--model", "labels.model", "--out", "linked.csv")


@lru_cache(maxsize=64)
def plain_scores(
    kind: str, draw: int, lost: frozenset[tuple[int, str]], folder: Path, how: tuple[str, ...]
) -> dict[str, float]:
    """F of the plain table without the cells that are lost."""
    plain = make_sheet(kind, draw)
    run = Run(folder / "plain", plain.emptied(lost))
    if run.fit_labels("--quiet", *how):
        run.predict("labels", "--quiet")
    if run.fit_none("--quiet"):
        run.predict("none", "--quiet")
    if run.findings:
        raise RuntimeError(f"the plain table {kind}/{draw} stops: {run.findings}")
    return scores(run, plain)


def costs(case: Case, run: Run, folder: Path, how: tuple[str, ...]) -> dict[str, float]:
    """Points of F that the oddities cost, by model."""
    best = plain_scores(case.kind, case.draw, run.sheet.lost, folder, how)
    found = scores(run, case.plain())
    return {model: best[model] - found[model] for model in found}


def compare(case: Case, run: Run, verdict: Verdict, folder: Path, how: tuple[str, ...]) -> None:
    """A cost of more than a point is one if the mean over further tables bears it out."""
    found = {model: [cost] for model, cost in costs(case, run, folder, how).items()}
    doubtful = {model for model, cost in found.items() if cost[0] > TOLERANCE}
    for n in range(1, DRAWS if doubtful else 1):
        other = case.again(n)
        more = Run(folder / f"again{n}", other.odd(), case.refusals)
        if "labels" in doubtful and more.fit_labels("--quiet", *how):
            more.predict("labels", "--quiet")
        if "none" in doubtful and more.fit_none("--quiet"):
            more.predict("none", "--quiet")
        for model, cost in costs(other, more, folder, how).items():
            found[model].append(cost)
    for model, cost in found.items():
        verdict.figures[f"cost ({model})"] = cost[0]
        mean = sum(cost) / len(cost)
        if model in doubtful and mean > TOLERANCE:
            each = ", ".join(f"{c:.1f}" for c in cost)
            verdict.findings.append(Finding("difference", model, f"{mean:.1f} points of F ({each})"))
