"""Excerpts of scored tables as records, with figures of all rows, for pages and other readers of records."""
