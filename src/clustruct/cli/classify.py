"""``clustruct-classify``: predict with the model of a hook module."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from clustruct.core.storage.targets import replacing
from clustruct.papers.hooks import Hooks, read_sample
from clustruct.papers.hooks.hook_training import HookScores, predict
from clustruct.papers.hooks.model_files import read_model_file
from clustruct.papers.hooks.svmapi import Sparm, StructModel

from .hook_commands import HookParser, check_files, check_target_file, run_command
from .output import OK

ABOUT = """\
Predict the outputs of the examples in the file "test" with a model that clustruct-learn wrote, and
write them to the file "predictions". Where the examples carry labels, the loss is shown."""


def main(argv: list[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = HookParser("clustruct-classify", "[options] --m module test model predictions", ABOUT)
    parser.add_number("-v", "verbosity", int, "n", "0 silent, 1 a summary (default)")
    return run_command(parser, argv, "print_help_classify", _classify)


def _classify(line: argparse.Namespace, hooks: Hooks) -> int:
    check_files(line.files, "test", "model", "predictions")
    test_file, model_file, predictions_file = line.files
    check_target_file(hooks, predictions_file, test_file, model_file)
    for name, value in line.custom:
        hooks.parse_parameters_classify(name, value)
    sm, sparm = _read_model(hooks, model_file, line.allow_pickle)
    sparm.verbosity = getattr(line, "verbosity", 1)
    sample = read_sample(hooks, test_file, sparm)
    with _text_file(Path(predictions_file)) as f:
        outcome = predict(hooks, sample, sm, sparm, f)
    if sparm.verbosity >= 1:
        print(_summary(outcome))
        print(f"Predictions written to {predictions_file}")
    return OK


@contextmanager
def _text_file(path: Path) -> Iterator[TextIO]:
    """A text file to write to, which appears when all is written."""
    with replacing(path) as held:
        f = TextIOWrapper(held, encoding="utf-8")
        yield f
        f.detach()


def _read_model(hooks: Hooks, model_file: str, allow_pickle: bool) -> tuple[StructModel, Sparm]:
    sparm = Sparm()
    if "read_model" in hooks.own:
        return hooks.read_model(model_file, sparm), sparm
    sm, left_out = read_model_file(model_file, sparm, allow_pickle)
    for name in left_out:
        print(f"warning: the model was written without sm.{name}", file=sys.stderr)
    return sm, sparm


def _summary(outcome: HookScores) -> str:
    if not outcome.known:
        return f"{outcome.examples} examples, none with a label"
    unknown = outcome.examples - outcome.known
    share = 100.0 * (1.0 - outcome.correct / outcome.known)
    lines = [
        f"Average loss on test set: {outcome.mean_loss:.4f}",
        f"Zero/one-error on test set: {share:.2f}% ({outcome.correct} correct, "
        f"{outcome.known - outcome.correct} incorrect, {outcome.known} total)",
    ]
    if unknown:
        lines.append(f"{unknown} examples without a label are not counted")
    return "\n".join(lines)
