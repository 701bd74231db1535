"""Small files to try the hook modules on: ``python make_data.py folder``."""

import json
import sys
from pathlib import Path

import numpy as np


def binary_lines(rng, w, n):
    """SVM^light lines: 20 of the features are set, the label is the side of a noisy plane."""
    for _ in range(n):
        where = np.sort(rng.choice(len(w), 20, replace=False))
        values = rng.uniform(size=20).round(3)
        label = 1 if w[where] @ values + 0.2 * rng.normal() > 0 else -1
        yield f"{label} " + " ".join(f"{k + 1}:{v:g}" for k, v in zip(where, values, strict=True))


def multiclass_lines(rng, W, n):
    for _ in range(n):
        x = rng.normal(size=W.shape[1]).round(3)
        label = int(np.argmax(W @ x + 0.5 * rng.normal(size=len(W))))
        yield f"{label + 1} " + " ".join(f"{k + 1}:{v:g}" for k, v in enumerate(x))


def tagging_lines(rng, n):
    """Sentences of a toy grammar in which "run" and "walk" are nouns after "the", verbs after a noun."""
    words = {"D": ["the", "a"], "N": ["dog", "cat", "run", "walk"], "V": ["runs", "sees", "run", "walk"]}
    for _ in range(n):
        tags = ["D", "N", "V", "D", "N", "V"][: rng.integers(3, 7)]
        yield " ".join(f"{rng.choice(words[tag])}/{tag}" for tag in tags)


def kmeans_lines(rng, n):
    """Item sets whose clusters differ in the first three features; five more are noise, and louder."""
    for _ in range(n):
        clusters = np.sort(np.concatenate([np.arange(3), rng.integers(3, size=9)]))
        clear = 2.0 * np.eye(3)[clusters] + 0.3 * rng.normal(size=(12, 3))
        items = np.hstack([clear, 3.0 * rng.normal(size=(12, 5))]).round(3)
        yield json.dumps({"items": items.tolist(), "clusters": clusters.tolist()})


def main(folder="."):
    rng = np.random.default_rng(0)
    w, W = rng.normal(size=100), rng.normal(size=(4, 15))
    for part, n in (("train", 300), ("test", 200)):
        files = {
            "binary.dat": binary_lines(rng, w, n),
            "multiclass.dat": multiclass_lines(rng, W, n),
            "tagging.txt": tagging_lines(rng, n // 5),
            "kmeans.json": kmeans_lines(rng, n // 15),
        }
        for name, lines in files.items():
            Path(folder).mkdir(parents=True, exist_ok=True)
            Path(folder, f"{part}-{name}").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
