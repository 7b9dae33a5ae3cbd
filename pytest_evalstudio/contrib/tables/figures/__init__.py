"""Estimates from aggregates, with intervals."""
