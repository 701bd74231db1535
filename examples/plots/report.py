"""A report on one page, from raw sets: three made-up shops list the same things under other names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

from clustruct import PairFeatures, SupervisedCorrelationClustering, Table
from clustruct.evaluate.report import write_report
from clustruct.features import guess_blocks

KINDS = ["desk lamp", "table lamp", "oak chair", "steel chair", "wall clock", "travel clock", "tea pot"]


def shop(name: str, rng: np.random.Generator) -> Table:
    """Up to four offers of each kind: words in any order, some left out, prices that vary."""
    items, labels = [], []
    for number, kind in enumerate(KINDS):
        for _ in range(rng.integers(1, 5)):
            words = rng.permutation([*kind.split(), rng.choice(["new", "classic", "black", "small"])])
            price = 20.0 + 5.0 * number + 4.0 * rng.normal()
            items.append({"title": " ".join(words[: rng.integers(1, 4)]), "price": round(price, 2)})
            labels.append(kind)
    return Table(items, labels=labels, name=name, ids=[f"{name} {a}" for a in range(len(items))])


def main(page: Path = Path("out/plots/report.html")) -> Path:
    rng = np.random.default_rng(0)
    sets = [shop(f"shop {letter}", rng) for letter in "ABCDEF"]
    train, test = sets[:3], sets[3:]
    model = make_pipeline(PairFeatures(guess_blocks(train)), SupervisedCorrelationClustering(C=1.0))
    model.fit(train, [table.labels for table in train])
    page.parent.mkdir(parents=True, exist_ok=True)
    write_report(page, model, test, title="Offers of three shops")
    print(f"Report: {page}")
    return page


if __name__ == "__main__":
    main()
