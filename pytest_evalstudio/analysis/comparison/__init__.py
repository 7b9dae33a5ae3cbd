"""Comparison of two runs: which cases changed their outcome, and whether the metrics are worse."""
