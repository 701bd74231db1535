"""Compiled loops of correlation clustering: plain functions, arrays in, arrays out, compiled on first use."""
