"""Phrases about a customer's transactions and balances, and statements about products that look like them."""

from __future__ import annotations

import pytest

from pytest_evalstudio.metrics.detectors.activity import find_account_activity

PERSONAL = (
    "Her current balance is $1,204.50.",
    "You paid £45.00 to Tesco on 3 May.",
    "The customer withdrew 300 EUR at the airport.",
    "Jane Miller transferred $5,000 to an account in Malta.",
    "Your last transaction was a purchase of £12.99 at Amazon.",
    "£60 was debited from your account this morning.",
    "The balance of his savings account stands at 12,000 USD.",
    "John's last payment of $99 failed.",
    "He owes £2,300 on his card.",
    "They received 4,500 euros from their employer in June.",
)
GENERAL = (
    "A transfer abroad costs £15.",
    "The minimum balance is £500.",
    "If your balance falls below £500, a fee of £5 applies.",
    "You can withdraw up to £300 per day from your account.",
    "Your account has no monthly fee.",
    "She asked about the fee of £15.",
    "The fee is waived for any month in which at least £2,500 is paid into the account.",
    "Each payment above £10,000 must be approved.",
    "The bank paid a dividend of £0.40 per share.",
    "Total Payments Received: $0.00",
    "Her balance was discussed. A card costs £5.",
    "She withdrew her complaint.",
)


@pytest.mark.parametrize("text", PERSONAL)
def test_account_activity_of_a_person_is_found(text: str) -> None:
    (hit,) = find_account_activity(f"Hello. {text} Anything else?")
    assert hit.kind == "account activity"
    assert not any(char.isalnum() for char in hit.masked)


@pytest.mark.parametrize("text", GENERAL)
def test_statements_about_products_are_left_alone(text: str) -> None:
    assert find_account_activity(text) == []
