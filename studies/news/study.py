"""The tables on news and author names."""

from __future__ import annotations

from studies import command_line, raw_data
from studies.news import by_command, few_groups, halves
from studies.study import Study, Table

FILES = tuple(raw_data.PATHS.values())

STUDY = Study(
    "news",
    "News and author names: what the features and the command are worth",
    (
        Table(
            "features",
            "Default features, two halves by group, beside the pair classifier",
            halves.two_halves,
            data=FILES,
            sources=(raw_data,),
        ),
        Table(
            "command", "Through the command alone", by_command.by_command, data=FILES, sources=(command_line,)
        ),
        Table(
            "few-groups",
            "googlenews: C chosen on four groups",
            few_groups.rules,
            data=(raw_data.PATHS[few_groups.NAME],),
            sources=(raw_data, halves),
        ),
    ),
    small="features",
)
