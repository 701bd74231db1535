"""The compiled twin of `SlackRule.violation`, for searches that are compiled themselves."""

import numpy as np

from clustruct.core.jit import kernel


@kernel()
def violation(loss: float, gain: float, slack: bool, root: bool) -> float:
    """H(y): `slack` for slack scaling, `root` for quadratic slacks."""
    size = np.sqrt(loss) if root else loss
    return size * (1.0 + gain) if slack else size + gain
