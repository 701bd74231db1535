"""Costs of linear programmes in units in which the tolerances of HiGHS mean something."""

from __future__ import annotations

import numpy as np

from .typing import Floats

# HiGHS takes reduced costs below 1e-7 for zero and integer gaps below 1e-6 for closed, whatever the costs.
# With the largest cost near 2^10 these are 1e-10 and 1e-9 of it.
EXPONENT = 10


def scale_costs(costs: Floats) -> Floats:
    """The costs times the power of two that brings the largest to between 512 and 1024: no digit is lost.

    >>> scale_costs(np.array([3e-9, -1e-9])).round().tolist()
    [825.0, -275.0]
    """
    exponent = np.frexp(np.abs(costs).max(initial=0.0))[1]
    return np.asarray(np.ldexp(costs, EXPONENT - exponent))
