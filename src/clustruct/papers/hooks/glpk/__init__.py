"""Linear and integer programs with the names of PyGLPK (dissertation, appendix B), solved by HiGHS.

::

    min or max  sum_j c_j x_j + c'    subject to    y = A x,    l_x <= x <= u_x,    l_y <= y <= u_y,

some x_j whole numbers. Columns are the x, rows the y. Programs written for PyGLPK 0.3 run with
``from clustruct.papers.hooks import glpk``; what of its interface is here is listed in docs/hooks.md.

>>> lp = LPX()
>>> lp.obj.maximize = True
>>> lp.cols.add(2)
0
>>> for col in lp.cols:
...     col.name, col.bounds, lp.obj[col.index] = f"x{col.index}", (None, None), 1.0
>>> lp.rows.add(2)
0
>>> lp.matrix = [3, 4, 9, 4]
>>> lp.rows[0].bounds, lp.rows[1].bounds = (None, 12), (None, 18)
>>> lp.simplex()
>>> lp.status, [(col.name, round(col.value, 9)) for col in lp.cols], round(lp.obj.value, 9)
('opt', [('x0', 1.0), ('x1', 2.25)], 3.25)
"""

from .bar_collection import Bar, BarCollection
from .highs import Environment, env
from .program import LPX, Objective

__all__ = ["LPX", "Bar", "BarCollection", "Environment", "Objective", "env"]
