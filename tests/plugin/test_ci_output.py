"""Failures for CI services: annotations at the line of the case, code quality, SARIF, job summary."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

import pytest
from jsonschema import Draft202012Validator

from pytest_evalstudio.cli import main
from support.project import Project
from support.workers import WORKERS

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string"},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^(?![./])"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""GitLab Docs, Code Quality, "Code Quality report format"."""
RESULT = {
    "type": "object",
    "required": ["message", "locations"],
    "properties": {
        "ruleId": {"type": "string"},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT,
        "locations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["physicalLocation"],
                "properties": {
                    "physicalLocation": {
                        "type": "object",
                        "required": ["artifactLocation", "region"],
                        "properties": {
                            "artifactLocation": {"type": "object", "required": ["uri"]},
                            "region": {
                                "type": "object",
                                "required": ["startLine"],
                                "properties": {"startLine": {"type": "integer", "minimum": 1}},
                            },
                        },
                    }
                },
            },
        },
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {"shortDescription": TEXT},
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}
"""OASIS, SARIF 2.1.0: the parts that are written."""


@pytest.fixture
def failing(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    config = (project.folder / "evalstudio.toml").read_text()
    project.write("evalstudio.toml", config.replace('"text_matching"', '"text_matching", "pii_leakage"'))
    project.write("app.py", "def ask(prompt):\n    return 'Pay with 4111 1111 1111 1111: 4'\n")
    suite = {
        "name": "Sums",
        "tests": [
            {
                "test_cases": [
                    {"key": "four", "prompt": "2+2?", "condition": '"4"'},
                    {"key": "a,b::c", "prompt": "100%?", "condition": '"nowhere"'},
                ]
            }
        ],
    }
    project.write("a suite.json", json.dumps(suite, indent=1))
    return project


def line_of(project: Project, text: str) -> int:
    lines = (project.folder / "a suite.json").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line) - 1  # of the brace before it


def test_annotations_name_file_line_and_reason(failing: Project) -> None:
    result = failing.run("a suite.json", "-o", "evalstudio_github=yes")

    annotations = [
        match
        for line in result.outlines
        if (match := re.fullmatch(r"::error file=([^,:]*),line=(\d+),title=([^,:]*)::(.*)", line))
    ]
    assert [int(match[2]) for match in annotations] == [
        line_of(failing, '"four"'),
        line_of(failing, '"a,b::c"'),
    ]
    assert {unquote(match[1]) for match in annotations} == {"a suite.json"}
    assert unquote(annotations[1][3]).startswith("a suite.json::a,b")
    assert "text_matching: " in unquote(annotations[1][4])
    assert "4111 1111" not in result.stdout.str()


def annotations_of(result: pytest.RunResult) -> list[list[str]]:
    """Return the lines of each annotation's message."""
    messages = [match[1] for line in result.outlines if (match := re.fullmatch(r"::error [^:]*::(.*)", line))]
    return [unquote(message).splitlines() for message in messages]


def fee_project(project: Project, expected: str = "The fee is 5 EUR per month.") -> None:
    project.write("app.py", "def ask(prompt):\n    return 'The fee is 5 EUR per month.'\n")
    project.suite({"key": "a", "prompt": "Fee?", "condition": '"5 EUR"', "expected_output": expected})


CHANGED = (
    "def ask(prompt):\n    return 'The fee is 7 EUR per month, card 4111 1111 1111 1111.%0A::error::x'\n"
)


def test_an_annotation_has_the_answer_and_its_difference_from_the_expected_one(project: Project) -> None:
    fee_project(project)
    project.write("app.py", CHANGED)
    (lines,) = annotations_of(project.run("-o", "evalstudio_github=yes"))
    assert lines[0].startswith("text_matching: ")
    assert lines[1] == "answer: The fee is 7 EUR per month, card **** **** **** ****.%0A::error::x"
    assert lines[2].startswith(
        "from the expected answer: The fee is [-5-]{+7+} EUR per month{+, card **** **** **** ****+}."
    )
    assert len(lines) == 3


