"""The engine as the server sees it: a process that is asked, and answers when it can."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError

# A line of an answer, at most.
LONGEST = 64 * 2**20
# Seconds after which the process is started: the page comes first.
WARM_UP_AFTER = 0.5


class EngineFailed(RuntimeError):
    """Something that should not happen has happened in the engine; the log says what."""


class EngineClient:
    """Starts the process when it is first asked, and again where it has ended.

    progress : how far a learning is; None: there is none
    last : what the last learning gave, or the reason why it failed
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
        process = await self._running()
        self._number += 1
        number, future = self._number, asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        line = json.dumps({"id": number, "command": command, "arguments": arguments})
        assert process.stdin is not None
        process.stdin.write(line.encode() + b"\n")
        return await future

    def learn(self) -> bool:
        """Begin to learn, unless that is under way."""
        if self.progress is not None:
            return False
        self.progress = {"stage": "starting"}
        self._go(self._learn())
        return True

    def warm_up(self) -> None:
        """Start the process, so that the first question does not wait for it."""
        self._go(self._soon())

    async def _soon(self) -> None:
        await asyncio.sleep(WARM_UP_AFTER)
        await self._running()

    def _go(self, work: Any) -> None:
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

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "clustruct.studio.engine_process", str(self.path)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LONGEST,
            )
            self._go(self._listen(self._process))
        return self._process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self._hear(json.loads(line))
        await process.wait()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(EngineFailed("the engine has ended; it is started again when needed"))
        self._waiting.clear()

    def _hear(self, message: Mapping[str, Any]) -> None:
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
