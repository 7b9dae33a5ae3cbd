"""Seams to models of language; heavy imports stay inside."""
