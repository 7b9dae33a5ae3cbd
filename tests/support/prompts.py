"""Prompts of tests."""

from __future__ import annotations

from pytest_evalstudio.core.cases import Prompt


def ask_for(*texts: str) -> list[Prompt]:
    return [Prompt(text=text) for text in texts]
