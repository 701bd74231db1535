"""Studio as a real process, and a browser's side of HTTP without a browser."""

import contextlib
import csv
import http.client
import itertools
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

from clustruct.data.datasets import make_records


def write_people(path, n_people=12, seed=0):
    """A table of people, several rows each, without their clusters; the truth by id."""
    (table,) = make_records(n_sets=1, n_people=n_people, random_state=seed)
    fields = table.fields()
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f)
        writer.writerow(["nr", *fields])
        for n, row in enumerate(zip(*map(table.column, fields), strict=True)):
            writer.writerow([f"p{n}", *row])
    return {f"p{n}": str(y) for n, y in enumerate(table.labels)}, fields


def _heed_interrupts():
    """Where the tests run in the background of a shell, SIGINT is ignored, and would be here."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Process:
    """``clustruct studio`` in a process of its own."""

    def __init__(self, path, *more):
        words = [sys.executable, "-m", "clustruct", "studio", str(path), "--no-browser", *more]
        self.process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ.copy(),
            preexec_fn=_heed_interrupts,
        )
        self.log = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"no address: {line!r} {''.join(self.log)}"
        self.url = found.group()

    def _listen(self):
        for line in self.process.stderr:
            self.log.append(line)

    def kill(self):
        self._end(signal.SIGKILL)

    def close(self):
        self._end(signal.SIGINT)

    def _end(self, by):
        self.process.send_signal(by)
        self.process.wait(timeout=120)
        self._listener.join(timeout=60)  # the engine ends after it, and has the same log
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()

    def heard(self, text, patience=60.0, since=0):
        """Whether a line of the log, after the first so many, has this text."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if any(text in line for line in self.log[since:]):
                return True
            time.sleep(0.02)
        return False


def _serve(path, out):
    """In a process of its own: serve, and say where."""
    from clustruct.studio import server

    running = server.serve(path, open_browser=False)
    out.send(running.url)
    server.wait_for_interrupt(running)


class Forked:
    """A server in a process that was forked from one that has loaded all it needs: it starts at once."""

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "clustruct.studio.pages",
            "clustruct.studio.server",
            "uvicorn.protocols.http.h11_impl",
            "uvicorn.lifespan.on",
            "uvicorn.loops.asyncio",
            "tests.studio.serving",
        ]
    )

    def __init__(self, path):
        ours, theirs = self.context.Pipe()
        self.process = self.context.Process(target=_serve, args=(str(path), theirs), daemon=True)
        self.process.start()
        assert ours.poll(180), "the server did not start"
        self.url = ours.recv()
        ours.close()
        theirs.close()

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.process.close()

    close = kill


class Client:
    """A browser that has the token."""

    keys = (f"key{n:012d}" for n in itertools.count())

    def __init__(self, url):
        parts = urlsplit(url)
        self.host, self.port, self.token = parts.hostname, parts.port, parts.query.removeprefix("token=")
        self.origin = f"http://{self.host}:{self.port}"
        self.cookie = f"clustruct_{self.port}={self.token}"

    def request(self, method, path, body=None, **headers):
        """Status, headers and body of an answer; headers of a browser unless others are given.

        Who refuses may close before the body has come, and the answer is lost: asked again.
        """
        for _ in range(9):
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                return self._request(method, path, body, **headers)
        return self._request(method, path, body, **headers)

    def _request(self, method, path, body=None, **headers):
        sent = {"Host": f"{self.host}:{self.port}", "Cookie": self.cookie}
        if method == "POST":
            sent |= {"Origin": self.origin, "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if value is not None}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=180)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            if method == "POST" and "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get(self, path):
        return self._read(*self.request("GET", path))

    def post(self, path, body=None):
        return self._read(*self.request("POST", path, {} if body is None else body))

    @staticmethod
    def _read(status, headers, body):
        held = json.loads(body)
        assert status == 200, held
        return held

    def decide(self, kind, **what):
        return self.post("/api/decide", {"kind": kind, "key": next(self.keys), **what})

    def undo(self):
        return self.post("/api/undo", {"key": next(self.keys)})

    def redo(self):
        return self.post("/api/redo", {"key": next(self.keys)})

    def learn(self, patience=300.0):
        """Learn, and wait for it."""
        self.post("/api/learn")
        end = time.monotonic() + patience
        while time.monotonic() < end:
            now = self.get("/api/status")
            if now["learning"] is None:
                return now["learned"]
            time.sleep(0.05)
        raise AssertionError("the learning did not end")

    def begin(self, file, fields, **more):
        return self.post("/api/begin", {"file": file, "fields": fields, "id": "nr", "kind": "auto", **more})
