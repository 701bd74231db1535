"""What leaves a project: groups, model, corrections, report; and the commands that do the same unattended."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError
from clustruct.core.storage.targets import replacing
from clustruct.data import GroupingOptions
from clustruct.groups import Store, write_decisions
from clustruct.groups.known import known_file, known_of_store
from clustruct.pipeline import pipeline_with_cut

from .engine import Engine
from .folder import EXPORTED
from .learning import keep, propose_groups


def export(engine: Engine, folder: str, stem: str, what: list[str]) -> dict[str, Any]:
    """Write files into the folder of the project; their names, and the commands that make the same."""
    if unknown := sorted(set(what) - set(EXPORTED)):
        raise DataError(f"{unknown[0]!r:.40} cannot be exported")
    files = {name: f"{stem}.{EXPORTED[name]}" for name in what}
    for name, file in files.items():
        _WRITERS[name](engine, Path(folder, file))
    return {"files": files, "commands": commands(engine, stem)}


def _write_groups(engine: Engine, path: Path) -> None:
    with Store(engine.path) as store:
        groups, settings, table = store.groups(), store.settings(), known_of_store(store, indexed=False).table
    assert table is not None
    with known_file(path, table, groups, settings.get("id") or "id", settings.get("cluster") or "cluster"):
        pass


def _write_model(engine: Engine, path: Path) -> None:
    number, _ = engine.need_model()
    with Store(engine.path) as store:
        content = store.model(number)
    with replacing(path) as f:
        f.write(content)


def _write_corrections(engine: Engine, path: Path) -> None:
    with Store(engine.path) as store:
        write_decisions(path, store.decisions())


def _write_report(engine: Engine, path: Path) -> None:
    from clustruct.evaluate.report import write_report

    _, pipeline = engine.need_model()
    write_report(path, pipeline, [replace(engine.snapshot().table, labels=None)])


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
    snapshot, (_, model) = engine.snapshot(), engine.need_model()
    pipeline = pipeline_with_cut(model, GroupingOptions(precision=precision))
    dial = model[-1].dial(precision)
    scores = engine.make_scores(pipeline)
    groups = propose_groups(snapshot, pipeline, scores)
    about = {
        "how": f"precision {precision:g}",
        "answers": len(snapshot.answers),
        "at": snapshot.at,
        "calibrated": True,
    }
    number, changes = keep(engine, pipeline, scores, groups, about)
    return {"model": number, "changes": changes.summary(), "dial": str(dial), "reached": dial.reached}
