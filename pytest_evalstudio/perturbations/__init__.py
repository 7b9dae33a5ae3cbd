"""Perturbators: one change of a text per file, seeded and pure."""
