"""A gallery: one small script for each picture of `clustruct.plot`. All: ``python -m examples.plots``."""
