"""The tables on links."""

from __future__ import annotations

from functools import partial

from studies import raw_data, rendering
from studies.linkage import splits
from studies.study import Study, Table

STUDY = Study(
    "linkage",
    "Links beside correlation clustering",
    tuple(
        Table(
            name,
            f"{name}, three splits of the documents",
            partial(splits.compare, name=name, most=100, documents=documents),
            partial(rendering.markdown, digits={"C": 0, "p": 4}),
            data=(f"{name}/{name}.jsonl.gz",),
            sources=(raw_data,),
        )
        for name, documents in (("litbank", 100), ("gum", 60))
    ),
    small="litbank",
)
