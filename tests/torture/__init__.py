"""Torture: damaged files, bad input, kills and full disks by the thousand. ``make torture``, docs/torture.md.

``python -m tests.torture [PART ...] [--seed N] [--scale 1.0]`` runs the parts (all by default) in worker
processes with limits of memory and time. A small sample of each part is a test (test_sample.py).
"""
