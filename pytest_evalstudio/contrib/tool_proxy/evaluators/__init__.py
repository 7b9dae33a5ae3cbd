"""Evaluators of disturbed twins."""
