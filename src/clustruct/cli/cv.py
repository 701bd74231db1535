"""``clustruct cv``: how good would a model be that is learned from this data?"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import clustruct
from clustruct.core.formatting import count, duration, format_table

from .arguments import add_data, add_learning, labelled_sets, recipe, whole
from .evaluate import PER_SET, Scored, percent, title
from .output import UsageError, print_json
from .progress import training_progress

if TYPE_CHECKING:
    from clustruct.evaluate.comparing import Compared, SettingResult

SUMMARY = "cross-validation: how good would a model be?"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = (
    "--set",
    "--id",
    "--cluster",
    "--fields",
    "--ignore",
    "--folds",
    "--compare",
    "--score",
    "--learner",
    "--loss",
    "--similarity",
    "--C",
)
DESCRIPTION = "Train on a part of the sets and test on the rest, in turn. Sets of one group stay together."
EXAMPLES = """\
examples
  clustruct cv news.jsonl
  clustruct cv people.csv --set batch --cluster person --folds 3 --C 1
  clustruct cv news.jsonl --compare loss similarity --score b_cubed_f1"""
# Those of `recipe.comparing`, which is not imported before it is needed.
VARIED = ("learner", "loss", "linkage", "similarity")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, folds, and what a recipe takes."""
    add_data(parser)
    parser.add_argument("--folds", type=whole(2), default=5, metavar="N", help="parts of the sets (5)")
    varied = "try other learners, losses, linkages and similarities (all by default), and test them by group"
    parser.add_argument("--compare", nargs="*", choices=VARIED, metavar="WHAT", help=varied)
    all_of_them = "with --compare: cross-validate all of them, not only the best three at a first look"
    parser.add_argument("--thorough", action="store_true", help=all_of_them)
    score = "what --compare goes by, as evaluate names it (pairwise_f1)"
    parser.add_argument("--score", default="pairwise_f1", metavar="NAME", help=score)
    add_learning(parser)


def run(args: argparse.Namespace) -> None:
    """Train and test in turn; every set is tested once, by a model that has not seen its group."""
    if args.compare is not None:
        return _compare(args)
    if args.thorough:
        raise UsageError("--thorough goes with --compare")
    started, learner = time.perf_counter(), recipe(args)
    with training_progress(args.quiet):
        found = learner.cross_predict(labelled_sets(args), folds=args.folds)
    scored = Scored(found.sets, found.labels)
    seconds = time.perf_counter() - started
    if args.json:
        tests = [[found.sets[i].name for i in test] for test in found.folds]
        print_json({"folds": tests, "seconds": seconds, **scored.as_json()})
    else:
        _print(scored, found.folds, seconds)


def _print(scored: Scored, folds: list[list[int]], seconds: float) -> None:
    print(f"{count(len(scored.sets), 'set')} in {count(len(folds), 'fold')}, {duration(seconds)}\n")
    scores = scored.scores
    rows: list[list[object]] = [
        [f"fold {n}", len(test), *(percent(k, scores.per_set[k][test].mean()) for k in PER_SET)]
        for n, test in enumerate(folds, 1)
    ]
    rows.append(["all sets", len(scored.sets), *(percent(k, scores.mean[k]) for k in PER_SET)])
    print(format_table(["tested", "sets", *map(title, PER_SET)], rows))


def _compare(args: argparse.Namespace) -> None:
    """Settings beside each other on the same held-out sets."""
    from clustruct.evaluate.comparing import compare

    sets, varied = labelled_sets(args), args.compare or VARIED
    _check_score(args.score)
    with training_progress(args.quiet):
        options = {"folds": args.folds, "score": args.score, "thorough": args.thorough}
        found = compare(recipe(args), sets, varied, **options)
    if args.json:
        rows = [
            {"name": t.name, "settings": t.settings, "first_look": t.look, "p": t.level}
            | {"mean": t.mean if len(t.values) else None, "refused": t.refused}
            for t in found.tried
        ]
        summary = {"score": found.score, "groups": found.n_groups, "sure": found.is_sure}
        print_json({**summary, "tried": rows, "recommendation": found.recommendation()})
    else:
        _print_comparison(found)


def _check_score(name: str) -> None:
    known = clustruct.evaluate.metrics.evaluate([[0, 0, 1]], [[0, 0, 1]]).mean
    if name not in known:
        raise UsageError(f"--score must be one of {', '.join(known)}, not {name!r}")


def _print_comparison(found: Compared) -> None:
    tried = [t for t in found.tried if len(t.values)]
    what = f"{title(found.score)} on held-out sets, {count(found.n_groups, 'independent group')}"
    print(f"{what}; p of Wilcoxon's signed ranks beside the first, for all together (Holm)\n")
    head = ["cross-validated", title(found.score), "won/tied/lost", "p"]
    print(format_table(head, [_row(t, found.score) for t in tried]))
    _print_looks(found)
    for t in found.tried:
        if t.refused:
            print(f"\n{t.name}: not possible, {t.refused}")
    print(f"\n{found.recommendation()}")


def _print_looks(found: Compared) -> None:
    rows = [[t.name, percent(found.score, t.look)] for t in found.tried if t.look is not None]
    if rows:
        print(
            "\nfirst look: one training on half of the sets, the others predicted (--thorough: all as above)"
        )
        print(f"\n{format_table(['looked at', title(found.score)], rows)}")


def _row(t: SettingResult, score: str) -> list[object]:
    won = "" if t.beside is None else f"{t.beside.wins}/{t.beside.ties}/{t.beside.losses}"
    return [t.name, percent(score, t.mean), won, "" if t.level is None else f"{t.level:.3g}"]
