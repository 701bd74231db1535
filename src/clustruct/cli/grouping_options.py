"""``clustruct predict``: threshold, precision, bounds on groups, doubtful items left alone."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import clustruct
from clustruct.core.formatting import count, short

from .arguments import SavedModel, whole
from .output import UsageError

if TYPE_CHECKING:
    from clustruct.data import GroupingOptions
    from clustruct.learning.calibration import Dial

SHOWN = 10
NAMES = ("threshold", "precision", "max_size", "min_groups", "max_groups", "reject_below")


def _share(text: str) -> float:
    if not 0.0 < (value := float(text)) < 1.0:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, not {text!r}")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is asked of the groups."""
    add = parser.add_argument_group("how cautious, and how large").add_argument
    add_cuts(add)
    add("--max-size", type=whole(1), metavar="N", help="at most N items in a group")
    add("--min-groups", type=whole(1), metavar="N", help="at least N groups in each set")
    add("--max-groups", type=whole(1), metavar="N", help="at most N groups in each set")
    doubt = "leave items alone whose group is right with a probability below P, and list them"
    add("--reject-below", type=_share, metavar="P", help=doubt)


def add_cuts(add: Callable[..., object]) -> None:
    """Where pairs stop to belong together."""
    add(
        "--threshold", type=_share, metavar="P", help="pairs with a probability below P count against a merge"
    )
    right = "merge as much as keeps this share of the joined pairs right, e.g. 0.99"
    add("--precision", type=_share, metavar="P", help=right)


def check(args: argparse.Namespace) -> GroupingOptions:
    """What is asked, where it goes together."""
    given = {name: getattr(args, name, None) for name in NAMES}
    if getattr(args, "existing", None) is not None:
        for name in NAMES[2:]:
            if given[name] is not None:
                raise UsageError(f"--{name.replace('_', '-')} does not go with --existing")
    try:
        return clustruct.data.GroupingOptions(**given)
    except ValueError as error:
        raise UsageError(as_options(str(error))) from None


def as_options(text: str) -> str:
    """A message of the library in the names of the command.

    >>> as_options("max_groups does not go with reject_below")
    '--max-groups does not go with --reject-below'
    """
    for name in NAMES:
        text = re.sub(rf"\b{name}\b", f"--{name.replace('_', '-')}", text)
    return text


def move_threshold(
    args: argparse.Namespace, saved: SavedModel, asked: GroupingOptions
) -> tuple[SavedModel, Dial | None]:
    """The model with its threshold moved, and what a precision costs, which is said.

    Groups that are there already are compared by scores alone, not with rivals; so are rows that may belong
    to several.
    """
    rivals = getattr(args, "existing", None) is None and getattr(args, "one_to_one", None) is not False
    try:
        pipeline = clustruct.pipeline.pipeline_with_cut(saved.pipeline, asked, rivals=rivals)
    except ValueError as error:
        raise ValueError(f"{args.model}: {error}") from None
    dial = None
    if asked.precision is not None and clustruct.pipeline.is_calibrated(saved.pipeline):
        dial = saved.pipeline[-1].dial(asked.precision, rivals=rivals)
        if dial.possible and not args.quiet:
            usual = saved.pipeline[-1].calibration_.curve.near(0.0)
            before = f"{100 * usual.precision:.1f} % and {100 * usual.recall:.1f} %"
            how = "; pairs must beat their rivals" if dial.beats_rivals else ""
            print(f"clustruct: held-out {dial}; without --precision {before}{how}", file=sys.stderr)
    return saved._replace(pipeline=pipeline), dial


def print_rejected_items(args: argparse.Namespace, rejected: list[object]) -> None:
    """Which items stay alone since they are doubtful."""
    if args.reject_below is None or args.quiet:
        return
    names = ", ".join(short(str(name), 24) for name in rejected[:SHOWN])
    more = f", ... ({len(rejected):,} in all)" if len(rejected) > SHOWN else ""
    what = f"{count(len(rejected), 'item')} stay alone, being doubtful"
    print(f"clustruct: {what}{': ' if rejected else ''}{names}{more}", file=sys.stderr)
