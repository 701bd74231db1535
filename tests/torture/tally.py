"""What became of a case, and the counts of a part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar

# fine: done, with the right answer. refused: an error of our own that says where. fault: neither.
# forged: contents rewritten with a right checksum were believed, which no checksum can prevent.
# skipped: this machine does not let the case be tried.
STATUSES = ("fine", "refused", "forged", "skipped", "fault")


@dataclass(frozen=True)
class Outcome:
    """What became of a case; ``kind`` groups faults, ``detail`` says more of this one."""

    status: str
    kind: str = ""
    detail: str = ""


FINE = Outcome("fine")


def refused(message: object) -> Outcome:
    """An error of our own."""
    return Outcome("refused", detail=str(message)[:300])


def fault(kind: str, detail: object) -> Outcome:
    """Something that must not happen. Kinds: see docs/torture.md."""
    return Outcome("fault", kind, str(detail)[:600])


def skipped(why: str) -> Outcome:
    """The case cannot be tried here."""
    return Outcome("skipped", why, why)


@dataclass(frozen=True)
class Limits:
    """What a case may take: seconds of processor and of clock, bytes beyond those of the process at rest."""

    cpu: float = 30.0
    wall: float = 240.0
    memory: int | None = 2 * 2**30


class Part:
    """Cases of one kind. A case is a word; with the seed it says all that is done.

    `prepare` runs once, in the process of the first worker that comes; `start` in every worker.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    limits: ClassVar[Limits] = Limits()
    workers: ClassVar[int] = 2

    def cases(self, scale: float, seed: int) -> list[str]:
        """The cases of a run."""
        raise NotImplementedError

    def prepare(self, folder: Path, seed: int) -> None:
        """Make what the cases need, in the folder of the part."""

    def start(self, folder: Path, seed: int) -> None:
        """Warm up, before memory is limited."""

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        """One case; ``folder`` is that of the part, for a case to work in a folder of its own below it."""
        raise NotImplementedError


def thinned(cases: Sequence[str], scale: float) -> list[str]:
    """A share of the cases, spread evenly, at least one; all where the scale is 1 or more."""
    wanted = max(1, min(len(cases), round(len(cases) * scale)))
    return [cases[i * len(cases) // wanted] for i in range(wanted)]


@dataclass
class Tally:
    """The counts of a part, and its faults."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[str, Outcome]] = field(default_factory=list)
    details: dict[str, Outcome] = field(default_factory=dict)
    slowest: tuple[float, str] = (0.0, "")
    seconds: float = 0.0

    def add(self, case: str, outcome: Outcome, seconds: float) -> None:
        self.counts[outcome.status] += 1
        self.details[case] = outcome
        self.slowest = max(self.slowest, (seconds, case))
        if outcome.status == "fault":
            self.kinds[outcome.kind] += 1
            self.faults.append((case, outcome))
        if outcome.status == "skipped":
            self.skips[outcome.kind] += 1

    @property
    def tried(self) -> int:
        return self.counts.total() - self.counts["skipped"]

    def as_row(self) -> list[str]:
        kinds = ", ".join(f"{kind} {n}" for kind, n in self.kinds.most_common()) or "0"
        counts = [
            str(n) for n in (self.tried, *(self.counts[s] for s in ("refused", "fine", "forged", "skipped")))
        ]
        return [self.name, *counts, kinds, f"{self.seconds:.0f}"]

    def as_json(self) -> dict[str, object]:
        listed = [{"case": case, **asdict(outcome)} for case, outcome in self.faults]
        return {"tried": self.tried, **self.counts, "faults": listed, "seconds": round(self.seconds, 1)}


HEAD = ["part", "tried", "refused", "fine", "forged", "skipped", "faults", "seconds"]


def table(tallies: Sequence[Tally]) -> str:
    """All parts, as a table of Markdown."""
    rows = [HEAD, ["---"] * len(HEAD), *(tally.as_row() for tally in tallies)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
