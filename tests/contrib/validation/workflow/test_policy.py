"""Policies: tiers of materiality, read and checked as a user writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.workflow.policy import default_policy
from support.project import Project

TIER = {"min_cases": 5}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester, with_app=False)
    project.write("fees.md", "Stopping a cheque costs £8.00.")
    return project


def write(project: Project, content_of_policy: Any, **governance: str) -> None:
    project.write("own_policy.json", json.dumps({"evalstudio_policy": content_of_policy}))
    content = {"documents": ["fees.md"], "governance": {"policy": "own_policy.json", **governance}}
    project.write("bank_workflow.json", json.dumps({"evalstudio_workflow": content}))


def test_the_tiers_demand_more_and_more() -> None:
    tiers = default_policy().tiers
    assert list(tiers) == ["low", "medium", "high"]
    cases = [tier.min_cases for tier in tiers.values()]
    labels = [tier.min_labels for tier in tiers.values()]
    shares = [tier.min_coverage.quantities for tier in tiers.values()]
    for values in (cases, labels, shares):
        assert values == sorted(values)
        assert min(values) > 0


def test_a_policy_of_the_institution_is_read(project: Project) -> None:
    write(project, {"unstated": "Tier 2", "tiers": {"Tier 2": TIER}}, materiality="Tier 2")
    assert project.run_command("validate", "bank_workflow.json").ret == 0
    result = project.run_command("validate", "own_policy.json")
    result.stdout.fnmatch_lines(["own_policy.json: policy, tiers Tier 2: fine"])


@pytest.mark.parametrize(
    ("policy", "governance", "message"),
    [
        (
            {"unstated": "low", "tiers": {"low": TIER}},
            {"materiality": "lov"},
            "*/governance/materiality: the policy has no tier 'lov'.*low*",
        ),
        ({"unstated": "x", "tiers": {"low": TIER}}, {}, "*/unstated: there is no tier 'x'; tiers: low"),
        (
            {"unstated": "low", "tiers": {"low": {"min_case": 5}}},
            {},
            "*/tiers/low/min_case: unknown key; `evalstudio schema policy` prints all",
        ),
        ({"unstated": "low", "tiers": {"low": {"min_cases": -1}}}, {}, "*/tiers/low/min_cases*"),
        ({"tiers": {"low": TIER}}, {}, "*/unstated*"),
        ({"unstated": "low", "tiers": {"low": TIER}}, {"policy": "none.json"}, "*there is no file none.json"),
        ({"unstated": "low", "tiers": {"low": TIER}}, {"policy": "../x.json"}, "*/governance/policy*"),
    ],
)
def test_a_faulty_policy_is_refused_at_its_place(
    project: Project, policy: Any, governance: dict[str, str], message: str
) -> None:
    write(project, policy, **governance)
    result = project.run_command("validate", "bank_workflow.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_the_schema_is_printed(project: Project) -> None:
    schema = json.loads(project.run_command("schema", "policy").stdout.str())
    assert "evalstudio_policy" in schema["properties"]
