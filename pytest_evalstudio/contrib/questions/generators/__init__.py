"""Generators of test questions, one kind per file; found by the registry."""
