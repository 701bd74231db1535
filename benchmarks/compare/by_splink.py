"""Records by splink: ``python -m benchmarks.compare.by_splink FOLDER``.

As its tutorial has it, on DuckDB: the chance of a match from strict rules, u by random sampling, m by
expectation maximisation; no labels. Then connected components at that match probability, of five, which has
the best pairwise F over labelled rows. All pairs are compared: rules of equal columns (phone, name, street,
born) list only two thirds of the true pairs, and came to F 79.
"""

from __future__ import annotations

import logging
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

from benchmarks.compare.files import SEEDS, Answers, folder, read_rows

THRESHOLDS = (0.5, 0.8, 0.9, 0.95, 0.99)


def linker_of(where: Path, seed: int) -> Linker:
    """The table in DuckDB, without labels, what is empty as null."""
    connection = duckdb.connect()
    read = f"read_csv('{where / f'records-{seed}.csv'}', all_varchar=true, header=true)"
    connection.execute(f"create table rows as select * exclude (label) from {read}")
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            cl.JaroWinklerAtThresholds("name", [0.95, 0.88, 0.8]).configure(term_frequency_adjustments=True),
            cl.JaroWinklerAtThresholds("street", [0.95, 0.88]),
            cl.ExactMatch("city").configure(term_frequency_adjustments=True),
            cl.LevenshteinAtThresholds("phone", [1, 2]),
            cl.LevenshteinAtThresholds("born", [1]),
        ],
        blocking_rules_to_generate_predictions=["1 = 1"],
        unique_id_column_name="id",
        retain_matching_columns=False,
    )
    return Linker(DuckDBAPI(connection).register("rows"), settings)


def records(where: Path, seed: int) -> list[Any]:
    """Train without labels, cluster at the threshold that labels choose."""
    rows, linker = read_rows(where, seed), linker_of(where, seed)
    training = linker.training
    training.estimate_probability_two_random_records_match(
        [block_on("name", "born"), block_on("phone")], recall=0.6
    )
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in ("phone", "born"):
        training.estimate_parameters_using_expectation_maximisation(block_on(rule))
    found = linker.inference.predict(threshold_match_probability=min(THRESHOLDS))
    answers = [_clusters(linker, found, threshold, len(rows)) for threshold in THRESHOLDS]
    return [max(answers, key=lambda labels: _known_f(rows, labels))]


def _clusters(linker: Linker, found: Any, threshold: float, n: int) -> np.ndarray:
    made = linker.clustering.cluster_pairwise_predictions_at_threshold(found, threshold)
    answer = made.as_duckdbpyrelation().project("id, cluster_id").fetchnumpy()
    labels = np.arange(n) + n
    labels[answer["id"].astype(int)] = np.unique(answer["cluster_id"].astype(str), return_inverse=True)[1]
    return labels


def _known_f(rows: list[dict[str, str]], labels: np.ndarray) -> float:
    known = [k for k, row in enumerate(rows) if row["label"]]
    right, made = (
        {(a, b) for a, b in combinations(known, 2) if of[a] == of[b]}
        for of in ([row["label"] for row in rows], labels)
    )
    return 2.0 * len(right & made) / max(len(right) + len(made), 1)


def main() -> None:
    logging.disable(logging.WARNING)
    where = folder()
    kept = Answers(where, "splink", version("splink"))
    for seed in SEEDS:
        kept.add("records", "no labels but for the threshold", seed, lambda s=seed: records(where, s))  # type: ignore[misc]


if __name__ == "__main__":
    main()
