"""Data sets: generators and readers."""

from .raw_sets import make_mentions, make_news, make_records
from .synth import make_synth

__all__ = [
    "make_mentions",
    "make_news",
    "make_records",
    "make_synth",
]
