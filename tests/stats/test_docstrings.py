"""Examples and sources in the docstrings of the statistical functions."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

from pytest_evalstudio import stats

MODULES = [
    importlib.import_module(f"{stats.__name__}.{module.name}")
    for module in pkgutil.iter_modules(stats.__path__)
]
FUNCTIONS = [
    function
    for module in MODULES
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not name.startswith("_")
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_of_a_module_give_what_they_show(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.failed == 0


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_each_public_function_has_an_example(function: object) -> None:
    assert ">>>" in (inspect.getdoc(function) or "")
