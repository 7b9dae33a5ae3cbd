"""Check of modules that were imported before their program was opened, e.g. by a test."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from pytest_evalstudio.core.program_imports import Program, mismatch

_MISSING = object()


def check_imports(program: Program, module: ModuleType) -> None:
    """Refuse a module that has got a module of another program in place of one of its own.

    pytest imports tests before any program is opened: a test that imports an application may find a helper
    of the name that another test has imported from elsewhere.

    Raises:
        ConfigurationError: naming both files.
    """
    if not program.has_taken_names():
        return
    open_modules, checked = [module], {module.__name__}
    while open_modules:
        current = open_modules.pop()
        for imported, bound, attribute in _module_level_imports(current):
            top = imported.partition(".")[0]
            actual = program.top_name(top)
            if actual == top:
                following = sys.modules.get(imported)
                if following is not None and following.__name__ not in checked:
                    checked.add(following.__name__)
                    open_modules.append(following)
            elif actual and _is_from(vars(current).get(bound, _MISSING), imported, attribute, program):
                spec = program.spec_of(top)
                origin = spec.origin if spec is not None else None
                raise mismatch(top, str(getattr(sys.modules.get(top), "__file__", None) or ""), origin or "")


def _is_from(value: object, imported: str, attribute: str, program: Program) -> bool:
    """Return whether a value was imported from the module that has the plain name."""
    plain, private = sys.modules.get(imported), sys.modules.get(f"{program.package}.{imported}")
    if plain is None:
        return False
    if not attribute:
        return value is plain or value is sys.modules.get(imported.partition(".")[0])
    if private is not None and value is getattr(private, attribute, _MISSING):
        return False
    return value is getattr(plain, attribute, _MISSING)


def _module_level_imports(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """Yield the absolute imports that run when a module is loaded.

    Yields:
        Name of the module, name that it is bound to, and the attribute taken from it, "" for none.
    """
    file = getattr(module, "__file__", None)
    if not file or not file.endswith(".py"):
        return
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):  # the import itself reports what is wrong with the file
        return
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, alias.asname or alias.name.partition(".")[0], ""
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                yield node.module, alias.asname or alias.name, alias.name
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
