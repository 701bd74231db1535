"""Columns that give the groups away: codes of the groups, and fields that decide nearly alone."""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clustruct.core.exceptions import LeakWarning
from clustruct.core.formatting import short
from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.data import Evidence, ItemSet, Table, as_text, fold
from clustruct.features import PairFeatures
from clustruct.learning.model_selection.pair_signal import check_leak
from clustruct.learning.problems import Region

# Groups that are looked at, and the fewest, of two labelled items and more.
MOST_GROUPS, FEWEST_GROUPS = 500, 20
# The share of items, and of groups, of which a code must hold.
NEARLY_ALL = 0.99
# The share of items that must have the text of their label, and of those that may have that of another group.
HAVE_LABEL, BY_CHANCE = 0.95, 0.1
# So many groups of the same number are expected where numbers are drawn at random from their range; none has
# it where they are counted through.
EXPECTED = 3.0
# Codes of so many letters and digits are no small numbers.
LONG = 6
# The share of pairs of a group whose texts differ, from which on a field is one that people write.
VARIED = 0.05


@dataclass(frozen=True)
class GroupTexts:
    """The folded texts of one field in labelled groups, and the group of each: set and label."""

    texts: Sequence[str]
    groups: Sequence[tuple[int, Hashable]]

    @cached_property
    def of_group(self) -> dict[tuple[int, Hashable], list[str]]:
        found = defaultdict(list)
        for group, text in zip(self.groups, self.texts, strict=True):
            found[group].append(text)
        return found

    def is_written_freely(self) -> bool:
        """Whether the values are words, which differ within groups as people write them."""
        full = [[t for t in texts if t] for texts in self.of_group.values()]
        pairs = sum(len(t) * (len(t) - 1) for t in full)
        same = sum(n * (n - 1) for t in full for n in Counter(t).values())
        letters, digits = (sum(map(kind, "".join(self.texts))) for kind in (str.isalpha, str.isdigit))
        return pairs > 0 and 1.0 - same / pairs >= VARIED and letters > digits

    def holds_labels(self) -> bool:
        """Whether nearly every value is the text of its label, or has it as a part, and no other label's."""
        labels = [fold(str(label)) for _, label in self.groups]
        others = np.roll(labels, len(labels) // 2).tolist()
        own, other = (np.mean([*map(_has, self.texts, some)]) for some in (labels, others))
        return bool(own >= HAVE_LABEL and other <= BY_CHANCE)

    def code(self) -> str | None:
        """A part of the values, for example, which is the same in a group and another in each other group, as
        codes are; None where there is none.
        """
        for cut in (_whole, *(_part(split, at) for split in (_WORDS, _RUNS) for at in (0, 1, 2, -1, -2))):
            keys = [cut(text) for text in self.texts]
            if np.mean([bool(key) for key in keys]) >= NEARLY_ALL and self._tell_groups(keys):
                bare = _without_common(list(dict.fromkeys(keys)))
                if _are_codes(bare):
                    return keys[0]
        return None

    def _tell_groups(self, keys: Sequence[str]) -> bool:
        """Whether groups have one key each, and keys one group."""
        of_group, of_key = defaultdict(set), defaultdict(set)
        for group, key in zip(self.groups, keys, strict=True):
            of_group[group].add(key)
            of_key[group[0], key].add(group)
        return all(
            np.mean([len(others) == 1 for others in found.values()]) >= NEARLY_ALL
            for found in (of_group, of_key)
        )


def warn_of_leak(features: PairFeatures, item_sets: Sequence[ItemSet], sets: Sequence[Table]) -> None:
    """Warn of fields that hold codes of the groups, or else of one that decides nearly alone."""
    labels = [partial_labels(table.labels or ()) for table in sets]
    texts = {
        need.name: field_texts(sets, labels, need.name) for need in features.needs_ if need.kind != "context"
    }
    codes = [text for name, held in texts.items() if (text := _say(name, held)) is not None]
    if codes:
        warnings.warn(
            f"{'; '.join(codes)}. A model that compares it learns little else: leave it out (--ignore, "
            "Recipe(fields=...)), unless new rows have it before they are grouped",
            LeakWarning,
            stacklevel=3,
        )
        return
    regions = [Region.of(x, Evidence.of_labels(y)) for x, y in zip(item_sets, labels, strict=True)]
    free = frozenset(name for name, held in texts.items() if held.is_written_freely())
    names = [str(name) for name in features.get_feature_names_out()]
    check_leak([r.x for r in regions], [r.labels for r in regions], columns_by_field(features), names, free)


def _say(name: str, held: GroupTexts) -> str | None:
    """That a field gives the groups away, with an example; None where it does not."""
    if sum(len(texts) > 1 for texts in held.of_group.values()) < FEWEST_GROUPS:
        return None
    say = f"the column {short(name)!r} gives the groups away"
    if held.holds_labels():
        return f"{say}: {short(held.texts[0])!r} has the label {short(str(held.groups[0][1]))!r} in it"
    code = held.code()
    if code is None:
        return None
    part = "" if code == held.texts[0] else f" (a part of {short(held.texts[0])!r})"
    return f"{say}: a code such as {short(code)!r}{part} stands in all rows of a group, and in no other"


def columns_by_field(features: PairFeatures) -> dict[str, np.ndarray]:
    """The features by number that look at one field alone, by its name."""
    columns, first = dict[str, list[int]](), 0
    for block in features.blocks_:
        here = [first + k for k in range(len(block.get_feature_names_out()))]
        first += len(here)
        fields: Sequence[str] = [block.field] if hasattr(block, "field") else getattr(block, "fields", ())
        if len(fields) == 1:
            columns.setdefault(fields[0], []).extend(here)
    return {field: np.array(own, np.intp) for field, own in columns.items() if own}


def field_texts(sets: Sequence[Table], labels: Sequence[np.ndarray], field: str) -> GroupTexts:
    """The texts of a field in some labelled groups, the same ones each time."""
    sizes = [int(y.max(initial=UNKNOWN)) + 1 for y in labels]
    chosen = np.random.default_rng(0).permutation(sum(sizes))[:MOST_GROUPS]
    texts, groups = list[str](), list[tuple[int, Hashable]]()
    for number, (table, y, first) in enumerate(zip(sets, labels, np.cumsum([0, *sizes[:-1]]), strict=True)):
        rows = np.flatnonzero((y != UNKNOWN) & np.isin(y + first, chosen))
        if len(rows) and table.has(field):
            part = table.take(rows)
            texts += [fold(as_text(value)) for value in part.column(field)]
            groups += [(number, label) for label in part.labels or ()]
    return GroupTexts(texts, groups)


_WORDS, _RUNS = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]+|\d+")


