"""Categories of test cases by dimension."""

from __future__ import annotations

import re
from collections.abc import Iterable

CATEGORY = "category"
"""The dimension of categories that name none: "fees", where "topic:fees" is of the dimension topic."""
TOPIC, GENERATOR = "topic", "generator"
"""The dimensions of generated suites."""
QUERY_TYPE = "query_type"
# Without a space after the colon: "note: urgent" is a category, no dimension.
_NAMED = re.compile(r"(?P<dimension>[A-Za-z][A-Za-z0-9_]*):(?P<value>\S.*)", re.DOTALL)


def by_dimension(categories: Iterable[str]) -> dict[str, set[str]]:
    """Return the values of categories by dimension.

    >>> by_dimension(["topic:fees", "urgent"])
    {'topic': {'fees'}, 'category': {'urgent'}}
    """
    values: dict[str, set[str]] = {}
    for category in categories:
        named = _NAMED.fullmatch(category)
        dimension, value = (named["dimension"], named["value"]) if named else (CATEGORY, category)
        values.setdefault(dimension, set()).add(value)
    return values
