"""Check digits of account, routing and card numbers."""

from __future__ import annotations

IBAN_LENGTHS = {
    country: int(length)
    for length, countries in {
        "15": "NO", "16": "BE", "18": "DK FI FO GL NL SD", "19": "MK SI", "20": "AT BA EE KZ LT LU XK", "21": "CH HR LI LV",  # noqa: E501
        "22": "BG BH CR DE GB GE IE ME RS VA", "23": "AE GI IL IQ OM SO TL", "24": "AD CZ ES MD PK RO SA SE SK TN VG",  # noqa: E501
        "25": "LY PT ST", "26": "IS TR", "27": "BI DJ FR GR IT MC MR SM", "28": "AL AZ BY CY DO GT HU LB NI PL SV",  # noqa: E501
        "29": "BR EG PS QA UA", "30": "JO KW MU", "31": "MT SC", "32": "LC", "33": "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip
"""Length of an IBAN by country; ISO 13616 registry."""
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)  # sum of the digits of twice the digit, for Luhn's check


def is_iban(compact: str) -> bool:
    """Check length and check digits of an IBAN.

    Args:
        compact: account number without blanks.

    Returns:
        True if the length is that of its country and the check digits are right.

    Source: ISO 13616, ISO/IEC 7064 (mod 97-10).

    >>> is_iban("GB29NWBK60161331926819"), is_iban("GB28NWBK60161331926819")
    (True, False)
    """
    if len(compact) != IBAN_LENGTHS.get(compact[:2], 0):
        return False
    # Country and check digits stand last; a letter counts as 10 to 35, as in base 36.
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


def is_routing_number(digits: str) -> bool:
    """Check the check digit of a US bank's routing number.

    Args:
        digits: nine ASCII digits.

    Source: American Bankers Association, routing number policy.

    >>> is_routing_number("011000015"), is_routing_number("011000016")
    (True, False)
    """
    weights = (3, 7, 1) * 3
    return sum(weight * int(digit) for weight, digit in zip(weights, digits, strict=True)) % 10 == 0


def luhn(digits: str) -> bool:
    """Check the Luhn digit.

    Args:
        digits: ASCII digits only.

    Returns:
        True if the last digit is the check digit of the preceding digits.

    Source: ISO/IEC 7812-1, annex B.

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    total = sum(int(char) for char in digits[-1::-2]) + sum(_DOUBLED[int(char)] for char in digits[-2::-2])
    return total % 10 == 0
