"""From raw sets to a fitted pipeline, and back to clusters."""

from .learning import LEARNERS, PART_SIZE, Recipe
from .pipelines import similarities
from .trained import HeldOut, was_interrupted

__all__ = ["LEARNERS", "PART_SIZE", "HeldOut", "Recipe", "similarities", "was_interrupted"]
