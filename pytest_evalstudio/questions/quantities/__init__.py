"""Quantities of English sentences: how they are written, found, compared and changed."""
