"""The pages of Studio, in the order of the navigation.

A further page is a module with a `Page`, and a line in `PAGES`: navigation, addresses and tests follow.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from clustruct.core.exceptions import DataError

from .app import Page, Refused, json_body, number_of
from .project import Project

MOST_ROWS = 200


# Start


async def list_files(project: Project, _: Request) -> dict[str, Any]:
    """Data files and projects of the folder."""
    return {"files": project.folder.list_files(), "chosen": project.chosen}


async def preview(project: Project, request: Request) -> dict[str, Any]:
    """What a data file holds."""
    return project.preview(request.query_params.get("file", ""))


async def upload(project: Project, request: Request) -> dict[str, Any]:
    """A data file into the folder."""
    content = await request.body()
    return {"name": project.folder.keep(request.query_params.get("name", ""), content).name}


async def begin(project: Project, request: Request) -> dict[str, Any]:
    """A project of a data file."""
    await project.begin(await json_body(request))
    return project.status()


async def open_project(project: Project, request: Request) -> dict[str, Any]:
    """A project that is there."""
    await project.open(str((await json_body(request)).get("name", "")))
    return project.status()


START = Page(
    "start",
    "Start",
    get={"/api/files": list_files, "/api/preview": preview},
    post={"/api/upload": upload, "/api/begin": begin, "/api/open": open_project},
)


# Group


async def items(project: Project, request: Request) -> dict[str, Any]:
    """Items by their names, or some of all."""
    names = request.query_params.getlist("id")
    if names:
        return {"items": project.items(names[:MOST_ROWS])}
    offset, limit = number_of(request, "offset"), min(number_of(request, "limit", 50), MOST_ROWS)
    total, found = project.page(offset, limit, request.query_params.get("search", "")[:200])
    return {"total": total, "items": found}


async def group(project: Project, request: Request) -> dict[str, Any]:
    """A group with its items."""
    return project.group(request.query_params.get("id", ""))


async def block(project: Project, request: Request) -> dict[str, Any]:
    """A set to group."""
    found = await project.ask("block", skip=number_of(request, "skip"))
    return {**found, "items": project.items(found["items"])}


GROUP = Page("group", "Group", get={"/api/items": items, "/api/group": group, "/api/block": block})


# Ask me


async def questions(project: Project, request: Request) -> dict[str, Any]:
    """A batch of questions, with the records of their items."""
    found = await project.ask("questions", skipped=number_of(request, "skipped"))
    parts = [part for q in found["questions"] for part in (q["items"], *q["piles"])]
    record = {item["id"]: item for item in project.items(name for part in parts for name in part)}

    def records(names: list[str]) -> list[dict[str, Any]]:
        return [record[name] for name in names]

    with_records = [
        {**q, "items": records(q["items"]), "piles": list(map(records, q["piles"]))}
        for q in found["questions"]
    ]
    return {**found, "questions": with_records, "curve": project.curve()}


async def why(project: Project, request: Request) -> Any:
    """What each field contributes to the similarity of two items."""
    return await project.ask("why", **{end: request.query_params.get(end, "") for end in ("a", "b")})


ASK = Page("ask", "Ask me", get={"/api/questions": questions, "/api/why": why})


# Learn


async def decision_log(project: Project, request: Request) -> dict[str, Any]:
    """The last decisions."""
    return {"decisions": project.last_decisions(number_of(request, "limit", 30))}


async def learn(project: Project, request: Request) -> dict[str, Any]:
    """Begin to learn from all decisions."""
    await json_body(request)
    project.need_engine().learn()
    return project.status()


async def stop(project: Project, request: Request) -> dict[str, Any]:
    """End a learning; what it has learned so far is kept."""
    await json_body(request)
    await project.ask("stop")
    return {}


LEARN = Page("learn", "Learn", get={"/api/log": decision_log}, post={"/api/learn": learn, "/api/stop": stop})


# Review


async def review(project: Project, request: Request) -> Any:
    """Doubtful groups."""
    limit = min(number_of(request, "limit", 20), 50)
    return await project.ask("review", offset=number_of(request, "offset"), limit=limit)


async def precision(project: Project, _: Request) -> Any:
    """The curve of the precision dial."""
    return await project.ask("precision")


async def regroup(project: Project, request: Request) -> Any:
    """Groups at a precision."""
    wanted = (await json_body(request)).get("precision")
    if not isinstance(wanted, int | float) or not 0.5 <= wanted < 1.0:
        raise DataError("precision must be from 0.5 to 0.999")
    return await project.ask("regroup", precision=float(wanted))


REVIEW = Page(
    "review",
    "Review",
    get={"/api/review": review, "/api/precision": precision},
    post={"/api/regroup": regroup},
)


# Export


async def export(project: Project, request: Request) -> Any:
    """Files into the folder."""
    what = (await json_body(request)).get("what")
    if not isinstance(what, list):
        raise DataError("what is to be exported?")
    folder = str(project.folder.path)
    found = await project.ask("export", folder=folder, stem=project.stem, what=[str(w) for w in what])
    project.exported_files.update(found["files"].values())
    return found


async def exported_file(project: Project, request: Request) -> Response:
    """A file that was exported from here."""
    name = request.path_params["name"]
    if name not in project.exported_files:
        raise Refused(404, "not a file that was exported")
    return FileResponse(project.folder.file(name), filename=name)


EXPORT = Page("export", "Export", get={"/files/{name}": exported_file}, post={"/api/export": export})

PAGES = [START, GROUP, ASK, LEARN, REVIEW, EXPORT]
