"""Keep the site free of outside requests: it serves its own copy of Mermaid, or shows diagrams as text.

The variable MERMAID names the file `mermaid.min.js` of the npm package; `tox -e docs` sets it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_FENCE = re.compile(r"""^(```\w+)(?: (?!title=)\w+=\S+)*( title="[^"\n]+")?(?: \w+=\S+)*$""", re.MULTILINE)
SCRIPT = "assets/javascripts/mermaid.min.js"


def _mermaid() -> Path | None:
    path = Path(os.environ.get("MERMAID", "mermaid.min.js"))
    return path if path.is_file() else None


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the script, or draw no diagrams: the theme would fetch the script from elsewhere."""
    if _mermaid():
        config.extra_javascript.append(SCRIPT)
    else:
        config.mdx_configs["pymdownx.superfences"] = {}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the file of the script to the site."""
    if script := _mermaid():
        files.append(File.generated(config, SCRIPT, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Leave language and title of a block: other attributes are for the tests."""
    return _FENCE.sub(lambda block: f"{block[1]}{block[2] or ''}", markdown)
