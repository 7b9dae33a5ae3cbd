"""Secrets by the rules of detect-secrets."""

from __future__ import annotations

import pytest

from pytest_evalstudio import LlmDataset, evaluate
from support.processor_time import assert_within

pytest.importorskip("detect_secrets", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")
CLOUDANT = "https://user" + ":" + "abcd1234abcd" + "@x.cloudant.com"


def test_hits_of_the_package_are_added_to_those_of_the_rules() -> None:
    from pytest_evalstudio.metrics.detectors.scanner import find_secrets_with_scanner

    text = f"api_key = 'abcd1234efgh5678'\nsoftlayer_api_key = '{'a1' * 32}'"
    hits = find_secrets_with_scanner(text)
    assert [text[hit.start : hit.end] for hit in hits] == ["abcd1234efgh5678", "a1" * 32]


def test_ordinary_text_is_clean() -> None:
    from pytest_evalstudio.metrics.detectors.scanner import find_secrets_with_scanner

    assert find_secrets_with_scanner("The token count is 4096, see https://bank.test/a. " * 50) == []


def test_a_hit_in_a_long_line_has_its_place() -> None:
    from pytest_evalstudio.metrics.detectors.scanner import find_secrets_with_scanner

    text = "word " * 1000 + CLOUDANT
    (hit,) = find_secrets_with_scanner(text)
    assert text[hit.start : hit.end] == "abcd1234abcd"


def test_look_alikes_hide_no_secret() -> None:
    from pytest_evalstudio.metrics.detectors.scanner import find_secrets_with_scanner

    key = "a1" * 32
    text = f"softlayer_api_key\u00a0=\u00a0\u2018{key[:9]}\u200b{key[9:]}\u2019"
    (hit,) = find_secrets_with_scanner(text)
    assert text[hit.start : hit.end].replace("\u200b", "") == key
    assert find_secrets_with_scanner("softlayer\u00a0keys are \u2018long\u2019") == []


@pytest.mark.parametrize("text", ["https://a:", "AKIA", '"token": "', "x"])
def test_long_texts_take_little_time(text: str) -> None:
    from pytest_evalstudio.metrics.detectors.scanner import find_secrets_with_scanner

    assert_within(3, lambda turn: find_secrets_with_scanner((text * 200_000)[: 100_000 + turn]))


def test_the_evaluator_takes_the_package() -> None:
    dataset = LlmDataset()
    dataset.add_input("Address?", key="q", actual_output=CLOUDANT, model_key="m")
    config = {"evaluator": {"sensitive_data_leakage": {"detector": "detect-secrets"}}}
    results = evaluate(dataset, ["sensitive_data_leakage"], config=config)
    assert results.verdicts() == {"q[m]": "failed"}
