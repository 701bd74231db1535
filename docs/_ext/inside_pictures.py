"""The pictures of *How it works inside*, drawn from the code each time the site is built.

Layers: the contract of import-linter in ``pyproject.toml``, and the imports that there really are (grimp).
The data's way: the modules that really are entered, in their order, while a small model is learned and used.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
ROW, BOX, WIDTH = 34, 24, 760
INK, LINE, FILL, STRONG = "#24292f", "#8c959f", "#eef2f7", "#2f6f9f"


def layers() -> list[list[str]]:
    """The floors, highest first, by the first of the contracts."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [line.split(" : ") for line in settings["tool"]["importlinter"]["contracts"][0]["layers"]]


def imports() -> Counter[tuple[str, str]]:
    """How many modules of one package import one of another."""
    import grimp

    graph = grimp.build_graph("clustruct", cache_dir=None)
    found: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            pair = tuple(name.split(".")[1] if "." in name else "" for name in (module, other))
            if all(pair) and pair[0] != pair[1]:
                found[pair] += 1
    return found


def text(x: float, y: float, words: str, anchor: str = "middle", **style: str) -> str:
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def box(x: float, y: float, width: float, words: str, fill: str = FILL) -> str:
    size = f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}"'
    rect = f'<rect {size} rx="5" fill="{fill}" stroke="{LINE}"/>'
    return rect + text(x + width / 2, y + 16, words)


def page(width: float, height: float, parts: list[str], label: str) -> str:
    """An SVG on white, so that it can be read on dark pages too."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img"'
    head += f' aria-label="{escape(label)}" font-family="sans-serif" font-size="12" fill="{INK}">'
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="white"/>'
    arrow = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto">'
        f'<path d="M0 0 8 4 0 8z" fill="{STRONG}"/></marker></defs>'
    )
    return "\n".join([head, ground, arrow, *parts, "</svg>"])


def draw_layers() -> str:
    """Layers from top to bottom; on the right how many imports go from each package down to which."""
    rows, used, parts = layers(), imports(), []
    for k, names in enumerate(rows):
        y, width = 10 + k * ROW, (320 - 6 * (len(names) - 1)) / len(names)
        parts += [box(14 + j * (width + 6), y, width, name) for j, name in enumerate(names)]
        below = [f"{b} {n}" for (a, b), n in used.most_common() if a in names][:6]
        parts.append(text(348, y + 16, ", ".join(below), anchor="start", font_size="11"))
    label = "The packages on their floors; each imports only from those below it, or as listed"
    return page(WIDTH, 14 + ROW * len(rows), parts, label)


def walk() -> list[tuple[str, str]]:
    """Which package calls into which, in the order of the first call, when a model is learned and used."""
    from clustruct import Recipe, read_sets
    from clustruct.evaluate.explain import examine

    home = str(ROOT / "src" / "clustruct") + "/"
    steps: dict[tuple[str, str], None] = {}

    def package(frame: FrameType | None) -> str | None:
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(home):
                return name.removeprefix(home).split("/")[0].removesuffix(".py")
            frame = frame.f_back
        return None

    def listen(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(home):
            caller, callee = package(frame.f_back), package(frame)
            if callee is not None and callee != caller and not callee.startswith("_"):
                steps.setdefault((caller or "you", callee))

    sets = list(
        read_sets(ROOT / "examples/data/people.csv", set="batch", id="nr", cluster="person")
    )  # before the profile: readers are the same for all
    sys.setprofile(listen)
    try:
        list(read_sets(ROOT / "examples/data/new.csv", set="batch", id="nr", labels="ignored"))
        model = Recipe(C=1.0).fit(sets[:3])
        model.predict(sets[3:4])
        examine(model.pipeline_, sets[4])
    finally:
        sys.setprofile(None)
    return list(steps)


SAYS = {
    "data": "files and frames to items by columns; pairs of items, K = <w, psi>",
    "pipeline": "from tables to a fitted model, and back to groups",
    "features": "fields of two items to numbers",
    "estimators": "fit, predict, score",
    "learning": "Psi, loss and oracle together; the choice of C; calibration",
    "ssvm": "cutting planes: w, gap, certificate",
    "losses": "how wrong a clustering is",
    "search": "the best clustering of scores, and the most violated one",
    "evaluate": "why, how sure, and how good",
}
STAGES = tuple(SAYS)


def draw_way() -> str:
    """The stages that data passes, with the calls between them that were seen."""
    seen = walk()
    missing = [stage for stage in STAGES if stage not in {name for step in seen for name in step}]
    if missing:
        raise RuntimeError(f"the picture names stages that no call enters: {missing}")
    place = {stage: 14 + k * 44 for k, stage in enumerate(STAGES)}
    parts = []
    for stage, y in place.items():
        parts += [box(14, y, 120, stage, fill="#dbe9f5"), text(146, y + 16, SAYS[stage], anchor="start")]
    for k, (a, b) in enumerate(step for step in seen if set(step) <= set(STAGES)):
        x = 380 + 14 * k
        top, bottom = place[a] + BOX / 2, place[b] + BOX / 2
        parts.append(f'<path d="M{x} {top}V{bottom}" stroke="{STRONG}" fill="none" marker-end="url(#tip)"/>')
        parts.append(f'<circle cx="{x}" cy="{top}" r="2.5" fill="{STRONG}"/>')
    label = "The stages that data passes, and which calls which, in the order of the first call"
    return page(WIDTH, 44 * len(STAGES) + 14, parts, label)


PICTURES = {"layers.svg": draw_layers, "way.svg": draw_way}


def write(app: Sphinx) -> None:
    """Draw what is older than the code."""
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    newest = max(path.stat().st_mtime for path in (ROOT / "src").rglob("*.py"))
    for name, draw in PICTURES.items():
        path = folder / name
        if not path.exists() or path.stat().st_mtime < max(newest, Path(__file__).stat().st_mtime):
            path.write_text(draw(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
