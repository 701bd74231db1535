"""The tables on mentions."""

from __future__ import annotations

from functools import partial
from typing import Any

from studies import raw_data
from studies.mentions import losses
from studies.rendering import markdown
from studies.study import Study, Table


def both(rows: dict[str, list[dict[str, Any]]] | list[dict[str, Any]]) -> str:
    """By loss, then by score; results of earlier runs are by loss alone."""
    if isinstance(rows, list):
        return markdown(rows)
    return "\n\n".join(markdown(rows[part]) for part in ("losses", "scores"))


STUDY = Study(
    "mentions",
    "Mentions: models trained for different losses",
    tuple(
        Table(
            name,
            f"{name}, half of the documents train",
            partial(losses.by_loss, name=name, documents=documents),
            render=both,
            data=(f"{name}/{name}.jsonl.gz",),
            sources=(raw_data,),
        )
        for name, documents in (("litbank", 100), ("gum", 60))
    ),
    small="litbank",
)
