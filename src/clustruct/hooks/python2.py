"""What to change in a module written for Python 2, where Python 3 stumbles over it."""

from __future__ import annotations

import re

NAMES = {
    "file": "use open(...)",
    "xrange": "use range(...)",
    "raw_input": "use input(...)",
    "unicode": "use str",
    "basestring": "use str",
    "long": "use int",
    "reduce": "add: from functools import reduce",
    "cmp": "compare with <, == and >, or (a > b) - (a < b)",
    "cPickle": "use pickle",
    "StringIO": "use io",
    "cStringIO": "use io",
    "sets": "use the built-in set",
    "has_key": "use: key in d",
    "iteritems": "use .items()",
    "itervalues": "use .values()",
    "iterkeys": "use .keys()",
    "next": "use next(iterator)",
}
# What a line that does not parse looks like, and the change.
STATEMENTS = {
    r"\bprint\s*>>\s*([^,]+),\s*(.+)": r"print is a function: write print(\2, file=\1)",
    r"\bprint\s+(.*),\s*$": r'print is a function: write print(\1, end=" ")',
    r"\bprint\s+(.+)": r"print is a function: write print(\1)",
    r"\bexec\s+(.+)": r"exec is a function: write exec(\1)",
    r"\bexcept\s+([^,(]+),\s*(\w+)\s*:": r"write: except \1 as \2:",
    r"\braise\s+([\w.]+)\s*,\s*(.+)": r"write: raise \1(\2)",
    r"\blambda\s*\(": "a lambda takes no tuple: use one name and index it",
    r"\bdef\s+(\w+)\(.*\((\w+(?:,\s*\w+)+)\)": (
        r"\1 takes no parameter apart in its head: write one name, say example, in place of (\2), and begin "
        r"the body with \2 = example"
    ),
    r"`(.+)`": r"backquotes are gone: use repr(\1)",
    r"<>": "<> is gone: use !=",
    r"\b(\d+)[lL]\b": r"long integers are gone: write \1",
}


def change_for(line: str) -> str | None:
    """What to change in a line that Python 3 cannot parse; None where it is no old form.

    >>> change_for("if x: print y, z  # why")
    'print is a function: write print(y, z)'
    """
    bare = re.sub(r"\s*#[^'\"]*$", "", line.strip())
    found = ((re.search(form, bare), change) for form, change in STATEMENTS.items())
    return next((match.expand(change) for match, change in found if match), None)


def hint_for(error: BaseException) -> str | None:
    """What to change where a name, module or method of Python 2 was missed at run time only."""
    name = getattr(error, "name", None)
    if not isinstance(error, NameError | AttributeError | ModuleNotFoundError) or name not in NAMES:
        return None
    return f"{'.' if isinstance(error, AttributeError) else ''}{name} belongs to Python 2: {NAMES[name]}"
