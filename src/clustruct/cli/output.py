"""How commands end and what they print to be read by machines: exit codes, one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

OK, FAILED, MISUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class UsageError(Exception):
    """A command line that cannot be understood."""


def print_json(found: Mapping[str, object]) -> None:
    """One JSON object on one line; what is not finite becomes null, what is not printable is escaped."""
    text = json.dumps(plain(found), ensure_ascii=False, allow_nan=False)
    print("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))


def plain(value: object) -> Any:
    """Numbers and arrays of numpy as JSON knows them."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value
