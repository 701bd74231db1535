"""Commands called in this process: exit code, what was printed, and whether that is as it should be."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .tally import FINE, Outcome, fault, refused
from .worker import describe

NO_MEMORY = ("MemoryError", "not enough memory", "Unable to allocate")


@dataclass(frozen=True)
class Ran:
    """What a command did. ``error`` is what came out of it uncaught."""

    code: int | None
    out: str
    err: str
    error: BaseException | None = None

    @property
    def complaint(self) -> str:
        """What stands on stderr besides warnings and progress."""
        lines = self.err.splitlines()
        return "\n".join(line for line in lines if "clustruct: warning:" not in line)


def _stream(errors: str) -> io.TextIOWrapper:
    # As a real stream is: what UTF-8 cannot hold is an error on stdout.
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, newline="\n")


def run(name: str, words: Sequence[object], cwd: Path | None = None) -> Ran:
    """Run ``clustruct``, ``clustruct-learn`` or ``clustruct-classify`` with these words."""
    from clustruct.cli import classify, learn
    from clustruct.cli.main import main

    mains = {"clustruct": main, "clustruct-learn": learn.main, "clustruct-classify": classify.main}
    out, err, code, error = _stream("strict"), _stream("backslashreplace"), None, None
    modules = set(sys.modules)
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd or os.getcwd()),
    ):
        try:
            code = mains[name]([str(w) for w in words])
        except (Exception, SystemExit, KeyboardInterrupt) as caught:
            error = caught
    if name != "clustruct":
        for module in set(sys.modules) - modules:
            del sys.modules[module]
    return Ran(code, _text(out), _text(err), error)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "backslashreplace")  # type: ignore[attr-defined]


def judged(ran: Ran, names: Sequence[str], allowed: Sequence[int] = (0, 1), lines: int = 1) -> Outcome:
    """Whether a command ended well: no traceback, an exit code allowed, a refusal of one line that names
    one of ``names`` (a file, a place). No names: any refusal will do.
    """
    if ran.error is not None:
        kind = "memory" if isinstance(ran.error, MemoryError) else "traceback"
        return fault(kind, describe(ran.error))
    if "Traceback (most recent" in ran.err:
        return fault("traceback", ran.err[-500:])
    if any(mark in ran.err for mark in NO_MEMORY):
        return fault("memory", ran.err)
    if ran.code not in allowed:
        return fault(
            "exit code", f"{ran.code}, not {' or '.join(map(str, allowed))}: {ran.err or ran.out[:200]}"
        )
    if "\x1b" in ran.err + ran.out:
        return fault("escape", (ran.err + ran.out)[:300])
    if ran.code == 0:
        return FINE
    if not ran.complaint.strip() or (len(ran.complaint.splitlines()) > lines and ran.code == 1):
        return fault("message", f"not {lines} line: {ran.err!r}")
    if names and not any(name in ran.complaint for name in names):
        return fault("unnamed", f"none of {', '.join(names)} in: {ran.complaint}")
    return refused(ran.complaint)


def contents(folder: Path) -> dict[str, str]:
    """A digest of every file of a folder, by name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@dataclass
class Watched:
    """What became of the files of a folder meanwhile: `Outcome` of a fault, or None."""

    folder: Path
    targets: Sequence[str]
    before: dict[str, str]

    def verdict(self, code: int | None) -> Outcome | None:
        after = contents(self.folder)
        for name, digest in self.before.items():
            if name not in self.targets and after.get(name) != digest:
                return fault("overwritten", f"{name} is not what it was")
        new = set(after) - set(self.before)
        left = new - set(self.targets) if code == 0 else new
        return fault("left over", ", ".join(sorted(left))) if left else None


@contextlib.contextmanager
def watching(folder: Path, targets: Sequence[str] = ()) -> Iterator[Watched]:
    """Look at a folder before and after."""
    yield Watched(folder, targets, contents(folder))
