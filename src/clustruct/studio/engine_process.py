"""The process of the engine: asked by lines of JSON on its input, answers by lines on its output.

    python -m clustruct.studio.engine_process PROJECT

It ends when its input does, so that nothing is left of a page that was killed.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from clustruct.core.blas import call_with_blas_limit
from clustruct.core.exceptions import DataError

from .engine import Engine
from .exporting import export, regroup_at
from .learning import LearningProgress, Stopped, learn
from .reviewing import block, next_questions, precision_curve, problem, review_page, why

Command = Callable[[Engine, dict[str, Any]], Any]
COMMANDS: dict[str, Command] = {
    "review": lambda e, a: review_page(e, int(a["offset"]), int(a["limit"])),
    "questions": lambda e, a: next_questions(e, int(a["skipped"])),
    "block": lambda e, a: block(e, int(a["skip"])),
    "why": lambda e, a: why(e, str(a["a"]), str(a["b"])),
    "problem": lambda e, a: problem(e),
    "precision": lambda e, a: precision_curve(e),
    "regroup": lambda e, a: regroup_at(e, float(a["precision"])),
    "export": lambda e, a: export(e, Path(a["folder"]), str(a["stem"]), list(a["what"])),
}


class Process:
    """Takes commands one after another; a learning goes on beside them."""

    def __init__(self, engine: Engine, out: TextIO) -> None:
        self.engine, self.out = engine, out
        self._lock, self._learning = threading.Lock(), threading.Lock()
        self._progress: LearningProgress | None = None

    def say(self, **message: Any) -> None:
        """One line."""
        with self._lock:
            self.out.write(json.dumps(message, allow_nan=False, default=float) + "\n")
            self.out.flush()

    def hear(self, line: str) -> None:
        """One command."""
        asked = json.loads(line)
        name, number = asked["command"], asked["id"]
        if name == "stop":
            if self._progress is not None:
                self._progress.stop = True
            self.say(id=number, result={})
        elif name == "learn":
            threading.Thread(target=self._learn, args=(number,), daemon=True).start()
        else:
            self._answer(number, lambda: COMMANDS[name](self.engine, asked.get("arguments", {})))

    def _learn(self, number: int) -> None:
        with self._learning:  # an engine of its own: what others are asked meanwhile stays as it is
            self._progress = LearningProgress(lambda told: self.say(progress=told))
            own = Engine(self.engine.path)
            own.share(self.engine)
            self._answer(number, lambda: self._learned(own))
            self._progress = None

    def _learned(self, own: Engine) -> dict[str, Any]:
        """Learn, and take over what was made before anybody is told: who then asks need not wait for it."""
        assert self._progress is not None
        found = learn(own, self._progress)
        self.engine.share(own)
        return found

    def _answer(self, number: int, work: Callable[[], Any]) -> None:
        try:
            self.say(id=number, result=call_with_blas_limit(work))
        except Stopped:
            self.say(id=number, result={"stopped": True})
        except (DataError, ValueError) as error:
            self.say(id=number, error=str(error), expected=True)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.say(id=number, error=f"{type(error).__name__}: {error}", expected=False)


def main() -> None:
    """Until the input ends."""
    warnings.simplefilter("ignore")
    # What libraries print must not come between the answers.
    out, sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8"), sys.stderr
    process = Process(Engine(Path(sys.argv[1])), out)
    process.say(ready=True)
    for line in sys.stdin:
        process.hear(line)
    os._exit(0)  # a learning under way is left: what it would keep, it has not kept


if __name__ == "__main__":
    main()
