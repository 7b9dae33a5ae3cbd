from __future__ import annotations

import pytest

from pytest_evalstudio.core.errors import nearest
from pytest_evalstudio.core.names import SYNONYMS, nearest_name
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.suite import TestCase

CASE = tuple(TestCase.model_fields)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("question", "prompt"),
        ("contains", "condition"),
        ("ground_truth", "expected_output"),
        ("groundTruth", "expected_output"),
        ("promt", "prompt"),
        ("expected", "expected_output"),
        ("zzz", ""),
    ],
)
def test_keys_of_cases(name: str, meaning: str) -> None:
    assert nearest_name(name, CASE) == meaning


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("azure", "azure_openai_llm"),
        ("openai", "openai_llm"),
        ("vllm", "openai_compatible"),
        ("pyhton", "python"),
    ],
)
def test_hosts(name: str, meaning: str) -> None:
    assert nearest_name(name, Registry().hosts) == meaning


def test_a_proposal_is_a_question() -> None:
    assert nearest("tokens", ["max_tokens", "host"]) == "Did you mean 'max_tokens'?"
    assert nearest("azure", ["fixture"]) == ""


def test_every_synonym_leads_to_a_name_of_this_package() -> None:
    registry = Registry()
    options = {
        "api_key",
        "criterion",
        "definition",
        "host",
        "llm_model_name",
        "max_output_tokens",
        "max_tokens",
    }
    options |= {"target", "timeout_s", "tool_calls", "url"}
    all_names = {*CASE, *Row.model_fields, *registry.hosts, *registry.evaluators, *options}
    all_names |= set(registry.perturbators)
    assert {name for names in SYNONYMS.values() for name in names} <= all_names
