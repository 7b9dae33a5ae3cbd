"""Programs in one process: which module an import gives depends on the code that imports."""

from __future__ import annotations

import builtins
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from pytest_evalstudio.core import programs as core_programs
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.programs import Program, open_program

Open = Callable[..., Program]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Open]:
    """Open programs of files, where `in_package_x` is `pkg/x.py`; close and forget them after the test."""
    before = dict(sys.modules)
    table = core_programs._table
    # Other tests of this process may have left a program open.
    others, owners = dict(table.programs), dict(table.owners)
    table.programs.clear()
    table.owners.clear()
    table.update_hooks()
    programs: list[Program] = []

    def make_program(name: str, **files: str) -> Program:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for file, text in files.items():
            path = folder / (file.replace("in_package_", "pkg/").replace("init", "__init__") + ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        programs.append(open_program(folder))
        return programs[-1]

    yield make_program
    for each in programs:
        each.close()
    table.programs.update(others)
    table.owners.update(owners)
    table.update_hooks()
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


def test_the_first_program_has_plain_names_and_no_hooks(program: Open) -> None:
    original = builtins.__import__

    module = program("first", app="import helper", helper="").import_module("app")

    assert module is sys.modules["app"]
    assert builtins.__import__ is original


def test_every_form_of_import_gives_the_program_its_own_modules(program: Open) -> None:
    code = """
import importlib
import pkg
import pkg.inner
import pkg.inner as renamed
from pkg import inner, value
from pkg.inner import deep
from pkg.inner import *
dynamic = importlib.import_module("pkg.inner")
called = __import__("pkg.inner", globals(), locals(), ["deep"])
plain_call = __import__("pkg.inner")
modules = {pkg.inner, renamed, inner, dynamic, called, plain_call.inner}


def late():
    from pkg.late import word
    return word
"""
    for name in ("first", "second"):
        app = program(
            name,
            app=code,
            in_package_init=f"value = {name!r}",
            in_package_inner=f"from . import value\ndeep = {name!r}",
            in_package_late=f"word = {name!r}",
        ).import_module("app")

        assert (app.value, app.deep, app.late(), len(app.modules)) == (name, name, name, 1)


def test_classes_of_a_private_module_are_found_by_their_module(program: Open) -> None:
    program("first", app="import models", models="").import_module("app")
    app = program("second", app="from models import Reply", models="class Reply: ...").import_module("app")

    assert sys.modules["models"] is not sys.modules[app.Reply.__module__]
    assert importlib.import_module(app.Reply.__module__).Reply is app.Reply


def test_errors_of_imports_name_modules_as_the_code_does(program: Open) -> None:
    program("first", app="").import_module("app")
    app = program(
        "second",
        app="def missing():\n    import pkg.absent\n\n\ndef fails():\n    from pkg import absent\n",
        in_package_init="",
    )
    module = app.import_module("app")

    with pytest.raises(ModuleNotFoundError, match=r"No module named 'pkg\.absent'") as raised:
        module.missing()
    assert raised.value.name == "pkg.absent"
    with pytest.raises(ImportError, match="absent"):
        module.fails()


def test_a_module_that_was_imported_by_another_name_is_that_module(program: Open, tmp_path: Path) -> None:
    first_program = program("first", app="")
    spec = importlib.util.spec_from_file_location("repository.app", tmp_path / "first" / "app.py")
    assert spec is not None
    module = sys.modules["repository.app"] = importlib.util.module_from_spec(spec)

    assert first_program.import_module("app") is module


def test_a_reopened_program_has_its_modules_again(program: Open) -> None:
    program("first", app="").import_module("app")
    second = program("second", app="import helper", helper="")
    private = second.import_module("app")
    same_program = program("second")

    assert same_program is second
    assert same_program.import_module("app") is private


def test_modules_that_are_loaded_in_threads_stay_apart(program: Open) -> None:
    names = [f"name{number}" for number in range(8)]
    modules: list[ModuleType] = []
    code = "import importlib\ndef load(module):\n    return importlib.import_module(f'late_{module}').owner\n"
    for name in names:
        files = {f"late_{number}": f"import time\ntime.sleep(0.001)\nowner = {name!r}" for number in range(6)}
        modules.append(program(name, app=code, **files).import_module("app"))
    answers: dict[str, set[str]] = {name: set() for name in names}

    def work(name: str, module: ModuleType) -> None:
        for number in range(6):
            answers[name].add(module.load(number))

    threads = [
        threading.Thread(target=work, args=(name, module))
        for name, module in zip(names, modules, strict=True)
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert answers == {name: {name} for name in names}


def test_the_standard_library_and_installed_packages_are_shared(program: Open) -> None:
    code = "import json, queue, msgspec\nmodules = json, queue, msgspec"
    first = program("first", app=code, queue="")
    second = program("second", app=code, queue="")

    assert first.import_module("app").modules == second.import_module("app").modules


def test_a_file_named_like_a_module_of_the_library_does_not_replace_it(program: Open, tmp_path: Path) -> None:
    queue = sys.modules["queue"]

    loaded = program("first", queue="word = 'own'").load_file(tmp_path / "first" / "queue.py")

    assert loaded.word == "own"
    assert sys.modules["queue"] is queue


def test_a_package_of_one_program_in_place_of_an_installed_one_is_a_mismatch(program: Open) -> None:
    installed = sys.modules.pop("iniconfig")
    try:
        program("first", app="import iniconfig", iniconfig="word = 1").import_module("app")
        with pytest.raises(ConfigurationError, match=r"import file mismatch: module 'iniconfig' is .*first"):
            program("second", app="import iniconfig").import_module("app")
    finally:
        sys.modules["iniconfig"] = installed


def test_a_replaced_import_hook_is_left_to_who_replaced_it(
    program: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = program("first", app=""), program("second", app="import helper", helper="")
    original = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda *args, **kwargs: original(*args, **kwargs))

    assert first.import_module("app") is not second.import_module("app")
