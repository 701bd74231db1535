"""``clustruct store``: a file in which groups live on: what it holds, decisions in and out."""

from __future__ import annotations

import argparse
import getpass
import warnings
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, format_table, short

from .arguments import whole
from .output import UsageError, print_json

if TYPE_CHECKING:
    from clustruct.groups import Decision, Store

SUMMARY = "a file in which groups live on: look at it, decisions in and out"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = (
    "--create",
    "--items",
    "--update",
    "--id",
    "--cluster",
    "--decisions",
    "--decide",
    "--show",
    "--groups-out",
    "--decisions-out",
    "--verify",
)
DESCRIPTION = (
    "A store keeps items, groups with their ids, runs, and all decisions of people in one file. Without\n"
    "options it says what it holds. predict --existing STORE adds new items to it."
)
EXAMPLES = """\
examples
  clustruct store people.db --create --items people.csv      a new store of items with known groups
  clustruct store people.db --decisions fix.csv              write down decisions (pairs: a, b, yes/no/unsure)
  clustruct store people.db --decide merge g1 g2             one decision
  clustruct store people.db --decide undo 12
  clustruct store people.db --show g1                        a group: its items, and what became of it
  clustruct store people.db --groups-out groups.csv --decisions-out log.jsonl

decisions
  same A B, different A B, unsure A B     two items
  move ITEM GROUP                         an item belongs to a group (without GROUP: to a new one)
  merge GROUP INTO                        one group is another, which keeps its id
  split GROUP ITEM ...                    items of a group are another group
  confirm GROUP                           a group is right as it stands
  note TEXT, undo NUMBER"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The store, what goes in and what comes out."""
    parser.add_argument("store", metavar="STORE", help="the file")
    add = parser.add_argument
    add("--create", action="store_true", help="make it, where there is no file yet")
    add("--items", metavar="FILE", help="add items, with their groups where they have some")
    add(
        "--update", action="store_true", help="with --items: items that are there take the values of the file"
    )
    add("--id", metavar="NAME", help="column that names an item (id)")
    add("--cluster", metavar="NAME", help="column of the group (cluster, else group)")
    add("--decisions", metavar="FILE", help="write down all decisions or labelled pairs of a file")
    add("--decide", nargs="+", metavar="WORD", help="write down one decision")
    add("--author", metavar="NAME", help="who decides (default: the user)")
    add("--show", metavar="ID", help="a group, or what became of it")
    add("--top", type=whole(1), default=10, metavar="N", help="decisions shown (10)")
    add("--groups-out", metavar="FILE", help="the group of each item (.csv, .tsv, .jsonl)")
    add("--decisions-out", metavar="FILE", help="all decisions (.csv, .tsv, .jsonl)")
    add("--verify", action="store_true", help="look through the whole file and replay its log")


def run(args: argparse.Namespace) -> None:
    """In, out, and what the store holds then."""
    groups = clustruct.groups
    _check_targets(args)
    opened = groups.Store.create if args.create else groups.Store
    with opened(args.store) as store:
        try:
            done, contents = _take_in_and_read(args, store)
        except BaseException:
            if args.create:  # nothing is in it yet
                store.remove()
            raise
        with clustruct.core.storage.targets.together():
            if args.groups_out is not None:
                groups.write_groups(args.groups_out, store.groups())
                done.append(f"groups written to {args.groups_out}")
            if args.decisions_out is not None:
                groups.write_decisions(args.decisions_out, store.decisions())
                done.append(f"decisions written to {args.decisions_out}")
        if args.json:
            print_json(contents)
        elif not args.quiet:
            print("\n".join([*done, *contents]))
        elif not done or args.show is not None:  # it was asked what the store holds
            print("\n".join(contents))


def _check_targets(args: argparse.Namespace) -> None:
    """Refuse what cannot be written before anything is taken in."""
    if args.update and args.items is None:
        raise UsageError("--update goes with --items only")
    inputs = [name for name in (args.store, args.items, args.decisions) if name is not None]
    for what, target in {"groups": args.groups_out, "decisions": args.decisions_out}.items():
        if target is not None:
            clustruct.groups.files.written_suffix(target, what)
            clustruct.core.storage.check_target(Path(target), inputs)
    both = (args.groups_out, args.decisions_out)
    if None not in both and clustruct.core.storage.targets.is_same(*both):
        raise ValueError(f"{both[0]} is to be written twice: give two names")


def _take_in_and_read(args: argparse.Namespace, store: Store) -> tuple[list[str], Any]:
    """What was taken in, and what the store holds then; from one that is damaged nothing comes, and nothing
    goes in.
    """
    given = (args.items, args.decisions, args.decide)
    with store.transaction() if any(word is not None for word in given) else nullcontext():
        done = _take_in(args, store)
        if args.decisions is not None or args.decide is not None:
            _warn_of_contradictions(store)
        if args.verify:
            store.verify()
            done.append("the log gives the groups that are kept")
        if args.json:
            return done, _group(store, args.show) if args.show else _contents(store)
        return done, _group_lines(store, args.show) if args.show else _lines(store, args.top)


