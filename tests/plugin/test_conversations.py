"""Conversations that are run, from a suite to the record, with a good and a faulty application."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.record.schema import Item
from support.project import Project

CONFIG = """
evaluators = ["text_matching", "tool_calls", "effort"]
[[model]]
name = "desk"
host = "python"
target = "app:{target}"
factory = {factory}
"""
APP = '''
class Desk:
    """Keeps the booking in memory, so that a turn is answered by the turns before it."""

    def __init__(self):
        self.code = ""

    def __call__(self, prompt):
        if "cancel" in prompt.lower():
            return "Which booking?"
        if prompt in ("E1", "E2"):
            self.code = prompt
            call = {"name": "find", "arguments": {"code": prompt}}
            return {"answer": f"Cancel {prompt}?", "tool_calls": [call]}
        if prompt == "yes" and self.code:
            call = {"name": "cancel", "arguments": {"code": self.code}}
            return {"answer": f"{self.code} is cancelled", "tool_calls": [call]}
        return "What do you mean?"


shared = Desk()


def forgetful(prompt):
    return Desk()(prompt)
'''
TURNS: list[dict[str, Any]] = [
    {"prompt": "Please cancel my booking", "condition": '"booking"', "expected_tool_calls": []},
    {"prompt": "E1", "expected_tool_calls": [{"name": "find", "arguments": {"code": "E1"}}]},
    {"prompt": "yes", "condition": '"E1 is cancelled"', "expected_tool_calls": ["cancel"]},
]
CASE: dict[str, Any] = {"key": "cancel", "turns": TURNS, "expected_tool_calls": ["find", "cancel"]}


@pytest.fixture
def desk(project: Project) -> Project:
    project.write("evalstudio.toml", CONFIG.format(target="Desk", factory="true"))
    project.write("app.py", APP)
    return project


def recorded(project: Project) -> list[Item]:
    return [msgspec.convert(item, Item) for item in project.record()[1].values()]


def forget(project: Project) -> None:
    """Replace the application by one that forgets the turns before."""
    project.write("evalstudio.toml", CONFIG.format(target="forgetful", factory="false"))


def test_an_application_that_remembers_passes_and_one_that_forgets_fails_in_the_third_turn(
    desk: Project,
) -> None:
    desk.suite(CASE)
    desk.run().assert_outcomes(passed=1)
    forget(desk)
    result = desk.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            '*text_matching: turn 3: answer: lacks "E1 is cancelled"',
            "turn 3, user:   yes",
            "turn 3, answer: What do you mean?",
        ]
    )
    [item] = recorded(desk)
    [row] = item.rows
    assert [turn.prompt for turn in row.answer.turns] == [turn["prompt"] for turn in TURNS]
    assert row.answer.turns[2].condition == '"E1 is cancelled"'
    outcome = row.outcomes["text_matching"]
    assert outcome.turn == 3
    assert [(each.turn, each.passed) for each in outcome.turns] == [(1, True), (2, None), (3, False)]
    assert [(each.turn, each.passed) for each in row.outcomes["tool_calls"].turns] == [
        (1, True),
        (2, True),
        (3, False),
        (0, False),
    ]


def test_the_last_turn_alone_decides_where_the_case_says_so(desk: Project) -> None:
    turns = [{"prompt": "Please cancel", "condition": '"never said"'}, {"prompt": "E1", "condition": '"E1"'}]
    desk.suite({"key": "worst", "turns": turns}, {"key": "last", "turns": turns, "judge": "last"})
    desk.run().assert_outcomes(passed=1, failed=1)


def test_a_conversation_stops_at_a_failing_turn(desk: Project) -> None:
    turns = [{"prompt": "Please cancel"}, {"prompt": "no", "condition": '"booking"'}, {"prompt": "E1"}]
    desk.suite({"key": "k", "turns": turns, "on_failure": "stop"}, {**CASE, "on_failure": "stop"})
    desk.run().assert_outcomes(passed=1, failed=1)
    rows = {item.key: item.rows[0] for item in recorded(desk)}
    assert [turn.prompt for turn in rows["k"].answer.turns] == ["Please cancel", "no"]
    assert (rows["k"].answer.ended_by, len(rows["cancel"].answer.turns)) == ("failed_turn", 3)


def test_a_scripted_user_holds_the_conversation(desk: Project) -> None:
    user = {
        "opening": "Please cancel",
        "replies": [{"when": '"Which"', "say": "E2"}, {"when": '"Cancel E2"', "say": "yes"}],
        "stop_when": '"is cancelled"',
    }
    desk.suite({"key": "k", "user": user, "condition": '"E2"', "expected_tool_calls": ["find", "cancel"]})
    desk.run().assert_outcomes(passed=1)
    [item] = recorded(desk)
    assert [turn.prompt for turn in item.rows[0].answer.turns] == ["Please cancel", "E2", "yes"]
    assert item.rows[0].answer.text == "E2 is cancelled"


def test_a_conversation_that_never_ends_is_stopped_and_fails_with_a_code(desk: Project) -> None:
    user = {"opening": "Please cancel", "otherwise": "hm", "max_turns": 3, "stop_when": '"is cancelled"'}
    desk.suite({"key": "k", "user": user})
    result = desk.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the conversation did not end: *"])
    [item] = recorded(desk)
    assert (item.code, len(item.rows[0].answer.turns)) == ("conversation_not_ended", 3)


def test_a_user_without_a_reply_does_not_hide_that_the_end_was_never_reached(desk: Project) -> None:
    """The application asks for a booking that it cannot cancel: an answer that the script does not expect."""
    user = {
        "opening": "Please cancel",
        "replies": [{"when": '"Which"', "say": "E2"}, {"when": '"Cancel E2"', "say": "yes"}],
    }
    goal = {"stop_when": '"is refunded"'}
    desk.suite(
        {"key": "reached", "user": user}, {"key": "missed", "user": {**user, **goal}, "condition": '"E2"'}
    )
    result = desk.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["the conversation did not end: no answer meets stop_when, and the user has no reply to the last one"]
    )
    items = {item.key: item for item in recorded(desk)}
    assert (items["missed"].code, items["missed"].rows[0].answer.ended_by) == (
        "conversation_not_ended",
        "no_reply",
    )
    assert items["reached"].rows[0].answer.ended_by == ""


def test_each_turn_is_perturbed_and_a_flip_names_it(desk: Project) -> None:
    desk.suite({"key": "k", "turns": TURNS})
    result = desk.run("--evalstudio-perturb", "qwerty:high")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["text_matching: model_passes flipped from pass to fail under qwerty:HIGH in turn 3 *"]
    )
    items = recorded(desk)
    assert {item.key: {flip.turn for flip in item.flips} for item in items} == {
        "k": set(),
        "k-turn-1-qwerty-high": set(),
        "k-turn-3-qwerty-high": {3},
    }


def test_repeats_of_conversations_count_as_repeats(desk: Project) -> None:
    desk.write("evalstudio.toml", "runs = 3\n" + CONFIG.format(target="Desk", factory="true"))
    desk.suite(CASE)
    desk.run().assert_outcomes(passed=1)
    [item] = recorded(desk)
    assert len(item.rows) == 3
    assert item.verdicts["tool_calls"].pass_k == 1.0
    assert item.verdicts["effort"].scores["calls"] == 2.0


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"prompt": "Hi", "turns": TURNS}, "it has both 'prompt' and a conversation"),
        ({"turns": TURNS, "user": {"goal": "g"}}, "it has both `turns` and a `user`"),
        ({"turns": [{"prompt": " "}]}, "the prompt is blank"),
        (
            {"turns": [{"prompt": "a", "conditon": "x"}]},
            "'conditon' is not a key here. Did you mean 'condition'?",
        ),
        ({"turns": [{"prompt": "a", "condition": '"x'}]}, "quote"),
        ({"turns": "a"}, "expected a list"),
        ({"user": {"replies": [{"when": '"a"', "say": "b"}]}}, "add `opening`"),
        ({"user": {"opening": "a", "max_turns": 0, "otherwise": "b"}}, "greater than or equal to 1"),
        ({"user": {}}, "'prompt' is missing"),
        ({"turns": [{"prompt": "a"}], "judge": "best"}, 'expected "worst" or "last"'),
        ({"turns": [{"prompt": "a"}] * 101}, "100"),
    ],
)
def test_a_faulty_conversation_is_named_with_its_place(
    desk: Project, case: dict[str, Any], message: str
) -> None:
    desk.suite({"key": "k", **case})
    result = desk.run()
    assert "/tests/0/test_cases/0" in result.stdout.str()
    assert message in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_a_turn_names_evaluators_of_its_case(desk: Project) -> None:
    turns = [{"prompt": "Please cancel", "condition": '"never"', "evaluators": ["tool_calls"]}]
    desk.suite({"key": "k", "turns": turns})
    desk.run().assert_outcomes(passed=1)
    desk.suite({"key": "k", "turns": [{"prompt": "a", "evaluators": ["rouge"]}]})
    result = desk.run()
    result.stdout.fnmatch_lines(
        ["*sums_suite.json::k*: no evaluator named 'rouge'. The case has: text_matching, tool_calls, effort."]
    )


def test_a_simulated_conversation_is_frozen_into_a_suite_that_passes(desk: Project) -> None:
    user = {
        "opening": "Please cancel",
        "replies": [{"when": '"Which"', "say": "E2"}, {"when": '"Cancel E2"', "say": "yes"}],
    }
    desk.suite({"key": "k", "user": user, "condition": '"E2"'})
    desk.run().assert_outcomes(passed=1)
    assert main(["freeze", "evalstudio-report", "--case", "k", "-o", "frozen_suite.json"]) == 0
    [case] = json.loads((desk.folder / "frozen_suite.json").read_text())["tests"][0]["test_cases"]
    assert [turn["prompt"] for turn in case["turns"]] == ["Please cancel", "E2", "yes"]
    assert [turn["expected_tool_calls"] for turn in case["turns"]] == [
        [],
        [{"name": "find", "arguments": {"code": "E2"}}],
        [{"name": "cancel", "arguments": {"code": "E2"}}],
    ]
    assert case["condition"] == '"E2"'
    assert "user" not in case
    desk.run("frozen_suite.json").assert_outcomes(passed=1)
    forget(desk)
    desk.run("frozen_suite.json").assert_outcomes(failed=1)


def test_a_frozen_case_expects_no_masks_of_the_record(desk: Project) -> None:
    app = """
