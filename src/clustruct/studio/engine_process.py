"""The engine in a process of its own, so that decisions never wait for it. Both ends speak lines of JSON.

    python -m clustruct.studio.engine_process PROJECT

`EngineClient` is the server's end, `EngineServer` the other one. The process ends when its input does, so
that nothing is left of a page that was killed. Only the process loads what learning needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clustruct.core.blas import call_with_blas_limit
from clustruct.core.exceptions import DataError

if TYPE_CHECKING:
    from .engine import Engine
    from .learning import LearningProgress

# A line of an answer, at most.
LONGEST = 64 * 2**20
# Seconds after which the process is started: the page comes first.
WARM_UP_AFTER = 0.5


class EngineFailed(RuntimeError):
    """Something that should not happen has happened in the engine; the log says what."""


class EngineClient:
    """Starts the process when it is first asked, and again where it has ended.

    progress : how far a learning is; None: there is none
    last : the result of the last learning, or the reason why it failed
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.progress: dict[str, Any] | None = None
        self.last: dict[str, Any] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def ask(self, command: str, **arguments: Any) -> Any:
        """The answer to a command. What is wrong with it is a `DataError`."""
        process = await self._start()
        self._number += 1
        number, future = self._number, asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        line = json.dumps({"id": number, "command": command, "arguments": arguments})
        assert process.stdin is not None
        process.stdin.write(line.encode() + b"\n")
        return await future

    def learn(self) -> None:
        """Begin to learn, unless that is under way."""
        if self.progress is None:
            self.progress = {"stage": "starting"}
            self._add_task(self._learn())

    def warm_up(self) -> None:
        """Start the process, so that the first question does not wait for it."""

        async def start_soon() -> None:
            await asyncio.sleep(WARM_UP_AFTER)
            await self._start()

        self._add_task(start_soon())

    def _add_task(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _learn(self) -> None:
        try:
            self.last = await self.ask("learn")
        except (DataError, EngineFailed) as error:
            self.last = {"error": str(error)}
        finally:
            self.progress = None

    async def _start(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "clustruct.studio.engine_process", str(self.path)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LONGEST,
            )
            self._add_task(self._read_answers(self._process))
        return self._process

    async def _read_answers(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self._take_answer(json.loads(line))
        await process.wait()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(EngineFailed("the engine has ended; it is started again when needed"))
        self._waiting.clear()

    def _take_answer(self, message: Mapping[str, Any]) -> None:
        if "progress" in message and self.progress is not None:
            self.progress = dict(message["progress"])
        future = self._waiting.pop(message.get("id", 0), None)
        if future is None or future.done():
            return
        if "error" in message:
            kind = DataError if message["expected"] else EngineFailed
            future.set_exception(kind(message["error"]))
        else:
            future.set_result(message["result"])

    async def close(self) -> None:
        """End the process; a learning under way is given up."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


class EngineServer:
    """Takes commands one after another; a learning goes on beside them."""

    def __init__(self, engine: Engine, out: TextIO) -> None:
        from .exporting import export, regroup_at
        from .reviewing import block, next_questions, precision_curve, problem, review_page, why

        self.engine, self.out = engine, out
        self._lock, self._learning = threading.Lock(), threading.Lock()
        self._progress: LearningProgress | None = None
        self._commands: dict[str, Callable[..., Any]] = {
            "review": review_page,
            "questions": next_questions,
            "block": block,
            "why": why,
            "problem": problem,
            "precision": precision_curve,
            "regroup": regroup_at,
            "export": export,
        }

    def send(self, **message: Any) -> None:
        """Write one line."""
        with self._lock:
            self.out.write(json.dumps(message, allow_nan=False, default=float) + "\n")
            self.out.flush()

    def run_command(self, line: str) -> None:
        """Answer one line, or begin to learn."""
        request = json.loads(line)
        name, number = request["command"], request["id"]
        if name == "stop":
            if self._progress is not None:
                self._progress.stop = True
            self.send(id=number, result={})
        elif name == "learn":
            threading.Thread(target=self._learn, args=(number,), daemon=True).start()
        else:
            self._answer(number, lambda: self._commands[name](self.engine, **request["arguments"]))

    def _learn(self, number: int) -> None:
        from .engine import Engine
        from .learning import LearningProgress, learn

        with self._learning:  # an engine of its own: other commands find theirs as it was
            progress = self._progress = LearningProgress(lambda about: self.send(progress=about))
            own = Engine(self.engine.path)
            own.share(self.engine)

            def learn_and_share() -> dict[str, Any]:
                found = learn(own, progress)
                self.engine.share(own)  # before the answer: who then asks need not wait for it
                return found

            self._answer(number, learn_and_share)
            self._progress = None

    def _answer(self, number: int, work: Callable[[], Any]) -> None:
        from .learning import Stopped

        try:
            self.send(id=number, result=call_with_blas_limit(work))
        except Stopped:
            self.send(id=number, result={"stopped": True})
        except (DataError, ValueError) as error:
            self.send(id=number, error=str(error), expected=True)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.send(id=number, error=f"{type(error).__name__}: {error}", expected=False)


def main() -> None:
    """Answer until the input ends."""
    from .engine import Engine

    warnings.simplefilter("ignore")
    # What libraries print must not come between the answers.
    out, sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8"), sys.stderr
    server = EngineServer(Engine(Path(sys.argv[1])), out)
    server.send(ready=True)
    for line in sys.stdin:
        server.run_command(line)
    os._exit(0)  # a learning under way is left: it has kept nothing yet


if __name__ == "__main__":
    main()
