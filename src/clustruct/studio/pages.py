"""The pages: templates with every value escaped, and the files beside them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2

if TYPE_CHECKING:
    from .project import Project

PAGES = {
    "start": "Start",
    "group": "Group",
    "ask": "Ask me",
    "learn": "Learn",
    "review": "Review",
    "export": "Export",
}
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Pages:
    """Templates of the pages."""

    def __init__(self) -> None:
        loader = jinja2.PackageLoader("clustruct.studio")
        self._templates = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)

    def page(self, name: str, project: Project) -> str:
        """The HTML of a page."""
        held = {"page": name, "pages": PAGES, "project": project.stem if project.store is not None else None}
        return self._templates.get_template(f"{name}.html").render(**held)


def static_file(name: str) -> tuple[bytes, str] | None:
    """The content and kind of a file beside the pages, by its plain name; the style of the report is one."""
    end = name[name.rfind(".") :]
    if end not in KINDS or "/" in name or "\\" in name or name.startswith("."):
        return None
    # Found from the top: to name the package of the report would load all that it needs.
    home = "evaluate/report/templates" if name == "style.css" else "studio/static"
    found = files("clustruct") / home / name
    return (found.read_bytes(), KINDS[end]) if found.is_file() else None
