"""HTML by hand: escaped text, tables, pictures inside the page, one style for light and dark."""

from __future__ import annotations

import base64
import html
import io
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from clustruct.plot._drawing import short

__all__ = ["cell", "details", "page", "picture", "pictures", "section", "table"]

STYLE = """
:root { color-scheme: light dark; --text: #1d1f23; --soft: #5c6470; --line: #d9dde3; --back: #ffffff;
  --card: #ffffff; --wrong: #b34700; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #a3abb8; --line: #3b414b;
  --back: #16181c; --card: #f4f5f7; --wrong: #ff9d57; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 70rem; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", Verdana, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .4rem 0 .2rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .4rem; padding-top: .6rem; border-top: 1px solid var(--line); }
p { margin: .3rem 0 .7rem; }
p.note, .soft { color: var(--soft); font-size: .9rem; }
.scroll { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: normal; }
td.text { min-width: 14rem; overflow-wrap: anywhere; } td.short { white-space: nowrap; }
th { font-weight: 600; color: var(--soft); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wrong { color: var(--wrong); font-weight: 600; }
.pictures { display: flex; flex-wrap: wrap; gap: .8rem; align-items: flex-start; }
figure { margin: 0; background: var(--card); border-radius: 6px; padding: .4rem; max-width: 42rem; }
.pictures figure { flex: 1 1 26rem; min-width: min(100%, 20rem); }
figure img { display: block; width: 100%; height: auto; }
details { margin: .25rem 0; } summary { cursor: pointer; } ul { margin: .2rem 0 .5rem; padding-left: 1.4rem; }
nav { font-size: .92rem; } nav a { margin-right: .9rem; white-space: nowrap; color: inherit; }
"""


def text(value: Any, most: int = 200) -> str:
    """Any value as safe text on one line."""
    return html.escape(short(value, most), quote=True)


def cell(value: Any) -> str:
    """A table cell: numbers to the right, text escaped, HTML only where it is marked as such."""
    if isinstance(value, Html):
        return f"<td>{value}</td>"
    if isinstance(value, int | float):
        return f'<td class="number">{value:,}</td>' if isinstance(value, int) else _decimal(value)
    words = text(value)
    kind = "text" if len(words) > 40 else "short" if len(words) <= 24 else ""
    return f'<td class="{kind}">{words}</td>'


class Html(str):
    """Text that is HTML already, made here from escaped parts."""

    __slots__ = ()


def _decimal(value: float) -> str:
    shown = "none" if value in (float("inf"), float("-inf")) else f"{value:.3f}"
    return f'<td class="number">{shown.replace("-", "&minus;")}</td>'


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Html:
    """A table that scrolls sideways where the screen is narrow."""
    listed = [list(row) for row in rows]
    number = [bool(listed) and isinstance(listed[0][j], int | float) for j in range(len(head))]
    heads = "".join(
        f"<th{' class=number' if is_number else ''}>{text(word)}</th>"
        for word, is_number in zip(head, number, strict=True)
    )
    body = "".join(f"<tr>{''.join(cell(v) for v in row)}</tr>\n" for row in listed)
    return Html(
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>'
    )


def details(head: Html, lines: Iterable[str]) -> Html:
    """A line that opens to a list; the lines are HTML."""
    listed = "".join(f"<li>{line}</li>" for line in lines)
    return Html(f"<details><summary>{head}</summary><ul>{listed}</ul></details>")


def picture(display: Any, describe: str) -> Html:
    """A drawn display as an image inside the page; an image cannot run scripts or clash with the page."""
    import matplotlib

    buffer = io.BytesIO()
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "clustruct"}),
        warnings.catch_warnings(),
    ):
        # The browser has letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        display.figure_.savefig(buffer, format="svg", metadata={"Date": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return Html(f'<figure><img alt="{text(describe)}" src="data:image/svg+xml;base64,{data}"></figure>')


def pictures(*figures: Html) -> Html:
    """Pictures side by side where there is room."""
    return Html(f'<div class="pictures">{"".join(figures)}</div>')


def section(name: str, *parts: str) -> tuple[str, Html]:
    """A heading and what stands under it (HTML)."""
    return name, Html("\n".join(parts))


def page(title: str, parts: Sequence[tuple[str, Html]]) -> str:
    """The whole page. The policy in its head lets a browser load nothing and run nothing."""
    links = "".join(f'<a href="#s{n}">{text(name)}</a>' for n, (name, _) in enumerate(parts))
    body = "\n".join(
        f'<section id="s{n}"><h2>{text(name)}</h2>\n{inner}</section>'
        for n, (name, inner) in enumerate(parts)
    )
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title>
<style>{STYLE}</style></head>
<body><h1>{text(title)}</h1>
<nav>{links}</nav>
{body}
</body></html>
"""
