"""Access to the tables that a file with gates names: the file may come from a stranger."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.hosts._addresses import is_public

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(?:://|::)")
_WEB = ("http", "https")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAccess:
    """Tables outside of its own folder that a file with gates may name.

    Attributes:
        protocols: of URLs, from the user's configuration; none by default.
        folders: local folders, from the user's configuration; none by default.
        allow_private_hosts: whether a web address may lead to a host that is not public.
    """

    protocols: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    allow_private_hosts: bool = False

    @classmethod
    def of(cls, config: Configuration) -> TableAccess:
        """Return the access that a configuration permits."""
        return cls(
            protocols=tuple(config.scores.protocols),
            folders=tuple(Path(config.folder) / folder for folder in config.scores.folders),
            allow_private_hosts=config.allow_private_hosts,
        )

    def location(self, table: str, folder: Path) -> str:
        """Return the path or URL of a table; nothing is opened.

        Args:
            table: as the file names it.
            folder: of the file.

        Raises:
            DataError: if the file may not name it.
        """
        scheme = _SCHEME.match(table)
        if scheme is None:
            return str(self._path(table, folder))
        # A later part of a chain may open a protocol that is not permitted.
        if "::" in table:
            raise DataError(
                "chains protocols with `::`, which is not allowed in a scores file; give a plain path or URL"
            )
        protocol = scheme[1].lower()
        if protocol not in self.protocols:
            raise DataError(
                "is a URL, which a scores file may use only if your configuration permits it; add [scores]"
                f' protocols = ["{protocol}"]'
            )
        if protocol in _WEB and not self.allow_private_hosts and not _is_public_host(table):
            raise DataError(
                "points to a host that is not public; permit it with [scores] allow_private_hosts = true"
            )
        return table

    def _path(self, table: str, folder: Path) -> Path:
        # Links are resolved on both sides, so that none leads out of a permitted folder.
        path = Path(os.path.realpath(folder / table))
        if not any(path.is_relative_to(os.path.realpath(parent)) for parent in (folder, *self.folders)):
            raise DataError(
                "is not below the folder of the file; permit another folder by"
                " [scores] folders = [...] in your configuration"
            )
        return path


NO_ACCESS = TableAccess()
"""Only tables below the folder of the file."""


def _is_public_host(url: str) -> bool:
    """Return whether all addresses of the host of a URL are public."""
    try:
        parts = urlsplit(url)
        # The port plays no part in the addresses.
        addresses = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # a host whose address is unknown may be a private one
        return False
    return bool(addresses) and all(is_public(str(entry[4][0])) for entry in addresses)
