"""Pure metric functions by family; no knowledge of cases, configuration or evaluators.

Each module imports only the standard library and `core` when it is loaded. Libraries are imported inside the
functions that need them.
"""
