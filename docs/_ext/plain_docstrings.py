r"""Docstrings are read in editors and terminals first: |x| is a size there, not a substitution.

Outside of examples, literal blocks and ``literals`` bars are escaped, so that they stay as they are written.
Lists in two columns, a name and what it does, are shown as they stand.
Methods that scikit-learn makes (``set_fit_request``, ...) are left out.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

# A name, at least two blanks and a text; or the rest of such a text.
ROW = re.compile(r"(?!>>>|\.\.\.|- )(?:\S+(?: \S+)*  +\S|\s{12,}\S)")
LITERAL = re.compile(r"(``.*?``|:math:`.*?`)")


def escaped(line: str) -> str:
    r"""A line with its bars escaped, but for those inside of literals.

    >>> escaped("the sum of |c| over ``|c|``")
    'the sum of \\|c\\| over ``|c|``'
    """
    parts = LITERAL.split(line)
    return "".join(part if k % 2 else part.replace("|", r"\|") for k, part in enumerate(parts))


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def plain(lines: list[str]) -> list[str]:
    r"""The lines with bars escaped where they are prose.

    >>> plain(["|x|::", "", "    |y|", "", "|z|", ">>> a | b"])
    ['\\|x\\|::', '', '    |y|', '', '\\|z\\|', '>>> a | b']
    """
    found, block, example = [], None, False
    for line in lines:
        if block is not None and line.strip() and indent_of(line) <= block:
            block = None
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        found.append(line if block is not None or example else escaped(line))
        if block is None and (line.rstrip().endswith("::") or line.lstrip().startswith(".. math::")):
            block = indent_of(line)
    return found


def with_tables(lines: list[str]) -> list[str]:
    """The lines, with lists in two columns as literal blocks.

    >>> with_tables(["Two:", "", "first      one", "second     two", ""])
    ['Two:', '', '::', '', '    first      one', '    second     two', '']
    """
    found, k = [], 0
    while k < len(lines):
        end = k
        while end < len(lines) and ROW.match(lines[end]):
            end += 1
        if end - k > 1 and not lines[k].startswith(" "):
            found += ["::", "", *(f"    {line}" for line in lines[k:end])]
            k = end
        else:
            found.append(lines[k])
            k += 1
    return found


def mend(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain(with_tables(lines))


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", mend, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
