"""`evalstudio import traces --to suite`: observed questions without personal data, to be reviewed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from support.traces import AGENT, batch, chat, span, tool, write_lines


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run_of(number: int, question: str, arguments: dict[str, object] | None = None) -> list[dict[str, object]]:
    trace = f"{number:032x}"
    spans = [
        span(1, AGENT, trace=trace),
        span(2, chat(question, "30 USD"), trace=trace, parent=1),
    ]
    if arguments is not None:
        call = tool("find", arguments=json.dumps(arguments))
        spans.append(span(3, call, trace=trace, parent=1))
    return spans


def cases(*runs: list[dict[str, object]], options: tuple[str, ...] = ()) -> list[TestCase]:
    name = write_lines("t.jsonl", *map(batch, runs))
    assert main(["import", "traces", name, "-o", "suite.json", "--to", "suite", *options]) == 0
    assert main(["validate", "suite.json"]) == 0
    return [case for _, case in TestSuite.load("suite.json").cases()]


def test_observed_calls_are_expectations_only_on_request() -> None:
    run = run_of(1, "Fee?", {"q": "fee"})
    [case] = cases(run)
    assert (case.prompt, case.categories, case.expected_tool_calls) == ("Fee?", ["to_review"], None)
    [case] = cases(run, options=("--freeze-calls",))
    assert case.expected_tool_calls is not None
    assert [(call.name, call.arguments) for call in case.expected_tool_calls] == [("find", {"q": "fee"})]


def test_no_call_is_an_expectation_too() -> None:
    [case] = cases(run_of(1, "Hello?"), options=("--freeze-calls",))
    assert case.expected_tool_calls is not None
    assert list(case.expected_tool_calls) == []


def test_personal_data_are_masked_and_their_arguments_must_only_be_there() -> None:
    arguments = {"email": "jane.doe@bank.com", "limit": 3, "cards": [{"number": "4111 1111 1111 1111"}]}
    question = "Send it to jane.doe@bank.com, key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"
    [case] = cases(run_of(1, question, arguments), options=("--freeze-calls",))
    text = Path("suite.json").read_text(encoding="utf-8")
    for secret in ("jane", "bank.com", "4111", "abcdefghijkl"):
        assert secret not in text
    assert case.prompt.startswith("Send it to ****.***@****.***, key ")
    assert case.expected_tool_calls is not None
    assert case.expected_tool_calls[0].arguments == {
        "email": {"$any": True},
        "limit": 3,
        "cards": {"$any": True},
    }


def test_personal_data_in_names_of_arguments_and_tools_are_in_no_suite() -> None:
    arguments = {"balances": {"zz@acme.com": 5}, "zz@acme.com": 6, "limit": 3}
    [case] = cases(run_of(1, "Balance?", arguments), options=("--freeze-calls",))
    assert "acme.com" not in Path("suite.json").read_text(encoding="utf-8")
    assert case.expected_tool_calls is not None
    [call] = case.expected_tool_calls
    assert (call.arguments, call.other_arguments) == ({"balances": {"$any": True}, "limit": 3}, "allow")


def test_an_argument_that_looks_like_a_matcher_is_none() -> None:
    [case] = cases(run_of(1, "Fee?", {"query": [{"$regex": "("}]}), options=("--freeze-calls",))
    assert case.expected_tool_calls is not None
    assert case.expected_tool_calls[0].arguments == {"query": {"$any": True}}


def test_each_question_is_taken_once(capsys: pytest.CaptureFixture[str]) -> None:
    questions = [
        case.prompt for case in cases(*(run_of(n, q) for n, q in enumerate(["Fee?", "fee? ", "Limit?"], 1)))
    ]
    assert questions == ["Fee?", "Limit?"]
    assert "case whose question another one asks, too (1 time)" in capsys.readouterr().out


def test_a_sample_does_not_depend_on_the_order() -> None:
    runs = [run_of(number, f"Question {number}?") for number in range(1, 31)]
    first = {case.prompt for case in cases(*runs, options=("--sample", "5"))}
    second = {case.prompt for case in cases(*runs[::-1], *runs[:3], options=("--sample", "5"))}
    assert first == second
    assert len(first) == 5


def test_a_conversation_becomes_fixed_turns_with_their_calls() -> None:
    runs = []
    for number, question in enumerate(["Fee?", "And abroad?"], 1):
        spans = run_of(number, question, {"q": question})
        spans[0] = span(
            1, {**AGENT, "gen_ai.conversation.id": "s1"}, trace=f"{number:032x}", start_s=10 * number
        )
        runs.append(spans)
    [case] = cases(*runs, options=("--freeze-calls",))
    assert [turn.prompt for turn in case.turns] == ["Fee?", "And abroad?"]
    assert [[call.arguments for call in turn.expected_tool_calls or ()] for turn in case.turns] == [
        [{"q": "Fee?"}],
        [{"q": "And abroad?"}],
    ]
