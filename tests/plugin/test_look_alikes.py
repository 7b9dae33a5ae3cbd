"""Texts that differ only in characters that look alike meet every kind of expectation, and no others do."""

from __future__ import annotations

import json
import unicodedata

import pytest

from support.project import Project

APP = """
import json
from pathlib import Path

from pytest_evalstudio import Answer, ToolCall

REPLIES = json.loads(Path(__file__).with_name("replies.json").read_text(encoding="utf-8"))


class App:
    def __init__(self):
        self._state = {}

    def __call__(self, prompt):
        reply = dict(REPLIES[prompt])
        self._state = reply.pop("state", {})
        calls = [ToolCall(**call) for call in reply.pop("tool_calls", [])]
        return Answer(**reply, tool_calls=calls)

    def state(self):
        return self._state
"""
CONFIG = """
evaluators = ["labelled_retrieval", "document_recall", "tool_calls", "final_state"]
[[model]]
name = "app"
host = "python"
target = "app:App"
factory = true
rag = true
[evaluator.final_state]
forbid_changes = true
"""


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def call(**arguments: object) -> dict[str, object]:
    return {"name": "pay", "arguments": arguments}


RIGHT = {
    "chunk": (
        {"context": [decomposed("Gebühren für Überweisungen: 5\u202fUSD")]},
        {"expected_chunks": ["Gebühren für Überweisungen: 5 USD"]},
    ),
    "kana": ({"context": [decomposed("ガイドブック")]}, {"expected_chunks": ["ガイドブック"]}),
    "file": (
        {"context": ["x"], "context_sources": [f"https://host/{decomposed('ガイド、Gebühren')}.pdf"]},
        {"expected_documents": ["ガイド、Gebühren.pdf"]},
    ),
    "argument": (
        {"tool_calls": [call(name="O\u2019Brien", note="long\u2011term", fee="5\u00a0USD")]},
        {"expected_tool_calls": [call(name="O'Brien", note="long-term", fee="5 USD")]},
    ),
    "argument name": (
        {"tool_calls": [call(**{decomposed("größe"): {decomposed("höhe"): 5}})]},
        {"expected_tool_calls": [{**call(größe={"höhe": 5}), "other_arguments": "forbid"}]},
    ),
    "contains": (
        {"tool_calls": [call(text="a fee of 5\u202fUSD, and illnesses")]},
        {"expected_tool_calls": [call(text={"$contains": "fee of 5 USD, and illness"})]},
    ),
    "regex": (
        {"tool_calls": [call(text="\uff15\u3000USD")]},
        {"expected_tool_calls": [call(text={"$regex": "^5 USD$"})]},
    ),
    "state": (
        {"state": {decomposed("Müller"): {"limit": "1\u202f000"}}},
        {"expected_state": {"/Müller/limit": "1 000"}},
    ),
    "refusal": (
        {"text": "I\u2019m sorry\u2014I can\u02bct help\u3000with\u200b that."},
        {"expects": "refusal"},
    ),
}
WRONG = {
    "chunk": ({"context": ["Gebühren: 15 USD"]}, {"expected_chunks": ["5 USD"]}),
    "other chunk": ({"context": ["c10"]}, {"expected_chunks": ["c1"]}),
    "hidden chunk": (
        {"context": ["It is free."]},
        {"expected_chunks": ["It costs 5 USD.", "\u200b"]},
    ),
    "file": (
        {"context": ["x"], "context_sources": ["Gebuhren.pdf"]},
        {"expected_documents": ["Gebühren.pdf"]},
    ),
    "argument": (
        {"tool_calls": [call(fee="-5 USD")]},
        {"expected_tool_calls": [call(fee="5 USD")]},
    ),
    "argument name": (
        {"tool_calls": [call(grosse=5)]},
        {"expected_tool_calls": [{**call(größe=5), "other_arguments": "forbid"}]},
    ),
    "contains": (
        {"tool_calls": [call(text="a fee of 15 USD")]},
        {"expected_tool_calls": [call(text={"$contains": "5 USD"})]},
    ),
    "contains more": (
        {"tool_calls": [call(text="chunk c10")]},
        {"expected_tool_calls": [call(text={"$contains": "chunk c1"})]},
    ),
    "lines": (
        {"tool_calls": [call(text="1\n2")]},
        {"expected_tool_calls": [call(text="1 2")]},
    ),
    "state": ({"state": {"Müller": {"limit": "1 000"}}}, {"expected_state": {"/Muller/limit": "1 000"}}),
    "answer": ({"text": "I can\u02bct complain: it is free."}, {"expects": "refusal"}),
}


@pytest.mark.parametrize(("cases", "passes"), [(RIGHT, True), (WRONG, False)], ids=["right", "wrong"])
def test_look_alikes_are_equal_in_every_expectation(
    project: Project, cases: dict[str, tuple[dict[str, object], dict[str, object]]], passes: bool
) -> None:
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    replies = {key: {"text": "Done.", **reply} for key, (reply, _) in cases.items()}
    project.write("replies.json", json.dumps(replies))
    project.suite(*({"key": key, "prompt": key, **expected} for key, (_, expected) in cases.items()))

    result = project.run()

    result.assert_outcomes(**{"passed" if passes else "failed": len(cases)})
