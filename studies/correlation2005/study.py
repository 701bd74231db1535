"""The tables of chapter 3."""

from __future__ import annotations

from functools import partial

from studies import raw_data, tasks
from studies.correlation2005 import defaults, many_pairs, mentions, models, news, render
from studies.rendering import markdown
from studies.study import Study, Table

NEWS = tuple(f"news/{name}.jsonl.gz" for name in defaults.NEWS)
RECORDS = tuple(f"entity_resolution/{name}.csv.gz" for name in ("cora", "abt_buy", "dblp_acm"))
MENTIONS = {name: (f"{name}/{name}.jsonl.gz",) for name in ("litbank", "gum")}

STUDY = Study(
    "correlation2005",
    "Supervised correlation clustering: dissertation chapter 3 again",
    (
        *(
            Table(
                f"news-{name}",
                f"Tables 3.2, 3.4, 3.5 and Figure 3.3 on {name}",
                partial(news.by_data, name=name),
                render.news,
                render.draw_weights if name == "googlenews" else None,
                data=(f"news/{name}.jsonl.gz",),
                sources=(models, raw_data),
            )
            for name in defaults.NEWS
        ),
        *(
            Table(
                f"mentions-{name}",
                f"Tables 3.1, 3.3 and 3.4 on {name}",
                partial(mentions.by_data, name=name, step=step),
                render.mentions,
                data=MENTIONS[name],
                sources=(models, many_pairs, raw_data),
            )
            for name, step in (("litbank", 1), ("gum", 2))
        ),
        Table(
            "defaults",
            "News with default settings: mean share of wrong pairs in percent",
            defaults.by_default,
            data=NEWS,
            sources=(tasks,),
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
    small="news-googlenews",
)
