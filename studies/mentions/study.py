"""The tables on mentions."""

from __future__ import annotations

from functools import partial
from typing import Any

from studies import raw_data
from studies.mentions import losses
from studies.rendering import markdown
from studies.study import Study, Table


def all_parts(rows: dict[str, list[dict[str, Any]]] | list[dict[str, Any]]) -> str:
    """By loss, by score, and the means by score; results of earlier runs have less."""
    if isinstance(rows, list):
        return markdown(rows)
    return "\n\n".join(markdown(rows[part]) for part in ("losses", "scores", "means") if part in rows)


STUDY = Study(
    "mentions",
    "Mentions: models trained for different losses",
    tuple(
        Table(
            name,
            f"{name}, half of the documents train",
            partial(losses.by_loss, name=name, documents=documents),
            render=all_parts,
            data=(f"{name}/{name}.jsonl.gz",),
            sources=(raw_data,),
        )
        for name, documents in (("litbank", 100), ("gum", 60))
    ),
    small="litbank",
)
