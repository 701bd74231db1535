"""Every table of the documents again, and the figures on real data: one folder per paper or data family.

``python -m studies`` lists which tables are fresh, stale or missing; ``python -m studies.NAME`` makes those
of one study. How to add one: README.md in this folder.
"""
