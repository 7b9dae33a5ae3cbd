"""Redaction: same length, nothing left, linear time."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.metrics.detectors import find_pii, find_secrets, redact, redact_identifier
from pytest_evalstudio.metrics.detectors.spans import merge_spans
from support.processor_time import assert_within

MILLION = 1_000_000
SNIPPETS = [
    "4111 1111 1111 1111",
    "219-09-9999",
    "a.b@corp.com",
    "password=hunter2x",
    "sk-1234567890abcdefghij",
    "-----BEGIN PRIVATE KEY-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBg\n-----END PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF",
    "+44 20 7946 0958",
    "GB29 NWBK 6016 1331 9268 19",
    "https://u:s3cretpw@corp.com",
    " ",
    ",",
    "\n",
    "word",
    "Ä",
    "7",
    "-",
]


def test_separators_stay_and_the_rest_is_masked() -> None:
    assert (
        redact("SSN 219-09-9999, card 4111 1111 1111 1111.") == "SSN ***-**-****, card **** **** **** ****."
    )


def test_the_body_of_a_key_is_masked() -> None:
    body = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBg"
    text = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    assert body not in redact(text)
    assert len(redact(text)) == len(text)


@pytest.mark.parametrize("before", ["\n", "\t", "\r\n", '"', "\\", "\u2028", "/"])
@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + "a1B2c3D4" * 4 + "0001",
        "jane@acmebank.com",
        "4111 1111 1111 1111",
        "219-09-9999",
        "GB29NWBK60161331926819",
        "-----BEGIN PRIVATE KEY-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBg\n-----END PRIVATE KEY-----",
    ],
)
def test_a_secret_in_json_as_text_is_masked_and_json_stays_json(secret: str, before: str) -> None:
    def decoded(text: str, layers: int) -> str:
        for _ in range(layers):
            [text] = json.loads(text)
        return text

    for is_ascii in (True, False):
        text = before + secret + before
        for layers in range(1, 4):
            text = json.dumps([text], ensure_ascii=is_ascii)
            plain = decoded(redact(text), layers)
            assert secret not in plain
            assert plain.startswith(before)


def test_a_secret_that_is_all_escapes_is_masked() -> None:
    text = "".join(f"\\u{ord(char):04x}" for char in "jane@acme.com")
    assert json.loads(f'"{redact(text)}"') == "****@****.***"


def test_a_path_of_windows_is_no_secret() -> None:
    assert redact(r"C:\temp\new\build\report.txt") == r"C:\temp\new\build\report.txt"


def test_a_clean_text_is_itself() -> None:
    text = "Revenue rose by 12.5 % to $1,577 million in 2023; see section 4.2.3."
    assert redact(text) is text


@given(st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join) | st.text())
def test_redaction_keeps_the_length_and_what_is_no_letter_or_digit(text: str) -> None:
    masked = redact(text)
    assert len(masked) == len(text)
    assert all(new == old or (new == "*" and old.isalnum()) for new, old in zip(masked, text, strict=True))


@given(st.lists(st.sampled_from(SNIPPETS), max_size=8).map(" ".join))
def test_nothing_is_found_after_redaction(text: str) -> None:
    masked = redact(text)
    assert [hit.kind for hit in find_pii(masked)] == []
    assert [hit.kind for hit in find_secrets(masked)] == []


@given(st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join))
def test_hits_are_in_order_and_apart(text: str) -> None:
    for hits in (find_pii(text), find_secrets(text)):
        assert all(hit.start < hit.end <= len(text) for hit in hits)
        assert all(first.end <= second.start for first, second in pairwise(hits))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 10)), max_size=10))
def test_merging_covers_the_same_characters(spans: list[tuple[int, int]]) -> None:
    text = "x" * 40
    hits = merge_spans(text, [(start, start + length, "k") for start, length in spans])
    covered = {place for start, length in spans for place in range(start, start + length)}
    assert {place for hit in hits for place in range(hit.start, hit.end)} == covered
    assert sum(hit.end - hit.start for hit in hits) == len(covered)


HOSTILE = [
    "7", "4111-1111-1111-1111-", "a@", "a@a.", "a" * 64 + "@", "-----BEGIN", "-----BEGIN RSA PRIVATE KEY-----\n", "-----END X-----",  # noqa: E501
    "-----BEGIN CERTIFICATE-----\nAAAAAAAAAAAAAAAA", "eyJ", "eyJaaaaaaaaaaa.", "password", "password=", 'password="', "token is ", "2001:", "+1 2 3 ",  # noqa: E501
    "+12345", "a.", "Ab1/", "-", " ", "AAAAA-", "1.1.", "sk-", "sk-ant-a", "://a:@", "a://b:c", "Bearer ", "passport no ", "GB29 ", "(555) ",  # noqa: E501
    "A==", "123-45-", "xoxb-", "driver's license ",
]  # fmt: skip


def _redact_repeated(unit: str, length: int) -> None:
    text = (unit * (length // len(unit) + 1))[:length]
    assert len(redact(text)) == length


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_takes_seconds_at_most(unit: str) -> None:
    # Quadratic time would be half a minute; beside other work a core is several times as slow.
    assert_within(10, lambda turn: _redact_repeated(unit, 100_000 + turn))


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_megabyte_takes_no_more_than_a_few_seconds(unit: str) -> None:
    assert_within(5, lambda turn: _redact_repeated(unit, MILLION + turn))


@pytest.mark.slow
def test_a_clean_kilobyte_takes_microseconds() -> None:
    text = (
        "The Federal Reserve raised its rate by 0.25% on 2023-02-01, citing inflation of 6.5 percent; markets"
        " fell 1,577 points. " * 9
    )[:1000]
    redact(text)
    best = min(_seconds(text) for _ in range(20))
    assert best < 400e-6  # some 50 on a quiet machine


def _seconds(text: str) -> float:
    start = time.process_time()
    for _ in range(50):
        redact(text)
    return (time.process_time() - start) / 50


def test_an_address_joined_to_a_date_is_masked() -> None:
    assert redact("jane.doe@bank.com-2024-01-15") == "****.***@****.***-2024-01-15"


@pytest.mark.parametrize(
    ("name", "masked_name"),
    [
        ("scans/jane.doe@bank.com.png", "scans/****.***@****.***.png"),
        ("jane@bank.co.uk.jpeg", "****@****.**.**.jpeg"),
        ("icon@2x.png", "icon@2x.png"),
        ("icon@2x.min.js", "icon@2x.min.js"),
        ("lodash@4.17.21.min.js", "lodash@4.17.21.min.js"),
    ],
)
def test_an_address_in_the_name_of_an_image_is_masked(name: str, masked_name: str) -> None:
    assert redact(name) == redact_identifier(name) == masked_name
