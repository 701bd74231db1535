"""The gauntlet: tables that nobody here chose, with more than a hundred oddities. docs/strangers.md.

A case is a made-up table with known groups, and one to three oddities of it; every command must end, what
it prints must be true, and an oddity that a reader can undo must cost nothing. ``python -m tests.strangers``
runs all of them, tests/test_strangers.py a part.
"""
