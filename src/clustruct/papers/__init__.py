"""What readers of the papers want beside the tool: Universum, label sets, SVM^python's hooks, baselines.

In: all that is below the commands. Out: learners of their own. Only their own commands import this.
"""

from clustruct.core.lazy import lazy_modules

__getattr__ = lazy_modules(
    __name__, "cpm3c", "document_clustering", "hooks", "multilabel", "toy_marbles", "universum"
)
