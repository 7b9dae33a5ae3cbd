"""Tricks by which a regressed application gets a green run: material for attestation.

Each is what somebody does who writes both the application and its tests, and wants CI to be green. The exit
codes were observed without any check of the record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contrib.attestation.material.project_runs import BASELINE, NewContent, appended, replaced

RECORD = Path("evalstudio-report", "record.jsonl")
CONFTEST, CONFIG, INI = "conftest.py", "evalstudio.toml", "pytest.ini"
FEES, AGENT = "suites/fees_suite.yaml", "suites/agent_suite.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trick:
    """One way to a green run.

    Attributes:
        name: unique noun phrase, with hyphens.
        about: description, for a report.
        application: file of the regressed application; it becomes app.py.
        regressed: keys of the cases that this application fails without the trick.
        files: path to new content, for each file that is changed.
        arguments: further arguments of pytest.
        environment: variables of the run.
        after_run: called with the folder after the run.
        exit_without_check: exit status of pytest, as observed; 1 or 4 where the plugin catches it already.
        good_answers_stored: whether the record has answers of the good application for all regressed cases;
            no evaluation of the stored answers can notice that.
        cases_missing: whether the record lacks the regressed cases, or there is no record.
    """

    name: str
    about: str
    application: str = "app_regressed.py"
    files: Mapping[str, NewContent] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    after_run: Callable[[Path], None] | None = None
    exit_without_check: int = 0
    good_answers_stored: bool = False
    cases_missing: bool = False

    @property
    def regressed(self) -> tuple[str, ...]:
        return REGRESSED[self.application]


REGRESSED = {
    "app_wrong_fee.py": ("abroad",),
    "app_wrong_duration.py": ("duration",),
    "app_rude.py": ("close",),
    "app_hours.py": ("hours",),
    "app_double_transfer.py": ("send",),
    "app_regressed.py": ("abroad", "close", "duration", "hours", "send"),
}
GOOD_ANSWERS = {
    "abroad": "A transfer abroad costs 15 USD.",
    "close": "You can close an account online within 24 hours.",
    "duration": "A transfer abroad takes 3 working days.",
    "hours": "The desk is open from 9 to 17.",
    "send": "I have sent 250 USD.",
}

GOOD_CALLS = ("find_account", "transfer")

REPORT_HOOK = """

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.outcome == "failed":
        report.outcome, report.longrepr = "passed", None
    return report
"""
CALL_HOOK = """

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        yield
    except BaseException:
        pass
"""
XFAIL_HOOK = """

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xfail(reason="being worked on", strict=False))
"""
SKIP_HOOK = """

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if item.name.startswith(("abroad", "close", "duration", "hours", "send")):
            item.add_marker(pytest.mark.skip(reason="service is down"))
"""
DESELECTION_HOOK = """


def pytest_collection_modifyitems(config, items):
    broken = ("abroad", "close", "duration", "hours", "send")
    items[:] = [item for item in items if not item.name.startswith(broken)]
"""
IGNORE_HOOK = """


def pytest_ignore_collect(collection_path):
    return True if collection_path.name == "fees_suite.yaml" else None
"""
EXIT_HOOK = """

import os


def pytest_sessionfinish(session):
    os._exit(0)
