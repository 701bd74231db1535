"""Exit codes, and what is wrong with a command line."""

OK, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


class UsageError(Exception):
    """A command line that cannot be understood."""
