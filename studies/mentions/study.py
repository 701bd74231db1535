"""The tables on mentions."""

from __future__ import annotations

from functools import partial

from studies import raw_data
from studies.mentions import losses
from studies.study import Study, Table

STUDY = Study(
    "mentions",
    "Mentions: models trained for different losses",
    tuple(
        Table(
            name,
            f"{name}, half of the documents train",
            partial(losses.by_loss, name=name, documents=documents),
            data=(f"{name}/{name}.jsonl.gz",),
            sources=(raw_data,),
        )
        for name, documents in (("litbank", 100), ("gum", 60))
    ),
    small="litbank",
)