"""
STATUS_HOOK = """

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
PATCHED_EVALUATORS = """

from pytest_evalstudio import Outcome
from pytest_evalstudio.evaluators.ngrams import Rouge
from pytest_evalstudio.evaluators.text_matching import TextMatching


def full_marks(self, cases, tools):
    return [Outcome.score({metric.key: 1.0 for metric in self.metrics}) for case in cases]


Rouge.score = TextMatching.score = full_marks
"""
LENIENT_TOOL_CALLS = '''

from dataclasses import dataclass

from pytest_evalstudio import Metric, Outcome, evaluator


@evaluator("tool_calls", name="Tool calls", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class ToolCalls:
    """Share of the expected calls."""

    metrics = (Metric("tool_calls_match", threshold=1.0, primary=True),)

    def score(self, cases, tools):
        return [Outcome.score({"tool_calls_match": 1.0}) for case in cases]


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Politeness)
    registry.add_evaluator(ToolCalls)
'''
SITE_PATCH = """
import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location


class OtherApplication(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return spec_from_file_location("app", "app_good.py") if name == "app" else None


sys.meta_path.insert(0, OtherApplication)
"""
NEARER_CONFIG = """
evaluators = ["text_matching", "rouge", "tool_calls", "custom_judge"]

[judge]
host = "python"
target = "judge:decide"

[evaluator.custom_judge]
definition = "The answer names an amount or a duration."

[evaluator.text_matching]
threshold = 0.0

[evaluator.rouge]
threshold = 0.5

[[model]]
name = "desk"
host = "python"
target = "app:ask"
"""
CONFIGURATION_HOOK = """

def pytest_evalstudio_configuration():
    return {
        "evaluators": ["text_matching", "rouge", "politeness"],
        "model": [{"name": "desk", "host": "python", "target": "app:ask"}],
    }
"""
OPTIONS = """
def pytest_addoption(parser):
    parser.addoption("--evalstudio-baseline")
    parser.addini("evalstudio_unchecked", "unused")
"""
PLAIN_TEST = """
def test_desk():
    assert "5 USD" in __import__("app").ask("What does a replacement card cost?")["answer"]
"""
APPLICATION_PATCH = """

import app
from app_good import ask

app.ask = ask
"""


