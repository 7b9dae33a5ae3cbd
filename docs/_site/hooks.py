"""Prepare the pages of the site: attributes of code blocks that are for the tests are left out."""

from __future__ import annotations

import re

_FENCE = re.compile(r"""^(```\w+)(?: (?!title=)\w+=\S+)*( title="[^"\n]+")?(?: \w+=\S+)*$""", re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Leave language and title of a block."""
    return _FENCE.sub(lambda block: f"{block[1]}{block[2] or ''}", markdown)
