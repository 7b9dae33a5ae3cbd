"""Kinds of plugins and their registry; one file per kind with Protocol, Spec and decorator."""
