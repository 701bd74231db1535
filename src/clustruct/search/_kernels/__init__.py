"""Compiled loops of the searches: plain functions, arrays in, arrays out, compiled on first use."""
