"""Optional parts: each stands on the core, and nothing imports it.

A module describes a part by strings; see `core.plugins.contrib`.
"""
