"""How good groups are and why they are so: scores, explanations, pictures, the report.

In: tables, groups and fitted pipelines. Out: figures. Nothing here changes a model.
"""

from clustruct.core.lazy import lazy_modules

__getattr__ = lazy_modules(__name__, "comparing", "explain", "metrics", "plot", "report")
