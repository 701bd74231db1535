"""How long a decision takes at 50,000 items: kept on the disk, and how things stand told to the page.

python -m benchmarks.studio_speed [--items 50000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from clustruct.groups import Decision, Item, Store
from clustruct.studio.project import Project, decide, redo_of, undo_of


def times(n: int, rounds: int = 30) -> dict[str, list[float]]:
    """Seconds of each kind of decision, with the status that the page gets, wall clock and processor."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.db"
        with Store.create(path) as made, made.transaction():
            made.add_items(Item(f"i{k}", {"name": f"item {k}"}) for k in range(n))
            made.record_run({f"i{k}": f"g{k // 3}" for k in range(n)})
        project = Project(Path(folder))
        project.store = store = Store(path, shared=True)
        for k in range(rounds):
            asked = {
                "move": lambda k=k: Decision("move", (f"i{k}",), source=f"studio a{k}"),
                "same": lambda k=k: Decision("same", (f"i{k}", f"i{k + 100}"), source=f"studio b{k}"),
                "merge": lambda k=k: Decision(
                    "merge", group=f"g{k + 200}", into=f"g{k + 300}", source=f"studio c{k}"
                ),
                "sort": lambda k=k: Decision(
                    "sort", piles=tuple((f"i{12 * k + a + 4000}",) for a in range(12)), source=f"studio f{k}"
                ),
                "undo": lambda k=k: Decision(
                    "undo", undoes=undo_of(store.decisions()), source=f"studio d{k}"
                ),
                "redo": lambda k=k: Decision(
                    "undo", undoes=redo_of(store.decisions()), source=f"studio e{k}"
                ),
            }
            for name, make in asked.items():
                wall, cpu = time.perf_counter(), time.process_time()
                decide(store, make())
                project.status()
                found.setdefault(name, []).append(time.perf_counter() - wall)
                found.setdefault(f"{name}, processor", []).append(time.process_time() - cpu)
        store.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=50_000)
    for name, seconds in times(parser.parse_args().items).items():
        ms = 1000.0 * np.array(seconds)
        print(f"{name}: median {np.median(ms):.1f} ms, most {ms.max():.1f} ms")


if __name__ == "__main__":
    main()
