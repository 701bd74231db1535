"""``python -m studies``: which tables are fresh, stale or missing, and what makes them."""

from __future__ import annotations

from studies.command import show_states
from studies.every import STUDIES

if __name__ == "__main__":
    show_states(list(STUDIES))
