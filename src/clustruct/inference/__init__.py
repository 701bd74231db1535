"""Argmax procedures on plain arrays: scores in, clusterings out. Nothing here knows about learning."""
