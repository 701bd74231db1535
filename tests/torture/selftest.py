"""A part that does what must not happen: the workers must notice."""

from __future__ import annotations

import os
from pathlib import Path

from .tally import FINE, Limits, Outcome, Part, refused


class SelfTest(Part):
    name = "selftest"
    about = "what must not happen, to see that it is noticed"
    limits = Limits(cpu=1.0, wall=20.0, memory=2**28)

    def cases(self, scale: float, seed: int) -> list[str]:
        return ["fine", "refused", "traceback", "leaves", "dies", "hangs", "eats", "fine again"]

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        if case == "refused":
            return refused("no")
        if case == "traceback":
            raise KeyError("a")
        if case == "leaves":
            raise SystemExit(3)
        if case == "dies":
            os.abort()
        while case == "hangs":
            pass
        if case == "eats":
            bytearray(2**31)
        return FINE
