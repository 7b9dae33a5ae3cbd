"""Texts in topics: reduction, clusters, how well they stand apart."""
