"""Scored tables as files: columns, reader, writer, and the stores that they are in."""
