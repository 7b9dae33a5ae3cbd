"""Log probabilities of grades, over HTTP and from tokens."""

from __future__ import annotations

import json
import math
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.runs import CacheMode
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.hosts._grades import TokenAlternatives, grade_probabilities
from support.openai_protocol import completion
from support.service import Request, Response, running

REPLY = '{"evidence": "a \\"grade\\": 1 is quoted 😀", "grade": "4"}'


def tokens(*texts: str, **alternatives: float) -> list[TokenAlternatives]:
    """Tokens of a reply; those of the last grade have alternatives with their probabilities."""
    parts = tuple((text.removeprefix("_"), math.log(value)) for text, value in alternatives.items())
    return [TokenAlternatives(text, parts if text in ("4", "10") else ()) for text in texts]


def test_probabilities_are_those_of_the_last_grade() -> None:
    spread = tokens(
        '{"', "evidence", '": "a \\"grade\\": 1 🤷', '", "grade": "', "4", '"}', _4=0.5, _5=0.25, x=0.25
    )
    assert grade_probabilities(spread, "grade") == pytest.approx({"4": 2 / 3, "5": 1 / 3})


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ('{"grade": 4}',),
        ('{"score": ', "4", "}"),
        ('{"grade": ', "1", "0", "}"),
        ('{"grade": ', "7", "}"),
    ],
)
def test_without_a_token_of_its_own_there_are_none(texts: tuple[str, ...]) -> None:
    assert grade_probabilities(tokens(*texts, _4=0.5), "grade") == {}


def test_a_grade_of_two_digits_is_one_token() -> None:
    assert grade_probabilities(tokens('{"grade": ', "10", "}", _10=0.9, _9=0.1), "grade") == pytest.approx(
        {"10": 0.9, "9": 0.1}
    )


def reply_with_logprobs(request: Request) -> Response:
    body: dict[str, Any] = completion(REPLY)
    if request.body.get("logprobs"):
        pieces = [REPLY[: REPLY.rindex("4")], "4", REPLY[REPLY.rindex("4") + 1 :]]
        content = [
            {
                "token": piece,
                "logprob": -0.1,
                "bytes": None,
                "top_logprobs": [
                    {"token": grade, "logprob": math.log(value), "bytes": None}
                    for grade, value in (("4", 0.75), ("5", 0.25))
                ]
                if piece == "4"
                else [],
            }
            for piece in pieces
        ]
        body["choices"][0]["logprobs"] = {"content": content, "refusal": None}
    return Response(body)


@pytest.mark.parametrize(
    ("options", "graded", "grades"),
    [
        ({"logprobs": True}, "grade", {"4": 0.75, "5": 0.25}),
        ({"logprobs": True}, "", {}),
        ({}, "grade", {}),
    ],
)
def test_the_service_is_asked_for_them_where_they_are_wanted(
    options: dict[str, Any], graded: str, grades: dict[str, float], tmp_path: Path
) -> None:
    with running(reply_with_logprobs) as service, AnswerCache(tmp_path) as cache:
        settings = {"host": "openai_compatible", "url": f"{service.url}/v1", "llm_model_name": "m", **options}
        for _ in range(2):  # the second one is stored
            session = open_model(
                "m", settings, Registry(), folder=tmp_path, cache=cache, kept=CacheMode.ALWAYS
            )
            with closing(session):
                [answer] = session.ask([Prompt(text="Grade it", graded=graded)])
            assert json.loads(answer.text)["grade"] == "4"
            assert dict(answer.grades) == pytest.approx(grades)
    [request] = service.requests
    assert ("top_logprobs" in request.body) == bool(grades)
