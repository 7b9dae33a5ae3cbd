"""Comparison of scored tables."""
