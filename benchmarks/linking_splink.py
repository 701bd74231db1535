"""splink in link_only mode: ``python -m benchmarks.linking_splink NAME FIRST SECOND PAIRS``.

The two tables have id, entity (of the labelled rows) and fields. As its tutorial has it: DuckDB, the chance
of a match from strict rules, u by random sampling, m by expectation maximisation. Then its own
one-to-one step, ``cluster_using_single_best_links`` with both tables free of duplicates, at the match weight
of the best F over the pairs that touch a labelled row.
"""

from __future__ import annotations

import csv
import json
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

from benchmarks.tables.scores import known_labels, touching

WEIGHTS = np.arange(-15.0, 16.0, 3.0)  # log2 of the odds of a match
NAMES = ("first", "second")
# The words of a text, its rarest ones over both tables, and the last word with a digit (a model number).
WORDS = """
    create table texts as select *, list_distinct(string_split(
        lower(regexp_replace({text}, '[^a-zA-Z0-9 ]', ' ', 'g')), ' ')) as words from every;
    create table uses as select uid, unnest(words) as word from texts;
    create table counts as select word, count(*) as n from uses group by word having n > 1;
    create table rarest as select uid, list(word order by n)[1:4] as rare from uses join counts using (word)
        group by uid;
    create table ready as select *, nullif(regexp_extract(
        upper(replace({text}, '-', '')), '[A-Z]{{2,}}[0-9]+[A-Z0-9]*|[0-9]{{4,}}[A-Z0-9]*'), '') as code
        from texts left join rarest using (uid);
"""


@dataclass(frozen=True)
class Model:
    """What splink is told of a pair of tables; `text` is the field whose words it gets."""

    text: str
    comparisons: Callable[[], list[Any]]
    prediction: tuple[tuple[str, ...], ...]
    strict: tuple[tuple[str, ...], ...]
    training: tuple[tuple[str, ...], ...]


def _products() -> list[Any]:
    return [
        cl.ExactMatch("code").configure(term_frequency_adjustments=True),
        cl.JaroWinklerAtThresholds("name", [0.95, 0.88, 0.8]),
        cl.ArrayIntersectAtSizes("words", [8, 6, 5, 4, 3, 2, 1]),
        cl.LevenshteinAtThresholds("price", [1, 2]),
    ]


def _publications() -> list[Any]:
    return [
        cl.JaroWinklerAtThresholds("title", [0.98, 0.92, 0.85, 0.75]),
        cl.ArrayIntersectAtSizes("words", [8, 6, 5, 4, 3, 2, 1]),
        cl.JaroWinklerAtThresholds("authors", [0.95, 0.88, 0.75]),
        cl.ExactMatch("year"),
        cl.ExactMatch("venue"),
    ]


MODELS = {
    "abt_buy": Model(
        "name",
        _products,
        prediction=(("rare",), ("code",)),
        strict=(("code",),),
        training=(("code",), ("rare[1]",)),
    ),
    "dblp_acm": Model(
        "title",
        _publications,
        prediction=(("rare",), ("authors",)),
        strict=(("title", "year"),),
        training=(("authors",), ("title",)),
    ),
}


def _rule(columns: tuple[str, ...]) -> Any:
    return block_on(*columns, arrays_to_explode=[name for name in columns if name == "rare"] or None)


def linker_of(model: Model, tables: list[Path]) -> Linker:
    """Both tables in DuckDB, without the entities."""
    connection = duckdb.connect()
    reads = [
        f"select '{name}:' || id as uid, '{name}' as source_dataset, * exclude (id, entity) from "
        f"read_csv('{path}', all_varchar=true, header=true)"
        for name, path in zip(NAMES, tables, strict=True)
    ]
    connection.execute(f"create table every as {' union all by name '.join(reads)}")
    connection.execute(WORDS.format(text=model.text))
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=model.comparisons(),
        blocking_rules_to_generate_predictions=[_rule(rule) for rule in model.prediction],
        unique_id_column_name="uid",
        retain_matching_columns=False,
    )
    api = DuckDBAPI(connection)
    for name in NAMES:
        connection.execute(f"create table {name} as select * from ready where source_dataset = '{name}'")
    registered = [api.register(name, dataset_display_name=name) for name in NAMES]
    return Linker(registered, settings)


def train(linker: Linker, model: Model) -> None:
    """Without labels."""
    training = linker.training
    strict = [_rule(rule) for rule in model.strict]
    training.estimate_probability_two_random_records_match(strict, recall=0.7)
    training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
    for rule in model.training:
        training.estimate_parameters_using_expectation_maximisation(_rule(rule))


def read_known(tables: list[Path]) -> dict[str, int]:
    """The entity of each row, -1 where it has none."""
    found = {}
    for name, path in zip(NAMES, tables, strict=True):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found[f"{name}:{row['id']}"] = int(row["entity"] or -1)
    return found


def main() -> None:
    logging.disable(logging.WARNING)
    name, *paths = sys.argv[1:]
    *tables, out = [Path(path) for path in paths]
    model = MODELS[name]
    linker = linker_of(model, tables)
    train(linker, model)
    found = linker.inference.predict(threshold_match_weight=float(WEIGHTS[0]))
    known = read_known(tables)
    number = {uid: k for k, uid in enumerate(known)}
    entity = np.array([*known.values()])
    labelled = entity >= 0
    truth = known_labels(entity, labelled)

    def groups(weight: float) -> np.ndarray:
        clusters = linker.clustering.cluster_using_single_best_links(
            found, duplicate_free_datasets=list(NAMES), threshold_match_weight=weight
        )
        answer = clusters.as_duckdbpyrelation().project("uid, cluster_id").fetchnumpy()
        labels = np.arange(len(number)) + len(number)
        rows = [number[uid] for uid in answer["uid"]]
        labels[rows] = np.unique(answer["cluster_id"].astype(str), return_inverse=True)[1]
        return labels

    best = max(WEIGHTS.tolist(), key=lambda weight: touching(truth, groups(weight), labelled).f1)
    labels, uids = groups(best), list(number)
    mates: dict[int, list[str]] = {}
    for uid, label in zip(uids, labels.tolist(), strict=True):
        mates.setdefault(label, []).append(uid.split(":", 1)[1])
    with out.open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["id_a", "id_b"])
        write.writerows(pair for pair in mates.values() if len(pair) == 2)
    out.with_suffix(".json").write_text(json.dumps({"match weight": best}))


if __name__ == "__main__":
    main()
