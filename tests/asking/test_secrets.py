from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse
from typing import get_type_hints

import pytest
from msgspec import structs

from pytest_evalstudio.asking.cleaning import without_secrets
from pytest_evalstudio.asking.secrets import MASK, Secrets, looks_secret
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ToolCall

KEY = "sk/live+42&é\"<x>'y=="


def secrets(value: str = KEY) -> Secrets:
    masker = Secrets()
    masker.expand({"api_key": value})
    return masker


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        urllib.parse.quote(KEY),
        urllib.parse.quote(KEY, safe=""),
        urllib.parse.quote_plus(KEY),
        re.sub("%..", lambda match: match[0].lower(), urllib.parse.quote(KEY, safe="")),
        html.escape(KEY),
        html.escape(KEY, quote=False),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(KEY.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
        base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    ],
)
def test_an_encoded_secret_is_masked(form: str) -> None:
    assert secrets().mask_message(f"got ({form})") in (f"got ({MASK})", f"got ({MASK}==)", f"got ({MASK}=)")


@pytest.mark.parametrize("user", ["me", "you", "john", "x" * 20])
def test_a_secret_inside_basic_authentication_is_masked(user: str) -> None:
    header = base64.b64encode(f"{user}:{KEY}".encode()).decode()

    parts = secrets().mask_message(header).partition(MASK)

    assert parts[1] == MASK
    assert len(parts[2]) <= 4
    assert KEY[:4].encode() not in base64.b64decode(parts[0] + "=" * (-len(parts[0]) % 4))


def test_words_like_a_short_dummy_key_stay() -> None:
    assert secrets("none").mask("someone, bm9u, none", shortest=8) == "someone, bm9u, none"


SECRET = """api_key API_KEY_PROD OPENAI_KEY_2 DB_PWD SMTP_PASS DB_PASS_TEST X_CREDENTIALS AWS_CREDS AUTH BASIC_AUTH bearer passwd
private_key_id private-key apiKey APIKey clientSecret Authorization session.token api_keys passwords secrets SENTRY_DSN jwt"""  # noqa: E501
NOT_SECRET = (
    "keys max_tokens key_words monkey pass_k passes keyboard author authority tokenizer compass bypass"
    " auth_url temperature"
)


@pytest.mark.parametrize("name", SECRET.split())
def test_a_name_of_a_secret_is_known(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", NOT_SECRET.split())
def test_a_name_of_no_secret_is_left_alone(name: str) -> None:
    assert not looks_secret(name)


def test_every_text_of_an_answer_is_cleaned_of_the_keys_of_its_service() -> None:
    """A field that is added later is cleaned, too, unless it is declared as one that no record has."""
    texts = {
        name: KEY if hint is str else (KEY,)
        for name, hint in get_type_hints(Answer).items()
        if hint in (str, tuple[str, ...]) and name not in ("artifacts", "error_cause")
    }
    call = ToolCall(name="find", arguments={"where": KEY}, result=KEY)
    step = Step(kind="tool", output=KEY, error=KEY)
    answer = Answer(**texts, tool_calls=(call,), steps=(step,), artifacts=(KEY,))
    cleaned = without_secrets(answer, secrets())
    assert cleaned.artifacts == (KEY,)
    assert KEY not in repr(structs.replace(cleaned, artifacts=()))
