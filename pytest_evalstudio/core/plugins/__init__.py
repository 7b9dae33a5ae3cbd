"""Kinds of plugins: one file per kind with its Protocol, its Spec and its decorator, and their registry."""
