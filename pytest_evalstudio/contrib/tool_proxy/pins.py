"""Pins of tool definitions: digests by which a definition that has changed is noticed.

A server may change the description of a tool after people have approved it, and by that instruct the agent
(rug pull; OWASP ASI04, agentic supply chain).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_evalstudio.contrib.tool_proxy.recording import canonical
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.core.writing import write_whole

PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""Keys of a definition that an agent reads or acts on."""
Change = Literal["changed", "new"]


def digest(definition: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a tool definition, without keys that an agent does not read."""
    pinned = {name: definition[name] for name in PINNED if name in definition}
    return hashlib.sha256(canonical(pinned).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class Pins:
    """Digests of the tools of a server by name.

    Where there is no file, the first definitions are pinned and written.

    Attributes:
        changes: tools whose definitions differ from their pins, in the order in which they were seen.
    """

    path: Path
    digests: dict[str, str] = field(default_factory=dict)
    is_first_use: bool = True
    changes: dict[str, Change] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Pins:
        """Read a file of pins, if there is one.

        Raises:
            ConfigurationError: if it cannot be read.
            DataError: if it is no file of pins.
        """
        try:
            content = json.loads(read_utf8(path))
        except FileNotFoundError:
            return cls(path)
        except OSError as exc:
            raise ConfigurationError(f"--pins {path}: {exc.strerror}; name a file that can be read") from None
        except (ValueError, RecursionError):
            content = None
        tools = content.get("tools") if isinstance(content, dict) else None
        if not isinstance(tools, dict) or not all(isinstance(value, str) for value in tools.values()):
            fact = 'is no file of pins, {"tools": {"NAME": "SHA-256"}}; remove it to pin the tools anew'
            raise DataError(fact, source=str(path))
        return cls(path, digests=tools, is_first_use=False)

    def check(self, definitions: list[Any]) -> list[tuple[str, Change]]:
        """Compare definitions with the pins, and return those that changed since the last check.

        Raises:
            OSError: if the file of the first use cannot be written.
        """
        found: list[tuple[str, Change]] = []
        is_extended = False
        for definition in definitions:
            if not isinstance(definition, dict) or not isinstance(definition.get("name"), str):
                continue
            name, value = definition["name"], digest(definition)
            if self.is_first_use and name not in self.digests:
                self.digests[name] = value
                is_extended = True
            elif self.digests.get(name) != value and name not in self.changes:
                self.changes[name] = "changed" if name in self.digests else "new"
                found.append((name, self.changes[name]))
        if is_extended:
            text = json.dumps({"tools": self.digests}, indent=2, sort_keys=True, ensure_ascii=False)
            write_whole(self.path, text.encode("utf-8", "surrogatepass") + b"\n")
        return found
