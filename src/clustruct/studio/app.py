"""Studio as a Starlette application: its pages, and what the browser asks the server for.

All of it runs in one thread, the store with it: decisions are made one after another, whatever tabs are open.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from clustruct.core.exceptions import DataError, ModelFileError
from clustruct.core.formatting import harmless

from .engine_process import EngineFailed
from .project import Project, decide, decision_of, redo_of, undo_of
from .security import Guard, Policy, TooLarge

log = logging.getLogger("clustruct.studio")
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
# What a request is answered with: a response, or something to be sent as JSON.
Handler = Callable[[Project, Request], Awaitable[Any]]


@dataclass(frozen=True)
class Page:
    """A page: its name in the address, its title, and the handlers of the requests that it alone makes.

    template : HTML in the form of templates/*.html; None where templates/NAME.html has it
    script : JavaScript; None where static/NAME.js has it
    """

    name: str
    title: str
    get: Mapping[str, Handler] = field(default_factory=dict)
    post: Mapping[str, Handler] = field(default_factory=dict)
    template: str | None = None
    script: str | None = None


class Studio:
    """The application of one project, with these pages in the order of the navigation.

    Where no project is open, every page is the first one; once there is one, the address without a name is
    the second.
    """

    def __init__(self, project: Project, pages: Sequence[Page]) -> None:
        self.project, self.pages = project, {page.name: page for page in pages}
        loader = jinja2.PackageLoader("clustruct.studio")
        self._templates = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)

    def app(self, policy: Policy) -> Guard:
        """The application, behind its guard."""
        get: dict[str, Handler] = {
            "/": self.show_page,
            "/static/{name}": self.static_file,
            "/api/status": status,
        }
        get |= {f"/{name}": self.show_page for name in self.pages} | {"/api/problem": problem}
        post: dict[str, Handler] = {"/api/decide": make_decision, "/api/undo": undo, "/api/redo": redo}
        for page in self.pages.values():
            get |= page.get
            post |= page.post
        routes = [Route(path, self._endpoint(handler), methods=["GET"]) for path, handler in get.items()]
        routes += [Route(path, self._endpoint(handler), methods=["POST"]) for path, handler in post.items()]
        return Guard(Starlette(routes=routes, lifespan=self.project.lifespan), policy)

    def _endpoint(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler whose errors are sent and logged in one line."""

        async def endpoint(request: Request) -> Response:
            try:
                answer = await handler(self.project, request)
            except Refused as error:
                return _refusal(request, error.status, str(error))
            except TooLarge:
                return _refusal(request, 413, "too much was sent")
            except (DataError, ModelFileError, ValueError) as error:
                return _refusal(request, 409, str(error))
            except EngineFailed as error:
                log.error("%s", harmless(str(error)))
                return JSONResponse({"error": str(error)}, status_code=500)
            return answer if isinstance(answer, Response) else JSONResponse(answer)

        return endpoint

    async def show_page(self, project: Project, request: Request) -> Response:
        """The page that the address names."""
        first, second, *_ = self.pages
        name = request.url.path.strip("/") or second
        page = self.pages[first if project.store is None else name]
        template = page.template and self._templates.from_string(page.template)
        return HTMLResponse(
            (template or self._templates.get_template(f"{page.name}.html")).render(
                page=page.name,
                pages={page.name: page.title for page in self.pages.values()},
                project=None if project.store is None else project.stem,
            )
        )

    async def static_file(self, _: Project, request: Request) -> Response:
        """A script or a style of the pages, by its plain name."""
        name = request.path_params["name"]
        stem, dot, end = name.rpartition(".")
        if dot + end not in MEDIA_TYPES or "/" in name or "\\" in name or name.startswith("."):
            raise Refused(404, "no such file")
        page = self.pages.get(stem)
        if page is not None and page.script is not None and end == "js":
            return Response(page.script, media_type=MEDIA_TYPES[".js"])
        # The style is the report's, found from the top: to import the report would load all that it needs.
        folder = "evaluate/report/templates" if name == "style.css" else "studio/static"
        found = files("clustruct") / folder / name
        if not found.is_file():
            raise Refused(404, "no such file")
        return Response(found.read_bytes(), media_type=MEDIA_TYPES[dot + end])


async def status(project: Project, _: Request) -> dict[str, Any]:
    """How things stand."""
    return project.status()


async def problem(project: Project, _: Request) -> Any:
    """Decisions that cannot all be right."""
    return await project.ask("problem")


async def make_decision(project: Project, request: Request) -> dict[str, Any]:
    """A decision: when this is answered, it is on the disk."""
    store, body = project.need(), await json_body(request)
    number = decide(store, decision_of(body, project.author))
    last = store.recent(1)[-1:]
    into = last[0].into if last and last[0].number == number else None
    return {"number": number, "into": into, **project.status()}


async def undo(project: Project, request: Request) -> dict[str, Any]:
    """The last decision back."""
    return project.take_back(await json_body(request), undo_of, "nothing to undo")


async def redo(project: Project, request: Request) -> dict[str, Any]:
    """The last undo back."""
    return project.take_back(await json_body(request), redo_of, "nothing to redo")


def number_of(request: Request, name: str, default: int = 0) -> int:
    """A number in the address of a request."""
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdecimal()):
        raise DataError(f"{name} must be a number")
    return int(text[:9])


class Refused(Exception):
    """A request that is answered by a status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def json_body(request: Request) -> Mapping[str, Any]:
    """The JSON object that a request has sent."""
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Refused(400, "what was sent is not a JSON object")
    return body


def _refusal(request: Request, status: int, reason: str) -> Response:
    what = harmless(f"{request.method} {request.url.path}")[:120]
    client = request.client.host if request.client else "?"
    log.warning("refused: %s from %s: %s", what, client, harmless(reason)[:200])
    return JSONResponse({"error": reason}, status_code=status)
