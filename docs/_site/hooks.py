"""Prepare the site: marks of code blocks that are for the tests, the changelog, the version, `llms.txt`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(?P<start> *```\w+)(?P<marks>(?: \w+=(?:\"[^\"\n]*\"|\S+))+) *$", re.MULTILINE)
_OCCASION = re.compile(r"^You need this when ([^.]*)", re.MULTILINE)
_TITLE = re.compile(r" title=\"[^\"\n]+\"")


def on_config(config: Any, **_: object) -> Any:
    """Show the version in the head of each page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.site_name = f"{project['name']} {project['version']}"
    return config


def on_files(files: Any, *, config: Any, **_: object) -> Any:
    """Add the changelog of the repository as a page."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=text))
    files.append(File.generated(config, "llms.txt", content=llms_text(config.nav)))
    return files


def llms_text(navigation: Any) -> str:
    """Return the list of pages for language models (llmstxt.org): title, address, occasion."""
    lines = ["# pytest-evalstudio", "", "> Regression tests for LLM and RAG systems in pytest.", ""]
    return "\n".join([*lines, *_entries(navigation)]) + "\n"


def _entries(navigation: Any) -> Iterator[str]:
    for entry in navigation:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            yield f"## {title}"
            yield from _entries(target)
        elif (page := ROOT / "docs" / target).is_file():  # the changelog is of the repository
            occasion = _OCCASION.search(page.read_text(encoding="utf-8"))
            address = target.removesuffix(".md") + ".html"  # as `use_directory_urls: false` has them
            yield f"- [{title}]({address})" + (f": {' '.join(occasion[1].split())}" if occasion else "")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Leave language and title of a block."""
    return _FENCE.sub(_without_marks, markdown)


def _without_marks(fence: re.Match[str]) -> str:
    title = _TITLE.search(fence["marks"])
    return fence["start"] + (title[0] if title else "")
