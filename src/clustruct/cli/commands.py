"""The commands as the help shows them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from . import options


@dataclass(frozen=True)
class Command:
    """One command as the help shows it."""

    summary: str
    description: str
    examples: str
    arguments: Callable[[argparse.ArgumentParser], None]


COMMANDS = {
    "fit": Command(
        "learn from sets whose groups are known",
        "Learn a similarity of pairs from sets whose clusters are known, and write it to a model file.\n"
        "Features are guessed from the fields (--kind, --fields), C is chosen by cross-validation.\n"
        "Ctrl-C stops the training and keeps the model so far.",
        "examples\n"
        "  clustruct fit news.jsonl --model news.model\n"
        "  clustruct fit people.csv --set batch --id nr --cluster person --model people.model\n"
        "  clustruct fit people.csv --cluster person --model people.model      (one table, cut by clusters)\n"
        "  clustruct fit cora.csv.gz --set fold --where fold=0,1,2 --id nr --cluster work --model c.model",
        options.fit,
    ),
    "predict": Command(
        "group new sets",
        "Group the items of each set with a learned model. Columns are those of the training, unless given.",
        "examples\n"
        "  clustruct predict new.jsonl --model news.model --out groups.csv\n"
        "  clustruct predict people.csv --model people.model --confidence > groups.csv",
        options.predict,
    ),
    "evaluate": Command(
        "how good is a model? every score, per set and mean",
        "Compare predicted clusters with the right ones: pairwise, MUC, B-cubed, CEAF, LEA, Rand, NMI, ...\n"
        "Two models are compared set by set (Wilcoxon signed ranks, t-test).",
        "examples\n"
        "  clustruct evaluate test.jsonl --model news.model\n"
        "  clustruct evaluate test.jsonl --model news.model --against old.model\n"
        "  clustruct evaluate test.csv --set day --id url --cluster story --predictions groups.csv",
        options.evaluate,
    ),
    "explain": Command(
        "what went wrong, and why are these two together?",
        "Which clusters were split or merged against the truth, worst first; which items and clusters are\n"
        "least sure (the score lost by their best other place); for a pair, what each feature adds to its\n"
        "similarity.",
        "examples\n"
        "  clustruct explain test.jsonl --model news.model\n"
        "  clustruct explain test.jsonl --model news.model --in monday --pair 17 42",
        options.explain,
    ),
    "cv": Command(
        "cross-validation: how good would a model be?",
        "Train on a part of the sets and test on the rest, in turn. Sets of one group stay together.",
        "examples\n"
        "  clustruct cv news.jsonl\n"
        "  clustruct cv people.csv --set batch --cluster person --folds 3 --C 1",
        options.cv,
    ),
    "report": Command(
        "a page with figures (HTML)",
        "Write one self-contained HTML page: scores, weights, convergence, errors, similarity matrices.",
        "example\n  clustruct report test.jsonl --model news.model --out report.html",
        options.report,
    ),
    "show": Command(
        "what a model file holds",
        "Show how a model was trained and its weights, largest effect first.",
        "example\n  clustruct show --model news.model",
        options.show,
    ),
    "demo": Command(
        "try everything on made-up data",
        "Make a small data set and run fit, predict, evaluate and explain on it. Needs no network, no data.",
        "examples\n  clustruct demo\n  clustruct demo --task news --folder try",
        options.demo,
    ),
}
