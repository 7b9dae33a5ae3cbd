"""Red-team suites: kinds, techniques and expectations of the attacks; wrong input."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.redteam.kinds import KINDS
from pytest_evalstudio.contrib.redteam.purpose import Purpose
from pytest_evalstudio.contrib.redteam.suite import redteam_suite
from pytest_evalstudio.contrib.redteam.techniques import TECHNIQUES
from pytest_evalstudio.formats.suite import TestSuite
from support.command import evalstudio

PURPOSE = """
name = "Northfold Bank"
purpose = "answers questions about accounts and cards"
topics = ["account fees", "debit cards"]
forbidden = ["investment advice"]
secrets = ["Project Heron"]
tools = ["transfer"]
"""
FULL = Purpose(
    name="Bank",
    purpose="answers",
    topics=["fees"],
    forbidden=["politics"],
    secrets=["Project Heron"],
    tools=["transfer"],
)


def write_suite(folder: Path, *arguments: str, purpose: str = PURPOSE) -> TestSuite:
    (folder / "purpose.toml").write_text(purpose)
    result = evalstudio(
        "redteam", "--purpose", "purpose.toml", "-o", "bank_suite.json", *arguments, folder=folder
    )
    assert result.returncode == 0, result.stderr
    return TestSuite.load(folder / "bank_suite.json")


def test_each_kind_has_its_own_expectation_and_standards(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, "--count", "200")
    assert [test.key for test in suite.tests] == list(KINDS)
    for _, case in suite.cases():
        prefixes = {category.partition(":")[0] for category in case.categories}
        has_owasp = bool(KINDS[case.key.partition("-")[0]].owasp)
        assert prefixes >= {"technique", "nist"}
        assert ("owasp" in prefixes) == has_owasp
        last = case.turns[-1] if case.turns else case
        rules = case.evaluators or {}
        assert (
            last.condition or last.expects == "refusal" or {"tool_rules", "looping_detection"} & rules.keys()
        )
        assert case.guidelines
    assert evalstudio("validate", "bank_suite.json", folder=tmp_path).returncode == 0


def test_kinds_and_techniques_are_spread_evenly() -> None:
    cases = [case for _, case in redteam_suite(FULL, count=40).suite.cases()]
    kinds = Counter(case.key.split("-")[0] for case in cases)
    assert len(cases) == 40
    assert set(kinds.values()) == {4}
    assert len({case.key for case in cases}) == 40
    assert len({case.key.split("-")[1] for case in cases}) >= 4


def test_the_same_seed_gives_the_same_suite() -> None:
    first, second, other = (redteam_suite(FULL, seed=seed).suite.model_dump() for seed in (1, 1, 2))
    assert first == second != other


def test_kinds_that_the_purpose_does_not_allow_are_named(tmp_path: Path) -> None:
    bare = PURPOSE.split("forbidden")[0]
    (tmp_path / "purpose.toml").write_text(bare)
    result = evalstudio("redteam", "--purpose", "purpose.toml", "-o", "s.json", folder=tmp_path)
    assert "left out: off_topic, since the purpose names no forbidden" in result.stdout
    assert "left out: excessive_agency, since the purpose names no tools" in result.stdout
    keys = {test.key for test in TestSuite.load(tmp_path / "s.json").tests}
    assert keys == set(KINDS) - {"off_topic", "excessive_agency", "system_prompt_leak"}


def test_every_technique_keeps_the_goal_readable_or_encoded() -> None:
    for name, technique in TECHNIQUES.items():
        messages = technique("Say KEA-1.")
        assert all(message.strip() for message in messages)
        assert ("KEA-1" in " ".join(messages)) == (name not in ("base64", "rot13"))


@pytest.mark.parametrize(
    ("purpose", "arguments", "fault"),
    [
        ("name = 3", (), "purpose.toml: name: "),
        (PURPOSE + "tool = []", (), "purpose.toml: tool: unknown key; known keys: name, purpose"),
        ("name = ", (), "purpose.toml: is not TOML"),
        (PURPOSE.replace('["account fees", "debit cards"]', "[]"), (), "purpose.toml: topics: "),
        (PURPOSE, ("--kinds", "jailbrake"), "no kind of attack named 'jailbrake'"),
        (PURPOSE, ("--techniques", "rol_play"), "Did you mean 'role_play'?"),
        (PURPOSE, ("--count", "0"), "--count 0: must be 1 or more"),
    ],
)
def test_wrong_input_is_named(tmp_path: Path, purpose: str, arguments: tuple[str, ...], fault: str) -> None:
    (tmp_path / "purpose.toml").write_text(purpose)
    result = evalstudio("redteam", "--purpose", "purpose.toml", "-o", "s.json", *arguments, folder=tmp_path)
    assert result.returncode == 2
    assert fault in result.stderr
    assert not (tmp_path / "s.json").exists()


def test_keys_are_json(tmp_path: Path) -> None:
    write_suite(tmp_path)
    data = json.loads((tmp_path / "bank_suite.json").read_text())
    assert data["name"] == "Red team: Northfold Bank"
