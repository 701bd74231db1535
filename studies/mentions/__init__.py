"""Mentions of litbank and gum: models trained for different losses."""
