"""The server of Studio: one address on this machine, a token in it, and a log of what was refused."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import time
import webbrowser
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Self

from clustruct.core.exceptions import DataError
from clustruct.groups import is_store

from .security import MOST_UPLOAD, Policy

LOOPBACK = "127.0.0.1"


@dataclass
class Running:
    """A server that runs in a thread of its own; `close` ends it.

    Attributes
    ----------
    url : str
        The address of the page, with its token.
    """

    url: str
    _server: Any = field(repr=False)
    _thread: threading.Thread = field(repr=False)

    def close(self) -> None:
        """End the server. Decisions are on the disk already."""
        self._server.should_exit = True
        self._thread.join(timeout=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """A link, in a notebook."""
        return f'<a href="{self.url}" target="_blank">clustruct studio</a>'


def serve(
    path: str | PathLike[str] = ".",
    *,
    port: int = 0,
    listen: str = LOOPBACK,
    open_browser: bool = True,
    block: bool = False,
    max_upload: int = MOST_UPLOAD,
) -> Running:
    """Open Studio for a data file, a project, or a folder.

    From Python and notebooks it runs beside what follows; ``close`` of what it returns ends it.

    Parameters
    ----------
    path : path, default="."
        A data file (.csv, .tsv, .jsonl, .parquet, ...), a project (.db), or a folder with some.
    port : int, default=0
        0 takes one that is free.
    listen : str, default="127.0.0.1"
        The address of this machine that is listened to; any but the loopback address lets other machines
        in, which then need the address with the token, and read everything unencrypted.
    open_browser : bool, default=True
        Whether to open the page.
    block : bool, default=False
        Whether to return only when the server has ended.
    max_upload : int, default=67108864
        Bytes of a file that comes through the page.

    Returns
    -------
    Running
        The server; where ``block`` is set it has ended by then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, serve(folder, open_browser=False) as studio:
    ...     studio.url.startswith("http://127.0.0.1:")
    True
    """
    import uvicorn

    from .app import Studio
    from .pages import PAGES
    from .project import Project

    folder, project, chosen = found_at(Path(path))
    sock = _bound(listen, port)
    policy = _policy(listen, sock.getsockname()[1], max_upload)
    app = Studio(Project(folder, project, chosen), PAGES).app(policy)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, limit_concurrency=200, ws="none"
    )
    server = uvicorn.Server(config)
    shown = LOOPBACK if listen in ("0.0.0.0", "::") else listen
    host = f"[{shown}]" if ":" in shown else shown
    url = f"http://{host}:{policy.port}/?token={policy.token}"
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    running = Running(url, server, thread)
    _wait(running)
    if open_browser:
        webbrowser.open(url)
    if block:
        wait_for_interrupt(running)
    return running


def found_at(path: Path) -> tuple[Path, Path | None, str | None]:
    """The folder, the project where there is one, and the data file to begin with."""
    from .folder import PROJECT_END

    if path.is_dir():
        return path, None, None
    if not path.is_file():
        raise DataError(f"{path}: there is no such file or folder")
    if is_store(path):
        return path.parent, path, None
    project = path.parent / f"{path.name.split('.')[0]}{PROJECT_END}"
    return path.parent, project if project.is_file() else None, path.name


def _bound(listen: str, port: int) -> socket.socket:
    kind = socket.AF_INET6 if ":" in listen else socket.AF_INET
    sock = socket.socket(kind, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((listen, port))
    except OSError as error:
        sock.close()
        raise DataError(f"cannot listen at {listen}:{port}: {error.strerror}") from None
    return sock


def is_loopback(listen: str) -> bool:
    """Whether only this machine can reach an address."""
    return listen in ("localhost", "::1") or listen.startswith("127.")


def _policy(listen: str, port: int, max_upload: int) -> Policy:
    if is_loopback(listen):
        return Policy(port, most_upload=max_upload)
    return Policy(port, (socket.gethostname().lower(), listen), any_address=True, most_upload=max_upload)


def _wait(running: Running, patience: float = 30.0) -> None:
    started = time.monotonic()
    while not running._server.started:
        if not running._thread.is_alive() or time.monotonic() - started > patience:
            raise DataError("the server did not start; see the log")
        time.sleep(0.01)


def wait_for_interrupt(running: Running) -> None:
    """Wait for Ctrl-C, then end the server."""
    try:
        while running._thread.is_alive():
            running._thread.join(timeout=0.5)
    except KeyboardInterrupt:
        running.close()


def log_to_terminal() -> None:
    """Refusals, with their time, on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.getLogger("clustruct.studio").addHandler(handler)
