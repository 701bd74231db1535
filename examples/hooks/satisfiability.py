"""Boolean satisfiability as an integer program (appendix B.3), with highspy.

A literal is i or -i, a clause a tuple of literals, an expression a list of clauses, all of which must hold.
"""

import highspy


def solve_sat(expression):
    """Truth values of the variables 1, 2, ... that satisfy every clause, or None where there are none.

    >>> solve_sat([(1, 2), (-1, 2), (1, -2)])
    [True, True]
    >>> solve_sat([(1,), (-1,)]) is None
    True
    """
    if not expression:
        return []
    program = highspy.Highs()
    program.silent()
    n_variables = max(abs(literal) for clause in expression for literal in clause)
    truth = [program.addBinary() for _ in range(n_variables)]
    for clause in expression:
        # A literal counts 1 where it is true: x, or 1 - x for a negated one. At least one must be.
        positive = [truth[i - 1] for i in clause if i > 0]
        negative = [truth[-i - 1] for i in clause if i < 0]
        program.addConstr(sum(positive) - sum(negative) >= 1 - len(negative))
    program.solve()
    if program.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return [program.val(x) > 0.5 for x in truth]


if __name__ == "__main__":
    B4 = [(-1, -3, -4), (2, 3, -4), (1, -2, 4), (1, 3, 4), (-1, 2, -3)]
    print(solve_sat(B4))
