"""Texts before any metric looks at them; imports nothing of the project."""
