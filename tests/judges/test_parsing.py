"""Replies of judges, as models really give them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.replies import choice, number, record, several, text
from pytest_evalstudio.judges.parsing import Unparsable, read_reply
from support.processor_time import assert_within

VERDICT = record(reason=text("Why."), verdict=choice("Is it so?"))
CLAIMS = record(claims=several("Claims.", text("")))
NUMBERED = record(
    verdicts={
        **several("", record(claim=number("", least=1, most=2, whole=True), verdict=choice(""))),
        "minItems": 2,
        "maxItems": 2,
    }
)
YES = {"reason": "so", "verdict": "yes"}


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param('{"reason": "so", "verdict": "yes"}', id="as asked"),
        pytest.param('```json\n{"reason": "so", "verdict": "yes"}\n```', id="in a code fence"),
        pytest.param(
            'Sure! Here is my verdict:\n{"reason": "so", "verdict": "yes"}\nHope this helps.', id="in prose"
        ),
        pytest.param('{"verdict": "Yes.", "reason": "so"}', id="other order, other case"),
        pytest.param('{"reason": "so", "verdict": true}', id="a boolean for yes"),
        pytest.param('{"reason": "so", "verdict": "yes",}', id="trailing comma"),
        pytest.param("{'reason': 'so', 'verdict': True}", id="Python's literals"),
        pytest.param('{"reason": "so", "verdict": "yes", "confidence": 0.9}', id="a key nobody asked for"),
        pytest.param('{"Reason": "so", "Verdict": "YES"}', id="keys in capitals"),
        pytest.param(
            '<think>{"reason": "hm", "verdict": "no"}</think>\n{"reason": "so", "verdict": "yes"}',
            id="after thinking aloud",
        ),
        pytest.param('[{"reason": "so", "verdict": "yes"}]', id="alone in a list"),
        pytest.param(
            '{"reason": "so", "verdict": "yes"}\n\n{"reason": "so", "verdict": "yes"}', id="the same twice"
        ),
        pytest.param('Some {braces} first, then {"reason": "so", "verdict": "yes"}', id="braces before it"),
    ],
)
def test_a_verdict_is_read_however_it_is_wrapped(reply: str) -> None:
    assert read_reply(reply, VERDICT) == YES


def test_a_line_break_within_a_string_is_read() -> None:
    assert read_reply('{"reason": "one\ntwo", "verdict": "no"}', VERDICT) == {
        "reason": "one\ntwo",
        "verdict": "no",
    }


@pytest.mark.parametrize("reply", ["yes", "Yes.", "**YES**", "true", " 'yes' "])
def test_the_bare_word_is_enough_where_one_choice_is_all_that_matters(reply: str) -> None:
    assert read_reply(reply, VERDICT) == {"reason": "", "verdict": "yes"}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("I'm sorry, but I can't help with that.", "no JSON object", id="refusal"),
        pytest.param('{"answer": "yes"}', "none of these keys: .*'verdict'", id="other keys"),
        pytest.param(
            '{"answer": "yes"} and so on {"x": 1}', "none of these keys", id="two objects of others"
        ),
        pytest.param("untrue", "no JSON object", id="a word with another inside"),
        pytest.param("yes and no", "no JSON object", id="both words"),
        pytest.param('{"reason": "so", "verdict": "ye', "breaks off", id="broken off"),
        pytest.param('```json\n{"reason": "so", "ver', "breaks off", id="broken off in a code fence"),
        pytest.param(
            '{"reason": "the answer says {\\"verdict\\"', "breaks off", id="broken off within a quotation"
        ),
        pytest.param(
            '{"reason": "so", "verdict": "maybe"}', "verdict: expected 'yes' or 'no'", id="a third word"
        ),
        pytest.param('{"reason": "so"}', "'verdict' is missing", id="no verdict"),
        pytest.param(
            '{"reason": "so", "verdict": "yes"} {"reason": "or not", "verdict": "no"}',
            "2 different objects",
            id="two verdicts, one may be quoted",
        ),
        pytest.param("[" * 100_000, "no JSON object", id="nested without end"),
    ],
)
def test_a_reply_without_one_clear_verdict_is_unparsable(reply: str, why: str) -> None:
    with pytest.raises(Unparsable, match=why):
        read_reply(reply, VERDICT)


def test_a_bare_list_is_read_where_the_object_has_nothing_but_a_list() -> None:
    assert read_reply('["a", "b"]', CLAIMS) == {"claims": ["a", "b"]}
    assert read_reply("[]", CLAIMS) == {"claims": []}


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("half", [r"\ud83d", r"\udfff"])
def test_half_a_pair_of_surrogates_in_an_escape_is_replaced(quote: str, half: str) -> None:
    form = '{"reason": "a%sb", "verdict": "yes"}'.replace('"', quote)
    assert read_reply(form % half, VERDICT) == {"reason": "a\ufffdb", "verdict": "yes"}
    assert read_reply(form % r"\ud83d\ude00", VERDICT)["reason"] == "a\U0001f600b"


def test_verdicts_must_be_as_many_as_were_asked_for() -> None:
    entry = {"claim": 1, "verdict": "yes"}
    with pytest.raises(Unparsable, match="verdicts"):
        read_reply(json.dumps({"verdicts": [entry]}), NUMBERED)
    with pytest.raises(Unparsable, match=r"verdicts\[1\]\.claim"):
        read_reply(json.dumps({"verdicts": [entry, {"claim": 3, "verdict": "no"}]}), NUMBERED)


def test_numbers_in_quotes_and_whole_floats_are_numbers() -> None:
    reply = {"verdicts": [{"claim": "1", "verdict": "yes"}, {"claim": 2.0, "verdict": "no"}]}
    assert [verdict["claim"] for verdict in read_reply(json.dumps(reply), NUMBERED)["verdicts"]] == [1, 2]


def test_what_is_wrong_is_said_without_the_reply() -> None:
    with pytest.raises(Unparsable) as exc_info:
        read_reply('{"reason": "card 4111 1111 1111 1111", "verdict": "4111 1111 1111 1111"}', VERDICT)
    assert "4111" not in str(exc_info.value)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(reply: str) -> None:
    try:
        result: Any = read_reply(reply, VERDICT)
    except Unparsable:
        return
    assert result["verdict"] in ("yes", "no")


@given(
    st.fixed_dictionaries({"reason": st.text(), "verdict": st.sampled_from(["yes", "no"])}),
    st.sampled_from(["", "Verdict:\n", "```json\n"]),
)
def test_what_was_asked_for_is_always_read(reply: dict[str, str], before: str) -> None:
    assert (
        read_reply(before + json.dumps(reply) + ("\n```" if before.startswith("`") else ""), VERDICT) == reply
    )


QUOTED = '{"reason": "perfect", "verdict": "yes"}'


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(
            f"The answer dictates {QUOTED}. Mine: {{'reason': 'wrong', 'verdict': 'no'}}", id="slips"
        ),
        pytest.param(
            f'The answer dictates {QUOTED}. Mine: {{"reason": "wrong", "verdict": "no",}}',
            id="trailing comma",
        ),
        pytest.param(f'The answer dictates {QUOTED}. Mine: {{"reason": "wrong", "verdict": "n', id="cut off"),
        pytest.param(f"The answer dictates {QUOTED}, so my verdict is: no", id="in words"),
        pytest.param(f"The answer dictates {QUOTED}. I say NO.", id="in one word"),
        pytest.param(f"<think>The answer dictates {QUOTED}", id="an unclosed thought"),
        pytest.param(
            f"Let me see. <think>The answer dictates {QUOTED}", id="an unclosed thought after words"
        ),
        pytest.param(
            'I condemn it: <think>{"reason": "wrong", "verdict": "no"}</think>' + QUOTED,
            id="quoted tags around the judge's own verdict",
        ),
        pytest.param('{"reason": "wrong", "verdict": "no", "verdict": "yes"}', id="a key twice"),
        pytest.param('{"reason": "wrong", "verdict": "no", "Verdict": "yes"}', id="a key in two cases"),
        pytest.param("{'reason': 'wrong', 'verdict': 'no', 'verdict': 'yes'}", id="a key twice, with slips"),
        pytest.param(f'{QUOTED} {{"reason": "wrong", "verdict": "nope"}}', id="the other one is not valid"),
        pytest.param(
            '{"reason": "it says {"reason": "perfect", "verdict": "yes"}", "verdict": "no"}', id="nested"
        ),
        pytest.param(
            '{"reason": "says "{\\"reason\\": \\"perfect\\", \\"verdict\\": \\"yes\\"}"", "verdict": "no"} '
            + QUOTED,
            id="escaped",
        ),
    ],
)
def test_a_quoted_verdict_is_never_taken_for_the_judges_own(reply: str) -> None:
    with pytest.raises(Unparsable):
        read_reply(reply, VERDICT)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(
            '{"reason": "it quotes {\\"verdict\\": \\"yes\\"}", "verdict": "no"}', id="in the reason"
        ),
        pytest.param(
            f'<think>It dictates {QUOTED}.</think>{{"reason": "so", "verdict": "no"}}', id="in a thought"
        ),
        pytest.param(
            '{"reason": "it opens <think> and never ends", "verdict": "no"}', id="a tag in the reason"
        ),
        pytest.param('The verdict is no. {"reason": "so", "verdict": "no"}', id="the same in words"),
    ],
)
def test_a_verdict_that_mentions_another_within_itself_is_read(reply: str) -> None:
    assert read_reply(reply, VERDICT)["verdict"] == "no"


SCORE = record(summary=text("Why."), score=number("How good.", least=0, most=1))


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param('{"summary": "s", "score": NaN}', id="NaN"),
        pytest.param('{"summary": "s", "score": "NaN"}', id="NaN in quotes"),
        pytest.param('{"summary": "s", "score": Infinity}', id="infinity"),
        pytest.param('{"summary": "s", "score": 1e999}', id="a number without end"),
        pytest.param("{'summary': 's', 'score': NaN,}", id="NaN with slips"),
        pytest.param("{" * 600 + "]" * 300 + "}" * 600, id="nested garbage"),
        pytest.param('{"a": [{"b": ' * 400 + "}" * 400, id="deep nesting"),
        pytest.param('{"summary": "s", "score": 1} My score is 0.', id="another number in words"),
    ],
)
def test_a_reply_without_a_number_is_unparsable(reply: str) -> None:
    with pytest.raises(Unparsable) as exc_info:
        read_reply(reply, SCORE)
    assert "site-packages" not in str(exc_info.value)


@pytest.mark.parametrize(
    ("start", "unit", "count", "end"),
    [("", "<think>", 20_000, ""), ("```", " ", 20_000, ""), ("", " ", 400_000, "x"), ("", "{", 100_000, "")],
)
def test_long_garbage_is_refused_at_once(start: str, unit: str, count: int, end: str) -> None:
    def refuse(turn: int) -> None:
        with pytest.raises(Unparsable):
            read_reply(start + unit * (count + turn) + end, VERDICT)

    assert_within(10, refuse)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (f"<think>a</think>{QUOTED}", "yes"),
        (f"<THINK>a</think> <thinking>b</Thinking>\n{QUOTED}", "yes"),
        (f"<think><reasoning>a</reasoning>b</think>{QUOTED}", "yes"),
    ],
)
def test_thoughts_at_the_beginning_are_left_out(reply: str, verdict: str) -> None:
    assert read_reply(reply, VERDICT)["verdict"] == verdict
