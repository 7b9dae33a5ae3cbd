"""Rules on what an agent does: perfect and broken subjects for each evaluator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Answer, Case, Exchange
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_calls
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.effort import Effort
from pytest_evalstudio.evaluators.tool_arguments import ToolArguments
from pytest_evalstudio.evaluators.tool_calls import ToolCalls
from pytest_evalstudio.evaluators.tool_rules import ToolRules
from pytest_evalstudio.text.sentences import split_sentences
from support.scored_cases import outcomes_of

GET = {"name": "get_reservation", "arguments": {"id": "EHGLP3"}}
CANCEL = {"name": "cancel_reservation", "arguments": {"id": "EHGLP3", "reason": "illness"}}
EXPECTED = [GET, {**CANCEL, "arguments": {"id": "EHGLP3", "reason": {"$regex": "(?i)ill"}}}]


def outcome(evaluator: Any, answer: str = "Done.", **fields: Any) -> Outcome:
    cases = [make_case("Cancel it", answer, **fields)]
    return outcomes_of(evaluator, cases, Tools(split_sentences=split_sentences))[0]


# tool_calls


def test_calls_are_numbered_among_all_calls_where_only_some_are_judged() -> None:
    wrong = {**CANCEL, "arguments": {"id": "X"}}
    scored = outcome(ToolCalls(only=("cancel_*",)), tool_calls=[GET, wrong], expected_tool_calls=EXPECTED)
    assert scored.reason.startswith('wrong arguments: cancel_reservation (call 2): id="X"')
    assert scored.details["wrong_arguments"][0]["call"] == 2


def test_rules_and_definitions_name_the_calls_that_they_blame() -> None:
    rules = ToolRules(rules=({"tool": "get_*", "at_most": 1}, {"tool": "mail", "at_least": 1}))
    [extra, absent] = outcome(rules, tool_calls=[GET, CANCEL, GET]).details["broken"]
    assert (extra["condition"], extra["call"]) == ("at_most", 3)
    assert (absent["condition"], "call" in absent) == ("at_least", False)
    tools = ({"name": "get_reservation", "parameters": {"type": "object"}},)
    [invalid] = outcome(ToolArguments(tools=tools), tool_calls=[GET, CANCEL]).details["invalid"]
    assert (invalid["call"], invalid["tool"]) == (2, "cancel_reservation")


def test_the_expected_calls_pass() -> None:
    scored = outcome(ToolCalls(), tool_calls=[GET, CANCEL], expected_tool_calls=EXPECTED)
    assert set(scored.scores.values()) == {1.0}
    assert (scored.reason, dict(scored.details)) == ("", {})


@pytest.mark.parametrize(
    ("tool_calls", "reason"),
    [
        ([], 'missing: get_reservation(id="EHGLP3"), cancel_reservation('),
        ([GET], "missing: cancel_reservation("),
        (
            [GET, {"name": "cancel_reservation", "arguments": {"id": "EHGLP4", "reason": "illness"}}],
            'wrong arguments: cancel_reservation (call 2): id="EHGLP4", expected "EHGLP3"',
        ),
        ([GET, CANCEL, GET], 'unexpected: get_reservation(id="EHGLP3")'),
        ([GET, {**CANCEL, "arguments": "{broken"}], "id=nothing, expected"),
        ([GET, CANCEL, {"name": "search", "arguments": "fee?"}], "unexpected: search(fee?)"),
        ([GET, CANCEL, {"name": "search", "arguments": '["a@b.com"]'}], 'unexpected: search(["*@*.***"])'),
    ],
)
def test_wrong_calls_fail_and_the_reason_names_them(tool_calls: list[Any], reason: str) -> None:
    scored = outcome(ToolCalls(), tool_calls=tool_calls, expected_tool_calls=EXPECTED)
    assert scored.scores["tool_calls_match"] == 0.0
    assert reason in scored.reason
    assert scored.details


def test_another_order_fails_only_where_it_matters() -> None:
    fields = {"tool_calls": [CANCEL, GET], "expected_tool_calls": EXPECTED}
    scored = outcome(ToolCalls(mode="exact"), **fields)
    assert scored.scores["tool_calls_match"] == 0.0
    assert scored.reason == "another order than get_reservation, cancel_reservation"
    assert outcome(ToolCalls(), **fields).scores["tool_calls_match"] == 1.0


def test_patterns_choose_the_tools_that_are_judged() -> None:
    fields = {"tool_calls": [GET, GET, CANCEL], "expected_tool_calls": EXPECTED}
    assert outcome(ToolCalls(), **fields).scores["tool_calls_match"] == 0.0
    assert outcome(ToolCalls(only=("cancel_*",)), **fields).scores["tool_calls_match"] == 1.0
    assert outcome(ToolCalls(ignore=("get_*",)), **fields).scores["tool_calls_match"] == 1.0


def test_no_call_can_be_expected() -> None:
    assert outcome(ToolCalls(), expected_tool_calls=[]).scores["tool_calls_match"] == 1.0
    assert outcome(ToolCalls(), expected_tool_calls=[], tool_calls=[GET]).scores["tool_calls_match"] == 0.0


def test_a_case_that_expects_nothing_is_not_scored() -> None:
    scored = outcome(ToolCalls(), tool_calls=[GET])
    assert (scored.status, scored.reason) == ("not_applicable", "the case has no expected_tool_calls")


def test_secrets_in_arguments_are_masked_in_the_reason() -> None:
    call = {"name": "mail", "arguments": {"to": "jane@bank.com", "password": "password=hunter2x"}}
    scored = outcome(ToolCalls(), tool_calls=[call], expected_tool_calls=[GET])
    assert "jane@bank.com" not in scored.reason
    assert "hunter2x" not in scored.reason


# tool_rules


@pytest.mark.parametrize(
    ("rule", "good_calls", "bad_calls", "reason"),
    [
        ({"tool": "cancel_*", "after": "get_*"}, "gc", "cg", "call 1, cancel before get_*"),
        ({"tool": "cancel", "never": True}, "g", "gc", "call 2, cancel is never allowed"),
        ({"tool": "g*", "at_most": 1}, "gc", "gg", "g* is called twice, at most 1 allowed (call 2, get_x)"),
        ({"tool": "cancel", "at_least": 1}, "gc", "g", "cancel is called 0 times, at least 1 expected"),
        ({"tool": "cancel", "not_after_error": True}, "gc", "ec", "call 2, cancel after an error"),
        ({"tool": "cancel_*", "after": "get_*"}, "g", "ec", "call 2, cancel before get_*"),
    ],
)
def test_a_rule_is_kept_or_broken(rule: dict[str, Any], good_calls: str, bad_calls: str, reason: str) -> None:
    calls = {
        "g": ToolCall(name="get_x"),
        "e": ToolCall(name="get_x", error="down"),
        "c": ToolCall(name="cancel"),
    }
    evaluator = ToolRules(rules=({**rule, "tool": rule["tool"].replace("cancel_*", "cancel*")},))
    good = outcome(evaluator, tool_calls=[calls[letter] for letter in good_calls])
    bad = outcome(evaluator, tool_calls=[calls[letter] for letter in bad_calls])
    assert (good.scores["tool_rules_kept"], good.reason) == (1.0, "")
    assert (bad.scores["tool_rules_kept"], bad.reason) == (0.0, reason)


@pytest.mark.parametrize(
    ("question", "score"),
    [
        *(("Yes, please cancel it.", 1.0), ("Go ahead", 1.0), ("ok", 1.0), ("Sí, por favor", 1.0)),
        *(("Cancel it", 0.0), ("Yesterday I booked.", 0.0), ("No, wait", 0.0), ("Please do not", 0.0)),
        *(("OK, wait", 0.0), ("Yes, but not the hotel.", 1.0), ("Yes. Do not ask again.", 1.0)),
        *(("ok, no, leave it", 0.0), ("Sure, never mind", 0.0), ("Yes, no problem.", 1.0)),
        *(("yes, cancel that request, I changed my mind", 0.0), ("Yes, cancel order no. 5", 1.0)),
    ],
)
def test_a_change_needs_the_user_to_agree(question: str, score: float) -> None:
    case = Case(key="k", question=question, answer=Answer(tool_calls=(ToolCall(name="cancel"),)))
    evaluator = ToolRules(rules=({"tool": "cancel", "needs_confirmation": True},))
    [scored] = outcomes_of(evaluator, [case], Tools(split_sentences=split_sentences))
    assert scored.scores["tool_rules_kept"] == score


@pytest.mark.parametrize(
    ("before", "after", "score"),
    [("Yes, go ahead", "Thanks!", 1.0), ("What does it cost?", "Yes, thanks", 0.0)],
)
def test_the_message_before_a_call_confirms_it(before: str, after: str, score: float) -> None:
    call = ToolCall(name="cancel")
    turns = (
        Exchange(prompt=before, answer=Answer(text="Done.", tool_calls=(call,))),
        Exchange(prompt=after, answer=Answer(text="Bye.")),
    )
    case = Case(key="k", question=after, answer=Answer(text="Bye.", tool_calls=(call,), turns=turns))
    evaluator = ToolRules(rules=({"tool": "cancel", "needs_confirmation": True},))
    [scored] = outcomes_of(evaluator, [case], Tools(split_sentences=split_sentences))
    assert scored.scores["tool_rules_kept"] == score


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"tool": "x", "atmost": 1}, "rules[0]: a rule has no key 'atmost'. Did you mean 'at_most'?"),
        ({"at_most": 1}, "rules[0]: `tool` is missing"),
        ({"tool": "x"}, "rules[0]: has no condition for 'x'; add one of never, after, at_most"),
        ({"tool": "x", "at_most": True}, "rules[0].at_most: expected int, found True"),
        ("never", "rules[0]: expected a table"),
    ],
)
def test_a_faulty_rule_is_refused(rule: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        ToolRules(rules=(rule,))
    assert str(exc_info.value).startswith(message)


# effort

SPENT: dict[str, Any] = {
    "tool_calls": [GET, GET, {**CANCEL, "error": "down"}],
    "usage": {
        "input_tokens": 900,
        "output_tokens": 100,
        "cached_tokens": 600,
        "cache_write_tokens": 50,
    },
    "duration_s": 2.5,
    "cost_usd": 0.02,
    "finish_reason": "length",
}
AMOUNTS = {
    "calls": 3.0,
    "repeated_calls": 1.0,
    "failed_calls": 1.0,
    "tokens": 1000.0,
    "uncached_tokens": 300.0,
    "cache_write_tokens": 50.0,
    "seconds": 2.5,
    "cost_usd": 0.02,
    "cut_answers": 1.0,
}


def test_amounts_are_measured_without_a_limit() -> None:
    assert outcome(Effort(), **SPENT).scores == {"within_budget": None, "model_calls": None, **AMOUNTS}


@pytest.mark.parametrize("name", AMOUNTS)
def test_a_limit_is_kept_or_exceeded(name: str) -> None:
    amount = AMOUNTS[name]
    at_limit = outcome(Effort(**{f"max_{name}": amount}), **SPENT)
    below = outcome(Effort(**{f"max_{name}": amount * 0.9}), **SPENT)
    assert (at_limit.scores["within_budget"], at_limit.reason) == (1.0, "")
    assert below.scores["within_budget"] == 0.0
    assert below.reason.startswith(f"{name}: ")


@pytest.mark.parametrize("name", ["tokens", "seconds", "cost_usd"])
def test_a_limit_on_an_unknown_amount_is_an_error(name: str) -> None:
    scored = outcome(Effort(**{f"max_{name}": 1}))
    assert scored.status == "error"
    assert scored.reason.startswith(f"max_{name} is set, but the host does not report {name}")


def test_tokens_of_the_output_alone_keep_no_limit() -> None:
    scored = outcome(Effort(max_tokens=50), usage={"output_tokens": 5})
    assert (scored.status, scored.scores.get("tokens")) == ("error", None)


# tool_arguments

PARAMETERS = {
    "type": "object",
    "properties": {"id": {"type": "string", "pattern": "^[A-Z]"}, "seats": {"type": "integer"}},
    "required": ["id"],
}
DEFINITIONS: dict[str, Any] = {
    "OpenAI": {"type": "function", "function": {"name": "book", "parameters": PARAMETERS}},
    "Anthropic": {"name": "book", "input_schema": PARAMETERS},
    "Bedrock": {"toolSpec": {"name": "book", "inputSchema": {"json": PARAMETERS}}},
    "MCP": {"name": "book", "inputSchema": PARAMETERS},
}


@pytest.mark.parametrize("form", DEFINITIONS)
@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ({"name": "book", "arguments": {"id": "E1", "seats": 2}}, ""),
        ({"name": "bok", "arguments": {"id": "E1"}}, "there is no such tool"),
        ({"name": "book", "arguments": {"seats": 2}}, "'id' is a required property"),
        ({"name": "book", "arguments": {"id": "E1", "seats": "2"}}, "/seats: '2' is not of type 'integer'"),
        ({"name": "book", "arguments": {"id": "e1"}}, "/id: 'e1' does not match '^[A-Z]'"),
        ({"name": "book", "arguments": {"id": "E1", "class": "A"}}, "there is no parameter 'class'"),
        ({"name": "book", "arguments": "[1]"}, "the arguments are not a JSON object"),
    ],
)
def test_a_call_is_valid_or_its_fault_is_named(form: str, call: dict[str, Any], fault: str) -> None:
    scored = outcome(ToolArguments(tools=(DEFINITIONS[form],)), tool_calls=[call])
    assert scored.scores["valid_tool_calls"] == float(not fault)
    assert scored.reason.startswith("not valid: call 1, bo" if fault else "")
    assert fault in scored.reason


def test_without_definitions_the_form_is_checked() -> None:
    calls = [GET, {"name": "x", "arguments": "7"}]
    assert outcome(ToolArguments(), tool_calls=calls).scores["valid_tool_calls"] == 0.5


def test_an_answer_without_calls_is_not_scored() -> None:
    assert outcome(ToolArguments()).status == "not_applicable"


def test_identifiers_come_from_what_was_said_or_returned() -> None:
    first = {"name": "find", "arguments": {"code": "EHGLP3"}, "result": '{"flight": "HAT136"}'}
    second = {"name": "move", "arguments": {"flight": "HAT136", "to": "HAT999", "date": "2024-05-20"}}
    case = Case(
        key="k",
        question="Move ehglp3, please",
        answer=Answer(tool_calls=tuple(read_tool_calls([first, second, first]))),
    )
    [scored] = ToolArguments().score([case], Tools(split_sentences=split_sentences))
    assert scored.scores["supported_identifiers"] == pytest.approx(2 / 3), "EHGLP3, HAT136, not HAT999"
    assert scored.reason == "without support: hat999"


def test_a_definition_file_is_read_and_a_faulty_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps({"tools": [DEFINITIONS["MCP"]]}), encoding="utf-8")
    scored = outcome(ToolArguments(tools=str(path)), tool_calls=[GET])
    assert scored.reason.startswith("not valid: call 1, get_reservation: there is no such tool")
    path.write_text('[{"nam": "x"}]', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"tools.json\[0\]: expected the definition of a tool"):
        ToolArguments(tools=str(path))
    with pytest.raises(ConfigurationError, match="tools: cannot read "):
        ToolArguments(tools=str(tmp_path / "none.json"))
