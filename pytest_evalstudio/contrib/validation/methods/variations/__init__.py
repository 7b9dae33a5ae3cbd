"""Flips of verdicts between a question and its variations."""
