"""Slow, obvious twins of the fast code: brute force and definitions taken word for word."""
