"""Random histories of runs and decisions, each valid when it is made."""

from dataclasses import replace

from hypothesis import strategies as st

from clustruct.groups import Decision, LoggedRun
from clustruct.groups.log_replay import State, undone, with_id

ITEMS = "abcdefg"


def grown(draw, events, state):
    """One more event, or None where the kind drawn has nothing to work on."""
    at = len(events) + 1
    groups = sorted(set(state.groups.values()))
    pick = st.sampled_from
    kinds = ["run", "run", "same", "different", "sort", "move", "merge", "split", "confirm", "undo"]
    kind = draw(pick(kinds))
    if kind == "run" or not groups:
        new = [f"run{at}-{n}" for n in range(2)]
        items = draw(st.lists(pick(ITEMS), unique=True, min_size=1))
        return LoggedRun(at, {item: draw(pick([*groups, *new])) for item in items})
    some = draw(st.lists(pick(sorted(state.groups)), unique=True, min_size=1, max_size=3))
    if kind in ("same", "different"):
        return Decision(kind, tuple(some[:2]), number=at) if len(some) > 1 else None
    if kind == "sort":
        cut = draw(st.integers(0, len(some) - 1))
        piles = tuple(filter(None, (tuple(some[:cut]), tuple(some[cut:]))))
        return Decision("sort", piles=piles, number=at) if len(some) > 1 else None
    if kind == "move":
        return Decision("move", tuple(some), into=draw(pick([None, *groups])), number=at)
    group = draw(pick(groups))
    if kind == "merge":
        into = draw(pick(groups))
        return None if into == group else Decision("merge", group=group, into=into, number=at)
    if kind == "split":
        part = tuple(i for i in some if state.groups[i] == group)
        whole = len(part) in (0, state.size(group))
        return None if whole else Decision("split", part, group=group, number=at)
    if kind == "confirm":
        return Decision("confirm", group=group, number=at)
    out = undone(events)
    can = [e.number for e in events if isinstance(e, Decision) and e.number not in out]
    return Decision("undo", undoes=draw(pick(can)), number=at) if can else None


def moving(run, state):
    """A run without the items that stay where they are: a store does not write those down."""
    return replace(run, places={i: g for i, g in run.places.items() if state.groups.get(i) != g})


@st.composite
def histories(draw, most=14):
    """A list of events with ids filled in, as a store would hold them."""
    from clustruct.groups import replay

    events, state = [], State()
    for _ in range(draw(st.integers(1, most))):
        event = grown(draw, events, state)
        if event is not None:
            events.append(with_id(event, state) if isinstance(event, Decision) else moving(event, state))
            state = replay(events)
    return events
