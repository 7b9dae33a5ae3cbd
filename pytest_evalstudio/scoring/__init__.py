"""Scoring: outcomes, verdicts and flips of answers."""
