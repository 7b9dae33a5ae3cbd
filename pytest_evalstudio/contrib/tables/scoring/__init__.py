"""Scores and aggregates of a batch."""
