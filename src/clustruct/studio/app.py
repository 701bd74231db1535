"""The pages and what they ask for, as a Starlette application.

All of it runs in one thread, the store with it: decisions are made one after another, whatever tabs are open.
"""

from __future__ import annotations

import getpass
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from clustruct.core.exceptions import DataError, ModelFileError
from clustruct.core.text import harmless

from .deciding import decide, decision_of, key_of, redo_of, undo_of
from .engine_client import EngineFailed
from .pages import PAGES, Pages, static_file
from .project import Project
from .security import Guard, Policy, TooLarge

log = logging.getLogger("clustruct.studio")
MOST_ROWS = 200
Answer = Callable[[Request], Awaitable[Response]]


def author_name() -> str:
    """Who sits here."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


class Studio:
    """What answers the requests of one project's pages."""

    def __init__(self, project: Project, policy: Policy) -> None:
        self.project, self.policy, self.author = project, policy, author_name()
        self.pages = Pages()

    def app(self) -> Guard:
        """The application, behind its guard."""
        get: dict[str, Answer] = {
            "/": self.home,
            "/static/{name}": self.static,
            "/files/{name}": self.exported,
            "/api/status": self.status,
            "/api/files": self.files,
            "/api/preview": self.preview,
            "/api/items": self.items,
            "/api/group": self.group,
            "/api/log": self.log,
            "/api/block": self.block,
            "/api/questions": self.questions,
            "/api/problem": self.problem,
            "/api/review": self.review,
            "/api/why": self.why,
            "/api/precision": self.precision,
            **{f"/{name}": self.page for name in PAGES},
        }
        post: dict[str, Answer] = {
            "/api/upload": self.upload,
            "/api/begin": self.begin,
            "/api/open": self.open,
            "/api/decide": self.decide,
            "/api/undo": self.undo,
            "/api/redo": self.redo,
            "/api/learn": self.learn,
            "/api/stop": self.stop,
            "/api/regroup": self.regroup,
            "/api/export": self.export,
        }
        routes = [Route(path, _told(answer), methods=["GET"]) for path, answer in get.items()]
        routes += [Route(path, _told(answer), methods=["POST"]) for path, answer in post.items()]
        made = Starlette(routes=routes, lifespan=self.project.lifespan)
        return Guard(made, self.policy)

    async def home(self, request: Request) -> Response:
        """Where one begins: the start, or what is to be done next."""
        name = "start" if self.project.store is None else "group"
        return HTMLResponse(self.pages.page(name, self.project))

    async def page(self, request: Request) -> Response:
        """One of the pages."""
        name = request.url.path.strip("/")
        if self.project.store is None:
            name = "start"
        return HTMLResponse(self.pages.page(name, self.project))

    async def static(self, request: Request) -> Response:
        """Code and style of the pages."""
        found = static_file(request.path_params["name"])
        if found is None:
            return _refused(request, 404, "no such file")
        return Response(found[0], media_type=found[1])

    async def exported(self, request: Request) -> Response:
        """A file that was exported from here."""
        name = request.path_params["name"]
        if name not in self.project.exported:
            return _refused(request, 404, "not a file that was exported")
        return FileResponse(self.project.folder.file(name), filename=name)

    async def status(self, request: Request) -> Response:
        """How things stand."""
        return JSONResponse(self.project.status())

    async def files(self, request: Request) -> Response:
        """Data files and projects of the folder."""
        return JSONResponse({"files": self.project.folder.listed(), "chosen": self.project.chosen})

    async def preview(self, request: Request) -> Response:
        """What a data file holds."""
        return JSONResponse(self.project.preview(request.query_params.get("file", "")))

    async def upload(self, request: Request) -> Response:
        """A data file into the folder."""
        content = await request.body()
        path = self.project.folder.keep(request.query_params.get("name", ""), content)
        return JSONResponse({"name": path.name})

    async def begin(self, request: Request) -> Response:
        """A project of a data file."""
        await self.project.begin(await _sent(request))
        return JSONResponse(self.project.status())

    async def open(self, request: Request) -> Response:
        """A project that is there."""
        await self.project.open(str((await _sent(request)).get("name", "")))
        return JSONResponse(self.project.status())

    async def items(self, request: Request) -> Response:
        """Items by their names, or some of all."""
        names = request.query_params.getlist("id")
        if names:
            return JSONResponse({"items": self.project.named(names[:MOST_ROWS])})
        offset, limit = _number(request, "offset"), min(_number(request, "limit", 50), MOST_ROWS)
        search = request.query_params.get("search", "")[:200]
        total, found = self.project.page(offset, limit, search)
        return JSONResponse({"total": total, "items": found})

    async def group(self, request: Request) -> Response:
        """A group with its items."""
        return JSONResponse(self.project.group(request.query_params.get("id", "")))

    async def log(self, request: Request) -> Response:
        """The last decisions."""
        return JSONResponse({"decisions": self.project.last_decisions(_number(request, "limit", 30))})

    async def decide(self, request: Request) -> Response:
        """A decision: when this is answered, it is on the disk."""
        store, sent = self.project.need(), await _sent(request)
        number = decide(store, decision_of(sent, self.author))
        kept = store.recent(1)[-1:]
        into = kept[0].into if kept and kept[0].number == number else None
        return JSONResponse({"number": number, "into": into, **self.project.status()})

    async def undo(self, request: Request) -> Response:
        """The last decision back."""
        return await self._take_back(request, undo_of, "nothing to undo")

    async def redo(self, request: Request) -> Response:
        """The last undo back."""
        return await self._take_back(request, redo_of, "nothing to redo")

    async def _take_back(self, request: Request, which: Any, nothing: str) -> Response:
        from clustruct.groups import Decision

        store, source = self.project.need(), key_of(await _sent(request))
        with store.transaction():
            known = next((d.number for d in store.recent(50) if d.source == source), None)
            if known is None:
                number = which(store.decisions())
                if number is None:
                    raise DataError(nothing)
                known = store.decide(Decision("undo", undoes=number, author=self.author, source=source))
        return JSONResponse({"number": known, **self.project.status()})

    async def learn(self, request: Request) -> Response:
        """Begin to learn from all decisions."""
        await _sent(request)
        self.project.need()
        assert self.project.engine is not None
        self.project.engine.learn()
        return JSONResponse(self.project.status())

    async def stop(self, request: Request) -> Response:
        """End a learning; what it has learned so far is kept."""
        await _sent(request)
        await self._engine("stop")
        return JSONResponse({})

    async def block(self, request: Request) -> Response:
        """A set to group."""
        found = await self._engine("block", skip=_number(request, "skip"))
        return JSONResponse({**found, "items": self.project.named(found["items"])})

    async def questions(self, request: Request) -> Response:
        """A batch of questions."""
        found = await self._engine("questions", skipped=_number(request, "skipped"))
        held = found["questions"]
        names = [name for q in held for part in (q["items"], *q["piles"]) for name in part]
        told = {item["id"]: item for item in self.project.named(names)}

        def records(part: list[str]) -> list[dict[str, Any]]:
            return [told[name] for name in part]

        asked = [{**q, "items": records(q["items"]), "piles": list(map(records, q["piles"]))} for q in held]
        return JSONResponse({**found, "questions": asked, "curve": self.project.curve()})

    async def problem(self, request: Request) -> Response:
        """Decisions that cannot all be right."""
        return JSONResponse(await self._engine("problem"))

    async def review(self, request: Request) -> Response:
        """Doubtful groups."""
        limit = min(_number(request, "limit", 20), 50)
        return JSONResponse(await self._engine("review", offset=_number(request, "offset"), limit=limit))

    async def why(self, request: Request) -> Response:
        """What each field says of two items."""
        ask = {end: request.query_params.get(end, "") for end in ("a", "b")}
        return JSONResponse(await self._engine("why", **ask))

    async def precision(self, request: Request) -> Response:
        """The curve of the precision dial."""
        return JSONResponse(await self._engine("precision"))

    async def regroup(self, request: Request) -> Response:
        """Groups at a precision."""
        wanted = (await _sent(request)).get("precision")
        if not isinstance(wanted, int | float) or not 0.5 <= wanted < 1.0:
            raise DataError("precision must be from 0.5 to 0.999")
        return JSONResponse(await self._engine("regroup", precision=float(wanted)))

    async def export(self, request: Request) -> Response:
        """Files into the folder."""
        what = (await _sent(request)).get("what")
        if not isinstance(what, list):
            raise DataError("what is to be exported?")
        folder, stem = str(self.project.folder.path), self.project.stem
        found = await self._engine("export", folder=folder, stem=stem, what=[str(w) for w in what])
        self.project.exported.update(found["files"].values())
        return JSONResponse(found)

    async def _engine(self, command: str, **arguments: Any) -> Any:
        self.project.need()
        assert self.project.engine is not None
        return await self.project.engine.ask(command, **arguments)


