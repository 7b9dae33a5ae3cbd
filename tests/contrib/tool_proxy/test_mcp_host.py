"""The host `mcp` behind the proxy, in whole sessions: recorded, then replayed without the server."""

from __future__ import annotations

import json
import sys

import pytest

from contrib.tool_proxy.conftest import Desk
from support.project import Project

CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "desk"
host = "mcp"
command = COMMAND
args = ARGUMENTS
tool = "fee"
argument = "country"
"""
CASE = {"key": "norway", "prompt": "NO", "condition": '"5.50 EUR"'}


def test_a_host_is_given_the_proxy_in_place_of_the_server(
    pytester: pytest.Pytester, plain_desk: Desk
) -> None:
    project = Project(pytester, with_app=False)
    project.suite(CASE, name="fees_suite.json")

    def run(*options: str) -> pytest.RunResult:
        arguments = [*plain_desk.arguments(*options), "--", sys.executable, str(plain_desk.server)]
        config = CONFIG.replace("COMMAND", json.dumps(sys.executable))
        project.write("evalstudio.toml", config.replace("ARGUMENTS", json.dumps(arguments)))
        return project.run("fees_suite.json")

    run("--record", "calls.jsonl").assert_outcomes(passed=1)
    assert plain_desk.called == ["fee"]
    run("--replay", "calls.jsonl").assert_outcomes(passed=1)
    assert plain_desk.called == ["fee"]
    run("--replay", "calls.jsonl", "--poison", "false_fact").assert_outcomes(failed=1)
    project.suite({**CASE, "prompt": "SE"}, name="fees_suite.json")
    run("--replay", "calls.jsonl").assert_outcomes(failed=1)
    assert plain_desk.called == ["fee"]
