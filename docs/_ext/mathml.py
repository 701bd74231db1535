r"""Mathematics as MathML Core, typeset at build time: the pages need no script and no network.

LaTeX is turned into MathML by ``math_core``. A formula that it cannot read is a warning, and so an error of
the build. The font with the shapes of brackets and sums, STIX Two Math (OFL), is copied from ``ziamath``.

Two differences to LaTeX: ``\begin{align}`` and its like are aligned blocks without numbers of their own (the
number of a formula is Sphinx's, from its label), and the macros are ``mathml_macros`` of ``conf.py``.
"""

from __future__ import annotations

import re
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)
FONT = "STIXTwoMath-Regular.ttf"
# Outer environments number their lines, or are no environment of a formula: the inner twin is meant.
TWINS = {"align": "aligned", "equation": "gathered", "gather": "gathered", "split": "aligned"}


def plain(latex: str) -> str:
    r"""Environments of pages as environments of one formula.

    >>> plain(r"\begin{align*} a &= b \end{align*}")
    '\\begin{aligned} a &= b \\end{aligned}'
    """

    def twin(found: re.Match[str]) -> str:
        return rf"\{found[1]}{{{TWINS[found[2]]}}}"

    return re.sub(r"\\(begin|end)\{(" + "|".join(TWINS) + r")\*?\}", twin, latex)


def typeset(self: Any, node: nodes.Element, *, block: bool) -> str:
    """The formula of a node, as MathML; what cannot be read is told with its place."""
    latex = plain(node.astext().strip())
    if block and r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    try:
        return self.builder.app.mathml.convert_with_local_state(latex, displaystyle=block)
    except LatexError as error:
        logger.warning("formula %r: %s", latex, error, location=node, type="mathml")
        return self.encode(latex)


def visit_inline(self: Any, node: nodes.Element) -> None:
    self.body.append(f'<span class="math-inline">{typeset(self, node, block=False)}</span>')
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.Element) -> None:
    number = ""
    if node["number"]:
        number = f'<span class="math-number">({get_node_equation_number(self, node)})</span>'
    self.body.append(self.starttag(node, "div", CLASS="math-block", tabindex="0"))
    self.body.append(f"{typeset(self, node, block=True)}{number}</div>\n")
    raise nodes.SkipNode


def copy_font(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        with as_file(files("ziamath.fonts") / FONT) as font:
            copyfile(font, Path(app.outdir) / "_static" / FONT)


def begin(app: Sphinx) -> None:
    app.mathml = LatexToMathML(macros=app.config.mathml_macros, fancy_error=False)  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("mathml_macros", {}, "html", types=[dict])
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("builder-inited", begin)
    app.connect("build-finished", copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
