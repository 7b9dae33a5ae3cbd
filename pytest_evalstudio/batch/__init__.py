"""Scoring of tables: millions of logged answers, in batches, by the evaluators of the engine."""
