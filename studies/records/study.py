"""The tables on records."""

from __future__ import annotations

from functools import partial

from studies import command_line, raw_data, tasks
from studies.records import blocking, by_command, by_dedupe, folds, large_set
from studies.rendering import markdown
from studies.study import Study, Table


def _files(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"entity_resolution/{name}.csv.gz" for name in names)


STUDY = Study(
    "records",
    "Records: what the features, the blocking and the command are worth",
    (
        Table(
            "folds",
            "Folds 0-4 train, folds 5-9 test, beside logistic regression on the same features",
            folds.folds,
            data=_files(folds.NAMES),
            sources=(raw_data,),
        ),
        Table(
            "dedupe",
            "dedupe on the same folds",
            by_dedupe.by_dedupe,
            data=_files(by_dedupe.NAMES),
            sources=(raw_data, folds),
        ),
        Table(
            "command",
            "Through the command alone",
            by_command.by_command,
            data=_files(folds.NAMES),
            sources=(command_line,),
        ),
        Table(
            "whole-table",
            "A whole table through the command: walmart_amazon",
            by_command.whole_table,
            data=_files(("walmart_amazon",)),
            sources=(command_line,),
        ),
        Table(
            "blocking",
            "Whole data sets with blocking",
            blocking.blocking,
            partial(markdown, digits={"recall of blocking": 3}),
            data=_files(blocking.NAMES),
            sources=(raw_data, folds),
        ),
        Table(
            "one-large-set",
            "Five folds of cora as one labelled set, whole and cut by whole clusters",
            large_set.one_large_set,
            data=_files(("cora",)),
            sources=(tasks,),
        ),
    ),
    small="folds",
)
