"""The index of built-in plugins; `python tests/support/plugin_index.py` makes it from their modules."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.core.plugins import index
from pytest_evalstudio.core.plugins.registry import Registry


def index_text() -> str:
    """Return the source of the index."""
    lines = [
        f'"""{(index.__doc__ or "").strip()}\n"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
        "",
        "MODULES: Mapping[str, Mapping[str, str]] = {",
    ]
    for plugins in Registry().kinds:
        lines.append(f'    "{plugins.kind}": {{')
        for id in plugins:
            plugin = plugins.get(id)
            if plugin.__module__.startswith(plugins.packages):
                lines.append(f'        "{id}": "{plugin.__module__}",')
        lines.append("    },")
    return "\n".join([*lines, "}", '"""By kind and id, the module of a plugin."""', ""])


if __name__ == "__main__":
    Path(index.__file__).write_text(index_text(), encoding="utf-8")