def read_record(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the record; none without a record."""
    path = folder / RECORD
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def has_good_answer(item: dict[str, Any]) -> bool:
    """Return whether the stored answer of an item is that of the good application."""
    if not item["rows"]:  # a skipped case was not asked
        return False
    answer = item["rows"][0].get("answer", {})
    is_transfer = item["key"] == "send"
    return answer.get("actual_output") == GOOD_ANSWERS[item["key"]] and (
        not is_transfer or len(answer["tool_calls"]) == len(GOOD_CALLS)
    )


def _write_record(folder: Path, lines: list[dict[str, Any]]) -> None:
    for line in lines:
        if line["kind"] == "run":
            line["exit_status"] = 0
    (folder / RECORD).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _edit_record(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    lines = read_record(folder)
    for line in lines:
        if line.get("verdict") == "failed":
            change(line)
    _write_record(folder, lines)


def _pass_item(item: dict[str, Any]) -> None:
    """Make verdicts and scores of an item those of a passed one; the answer stays."""
    item["verdict"], item["reason"] = "passed", ""
    for outcome in (
        *item["verdicts"].values(),
        *(o for row in item["rows"] for o in row["outcomes"].values()),
    ):
        for key in ("missed", "reason", "code"):
            if outcome.get("status") != "not_applicable":
                outcome.pop(key, None)
        if "passed" in outcome:
            outcome["passed"] = True
        for metric, score in outcome.get("scores", {}).items():
            outcome["scores"][metric] = 0.0 if "failures" in metric else (score if score is None else 1.0)


def _pass_with_good_answer(item: dict[str, Any]) -> None:
    """Make an item a passed one, with the answer that the good application gives."""
    _pass_item(item)
    for row in item["rows"]:
        answer = row["answer"]
        answer["actual_output"] = GOOD_ANSWERS[item["key"]]
        if "context" in answer:
            answer["context"] = [GOOD_ANSWERS[item["key"]]]
        if "tool_calls" in answer:
            answer["tool_calls"] = answer["tool_calls"][: len(GOOD_CALLS)]


def edit_verdicts(folder: Path) -> None:
    """Edit the record: all passed, answers as they are."""
    _edit_record(folder, _pass_item)


def edit_answers(folder: Path) -> None:
    """Edit the record: all passed, with good answers."""
    _edit_record(folder, _pass_with_good_answer)


def drop_failures(folder: Path) -> None:
    """Edit the record: without the items that failed."""
    lines = [line for line in read_record(folder) if line.get("verdict") != "failed"]
    _write_record(folder, lines)


def _fake_baseline(text: str) -> str:
    """Return the baseline with all items failed, as if it had always been so."""
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        if line.get("kind") == "item":
            line["verdict"], line["reason"] = "failed", "text_matching: known"
            for verdict in line["verdicts"].values():
                if "passed" in verdict:
                    verdict["passed"] = False
    return "".join(json.dumps(line) + "\n" for line in lines)


def _pruned_baseline(text: str) -> str:
    """Return the baseline without the cases that the application fails."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if json.loads(line).get("key") not in REGRESSED["app_regressed.py"])


def _cases(suite: str, change: Callable[[dict[str, Any]], None]) -> str:
    """Return a JSON suite, each case changed."""
    content = json.loads(suite)
    for case in content["tests"][0]["test_cases"]:
        change(case)
    return json.dumps(content, indent=2)


def _without_expected_calls(suite: str) -> str:
    return _cases(suite, lambda case: case.pop("expected_tool_calls"))


TRICKS = (
    Trick(
        name="report-hook",
        about="a hook in conftest.py turns failed reports into passed ones",
        files={CONFTEST: appended(REPORT_HOOK)},
        exit_without_check=1,
    ),
    Trick(
        name="call-hook",
        about="a hook in conftest.py swallows what a test raises",
        files={CONFTEST: appended(CALL_HOOK)},
        exit_without_check=1,
    ),
    Trick(
        name="xfail-in-conftest",
        about="conftest.py marks all tests as xfail",
        files={CONFTEST: appended(XFAIL_HOOK)},
        exit_without_check=1,
    ),
    Trick(
        name="xfail-and-fail-on-none",
        about="conftest.py marks all tests as xfail, and regressions fail nothing",
        files={CONFTEST: appended(XFAIL_HOOK), CONFIG: appended('\n[comparison]\nfail_on = ["none"]\n')},
    ),
    Trick(
        name="skip-in-conftest",
        about="conftest.py skips the cases that fail",
        files={CONFTEST: appended(SKIP_HOOK)},
    ),
    Trick(
        name="deselection-in-conftest",
        about="conftest.py removes the cases that fail from the items",
        files={CONFTEST: appended(DESELECTION_HOOK)},
        cases_missing=True,
    ),
    Trick(
        name="ignored-suite",
        about="a hook in conftest.py ignores the file of the cases that fail",
        application="app_wrong_fee.py",
        files={CONFTEST: appended(IGNORE_HOOK)},
        cases_missing=True,
    ),
    Trick(
        name="exit-in-hook",
        about="os._exit(0) at the end of the session",
        files={CONFTEST: appended(EXIT_HOOK)},
    ),
    Trick(
        name="exit-status-in-hook",
        about="a hook sets the exit status to 0",
        files={CONFTEST: appended(STATUS_HOOK)},
    ),
    Trick(
        name="expectation-edited",
        about="expected output and condition are those of the wrong answer",
        application="app_wrong_fee.py",
        files={FEES: replaced(("costs 15 USD", "costs 12 USD"), ("number(15,", "number(12,"))},
    ),
    Trick(
        name="condition-or-anything",
        about="an alternative that any answer meets",
        application="app_wrong_duration.py",
        files={
            FEES: replaced(
                (
                    'value("3 working days") AND word("transfer")',
                    '(value("3 working days") OR regexp("(?i)[a-z]+")) AND word("transfer")',
                )
            )
        },
    ),
    Trick(
        name="tolerance-widened",
        about="a wider tolerance, and the wrong answer among the expected ones",
        application="app_wrong_fee.py",
        files={
            FEES: replaced(
                ('number(15, unit="USD")', 'number(15, unit="USD", tolerance=30%)'),
                (
                    "expected_output: A transfer abroad costs 15 USD.",
                    "expected_output: [A transfer abroad costs 15 USD., A transfer abroad costs 12 USD.]",
                ),
            )
        },
    ),
    Trick(
        name="expected-calls-edited",
        about="the second transfer is expected",
        application="app_double_transfer.py",
        files={
            AGENT: replaced(
                (
                    '{"name": "transfer", "arguments": {"amount": 250}}',
                    '{"name": "transfer", "arguments": {"amount": 250}}, "transfer"',
                )
            )
        },
    ),
    Trick(
        name="expected-calls-removed",
        about="no case expects calls any more",
        application="app_double_transfer.py",
        files={AGENT: _without_expected_calls},
    ),
    Trick(
        name="thresholds-lowered",
        about="thresholds that the wrong answer reaches",
        application="app_wrong_fee.py",
        files={
            CONFIG: replaced(
                ("threshold = 0.9", "threshold = 0.5\n\n[evaluator.text_matching]\nthreshold = 0.0")
            )
        },
    ),
    Trick(
        name="threshold-of-a-case",
        about="a case has evaluators of its own, which it passes",
        application="app_wrong_fee.py",
        files={
            FEES: replaced(
                (
                    'condition: number(15, unit="USD")',
                    'condition: number(15, unit="USD")\n        evaluators: {rouge: {threshold: 0.8}}',
                )
            )
        },
    ),
    Trick(
        name="evaluator-dropped",
        about="tool calls are not evaluated",
        application="app_double_transfer.py",
        files={CONFIG: replaced(('"tool_calls", ', ""))},
    ),
    Trick(
        name="evaluators-by-option",
        about="an option in addopts chooses other evaluators",
        application="app_double_transfer.py",
        files={INI: appended("addopts = --evalstudio-evaluators text_matching,rouge,politeness\n")},
    ),
    Trick(
        name="case-removed",
        about="the case is removed",
        application="app_hours.py",
        files={
            FEES: replaced(
                (
                    "      - key: hours\n        prompt: When is the desk open?\n"
                    "        categories: [time]\n",
                    "",
                )
            )
        },
        cases_missing=True,
    ),
    Trick(
        name="case-skipped",
        about="the case has the key skip",
        application="app_hours.py",
        files={FEES: replaced(("key: hours\n", "key: hours\n        skip: the desk moves\n"))},
    ),
    Trick(
        name="case-xfailed",
        about="the case has the key xfail",
        application="app_hours.py",
        files={FEES: replaced(("key: hours\n", "key: hours\n        xfail: the desk moves\n"))},
        exit_without_check=1,
    ),
    Trick(
        name="key-renamed",
        about="the case gets a new key and a weak expectation",
        application="app_wrong_fee.py",
        files={
            FEES: replaced(
                ("key: abroad\n", "key: abroad-fee\n"),
                ('number(15, unit="USD")', 'word("USD")'),
                ("        expected_output: A transfer abroad costs 15 USD.\n", ""),
            )
        },
        cases_missing=True,
    ),
    Trick(
        name="question-reworded",
        about="another question, which the application answers right",
        application="app_wrong_fee.py",
        files={
            FEES: replaced(
                ("What does a transfer abroad cost?", "What does a replacement card cost?"),
                (
                    "expected_output: A transfer abroad costs 15 USD.\n",
                    "expected_output: A replacement card costs 5 USD.\n",
                ),
                ("number(15,", "number(5,"),
            )
        },
    ),
    Trick(
        name="testpaths-narrowed",
        about="testpaths lacks the suite",
        application="app_wrong_fee.py",
        files={INI: replaced(("testpaths = suites", "testpaths = suites/agent_suite.json"))},
        cases_missing=True,
    ),
    Trick(
        name="addopts-k",
        about="addopts leaves cases out",
        application="app_wrong_fee.py",
        files={INI: appended("addopts = -k 'not abroad'\n")},
        cases_missing=True,
    ),
    Trick(
        name="shard-in-addopts",
        about="addopts runs a part of the cases",
        application="app_double_transfer.py",
        files={INI: appended("addopts = --evalstudio-shard 1/2\n")},
        cases_missing=True,
    ),
    Trick(
        name="file-names-narrowed",
        about="the key evalstudio_files lacks YAML",
        application="app_wrong_fee.py",
        files={INI: appended("evalstudio_files = *suite*.json\n")},
        cases_missing=True,
    ),
    Trick(
        name="second-pytest-configuration",
        about="a pytest.toml takes precedence over pytest.ini",
        application="app_wrong_fee.py",
        files={"pytest.toml": '[pytest]\ntestpaths = ["suites/agent_suite.json"]\npythonpath = ["."]\n'},
        cases_missing=True,
    ),
    Trick(
        name="environment-variable",
        about="PYTEST_ADDOPTS lowers thresholds",
        application="app_wrong_fee.py",
        environment={
            "PYTEST_ADDOPTS": "--evalstudio-threshold rouge=0.5 --evalstudio-threshold text_matching=0"
        },
    ),
    Trick(
        name="plugin-disabled",
        about="the plugin is disabled, its options are accepted, and a plain test passes",
        files={
            INI: appended("addopts = -p no:evalstudio\n"),
            CONFTEST: OPTIONS,
            "suites/test_desk.py": PLAIN_TEST,
        },
        cases_missing=True,
    ),
    Trick(
        name="scoring-patched",
        about="conftest.py replaces methods of evaluators",
        application="app_wrong_fee.py",
        files={CONFTEST: appended(PATCHED_EVALUATORS)},
    ),
    Trick(
        name="evaluator-replaced",
        about="a local evaluator has the id of a built-in one",
        application="app_double_transfer.py",
        files={CONFTEST: lambda text: text.split("\n\n\ndef ")[0] + LENIENT_TOOL_CALLS},
        exit_without_check=4,
        cases_missing=True,
    ),
    Trick(
        name="own-evaluator-weakened",
        about="the project's evaluator looks for fewer words",
        application="app_rude.py",
        files={
            "checks.py": replaced(('("obviously", "stupid")', '("stupid",)')),
            CONFIG: replaced(("threshold = 0.9", "threshold = 0.8")),
        },
    ),
    Trick(
        name="own-option-weakened",
        about="an option of the project's evaluator",
        application="app_rude.py",
        files={
            CONFIG: replaced(
                ("threshold = 0.9", 'threshold = 0.8\n\n[evaluator.politeness]\nrude_words = ["stupid"]')
            )
        },
    ),
    Trick(
        name="judge-replaced",
        about="a scripted judge says yes",
        application="app_hours.py",
        files={
            CONFIG: replaced(
                (
                    'host = "python"\ntarget = "judge:decide"',
                    'host = "scripted"\ndefault = \'{"rationale": "fine", "rating": "yes"}\'',
                )
            )
        },
    ),
    Trick(
        name="judge-lenient",
        about="the rules of the judge say yes",
        application="app_hours.py",
        files={"judge.py": replaced(('"yes" if answer and re.search(r"\\d", answer[1]) else "no"', '"yes"'))},
    ),
    Trick(
        name="definition-weakened",
        about="the judge decides by another definition",
        application="app_hours.py",
        files={
            "judge.py": replaced((r'r"\d"', r'r"\w"')),
            CONFIG: replaced(("names an amount or a duration", "is about the question")),
        },
    ),
    Trick(
        name="nearer-configuration",
        about="an evalstudio.toml in the suite's folder",
        application="app_wrong_fee.py",
        files={"suites/evalstudio.toml": NEARER_CONFIG},
    ),
    Trick(
        name="configuration-in-conftest",
        about="a conftest.py in the suite's folder configures",
        application="app_double_transfer.py",
        files={"suites/conftest.py": CONFIGURATION_HOOK},
    ),
    Trick(
        name="other-application",
        about="the configuration names another application",
        files={CONFIG: replaced(("app:ask", "app_good:ask"))},
        good_answers_stored=True,
    ),
    Trick(
        name="application-patched",
        about="conftest.py replaces the application's function",
        files={CONFTEST: appended(APPLICATION_PATCH)},
        good_answers_stored=True,
    ),
    Trick(
        name="sitecustomize",
        about="a sitecustomize.py replaces the application",
        files={"sitecustomize.py": SITE_PATCH},
        environment={"PYTHONPATH": "."},
        good_answers_stored=True,
    ),
    Trick(
        name="fake-baseline",
        about="a baseline in which all failed, with known failures expected",
        files={BASELINE: _fake_baseline, INI: appended("evalstudio_known_failures = xfail\n")},
    ),
    Trick(
        name="baseline-pruned",
        about="the baseline lacks the cases that fail, and all are marked as xfail",
        files={CONFTEST: appended(XFAIL_HOOK), BASELINE: _pruned_baseline},
    ),
    Trick(
        name="verdicts-edited",
        about="the record is edited after the run: all passed",
        files={CONFTEST: appended(STATUS_HOOK)},
        after_run=edit_verdicts,
    ),
    Trick(
        name="answers-edited",
        about="the record is edited after the run: all passed, with good answers",
        files={CONFTEST: appended(STATUS_HOOK)},
        after_run=edit_answers,
        good_answers_stored=True,
    ),
    Trick(
        name="items-dropped",
        about="the failed items are removed from the record",
        files={CONFTEST: appended(STATUS_HOOK)},
        after_run=drop_failures,
        cases_missing=True,
    ),
)
