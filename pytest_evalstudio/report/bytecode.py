"""Compiled templates of the page, kept beside their sources."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

FOLDER = Path(__file__).parent / "templates" / "__pycache__"


class TemplateBytecode(jinja2.FileSystemBytecodeCache):
    """Keeps compiled templates as Python keeps compiled modules.

    Compiling all templates takes a quarter of a second, a fifth of a short run. Nothing is kept where Python
    keeps nothing (`PYTHONDONTWRITEBYTECODE`), or where the folder of the package cannot be written.

    Args:
        options: of the environment; bytecode that was compiled with other options is not used.
        folder: where it is kept.
    """

    def __init__(self, options: str, folder: Path = FOLDER) -> None:
        super().__init__(
            str(folder), f"%s.jinja2-{jinja2.__version__}.{sys.implementation.cache_tag}.{options}.cache"
        )

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the code of a template, if there is any."""
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template, if that is possible."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(exist_ok=True)
                super().dump_bytecode(bucket)
