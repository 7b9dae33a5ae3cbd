"""Sections of the page: one file each, found by the registry.

A section is a function with `@section` that takes the report's content and returns the values of its template
`templates/<id>.html`, or HTML, or None: a section that only some records fill is left out of the page of all
others.
"""

from pytest_evalstudio.core.plugins.section import section

__all__ = ["section"]
