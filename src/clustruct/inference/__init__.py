"""Argmax procedures over plain arrays."""
