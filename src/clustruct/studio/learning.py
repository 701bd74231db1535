"""Learn: a model from the decisions of a project, the groups it proposes, and what changed.

Until people have confirmed a dozen groups, a similarity that is guessed and moved by their answers
(`LatentPairClustering`); from then on the structural SVM, with C and probabilities by held-out groups, if it
foretells held-out groups as well as the other does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct import Recipe
from clustruct.core.callbacks import COMPILING, Callback, Iteration, Training, training_callback
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence, ItemSet, PairScores
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.groups import Changes, Store, compare, fresh_id, match_groups, with_ids
from clustruct.pipeline import group, guessed, is_calibrated, was_interrupted

from .asking import Agreement, held_out
from .comparing import groups_foretell_as_well
from .engine import Engine, Known, bytes_of

# So many confirmed groups of two items and more, and a structural SVM can be trained, C chosen.
FEWEST_GROUPS = 12
FOLDS = 5
MODEL = "model"


class Stopped(Exception):
    """Somebody has asked for it, before there was anything to keep."""


@dataclass
class LearningProgress(Callback):
    """Says how far a learning is, and ends it when that is asked for."""

    tell: Callable[[dict[str, Any]], None]
    stop: bool = False
    _last: float = 0.0

    def on_open(self, stage: str, total: int | None) -> None:
        self._say(stage, {}, force=True)

    def on_compile(self, seconds: float | None) -> None:
        self._say(COMPILING if seconds is None else "learning", {})

    def on_step(self, stage: str, done: int, total: int | None) -> None:
        self._say(stage, {"done": done, "total": total})

    def on_iteration(self, training: Training, iteration: Iteration) -> object:
        share = iteration.gap / abs(iteration.primal) if iteration.primal else 0.0
        gap = share if np.isfinite(share) else None
        told = {"round": iteration.iteration, "gap": gap, "done": training.done, "total": training.total}
        self._say(training.stage, told)
        return "stopped" if self.stop else None

    def _say(self, stage: str, told: dict[str, Any], *, force: bool = False) -> None:
        now = time.monotonic()
        if force or now - self._last > 0.2:
            self._last = now
            self.tell({"stage": stage, **told})

    def check(self) -> None:
        """Between stages: end where that was asked for."""
        if self.stop:
            raise Stopped


def learn(engine: Engine, progress: LearningProgress) -> dict[str, Any]:
    """Learn from all decisions, group anew under what people said, and keep model and groups."""
    started, known = time.monotonic(), engine.known()
    with training_callback(progress):
        progress.tell({"stage": "features"})
        engine.item_set()
        progress.check()
        pipeline, how = _trained(engine, known)
        progress.check()
        progress.tell({"stage": "checking against answers it has not seen"})
        seen = foretold(engine, known)
        progress.tell({"stage": "grouping"})
        scores = engine.scored(pipeline)
        groups = proposed(known, pipeline, scores)
    about = {
        "how": how,
        "answers": len(known.answers),
        "at": known.at,
        "calibrated": is_calibrated(pipeline),
        "agreement": asdict(seen),
        "seconds": round(time.monotonic() - started, 2),
        "stopped": was_interrupted(pipeline[-1]) or progress.stop,
        "gap": _gap(pipeline),
    }
    number, changes = keep(engine, pipeline, scores, groups, about)
    return {"model": number, **about, "changes": changes.summary(), "counts": changes.count()}


def _gap(pipeline: Pipeline) -> float | None:
    result = getattr(pipeline[-1], "result_", None)
    gap, primal = getattr(result, "gap", None), getattr(result, "primal", None)
    return None if not gap or not primal or not np.isfinite(gap / primal) else float(gap / abs(primal))


def labels_of(marks: Evidence) -> list[int | None]:
    """Confirmed groups as labels; all others are not known."""
    whole = np.append(marks.complete, np.False_)[marks.piece]
    return [int(p) if known else None for p, known in zip(marks.piece, whole, strict=True)]


def n_confirmed(marks: Evidence) -> int:
    """Confirmed groups of two items and more."""
    sizes = np.bincount(marks.piece[marks.piece >= 0], minlength=len(marks.complete))
    return int(np.count_nonzero((sizes > 1) & marks.complete))


def _trained(engine: Engine, known: Known) -> tuple[Pipeline, str]:
    """A pipeline, and how it was made."""
    if n_confirmed(known.marks) < FEWEST_GROUPS:
        return _guessed(engine, known), "answers" if len(known.held) else "no labels"
    x = engine.item_set()
    if x is not None and not groups_foretell_as_well([x], [known.marks], _first_guess(engine, x)):
        return _guessed(engine, known), "answers, which foretell groups better than other groups do"
    table = replace(known.table, labels=labels_of(known.marks))
    before, recipe = engine.model(), Recipe(**engine.recipe.get_params(deep=False))
    if before is not None and getattr(before[1][-1], "past_", None) is not None:
        recipe.fit([table], corrections=[None], start=before[1])
        return recipe.pipeline_, "groups, from the last model on"
    return recipe.fit([table]).pipeline_, "groups"


def _guessed(engine: Engine, known: Known) -> Pipeline:
    x = engine.item_set()
    if x is None:
        return guessed(engine.recipe, engine.features(), [known.table], [known.told])
    model = _first_guess(engine, x).answered([known.told])
    return Pipeline([("features", engine.features()), ("model", model)])


def _first_guess(engine: Engine, x: ItemSet) -> LatentPairClustering:
    """What is learned without answers, once."""
    if engine.first_guess is None:
        engine.first_guess = LatentPairClustering().fit([x])
    return engine.first_guess


def foretold(engine: Engine, known: Known) -> Agreement:
    """How many answers are foretold by models of the other answers, for the learning curve. One that says
    something of several pairs (a board) is one answer, foretold as far as its pairs are.
    """
    x, first = engine.item_set(), engine.first_guess
    if x is None or first is None or not known.answers:
        return Agreement(0, 0.0, 0.0, 1.0)
    pairs, same, answer = _said_of(known, x)

    def model_of(which: Bools) -> Callable[[Bools], Floats]:
        use = which[answer]
        model = first.answered([Evidence.of_pairs(x.n_items, pairs[use & same], pairs[use & ~same])])
        right = (model.pair_scores(x, pairs) > 0.0) == same
        return lambda some: (np.bincount(answer, weights=right) / np.bincount(answer))[some]

    sizes = [len(np.unique(pairs[answer == k])) - 1 for k in range(int(answer.max(initial=-1)) + 1)]
    return held_out(np.array(sizes, np.int64), FOLDS, model_of)


def _said_of(known: Known, x: ItemSet) -> tuple[Ints, Bools, Ints]:
    """The compared pairs that something was said of, whether they are the same, and by which answer."""
    said = [(s, k) for k, answer in enumerate(known.answers) for s in answer]
    pairs = np.sort([[known.numbers[s.a], known.numbers[s.b]] for s, _ in said], axis=1)
    same, by = np.array([s.answer == "same" for s, _ in said]), np.array([k for _, k in said])
    if x.pair_index is not None:
        use = are_listed(pairs, x.pair_index, x.n_items)
        pairs, same, by = pairs[use], same[use], by[use]
    return pairs, same, np.unique(by, return_inverse=True)[1]


def are_listed(pairs: Ints, listed: Ints, n: int) -> Bools:
    """Which pairs (the smaller number first) are among others, of n items."""
    return np.isin(pairs[:, 0] * n + pairs[:, 1], listed[:, 0].astype(np.int64) * n + listed[:, 1])


def proposed(known: Known, pipeline: Pipeline, scores: PairScores) -> dict[str, str]:
    """Groups by scores that hold what people said; each keeps the id of the group that it continues."""
    labels = group(pipeline, scores, known.marks).labels
    items = list(known.numbers)
    found = {item: int(y) for item, y in zip(items, labels, strict=True)}
    before = known.state.groups
    confirmed = {before[i] for i in known.state.confirmed() if i in before}
    kept = match_groups(before, found, prefer=confirmed)
    taken = {entry.id for entry in known.state.ledger}

    def fresh(item: str) -> str:
        taken.add(name := fresh_id("studio", known.at, item, taken=taken))
        return name

    return with_ids(found, kept, fresh)


def keep(
    engine: Engine, pipeline: Pipeline, scores: PairScores, groups: dict[str, str], about: dict[str, Any]
) -> tuple[int, Changes]:
    """Model and groups in the project, together. Decisions that came meanwhile hold."""
    content = bytes_of(pipeline, about)
    with Store(engine.path) as store, store.transaction():
        before = store.groups()
        if store.next_number() - 1 != about["at"]:
            groups = _still_right(store, before, groups, about["at"])
        moved = {i: g for i, g in groups.items() if before.get(i) != g}
        changes = compare(before, {**before, **moved})
        number = store.keep_model(content, {**about, "changes": changes.summary()})
        if moved:
            store.record_run(moved, author=f"{MODEL} {number}", note=changes.summary())
    engine.keep(number, pipeline, scores)
    return number, changes


def _still_right(store: Store, before: dict[str, str], groups: dict[str, str], at: int) -> dict[str, str]:
    """Without the groups, old and new, of items that somebody has decided about since."""
    named = {item for d in store.decisions() if d.number > at for item in d.items}
    touched = {g for d in store.decisions() if d.number > at for g in (d.group, d.into) if g}
    held = {before[i] for i in named if i in before} | touched
    mixed = {groups[i] for i, g in before.items() if i in groups and g in held}
    own = {g for i, g in before.items() if groups.get(i) in mixed}
    out = {i for i, g in before.items() if g in held | own or groups.get(i) in mixed}
    ended = {name for name in set(groups.values()) if store.was_given(name) and not store.size(name)}
    return {i: g for i, g in groups.items() if i not in out and g not in ended}
