"""These pages register what they add, so that each is run in a process of its own: tests/test_pages.py."""

collect_ignore_glob = ["*.md"]