def _take_in(args: argparse.Namespace, store: Store) -> list[str]:
    groups, done = clustruct.groups, []
    if args.items is not None:
        columns = clustruct.data.io.ColumnRoles(id=args.id)
        known = groups.known_of_table(
            args.items, columns, [args.cluster] if args.cluster else ["cluster", "group"]
        )
        added, changed = groups.add_known_items(store, known, args.items, update=args.update)
        done.append(f"{count(added, 'item')} added")
        if args.update and changed:
            done.append(f"{count(len(changed), 'item')} updated in {changed}")
    if args.decisions is not None:
        given = groups.read_labels(args.decisions).decisions
        if not given:
            raise clustruct.core.exceptions.DataError(f"{args.decisions}: there are no decisions to import")
        numbers = store.import_decisions(given)
        done.append(f"{count(len(numbers), 'decision')} of {args.decisions} written down")
    if args.decide is not None:
        decision = _decision(args.decide, args.author or _user())
        if decision.kind == "move" and decision.into and not store.was_given(decision.into):
            why = (
                f"there is no group {decision.into!r}, and there never was (without GROUP a new one is made)"
            )
            raise clustruct.core.exceptions.DataError(f"{store.path}: {why}")
        led = _led_on(store, decision)
        done.append(f"decision {store.decide(decision)} written down{led}")
    return done


def _led_on(store: Store, decision: Decision) -> str:
    """Which of the groups named are others today: the decision is about those."""
    named = [name for name in (decision.group, decision.into) if name and store.was_given(name)]
    today = {name: store.resolve(name) for name in named}
    moved = [f"{name} is {' and '.join(heirs)} today" for name, heirs in today.items() if heirs != (name,)]
    return f" ({'; '.join(moved)})" if moved else ""


def _warn_of_contradictions(store: Store) -> None:
    """All decisions are written down; one that cannot hold is refused at once, not by a later run."""
    found = clustruct.groups.decisions.contradiction(store.state().judgements())
    if found is not None:
        message = (
            f"{store.path}: {found}; runs refuse that until one of them is undone (--decide undo NUMBER)"
        )
        warnings.warn(message, clustruct.core.exceptions.DataWarning, stacklevel=2)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _decision(words: list[str], author: str) -> Decision:
    """The decision that the words of a command line say."""
    kind, *rest = words
    made, item, group = clustruct.groups.Decision, tuple(rest), rest[0] if rest else None
    try:
        if kind == "move" and 1 <= len(rest) <= 2:
            return made("move", item[:1], into=rest[1] if len(rest) == 2 else None, author=author)
        if kind == "merge" and len(rest) == 2:
            return made("merge", group=group, into=rest[1], author=author)
        if kind == "split":
            return made("split", item[1:], group=group, author=author)
        if kind == "confirm" and len(rest) == 1:
            return made("confirm", group=group, author=author)
        if kind == "note":
            return made("note", note=" ".join(rest), author=author)
        if kind == "undo" and len(rest) == 1 and rest[0].isdecimal():
            return made("undo", undoes=int(rest[0]), author=author)
        if kind in ("same", "different", "unsure"):
            return made(kind, item, author=author)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(f"--decide: {error}") from None
    raise UsageError(f"--decide: {' '.join(words)!r} is no decision (see the end of --help)")


def _contents(store: Store) -> dict[str, object]:
    sizes = Counter(store.groups().values())
    undone = store.undone()
    kinds = Counter(d.kind for d in store.decisions() if d.number not in undone)
    return {
        "items": sum(1 for _ in store.items()),
        "groups": len(sizes),
        "largest": max(sizes.values(), default=0),
        "ids_ever_given": len(store.ledger()),
        "runs": len(store.log()) - len(store.decisions()),
        "decisions": dict(kinds),
    }


def _lines(store: Store, most: int) -> list[str]:
    held = _contents(store)
    largest = f" (the largest has {held['largest']:,})" if held["groups"] else ""
    sizes = [count(int(str(held[name])), name[:-1]) for name in ("items", "groups", "runs")]
    lines = [f"{sizes[0]} in {sizes[1]}{largest}, {sizes[2]}, {count(len(store.decisions()), 'decision')}"]
    undone = store.undone()
    last = store.decisions()[::-1]
    if last:
        rows = [
            [d.number, d.kind + (" (undone)" if d.number in undone else ""), _about(d), d.author, d.time]
            for d in last
        ]
        lines += ["", format_table(["decision", "", "about", "by", "at"], rows, most=most)]
    return lines


def _about(decision: Decision) -> str:
    if decision.kind == "sort":
        return _piles(decision)
    parts = [*decision.items[:3], *(["..."] if len(decision.items) > 3 else [])]
    if decision.group:
        parts.append(f"group {short(decision.group, 20)}")
    if decision.into:
        parts.append(f"into {short(decision.into, 20)}")
    if decision.undoes:
        parts.append(f"decision {decision.undoes}")
    return ", ".join(short(part, 30) for part in parts) or short(decision.note, 40)


def _piles(decision: Decision) -> str:
    """The first piles of a "sort", a bar between them."""
    cut = [[*map(short, pile[:3]), *(["..."] if len(pile) > 3 else [])] for pile in decision.piles[:3]]
    more = [["..."]] if len(decision.piles) > 3 else []
    return " | ".join(", ".join(pile) for pile in [*cut, *more])


def _group(store: Store, name: str) -> dict[str, object]:
    entry = store.entry(name)
    return {**entry.__dict__, "fate": entry.fate, "items": store.members(name), "now": store.resolve(name)}


def _group_lines(store: Store, name: str) -> list[str]:
    entry = store.entry(name)
    times = {event.number: f"{event} at {event.time}" for event in store.log()}
    lines = [f"group {short(name)}: {entry.fate}", f"made by {times.get(entry.made, 'nobody knows')}"]
    if entry.origins:
        lines.append(f"from {', '.join(entry.origins)}")
    if entry.ended is not None:
        now = ", ".join(store.resolve(name)) or "nowhere"
        lines.append(f"ended by {times.get(entry.ended, 'nobody knows')}; its items are in {now}")
    for item in store.items(store.members(name)):
        fields = ", ".join(f"{field}: {short(value, 30)}" for field, value in item.fields.items())
        lines.append(short(f"  {item.id}  {fields}", 110))
    return lines
