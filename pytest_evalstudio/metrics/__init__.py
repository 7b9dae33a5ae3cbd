"""Metric functions by family, each with its source; without knowledge of cases or configuration.

Each module imports only the standard library and `core` when it is loaded. Libraries are imported inside the
functions that need them.
"""