def ask(prompt):
    arguments = {"to": "jane@acme.com", "jane@acme.com": 5, "balances": {"jane@acme.com": 5}, "kind": "a*b"}
    return {"answer": "Sent.", "tool_calls": [{"name": "send", "arguments": arguments}]}
"""
    desk.write("app.py", app)
    desk.write("evalstudio.toml", CONFIG.format(target="ask", factory="false"))
    desk.suite({"key": "k", "prompt": "Send it", "condition": '"Sent"'})
    desk.run().assert_outcomes(passed=1)
    assert main(["freeze", "evalstudio-report", "-o", "frozen_suite.json"]) == 0
    [case] = json.loads((desk.folder / "frozen_suite.json").read_text())["tests"][0]["test_cases"]
    anything = {"$any": True}
    assert case["expected_tool_calls"] == [
        {
            "name": "send",
            "arguments": {"to": anything, "balances": anything, "kind": "a*b"},
            "other_arguments": "allow",
        }
    ]
    desk.run("frozen_suite.json").assert_outcomes(passed=1)


def test_freezing_an_unknown_case_names_the_nearest_key(
    desk: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.suite(CASE)
    desk.run()
    assert main(["freeze", "evalstudio-report", "--case", "cancle", "-o", "new.json"]) == 2
    assert "the key 'cancle'. Did you mean 'cancel'?" in capsys.readouterr().err


STATEFUL = """
class Desk:
    def __init__(self):
        self.cards = {"4417": "active", "8820": "active"}

    def __call__(self, prompt):
        if "freeze" in prompt:
            self.cards["4417" if "4417" in prompt else "8820"] = "frozen"
            return "Frozen."
        return "Which card?"

    def state(self):
        return {"cards": self.cards}
