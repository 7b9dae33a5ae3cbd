"""Identifiers, descriptions, times and names of documents as records write them."""

from __future__ import annotations

from pytest_evalstudio.record.codec import iso_time
from pytest_evalstudio.scoring.identifiers import document_names, safe_description, safe_identifier
from pytest_evalstudio.scoring.masking import masked_texts

MAIL = "jane.roe@bank-mail.net"


def test_masked_identifiers_of_different_texts_stay_different() -> None:
    first, second = safe_identifier(f"a {MAIL}"), safe_identifier(f"b {MAIL}")
    assert "jane" not in first
    assert first != second
    assert safe_identifier(f"a {MAIL}") == first
    assert safe_identifier("fees-2024") == "fees-2024"


def test_secret_values_of_a_description_are_masked_at_any_depth() -> None:
    description = {
        "api_key": "correct-horse",
        "empty": {"token": ""},
        "headers": {"Authorization": "Basic abc", "Accept": "json"},
        "password": {"old": "correct", "new": ["horse", 7]},
        "notes": [MAIL, 1, None],
    }
    safe = safe_description(description)
    text = repr(safe)
    for secret in ("correct", "horse", "Basic abc", "jane"):
        assert secret not in text
    assert safe["headers"] == {**safe["headers"], "Accept": "json"}  # type: ignore[dict-item]
    assert safe["empty"] == {"token": ""}
    assert safe["password"]["new"][1] == 7  # type: ignore[index]
    assert safe["notes"][1:] == [1, None]  # type: ignore[index]


def test_texts_in_json_are_masked_and_other_values_stay() -> None:
    value = {"a": [MAIL, ("x", 1.5)], "b": None, "c": True}
    assert masked_texts(value)["a"][1] == ["x", 1.5]
    assert (masked_texts(value)["b"], masked_texts(value)["c"]) == (None, True)
    assert "jane" not in repr(masked_texts(value))


def test_documents_are_named_from_the_folder_of_the_case() -> None:
    names = ("/suites/fees.md", "/suites/deep/a.md", "/suites2/b.md", "https://example.org/c.md")
    expected = ("fees.md", "deep/a.md", "/suites2/b.md", "https://example.org/c.md")
    assert document_names(names, "/suites") == document_names(names, "/suites/") == expected


def test_times_are_in_utc_and_whole_seconds() -> None:
    assert iso_time(0.75) == "1970-01-01T00:00:00+00:00"
