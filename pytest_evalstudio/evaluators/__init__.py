"""Evaluators: one family per file, found by the registry."""
