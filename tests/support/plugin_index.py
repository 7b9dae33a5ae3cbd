"""The index of built-in plugins; `python tests/support/plugin_index.py` makes it from their modules."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.core.plugins import index
from pytest_evalstudio.core.plugins.contrib import contribs, file_kinds
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
    suffixes = [suffix for kind in file_kinds() for suffix in kind.suffixes]
    fixtures = [name for contrib in contribs() for name in contrib.fixtures]
    options = {name: dict(settings) for contrib in contribs() for name, settings in contrib.options.items()}
    return "\n".join([
        *lines,
        "}",
        '"""By kind and id, the module of a plugin."""',
        f"SUFFIXES = {_tuple(suffixes)}",
        '"""Ends of the names of files that optional parts collect."""',
        f"FIXTURES = {_tuple(fixtures)}",
        '"""Fixtures of optional parts."""',
        *_mapping("OPTIONS", options),
        '"""By name, the settings of each option of optional parts."""',
        "",
    ])  # fmt: skip


def _mapping(name: str, options: dict[str, dict[str, str]]) -> list[str]:
    lines = [f"{name}: Mapping[str, Mapping[str, str]] = {{"]
    for option, settings in options.items():
        values = [f'        "{key}": "{value}",' for key, value in settings.items()]
        lines += [f'    "{option}": {{', *values, "    },"]
    return [*lines, "}"]


def _tuple(texts: list[str]) -> str:
    quoted = [f'"{text}"' for text in texts]
    return f"({quoted[0]},)" if len(quoted) == 1 else f"({', '.join(quoted)})"


if __name__ == "__main__":
    Path(index.__file__).write_text(index_text(), encoding="utf-8")
