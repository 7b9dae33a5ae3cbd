"""Traces of applications as rows: formats of spans, conventions of their attributes, rows of a trace."""
