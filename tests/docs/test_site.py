"""The built site makes no request to another server; `tox -e docs` builds it and names its folder in SITE."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

SITE = os.environ.get("SITE")
pytestmark = pytest.mark.skipif(SITE is None, reason="run by tox -e docs")


def test_no_page_loads_anything_from_another_server() -> None:
    pages = [*Path(str(SITE)).rglob("*.html")]
    assert len(pages) > 30
    loads = re.compile(
        r"<(?:script|img|iframe|source)[^>]+src(?:set)?=[\"']?(?:https?:)?//[^\s\"'>]+|<link[^>]+>"
    )
    external_tags = [
        tag
        for page in pages
        for tag in loads.findall(page.read_text(encoding="utf-8"))
        if not tag.startswith("<link")
        or (re.search(r"href=[\"']?(?:https?:)?//", tag) and "canonical" not in tag)
    ]
    assert not external_tags


def test_pages_are_listed_for_language_models() -> None:
    text = (Path(str(SITE)) / "llms.txt").read_text(encoding="utf-8")
    addresses = re.findall(r"^- \[[^\]]+\]\(([^)]*)\)", text, re.MULTILINE)
    assert len(addresses) > 40
    for address in addresses:
        assert (Path(str(SITE)) / address).is_file()


def test_diagrams_are_pictures() -> None:
    pages = [page.read_text(encoding="utf-8") for page in Path(str(SITE)).rglob("*.html")]
    assert not any("mermaid" in page and "<pre" in page.partition("mermaid")[0][-80:] for page in pages)
    assert (Path(str(SITE)) / "images" / "flow.svg").is_file()


def test_every_block_of_code_is_one() -> None:
    broken = [
        page.name for page in Path(str(SITE)).rglob("*.html") if "```" in page.read_text(encoding="utf-8")
    ]
    assert not broken
