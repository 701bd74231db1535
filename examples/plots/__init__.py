"""A gallery: one small script for each picture of `clustruct.evaluate.plot`. All: ``python -m
examples.plots``.
"""
