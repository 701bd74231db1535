"""splink on a table: ``python -m benchmarks.tables.by_splink learn|group SHAPE TABLE MODEL [GROUPS]``.

As its tutorial has it: DuckDB; the chance of a match from strict rules; u by random sampling; m by
expectation maximisation with several rules; term frequencies for names and towns; connected components. The
threshold is the one with the best pairwise F over the pairs that touch a labelled row. Columns that are
only carried along are left out of the predictions, which saves time and memory.
"""

from __future__ import annotations

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
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from splink import DuckDBAPI, Linker, SettingsCreator, block_on
from splink.internals.splink_dataframe import SplinkDataFrame

from benchmarks.tables.files import read_labels, write_groups
from benchmarks.tables.scores import Labels, known_labels, touching
from benchmarks.tables.table import ENTITY, ID

WEIGHTS = np.arange(-6.0, 30.0, 1.0)  # log2 of the odds of a match
SAMPLED_PAIRS = 2e6


@dataclass(frozen=True)
class Model:
    """How a shape of tables is described to splink.

    prediction : the blocking rules; strict : rules whose pairs are matches, and their recall
    training : the blocking rules of expectation maximisation; prepare : SQL that adds columns to `rows`
    """

    comparisons: Callable[[], list[Any]]
    prediction: tuple[tuple[str, ...], ...]
    strict: tuple[tuple[str, ...], ...]
    training: tuple[tuple[str, ...], ...]
    recall: float = 0.7
    prepare: str = ""

    def settings(self) -> SettingsCreator:
        return SettingsCreator(
            link_type="dedupe_only",
            comparisons=self.comparisons(),
            blocking_rules_to_generate_predictions=[_rule(rule) for rule in self.prediction],
            unique_id_column_name=ID,
            retain_matching_columns=False,
        )


def _rule(columns: tuple[str, ...]) -> Any:
    """Equal columns; of a column of lists, one entry in common."""
    return block_on(*columns, arrays_to_explode=[name for name in columns if name == "rare"] or None)


def _persons() -> list[Any]:
    return [
        cl.NameComparison("given_name").configure(term_frequency_adjustments=True),
        cl.NameComparison("surname").configure(term_frequency_adjustments=True),
        cl.DateOfBirthComparison("birth_date", input_is_string=True),
        cl.JaroWinklerAtThresholds("street", [0.95, 0.88]),
        cl.LevenshteinAtThresholds("town", [1, 2]).configure(term_frequency_adjustments=True),
        cl.LevenshteinAtThresholds("phone", [1, 2]),
        cl.EmailComparison("email"),
    ]


def _products() -> list[Any]:
    return [
        cl.ExactMatch("model"),
        cl.ArrayIntersectAtSizes("title_words", [5, 4, 3, 2, 1]),
        cl.JaroWinklerAtThresholds("brand", [0.9]).configure(term_frequency_adjustments=True),
        cl.ArrayIntersectAtSizes("words", [14, 11, 8, 6, 4, 2]),
    ]


PERSONS = Model(
    _persons,
    prediction=(("given_name", "surname"), ("birth_date",), ("phone",), ("email",), ("surname", "town")),
    strict=(("given_name", "surname", "birth_date"), ("email", "birth_date"), ("phone", "given_name")),
    training=(("given_name", "surname"), ("birth_date",), ("email",)),
)
# splink is not made for long texts: it gets their words, the model number, and the rarest words to block by.
WORDS = """
    create table texts as select *, list_distinct(string_split(title, ' ')) as title_words,
        list_distinct(string_split(description, ' ')) as words,
        nullif(regexp_extract(replace(title, '-', ''), '[a-z]{2}[0-9]{3,5}'), '') as model from rows;
    create table uses as select id, unnest(words) as word from texts;
    create table counts as select word, count(*) as n from uses group by word having n > 1;
    create table rarest as select id, list(word order by n)[1:4] as rare from uses join counts using (word)
        group by id;
    create or replace table rows as select * from texts left join rarest using (id);
"""
PRODUCTS = Model(
    _products,
    prediction=(
        ("model",),
        ("rare",),
        ("brand", "split_part(title, ' ', 2)"),
        ("split_part(title, ' ', 2)", "split_part(title, ' ', 3)"),
        ("split_part(description, ' ', 1)", "split_part(description, ' ', 2)"),
    ),
    strict=(("brand", "model"),),
    training=(("model",), ("brand", "split_part(description, ' ', 1)")),
    recall=0.3,
    prepare=WORDS,
)


