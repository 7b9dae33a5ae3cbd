"""The record of a run: the typed contract between a run and everything that is made of it afterwards.

`schema` defines what a record holds, `codec` turns it into JSON and back, `writer` and `reader` stream it to
and from disk, and `migrations` reads records of earlier versions.
"""
