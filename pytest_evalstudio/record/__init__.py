"""The record of a run: the typed contract between a run and everything that is made of it afterwards.

`schema` defines what a record holds, of the types of `core`; `codec` turns it into JSON and back; `writer`
and `reader` stream it to and from disk.
"""
