"""The tables of chapter 3."""

from __future__ import annotations

from functools import partial

from studies import tasks
from studies.correlation2005 import defaults
from studies.rendering import markdown
from studies.study import Study, Table

NEWS = tuple(f"news/{name}.jsonl.gz" for name in defaults.NEWS)
RECORDS = tuple(f"entity_resolution/{name}.csv.gz" for name in ("cora", "abt_buy", "dblp_acm"))
MENTIONS = {name: (f"{name}/{name}.jsonl.gz",) for name in ("litbank", "gum")}

STUDY = Study(
    "correlation2005",
    "Supervised correlation clustering: dissertation chapter 3 again",
    (
        Table(
            "defaults",
            "News with default settings: mean share of wrong pairs in percent",
            defaults.by_default,
            data=NEWS,
            sources=(tasks,),
        ),
        *(
            Table(
                f"simple-{name}",
                f"Table 3.3 with simple mention features: {name}",
                partial(defaults.mentions, name=name, C=C),
                partial(markdown, digits={"p on mitre": 4, "p on pairwise": 4}),
                data=MENTIONS[name],
                sources=(tasks,),
            )
            for name, C in (("litbank", "cv"), ("gum", 1.0))
        ),
        Table(
            "choice-of-C",
            "The same values of C on six data sets",
            defaults.choice_of_C,
            partial(markdown, digits=3),
            data=(*NEWS, *RECORDS, *MENTIONS["litbank"]),
            sources=(tasks,),
        ),
    ),
    small="defaults",
)
