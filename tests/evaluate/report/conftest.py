"""The same fitted model as for the pictures."""

from tests.evaluate.plot.conftest import fitted, no_figure_left_open

__all__ = ["fitted", "no_figure_left_open"]
