"""Generators of item sets."""

from .marbles import Marbles, make_marbles
from .synth import make_hard_synth, make_synth

__all__ = ["Marbles", "make_hard_synth", "make_marbles", "make_synth"]
