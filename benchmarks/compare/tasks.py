"""The tasks: customer records with slips, points whose loud features are noise, and moons with strays."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from benchmarks.compare.files import FIELDS, SEEDS, Sets
from clustruct.data.datasets import make_records

N_PEOPLE, N_LABELLED = 250, 60


def write_records(where: Path, seed: int) -> None:
    """A table of records of 250 people, 60 of them labelled, and the truth beside it."""
    table = make_records(n_sets=1, n_people=N_PEOPLE, errors=0.7, random_state=seed)[0]
    assert table.labels is not None
    known = np.random.default_rng(seed).permutation(sorted(set(table.labels)))[:N_LABELLED]
    tables = {"records": lambda y: y if y in known else "", "truth": lambda y: y}
    for name, shown in tables.items():
        with (where / f"{name}-{seed}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["id", "label", *FIELDS])
            for k, (item, label) in enumerate(zip(table.items, table.labels, strict=True)):
                out.writerow([k, shown(label), *(item[f] or "" for f in FIELDS)])


def directions(rng: np.random.Generator, m: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Four groups in two quiet features, anywhere on a circle, beside four loud features of noise."""
    y = np.repeat(np.arange(4), m // 4)
    turn = 2 * np.pi * (np.arange(4) / 4 + rng.random())
    signal = np.column_stack([np.cos(turn), np.sin(turn)])[y] + 0.18 * rng.normal(size=(m, 2))
    return np.column_stack([signal, 1.5 * rng.normal(size=(m, 4))]), y


def moons(rng: np.random.Generator, m: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Two moons, and 15 % strays that belong to no group (label -1)."""
    y = rng.permutation(np.r_[np.zeros(m // 2), np.ones(m // 2)]).astype(int)
    angle = np.pi * rng.random(m)
    at = np.column_stack([np.cos(angle) + y, np.where(y, 0.35 - np.sin(angle), np.sin(angle))])
    at += 0.05 * rng.normal(size=at.shape)
    stray = rng.random(m) < 0.15
    at[stray] = rng.uniform([-1.3, -1.0], [2.3, 1.4], (int(stray.sum()), 2))
    return at, np.where(stray, -1, y)


MADE = {"directions": directions, "moons": moons}


def write_sets(where: Path, task: str, seed: int, n_train: int = 6, n_new: int = 5) -> None:
    """Sets of one task."""
    rng = np.random.default_rng(seed)
    sets: Sets = [MADE[task](rng) for _ in range(n_train + n_new)]
    arrays = {
        f"{letter}{k}": part for k, both in enumerate(sets) for letter, part in zip("Xy", both, strict=True)
    }
    np.savez(where / f"{task}-{seed}.npz", n_train=n_train, n_sets=len(sets), **arrays)


def make(where: Path) -> None:
    """All tasks, all seeds."""
    where.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        write_records(where, seed)
        for task in MADE:
            write_sets(where, task, seed)
