"""The pages of the documentation: README.md and the Markdown files of docs/, and the recipes in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
DEVELOPER_PAGES = tuple(
    ROOT / name
    for name in ("CONTRIBUTING.md", "docs/development/architecture.md", "tests/benchmarks/README.md")
)
PAGES = (README, *(page for page in sorted(DOCS.rglob("*.md")) if page not in DEVELOPER_PAGES))

_BLOCK = re.compile(
    r'^(?P<indent> *)```\w* (?P<kind>adapter|local_judge)="(?P<name>\w+)"'
    r'(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<body>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_FENCE = re.compile(r"^ *```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^ *```$", re.DOTALL | re.MULTILINE)


@dataclass
class Example:
    """An example of the documentation: its files, and the lines that the terminal shows."""

    files: dict[str, str] = field(default_factory=dict)
    output_lines: list[str] = field(default_factory=list)


def read(page: Path) -> str:
    """Return the text of a page."""
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    """Return the path of a page below the project's folder; of a page elsewhere, its name."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def adapters() -> dict[str, Example]:
    """Return the recipes for frameworks by their names; "all" has the files that all of them use."""
    return _examples("adapter")


def local_judges() -> dict[str, Example]:
    """Return the recipes for judges on this machine by the names of their servers."""
    return _examples("local_judge")


def _examples(kind: str) -> dict[str, Example]:
    by_name: dict[str, Example] = {}
    for page in PAGES:
        for block in _BLOCK.finditer(read(page)):
            if block["kind"] != kind:
                continue
            example = by_name.setdefault(block["name"], Example())
            body = re.sub(rf"^{block['indent']}", "", block["body"], flags=re.MULTILINE)
            if block["title"]:
                example.files[block["title"]] = body
            else:
                example.output_lines += body.splitlines()
    return by_name


def blocks(text: str, *languages: str) -> list[str]:
    """Return the fenced blocks of a page in one of the languages."""
    return [fence["body"] for fence in _FENCE.finditer(text) if fence["language"] in languages]


def prose(text: str) -> str:
    """Return a page without its fenced blocks, inline code, comments and addresses."""
    for pattern in (r"<!--.*?-->", r"`[^`\n]*`", r"\]\([^)]*\)", r"<[^>\n]+>", r"https?://\S+"):
        text = re.sub(pattern, " ", _FENCE.sub("\n", text), flags=re.DOTALL)
    return text
