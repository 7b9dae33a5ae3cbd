"""Commands of the shell: one file per command."""

from pytest_evalstudio.cli.main import main

__all__ = ["main"]