def _number(request: Request, name: str, usual: int = 0) -> int:
    text = request.query_params.get(name, str(usual))
    if not (text.isascii() and text.isdecimal()):
        raise DataError(f"{name} must be a number")
    return int(text[:9])


class Malformed(Exception):
    """What was sent is no JSON object."""


async def _sent(request: Request) -> Mapping[str, Any]:
    """The JSON object of a request."""
    try:
        held = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Malformed from None
    if not isinstance(held, dict):
        raise Malformed
    return held


def _refused(request: Request, status: int, reason: str) -> Response:
    asked = harmless(f"{request.method} {request.url.path}")[:120]
    client = request.client.host if request.client else "?"
    log.warning("refused: %s from %s: %s", asked, client, harmless(reason)[:200])
    return JSONResponse({"error": reason}, status_code=status)


def _told(answer: Answer) -> Answer:
    """The same, with what is wrong said in one line."""

    async def inner(request: Request) -> Response:
        try:
            return await answer(request)
        except Malformed:
            return _refused(request, 400, "what was sent is not a JSON object")
        except TooLarge:
            return _refused(request, 413, "too much was sent")
        except (DataError, ModelFileError, ValueError) as error:
            return _refused(request, 409, str(error))
        except EngineFailed as error:
            log.error("%s", harmless(str(error)))
            return JSONResponse({"error": str(error)}, status_code=500)

    return inner


def make_app(folder: Path, project: Path | None, policy: Policy, chosen: str | None = None) -> Guard:
    """The application for a folder, with a project that is there, or a data file to begin with."""
    return Studio(Project(folder, project, chosen), policy).app()