def _whole(text: str) -> str:
    return text


def _part(split: re.Pattern[str], at: int) -> Callable[[str], str]:
    """The words, or runs of letters or digits, of a place in a text; none where there is but one."""

    def cut(text: str) -> str:
        parts = split.findall(text)
        return parts[at] if len(parts) > 1 and -len(parts) <= at < len(parts) else ""

    return cut


def _has(text: str, label: str) -> bool:
    """Whether a text has a label as a word, or as a longer part."""
    return bool(label) and (
        text == label or label in _WORDS.findall(text) or (len(label) > 2 and label in text)
    )


def _without_common(keys: Sequence[str]) -> list[str]:
    """Keys without the words that stand in more than half of them."""
    runs = [_RUNS.findall(key) for key in keys]
    often = Counter(run for one in runs for run in set(one))
    return ["".join(run for run in one if 2 * often[run] <= len(keys)) for one in runs]


def _are_codes(keys: Sequence[str]) -> bool:
    """Whether these are codes, not words: numbers counted through, or long ones of digits and letters."""
    if not all(keys):
        return False
    if all(key.isdecimal() for key in keys) and max(map(len, keys)) < LONG:
        numbers = [*map(int, keys)]
        return len(keys) ** 2 / (2.0 * (max(numbers) - min(numbers) + 1)) >= EXPECTED
    return float(np.mean([_is_long_code(key) for key in keys])) >= NEARLY_ALL


def _is_long_code(key: str) -> bool:
    digits = sum(map(str.isdigit, key))
    return len(key) >= LONG and digits > 0 and (2 * digits >= len(key) or set(key) <= set("0123456789abcdef"))
