"""``clustruct-learn``: train a hook module on a file of examples and write the model."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from clustruct.papers.hooks import HookError, Hooks, read_sample, start_model, train
from clustruct.papers.hooks.hook_training import settings
from clustruct.papers.hooks.model_files import unstorable, write_model_file
from clustruct.papers.hooks.svmapi import KernelParm, Sparm, StructModel
from clustruct.ssvm import FitResult, Iteration

from .hook_commands import HookParser, check_files, check_target_file, run_command
from .output import FAILED, OK, UsageError

ABOUT = """\
Train a learner written as a Python module on the examples of the file "train" and write what it
learned to the file "model". Minimises 1/2 |w|^2 + C (mean of the slacks), as SVM^struct 3 does; older
versions used C times their sum, so for the same model give C times the number of examples."""
# Letter, attribute of sparm, kind, how the value is shown, help.
Option: TypeAlias = tuple[str, str, Callable[[str], float], str, str]
OPTIONS: tuple[Option, ...] = (
    ("-c", "c", float, "C", "weight of the mean slack, default 0.01"),
    ("-e", "epsilon", float, "eps", "constraints may be violated by this much, default 0.1"),
    ("-o", "loss_type", int, "1|2", "the loss scales 1 the slack, 2 the margin (default)"),
    ("-p", "slack_norm", int, "1|2", "1 slacks (default), 2 squared slacks: with -w 0 and 1 only"),
    ("-w", "alg_type", int, "0..4", "0, 1 a slack per example; 2, 3 one for all; 4 with cache (default)"),
    ("-f", "ccache_size", int, "n", "answers kept per example with -w 4, default 5"),
    ("-k", "newconstretrain", int, "n", "for the module to read as sparm.newconstretrain, default 100"),
    ("-l", "loss_function", int, "n", "for the module to read as sparm.loss_function, default 0"),
    ("-v", "verbosity", int, "n", "0 silent, 1 a summary (default), 2 a line per round"),
)
# The same, attributes of the kernel.
KERNELS = "kernel: 0 a.b (default), 1 (s a.b + r)^d, 2 exp(-g |a-b|^2), 3 tanh(s a.b + r)"
KERNEL_OPTIONS: tuple[Option, ...] = (
    ("-t", "kernel_type", int, "0..3", KERNELS),
    ("-d", "poly_degree", int, "d", "degree of kernel 1, default 3"),
    ("-g", "rbf_gamma", float, "g", "width of kernel 2, default 1"),
    ("-s", "coef_lin", float, "s", "factor of kernels 1 and 3, default 1"),
    ("-r", "coef_const", float, "r", "constant of kernels 1 and 3, default 1"),
)


def main(argv: list[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = HookParser("clustruct-learn", "[options] --m module train model", ABOUT)
    for option in (*OPTIONS, *KERNEL_OPTIONS):
        parser.add_number(*option)
    return run_command(parser, argv, "print_help", _learn)


def _learn(line: argparse.Namespace, hooks: Hooks) -> int:
    check_files(line.files, "train", "model")
    train_file, model_file = line.files
    check_target_file(hooks, model_file, train_file)
    sparm, kernel_parm = _parameters(line)
    hooks.parse_parameters(sparm)
    settings(sparm)  # faults are named before any work
    if line.custom and "parse_parameters" not in hooks.own and sparm.verbosity >= 1:
        print(f"Note: {hooks.name} has no parse_parameters; {line.custom[0][0]} stays in sparm.argv")
    sample = read_sample(hooks, train_file, sparm)
    sm = start_model(hooks, sample, sparm, kernel_parm)
    _check_storable(hooks, sm, line.allow_pickle)
    if sparm.verbosity >= 1:
        print(f"{len(sample)} examples, length of Psi {sm.size_psi}", flush=True)
    result, held = train(hooks, sample, sm, sparm, _report if sparm.verbosity >= 2 else None)
    if sparm.verbosity >= 1:
        print(_summary(result, sm), flush=True)
    hooks.print_learning_stats(sample, sm, held, held.alpha, sparm)
    return _write(hooks, model_file, sm, sparm, line.allow_pickle)


def _parameters(line: argparse.Namespace) -> tuple[Sparm, KernelParm]:
    values, kernel = (
        {name: getattr(line, name) for _, name, *_ in options if hasattr(line, name)}
        for options in (OPTIONS, KERNEL_OPTIONS)
    )
    if kernel.get("kernel_type", 0) not in range(4):
        raise UsageError(f"-t must be 0, 1, 2 or 3, not {kernel['kernel_type']}")
    return Sparm(**values, argv=[word for pair in line.custom for word in pair]), KernelParm(**kernel)


def _check_storable(hooks: Hooks, sm: StructModel, allow_pickle: bool) -> None:
    if "write_model" in hooks.own:
        return
    for name, what in unstorable(sm.own_attributes(), allow_pickle).items():
        raise HookError(
            f"init_model set sm.{name} to {what}. A model file holds numbers, strings, lists, tuples, sets, "
            "dicts, arrays, Sparse and Document; keep these"
            + (", or write the module's own write_model" if allow_pickle else ", or say --allow-pickle")
        )


def _report(entry: Iteration) -> None:
    primal = "unknown" if entry.primal == float("inf") else f"{entry.primal:.6g}"
    bounds = f"objective {primal}, at least {entry.dual:.6g}"
    more = f"{entry.constraints} constraints, {entry.seconds:.2f} s"
    print(f"round {entry.iteration}: {bounds}, {more}", flush=True)


def _summary(result: FitResult, sm: StructModel) -> str:
    w = sm.svm_model.lin_weights
    norm = "" if w is None else f"|w| = {float((w**2).sum()) ** 0.5:.4g}"
    size = norm or f"{len(sm.svm_model.alpha)} support vectors"
    stop = "" if result.converged else f" (stopped: {result.stop_reason})"
    return (
        f"{result.n_iter} rounds in {result.seconds:.2f} s{stop}, {result.oracle_calls} oracle calls "
        f"({result.oracle_seconds:.2f} s)\n"
        f"objective {result.objective:.6g}, at most {max(result.gap, 0.0):.3g} above the optimum of the "
        f"constraints found; mean slack {result.mean_slack:.4g}; {size}"
    )


def _write(hooks: Hooks, model_file: str, sm: StructModel, sparm: Sparm, allow_pickle: bool) -> int:
    left_out: list[str] = []
    if "write_model" in hooks.own:
        hooks.write_model(model_file, sm, sparm)
    else:
        left_out = write_model_file(model_file, sm, sparm, allow_pickle)
    if sparm.verbosity >= 1:
        print(f"Model written to {model_file}")
    if left_out:
        names = ", ".join(f"sm.{name}" for name in left_out)
        print(f"warning: {names} could not be stored without --allow-pickle; the model lacks it")
        return FAILED
    return OK
