"""From raw data to item sets."""

from .links import link_pairs, links

__all__ = ["link_pairs", "links"]