def model_of(shape: str) -> Model:
    """What splink is told of a shape."""
    return PRODUCTS if shape == "products" else PERSONS


def _linker(shape: str, table: Path, settings: SettingsCreator | str) -> Linker:
    """All columns as text, the entity left out."""
    connection = duckdb.connect()
    read = f"read_csv('{table}', all_varchar=true, header=true)"
    connection.execute(
        f"create table rows as select * exclude ({ENTITY}) replace (cast({ID} as bigint) as {ID}) from {read}"
    )
    if prepare := model_of(shape).prepare:
        connection.execute(prepare)
    api = DuckDBAPI(connection)
    return Linker(api.register("rows"), settings)


def learn(shape: str, table: Path, model: Path) -> None:
    """Train without labels, and save the model."""
    chosen = model_of(shape)
    linker = _linker(shape, table, chosen.settings())
    strict = [block_on(*rule) for rule in chosen.strict]
    training = linker.training
    training.estimate_probability_two_random_records_match(strict, recall=chosen.recall)
    training.estimate_u_using_random_sampling(max_pairs=SAMPLED_PAIRS, seed=1)
    for rule in chosen.training:
        training.estimate_parameters_using_expectation_maximisation(block_on(*rule))
    linker.misc.save_model_to_json(str(model), overwrite=True)


def group(shape: str, table: Path, model: Path, groups: Path) -> float:
    """Score the pairs, choose the threshold by the labels, cluster. The threshold is returned."""
    linker = _linker(shape, table, str(model))
    found = linker.inference.predict(threshold_match_weight=float(WEIGHTS[0]))
    weight = best_weight(found, table)
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
        found, threshold_match_weight=weight
    )
    answer = clusters.as_duckdbpyrelation().project(f"{ID}, cluster_id").fetchnumpy()
    labels = np.zeros(len(answer[ID]), np.int64)
    labels[answer[ID]] = np.unique(answer["cluster_id"], return_inverse=True)[1]
    write_groups(groups, labels)
    return weight


def best_weight(found: SplinkDataFrame, table: Path) -> float:
    """The match weight from which on pairs are joined."""
    entity, labelled = read_labels(table)
    known = known_labels(entity, labelled)
    pairs = found.as_duckdbpyrelation().project(f"{ID}_l, {ID}_r, match_weight").fetchnumpy()
    left, right, weight = pairs[f"{ID}_l"], pairs[f"{ID}_r"], pairs["match_weight"]

    def f1(least: float) -> float:
        kept = weight >= least
        labels = components(left[kept], right[kept], len(entity))
        return touching(known, labels, labelled).f1

    return float(max(WEIGHTS, key=f1))


def components(left: Labels, right: Labels, m: int) -> Labels:
    """The connected components of m rows joined by pairs."""
    edges = sparse.coo_array((np.ones(len(left), np.int8), (left, right)), shape=(m, m))
    return connected_components(edges, directed=False)[1].astype(np.int64)


def main() -> None:
    logging.disable(logging.WARNING)
    step, shape, *paths = sys.argv[1:]
    files = [Path(p) for p in paths]
    if step == "learn":
        learn(shape, *files)
    else:
        files[-1].with_suffix(".json").write_text(json.dumps({"threshold": group(shape, *files)}))


if __name__ == "__main__":
    main()
