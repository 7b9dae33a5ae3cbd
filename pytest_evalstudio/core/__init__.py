"""Types, codes, errors and the registry of plugins; the standard library and msgspec only."""
