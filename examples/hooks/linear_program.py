"""The linear program of appendix B.2 with highspy: maximise x0 + x1 under two rows."""

import highspy


def solve():
    """x0 and x1 at the optimum.

    >>> solve()
    [1.0, 2.25]
    """
    lp = highspy.Highs()
    lp.silent()
    x0, x1 = (lp.addVariable(lb=-highspy.kHighsInf) for _ in range(2))
    lp.addConstr(3 * x0 + 4 * x1 <= 12)
    lp.addConstr(9 * x0 + 4 * x1 <= 18)
    lp.maximize(x0 + x1)
    return [round(lp.val(x), 9) for x in (x0, x1)]


if __name__ == "__main__":
    for name, value in zip(("x0", "x1"), solve(), strict=True):
        print(f"{name} = {value:g}")