def test_an_annotation_of_a_regressed_case_has_the_difference_from_the_baseline(project: Project) -> None:
    fee_project(project, expected="Another text.")
    project.run()
    report = str(project.folder / "evalstudio-report")
    assert main(["baseline", "save", report, "-o", str(project.folder / "base.jsonl")]) == 0
    project.write("app.py", CHANGED)
    result = project.run("-o", "evalstudio_github=yes", "--evalstudio-baseline", "base.jsonl")
    (lines,) = annotations_of(result)
    assert lines[2].startswith("since the baseline: The fee is [-5-]{+7+} EUR per month")
    assert "4111" not in "".join(lines)


def test_an_annotation_shows_an_expected_answer_that_has_nothing_in_common(project: Project) -> None:
    fee_project(project, expected="Ask a clerk.")
    project.write("app.py", "def ask(prompt):\n    return 'Unknown'\n")
    (lines,) = annotations_of(project.run("-o", "evalstudio_github=yes"))
    assert lines[1:] == ["answer: Unknown", "expected: Ask a clerk."]


def test_an_annotation_has_a_sensible_length(project: Project) -> None:
    fee_project(project, expected=" ".join(f"word{n}" for n in range(3_000)))
    answer = " ".join(f"word{n}" for n in range(0, 3_000, 2))
    project.write("app.py", f"def ask(prompt):\n    return {answer!r}\n")
    (lines,) = annotations_of(project.run("-o", "evalstudio_github=yes"))
    assert lines[1].endswith(" …")
    assert sum(map(len, lines)) < 2_000


def test_an_annotation_without_an_answer_has_the_reason_alone(project: Project) -> None:
    fee_project(project)
    project.write("app.py", "def ask(prompt):\n    raise RuntimeError('no connection')\n")
    (lines,) = annotations_of(project.run("-o", "evalstudio_github=yes"))
    assert len(lines) == 1
    assert "no connection" in lines[0]


@pytest.mark.parametrize(("option", "is_written"), [([], True), (["-o", "evalstudio_github=no"], False)])
def test_in_actions_annotations_and_job_summary_are_written_by_themselves(
    failing: Project, monkeypatch: pytest.MonkeyPatch, option: list[str], is_written: bool
) -> None:
    summary = failing.folder / "summary"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    result = failing.run("a suite.json", *option)

    assert any(line.startswith("::error ") for line in result.outlines) == is_written
    assert summary.is_file() == is_written
    assert not is_written or summary.read_text(encoding="utf-8").startswith("# ✗ FAILED – 2 of 2 tests")


@pytest.mark.parametrize("workers", WORKERS)
def test_code_quality_and_sarif_follow_their_schemas(failing: Project, workers: tuple[str, ...]) -> None:
    files = ("-o", "evalstudio_code_quality=out/quality.json", "-o", "evalstudio_sarif=out/results.sarif")
    failing.run("a suite.json", *files, *workers)

    quality = json.loads((failing.folder / "out" / "quality.json").read_text())
    sarif = json.loads((failing.folder / "out" / "results.sarif").read_text())
    Draft202012Validator(CODE_QUALITY).validate(quality)
    Draft202012Validator(SARIF).validate(sarif)
    assert [(issue["check_name"], issue["severity"]) for issue in quality] == [
        ("pii_leakage", "critical"),
        ("text_matching", "critical"),
        ("pii_leakage", "critical"),
    ]
    assert quality[0]["location"]["lines"]["begin"] == line_of(failing, '"four"')
    (run,) = sarif["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["pii_leakage", "text_matching"]
    assert {result["level"] for result in run["results"]} == {"error"}
    assert (
        run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20suite.json"
    )


def test_fingerprints_stay_the_same_from_run_to_run(failing: Project) -> None:
    def fingerprints() -> list[str]:
        failing.run("a suite.json", "-o", "evalstudio_code_quality=q.json")
        return [issue["fingerprint"] for issue in json.loads((failing.folder / "q.json").read_text())]

    first = fingerprints()
    assert len(set(first)) == len(first)
    assert fingerprints() == first
