"""Evaluator of this project."""

from checks import Politeness


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Politeness)
