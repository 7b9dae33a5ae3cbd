"""Personal data: what is found, what is not, and that no text makes it slow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.metrics.detectors import describe, find_pii, redact
from pytest_evalstudio.metrics.detectors.cards import is_card_number
from pytest_evalstudio.metrics.detectors.checksums import is_iban, luhn

FOUND = [
    ("payment card number", "4111 1111 1111 1111"),
    ("payment card number", "4111111111111111"),
    ("payment card number", "(4111-1111-1111-1111)"),
    ("payment card number", "4111\u20111111\u20111111\u20111111"),
    ("payment card number", "`378282246310005`"),
    ("payment card number", "3782 822463 10005"),
    ("payment card number", "6011 0009 9013 9424"),
    ("payment card number", "30569309025904"),
    ("payment card number", "2221000000000009"),
    ("payment card number", "4222222222222"),
    ("payment card number", "**4111111111111111**"),
    ("US social security number", "219-09-9999"),
    ("US social security number", "(219-09-9999)."),
    ("US social security number", "SSN: 219099999"),
    ("US social security number", "His social security number, 219099999, leaked"),
    ("US social security number", "078 05 1120"),
    ("US social security number", "219-09-9999 and 0000"),
    ("e-mail address", "jane@acme.io"),
    ("e-mail address", "<jürgen.müller@firma.de>"),
    ("e-mail address", "email:joe@corp.com."),
    ("e-mail address", 'mail "o\'neil+x@mail.corp.co.uk"'),
    ("IBAN", "GB29 NWBK 6016 1331 9268 19"),
    ("IBAN", "DE89370400440532013000"),
    ("IBAN", "IBAN FR14 2004 1010 0505 0001 3M02 606"),
    ("phone number", "+1 (555) 123-4567"),
    ("phone number", "(555) 123-4567"),
    ("phone number", "555-123-4567"),
    ("phone number", "+44 20 7946 0958"),
    ("phone number", "+49 (0)30 123456"),
    ("phone number", "+14155552671"),
    ("phone number", "Call 1-800-555-0199"),
    ("phone number", "tel 555 123 4567"),
    ("phone number", "电话+8613812345678号"),
    ("IPv4 address", "203.0.114.5"),
    ("IPv4 address", "its IP is 3.12.33.7."),
    ("IPv6 address", "2607:f8b0:4005:805::200e"),
    ("passport number", "passport number: C01234567"),
    ("passport number", "Passport no. 123456789"),
    ("driver's licence number", "driver's license number D1234567"),
    ("UK national insurance number", "national insurance number QQ 12 34 56 C"),
    ("UK national insurance number", "AB 12 34 56 C"),
    ("UK national insurance number", "NINO: ab123456c"),
    ("US taxpayer number", "912-70-1234"),
    ("phone number", "call 020 7946 0958"),
    ("phone number", "Telefon: 0171/1234567"),
    ("phone number", "mobile (0171) 123-4567"),
    ("passport number", "passports: A12345678"),
]

CLEAN = [
    pytest.param(text, id=text)
    for text in (
        "4111 1111 1111 1112",
        "1234 5678 9012 3456",
        "0000 0000 0000 0000",
        "0.4111111111111111",
        "1700000000000",
        "9780306406157",
        "978-0-306-40615-7",
        "0-306-40615-2",
        "order 123456789",
        "123456789",
        "000-12-3456",
        "666-12-3456",
        "900-12-3456",
        "123-00-4567",
        "123-45-0000",
        "1 100 20 3000 5",
        "2019 4111 1111 1111 1111 2020 2021 2022 2023 2024",
        "UUID 123e4567-e89b-12d3-a456-426614174000",
        "d41d8cd98f00b204e9800998ecf8427e",
        "$1,234,567,890.00",
        "2023-01-15 10:30:45",
        "12/31/1999 - 01/01/2000",
        "1914-1918, 1939-1945",
        "1990 1991 1992 1993",
        "order no. 555-123-4567",
        "555-1234",
        "+10,000 votes",
        "+10 000 000 EUR, +25 000 000 users",
        "Nginx 1.25.3.44",
        "10.1016/j.cell.2005.07.023",
        "Invoice 2023-0001-5555",
        "version 10.2.33.44",
        "v52.1.2.3",
        "section 4.2.3.1",
        "1.2.3.4",
        "192.168.1.1 10.0.0.1 127.0.0.1 172.16.0.9 169.254.1.1",
        "203.0.113.7 198.51.100.1 192.0.2.9",
        "8.8.8.8",
        "2001:db8::1 fe80::1 ::1",
        "std::vector<int>::iterator at 12:30:45:10",
        "logo@2x.png",
        "git@github.com:org/repo",
        "joe@example.com, ann@mail.example.org, bob@host.test",
        "user@localhost",
        "@user @bob",
        "https://user:pw12@host.com/x",
        "passport holders since 2023",
        "GB 12 34 56 C",
        "UV 98 76 54 B",
        "part ab123456c",
        "912-93-1234",
        "912-40-1234",
        "article 020 7946 0958",
        "call 0800",
        "text 01/02/2024, 03/04/2025",
        "GB28 NWBK 6016 1331 9268 19",
        "3.141592653589793",
        "",
    )
]


@pytest.mark.parametrize(("kind", "text"), FOUND, ids=[text for _, text in FOUND])
def test_personal_data_is_found(kind: str, text: str) -> None:
    assert [hit.kind for hit in find_pii(text)] == [kind]


@pytest.mark.parametrize(("kind", "text"), FOUND, ids=[text for _, text in FOUND])
@pytest.mark.parametrize(
    ("before", "after"), [("x ", " y"), ("\n", "\n"), ("„", "“"), ("x=", ";"), ("[", "]")]
)
def test_it_is_found_beside_punctuation(kind: str, text: str, before: str, after: str) -> None:
    assert [hit.kind for hit in find_pii(before + text + after)] == [kind]


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert find_pii(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111111,5500000000000004",
        "4111 1111 1111 1111 5500 0000 0000 0004",
        "5555-5555-5555-4444 and 4111 1111 1111 1111",
        "219-09-9999 078-05-1120",
        "219-09-9999,078-05-1120",
        "joe@corp.com,ann@corp.com",
        "555-123-4567/555-123-4568",
    ],
)
def test_neighbours_are_two(text: str) -> None:
    assert len(find_pii(text)) == 2


@pytest.mark.parametrize("text", ["219-09-9999 {} {}", "2024 {} {}", "{} {} 2025", "1 2024 2025 {} {} 2026"])
def test_other_groups_beside_cards_in_a_row_hide_none(text: str) -> None:
    cards = "4111 1111 1111 1111", "5555 5555 5555 4444"
    assert [hit.kind for hit in find_pii(text.format(*cards))].count("payment card number") == 2


def test_a_row_of_cards_is_no_table() -> None:
    assert len(find_pii("4111 1111 1111 1111 5500 0000 0000 0004 4111 1111 1111 1111")) == 3


def test_spans_are_exact() -> None:
    text = "Pay 4111-1111-1111-1111, or mail a.b@corp.com!"
    assert [text[hit.start : hit.end] for hit in find_pii(text)] == ["4111-1111-1111-1111", "a.b@corp.com"]


def test_a_description_does_not_repeat_the_data() -> None:
    (hit,) = find_pii("219-09-9999")
    assert describe(hit) == "US social security number (***-**-****)"


@pytest.mark.parametrize(
    ("number", "valid"),
    [
        ("79927398713", True),
        ("79927398710", False),
        ("4111111111111111", True),
        ("4111111111111121", False),
        ("0", True),
    ],
)
def test_luhn(number: str, valid: bool) -> None:
    assert luhn(number) is valid


@given(st.integers(min_value=0, max_value=10**14 - 1))
def test_of_ten_check_digits_exactly_one_makes_a_visa_number(body: int) -> None:
    assert sum(is_card_number(f"4{body:014d}{check}") for check in range(10)) == (
        0 if len({*f"4{body:014d}"}) == 1 and body % 10 == 4 else 1
    )


@pytest.mark.parametrize(
    "iban",
    [
        "GB29NWBK60161331926819",
        "NO9386011117947",
        "MT84MALT011000012345MTLCAST001S",
        "DE89370400440532013000",
    ],
)
def test_an_iban_with_one_other_character_is_none(iban: str) -> None:
    assert is_iban(iban)
    assert not any(
        is_iban(iban[:place] + other + iban[place + 1 :])
        for place in range(4, len(iban))
        for other in "0123456789"
        if other != iban[place]
    )


def test_e_mail_of_an_example_domain_is_masked_though_no_leak() -> None:
    assert find_pii("jane@example.com") == []
    assert redact("jane@example.com") == "****@*******.***"
