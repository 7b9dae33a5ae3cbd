"""Python code beside the application that can change its answers: conftest.py, plugins and what they import.

The code is read, never run. Reading cannot prove that code is harmless; `--ask` asks the application itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

START_UP_FILES = frozenset({"sitecustomize.py", "usercustomize.py"})
"""Modules that Python imports before anything else."""
CONFIGURATION_HOOK = "pytest_evalstudio_configuration"
_CALLS = frozenset({
    "setattr", "delattr", "exec", "eval", "compile", "__import__", "globals", "vars", "_exit", "patch",
    "putenv", "spec_from_file_location", "module_from_spec", "reload", "import_module", "__setattr__",
})  # fmt: skip
"""Functions and methods by which code replaces other code, or ends the process."""
_CONTAINERS = frozenset({"modules", "meta_path", "path", "path_hooks", "environ", "__dict__"})
"""Attributes whose change replaces modules or variables of other code."""
_CHANGING = frozenset({
    "insert", "append", "extend", "update", "setdefault", "pop", "popitem", "clear", "remove", "add",
    "discard", "__setitem__",
})  # fmt: skip
"""Methods that change a container."""
_OWN = frozenset({"self", "cls"})
ReadText = Callable[[str], str | None]
"""Returns the text of a file, None where there is none."""


def is_test_code(path: str) -> bool:
    """Return whether pytest or Python loads a file by its name."""
    name = PurePosixPath(path).name
    return name in START_UP_FILES or name == "conftest.py" or name.endswith(".pth")


def loaded_files(paths: Iterable[str], read: ReadText, search_path: Iterable[str]) -> set[str]:
    """Return the files of a tree that some files import, directly or not, with the files themselves.

    Args:
        paths: of Python files.
        read: of the tree.
        search_path: folders that absolute imports start at, "" for the root.
    """
    waiting, loaded = list(paths), set()
    folders = list(dict.fromkeys(search_path))
    while waiting:
        path = waiting.pop()
        if path in loaded or (text := read(path)) is None:
            continue
        loaded.add(path)
        own = str(PurePosixPath(path).parent)
        for name in _imported(_parsed(text)):
            for folder in dict.fromkeys([*folders, "" if own == "." else own]):
                waiting += _files_of(name, folder)
    return loaded


def _files_of(module: str, folder: str) -> Iterator[str]:
    stem = "/".join(filter(None, (folder, *module.split("."))))
    yield f"{stem}.py"
    yield f"{stem}/__init__.py"


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if base:
                yield base
            yield from (".".join(filter(None, (base, alias.name))) for alias in node.names)
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytest_plugins" for target in node.targets
        ):
            yield from (
                each.value
                for each in ast.walk(node.value)
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def replacements(before: str | None, after: str, *, with_fixtures: bool = False) -> list[tuple[int, str]]:
    r"""Return what new or changed statements of a file do to other code: line and expression.

    Fixtures are left out unless they are used by every test: no test case of a suite asks for them.

    Args:
        before, after: texts of the file.
        with_fixtures: whether tests of suites may use fixtures, by `usefixtures`.

    >>> replacements("import app\n", "import app\napp.ask = print\n")
    [(2, 'app.ask')]
    """
    known = {ast.dump(statement) for statement in _parsed(before or "").body}
    tree = _parsed(after)
    imported = _bound_by_imports(tree)
    effects: list[tuple[int, str]] = []
    for statement in tree.body:
        is_left_out = _is_plain_fixture(statement) and not with_fixtures
        if ast.dump(statement) not in known and not is_left_out:
            effects += _effects(statement, imported)
    return sorted(set(effects))


def configures(before: str | None, after: str) -> bool:
    """Return whether new or changed statements of a file configure the evaluation."""
    known = {ast.dump(statement) for statement in _parsed(before or "").body}
    return any(
        isinstance(node, ast.FunctionDef) and node.name == CONFIGURATION_HOOK
        for statement in _parsed(after).body
        if ast.dump(statement) not in known
        for node in ast.walk(statement)
    )


def _bound_by_imports(tree: ast.Module) -> frozenset[str]:
    """Return the names that imports bind, which are objects of other code."""
    return frozenset(
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )


def _effects(statement: ast.stmt, imported: frozenset[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.For | ast.With):
            for target in _targets(node):
                if _replaces(target, imported):
                    yield target.lineno, _shown(target)
        elif isinstance(node, ast.Call) and _is_replacing_call(node, imported):
            yield node.lineno, f"{_shown(node.func)}()"


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        targets = [node.target]
    elif isinstance(node, ast.With):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    else:
        targets = []
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            yield from target.elts
        else:
            yield target


def _replaces(target: ast.expr, imported: frozenset[str]) -> bool:
    """Return whether an assignment changes an object that is not the code's own."""
    if isinstance(target, ast.Attribute):
        return not (isinstance(target.value, ast.Name) and target.value.id in _OWN)
    # A container of its own, such as the list of items, is checked by the cases of the record.
    return isinstance(target, ast.Subscript) and (
        isinstance(target.value, ast.Attribute | ast.Call) or _root(target) in imported
    )


def _root(node: ast.expr) -> str:
    """Return the name that an expression with attributes and indices begins with, "" for none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_replacing_call(node: ast.Call, imported: frozenset[str]) -> bool:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _CALLS or name.startswith("setattr"):
        return True
    if name not in _CHANGING or not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    return (isinstance(owner, ast.Attribute) and owner.attr in _CONTAINERS) or _root(owner) in imported


def _is_plain_fixture(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    for decorator in statement.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        function = call.func if call is not None else decorator
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name == "fixture":
            return call is None or not any(keyword.arg in ("autouse", None) for keyword in call.keywords)
    return False


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:59]}…"
