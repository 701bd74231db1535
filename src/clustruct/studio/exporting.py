"""What leaves a project: groups, model, corrections, report; and the commands that do the same unattended."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError
from clustruct.core.storage.targets import replacing
from clustruct.data import GroupingOptions
from clustruct.groups import Store, known_file, write_decisions
from clustruct.pipeline import pipeline_with_cut

from .data import EXPORTED
from .engine import Engine
from .learning import keep, proposed


def export(engine: Engine, folder: Path, stem: str, what: list[str]) -> dict[str, Any]:
    """Write files into the folder of the project; their names, and the commands that make the same."""
    if unknown := sorted(set(what) - set(EXPORTED)):
        raise DataError(f"{unknown[0]!r:.40} cannot be exported")
    files = {name: f"{stem}.{EXPORTED[name]}" for name in what}
    for name, file in files.items():
        _WRITERS[name](engine, folder / file)
    return {"files": files, "commands": commands(engine, stem)}


def _write_groups(engine: Engine, path: Path) -> None:
    with Store(engine.path) as store:
        groups, settings = store.groups(), store.settings()
    table = engine.whole()
    with known_file(path, table, groups, settings.get("id") or "id", settings.get("cluster") or "cluster"):
        pass


def _write_model(engine: Engine, path: Path) -> None:
    with Store(engine.path) as store:
        models = store.models()
        if not models:
            raise DataError("there is no model yet: learn first")
        content = store.model(models[-1].number)
    with replacing(path) as f:
        f.write(content)


def _write_corrections(engine: Engine, path: Path) -> None:
    with Store(engine.path) as store:
        write_decisions(path, store.decisions())


def _write_report(engine: Engine, path: Path) -> None:
    from clustruct.evaluate.report import write_report

    found = engine.model()
    if found is None:
        raise DataError("there is no model yet: learn first")
    write_report(path, found[1], [replace(engine.known().table, labels=None)])


_WRITERS = {
    "groups": _write_groups,
    "model": _write_model,
    "corrections": _write_corrections,
    "report": _write_report,
}


def commands(engine: Engine, stem: str) -> list[str]:
    """What does the same without a page."""
    with Store(engine.path) as store:
        settings = store.settings()
    source, project = settings.get("source") or "data.csv", engine.path.name
    named = ["--id", settings["id"]] if settings.get("id") else []
    fields = ["--fields", ",".join(settings["fields"])] if settings.get("fields") else []
    model, groups, report = (f"{stem}.{EXPORTED[name]}" for name in ("model", "groups", "report"))
    data = [*named, *fields]
    lines = [
        ["clustruct", "predict", source, "--model", model, *data, "--out", groups],
        ["clustruct", "predict", "new.csv", "--model", model, *data, "--existing", project],
        ["clustruct", "store", project, "--groups-out", groups],
        ["clustruct", "fit", source, *data, "--corrections", project, "--model", model],
        ["clustruct", "report", source, "--model", model, *data, "--out", report],
    ]
    return [shlex.join(words) for words in lines]


def regroup_at(engine: Engine, precision: float) -> dict[str, Any]:
    """Group anew so that this share of the pairs put together is right, by held-out groups."""
    found = engine.model()
    if found is None:
        raise DataError("there is no model yet: learn first")
    known = engine.known()
    pipeline = pipeline_with_cut(found[1], GroupingOptions(precision=precision))
    dial = found[1][-1].dial(precision)
    scores = engine.scored(pipeline)
    groups = proposed(known, pipeline, scores)
    about = {
        "how": f"precision {precision:g}",
        "answers": len(known.answers),
        "at": known.at,
        "calibrated": True,
    }
    number, changes = keep(engine, pipeline, scores, groups, about)
    return {"model": number, "changes": changes.summary(), "dial": str(dial), "reached": dial.reached}