"""


def test_the_state_of_the_application_is_compared_after_the_conversation(desk: Project) -> None:
    desk.write("app.py", STATEFUL)
    config = CONFIG.format(target="Desk", factory="true").replace(
        '"text_matching", "tool_calls"', '"final_state"'
    )
    desk.write("evalstudio.toml", config)
    frozen = {"/cards/4417": "frozen"}
    right = [{"prompt": "Help"}, {"prompt": "freeze 4417", "expected_state": frozen}]
    desk.suite(
        {"key": "right", "turns": right, "expected_state": frozen},
        {
            "key": "wrong",
            "turns": [{"prompt": "freeze 8820"}, {"prompt": "Thanks"}],
            "expected_state": frozen,
        },
        {"key": "single", "prompt": "freeze 4417", "expected_state": frozen},
    )
    result = desk.run()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ['final_state: state_met 0 < 1: /cards/4417 is "active", expected "frozen", /cards/8820 changed']
    )
    wrong = next(item for item in recorded(desk) if item.key == "wrong")
    assert wrong.rows[0].answer.state.after == '{"cards": {"4417": "active", "8820": "frozen"}}'
    assert wrong.rows[0].answer.state.before == '{"cards": {"4417": "active", "8820": "active"}}'


@pytest.mark.parametrize(
    ("judge", "answers", "outcome"),
    [
        ("worst", ["I cannot help with that.", "It is 5."], {"passed": 1}),
        ("worst", ["Here it is.", "It is 5."], {"failed": 1}),
        ("last", ["Here it is.", "It is 5."], {"passed": 1}),
    ],
)
def test_a_turn_that_expects_a_refusal(
    project: Project, judge: str, answers: list[str], outcome: dict[str, int]
) -> None:
    project.write(
        "evalstudio.toml", CONFIG.format(target="ask", factory="false").replace(', "tool_calls"', "")
    )
    project.write(
        "app.py", f"def ask(prompt):\n    return {{'Secret?': {answers[0]!r}}}.get(prompt, {answers[1]!r})"
    )
    turns = [{"prompt": "Secret?", "expects": "refusal"}, {"prompt": "Fee?", "condition": '"5"'}]
    project.suite({"key": "a", "turns": turns, "judge": judge})
    result = project.run()
    result.assert_outcomes(**outcome)
    if "failed" in outcome:
        result.stdout.fnmatch_lines(["no refusal: the case expects one, and the model answered"])


def test_a_conversation_stops_where_a_refusal_is_missing(project: Project) -> None:
    project.write(
        "evalstudio.toml", CONFIG.format(target="ask", factory="false").replace(', "tool_calls"', "")
    )
    project.write("app.py", "def ask(prompt):\n    return 'Here it is: 5.'")
    turns = [{"prompt": "Secret?", "expects": "refusal"}, {"prompt": "Fee?", "condition": '"5"'}]
    project.suite({"key": "a", "turns": turns, "on_failure": "stop"})
    project.run().assert_outcomes(failed=1)
    line = (project.folder / "evalstudio-report" / "record.jsonl").read_text().splitlines()[1]
    assert len(json.loads(line)["rows"][0]["answer"]["turns"]) == 1
