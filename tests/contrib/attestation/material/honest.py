"""Honest edits, which weaken nothing: material for attestation, which must not report one of them.

With the good application each run is green.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from contrib.attestation.material.project_runs import NewContent, appended, prepended, replaced

CONFTEST, CONFIG, INI = "conftest.py", "evalstudio.toml", "pytest.ini"
FEES, AGENT = "suites/fees_suite.yaml", "suites/agent_suite.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One edit of every day.

    Attributes:
        name: unique noun phrase, with hyphens.
        about: description, for a report.
        files: path to new content, for each file that is changed.
        arguments: further arguments of pytest.
        environment: variables of the run.
        moved: old path and new path of a file that is moved.
        exit_status: exit status of pytest, as observed.
    """

    name: str
    about: str
    files: Mapping[str, NewContent] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    moved: tuple[str, str] | None = None
    exit_status: int = 0


FIXTURE = """

import pytest


@pytest.fixture
def account():
    return {"owner": "Ada Brown", "balance": 2400}
"""
HEADER_HOOK = """

def pytest_report_header():
    return "desk of the bank"
"""
SHUFFLE_HOOK = """

from random import Random


def pytest_collection_modifyitems(items):
    Random(7).shuffle(items)
"""
NEW_CASE = """      - key: card-again
        prompt: And what does a replacement card cost me?
        condition: word("5 USD")
"""
NEW_SUITE = """name: Cards
tests:
  - test_cases:
      - key: gold
        prompt: What is the limit of the Gold card?
        condition: word("10,000 USD")
"""
PYTHON_TEST = """
def test_card(eval_model, eval_text_matching):
    case = eval_model("desk").ask("What does a replacement card cost?", condition='word("5 USD")')
    eval_text_matching.check(case)
"""
PLAIN_TEST = """
from app import send


def test_amount_is_a_number():
    assert send("250")["tool_calls"][1]["arguments"] == {"amount": 250}
"""
BREVITY = '''

@evaluator("brevity", name="Brevity", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Brevity:
    """Share of 50 words that the answer leaves unused."""

    metrics = (Metric("unused_words", threshold=0.2, primary=True),)

    def score(self, cases, tools):
        return [self.outcome(len(case.actual_output.split())) for case in cases]

    def outcome(self, words):
        return Outcome.score({"unused_words": max(0.0, 1 - words / 50)})
'''
HANDBOOK = "A replacement card costs 5 USD. A transfer abroad costs 15 USD and takes 3 working days.\n"


def _reordered(suite: str) -> str:
    content = json.loads(suite)
    content["tests"][0]["test_cases"].reverse()
    return json.dumps(content, indent=2)


def _keys_reordered(suite: str) -> str:
    content = json.loads(suite)
    for case in content["tests"][0]["test_cases"]:
        for key in sorted(case):
            case[key] = case.pop(key)
    return json.dumps(content, indent=2)


def _indented(width: int | None) -> Callable[[str], str]:
    return lambda suite: json.dumps(json.loads(suite), indent=width)


def _first_case_last(suite: str) -> str:
    head, first, rest = re.split(r"(?=      - key: )", suite, maxsplit=2)
    return head + rest + first


def _without_categories(suite: str) -> str:
    return re.sub(r" *categories: .*\n", "", suite)


EDITS = (
    Edit(name="case-added", about="one more case", files={FEES: appended(NEW_CASE)}),
    Edit(name="suite-added", about="one more suite", files={"suites/cards_suite.yaml": NEW_SUITE}),
    Edit(
        name="python-test-added",
        about="a test in Python that asks the application",
        files={"suites/test_card.py": PYTHON_TEST},
    ),
    Edit(
        name="plain-test-added",
        about="a test without any evaluator",
        files={"suites/test_send.py": PLAIN_TEST},
    ),
    Edit(name="cases-reordered", about="the first case is the last one", files={FEES: _first_case_last}),
    Edit(
        name="json-cases-reordered",
        about="cases of a JSON suite in the opposite order",
        files={AGENT: _reordered},
    ),
    Edit(name="json-keys-reordered", about="keys of cases by the alphabet", files={AGENT: _keys_reordered}),
    Edit(name="json-indented", about="JSON with four spaces", files={AGENT: _indented(4)}),
    Edit(name="json-in-one-line", about="JSON without line breaks", files={AGENT: _indented(None)}),
    Edit(
        name="yaml-comment",
        about="a comment in a suite",
        files={FEES: replaced(("      - key: abroad", "      # Fees of 2026.\n      - key: abroad"))},
    ),
    Edit(
        name="yaml-quotes",
        about="quotation marks that YAML does not need",
        files={
            FEES: replaced(
                ("prompt: What does a transfer abroad cost?", 'prompt: "What does a transfer abroad cost?"')
            )
        },
    ),
    Edit(
        name="yaml-block",
        about="a condition as a folded block",
        files={
            FEES: replaced(
                (
                    'condition: value("3 working days") AND word("transfer")',
                    'condition: >-\n          value("3 working days")\n          AND word("transfer")',
                )
            )
        },
    ),
    Edit(
        name="condition-spaces",
        about="other spaces in a condition",
        files={
            FEES: replaced(
                ('number(10000, unit="USD", tolerance=1%)', 'number( 10000,  unit="USD", tolerance=1% )')
            )
        },
    ),
    Edit(
        name="condition-parentheses",
        about="parentheses that change nothing",
        files={
            FEES: replaced(
                (
                    'value("3 working days") AND word("transfer")',
                    '(value("3 working days")) AND (word("transfer"))',
                )
            )
        },
    ),
    Edit(
        name="condition-order",
        about="the operands of AND exchanged",
        files={
            FEES: replaced(
                (
                    'value("3 working days") AND word("transfer")',
                    'word("transfer") AND value("3 working days")',
                )
            )
        },
    ),
    Edit(
        name="condition-stricter",
        about="one more condition by AND",
        files={FEES: replaced(('condition: word("5 USD")', 'condition: word("5 USD") AND NOT word("free")'))},
    ),
    Edit(
        name="tolerance-narrower",
        about="a narrower tolerance",
        files={FEES: replaced(("tolerance=1%", "tolerance=0.5%"))},
    ),
    Edit(
        name="condition-added",
        about="a case without a condition gets one",
        files={FEES: replaced(("key: close\n", 'key: close\n        condition: value("24 hours")\n'))},
    ),
    Edit(
        name="expected-output-added",
        about="a case gets an expected output",
        files={
            FEES: replaced(
                ("key: card\n", "key: card\n        expected_output: A replacement card costs 5 USD.\n")
            )
        },
    ),
    Edit(
        name="expected-calls-added",
        about="a case expects no calls",
        files={FEES: replaced(("key: abroad\n", "key: abroad\n        expected_tool_calls: []\n"))},
    ),
    Edit(
        name="other-arguments-forbidden",
        about="an expected call forbids other arguments",
        files={
            AGENT: replaced(
                ('"arguments": {"amount": 250}', '"arguments": {"amount": 250}, "other_arguments": "forbid"')
            )
        },
    ),
    Edit(
        name="threshold-raised",
        about="a stricter threshold",
        files={CONFIG: replaced(("threshold = 0.9", "threshold = 0.95"))},
    ),
    Edit(
        name="threshold-raised-by-option",
        about="a stricter threshold by an option",
        arguments=("--evalstudio-threshold", "rouge=0.95"),
    ),
    Edit(
        name="evaluator-added",
        about="one more evaluator",
        files={CONFIG: replaced(('"politeness"]', '"politeness", "looping_detection"]'))},
    ),
    Edit(
        name="own-evaluator-added",
        about="one more evaluator of the project",
        files={
            "checks.py": appended(BREVITY),
            CONFTEST: replaced(
                ("import Politeness", "import Brevity, Politeness"),
                (
                    "add_evaluator(Politeness)",
                    "add_evaluator(Politeness)\n    registry.add_evaluator(Brevity)",
                ),
            ),
            CONFIG: replaced(('"politeness"]', '"politeness", "brevity"]')),
        },
    ),
    Edit(
        name="own-evaluator-stricter",
        about="the project's evaluator knows one more rude word",
        files={"checks.py": replaced(('"stupid")', '"stupid", "idiot")'))},
    ),
    Edit(
        name="own-evaluator-docstring",
        about="another docstring in the project's evaluator",
        files={
            "checks.py": replaced(
                ("Whether the answer has none of the rude words.", "1 if no rude word occurs, else 0.")
            )
        },
    ),
    Edit(
        name="evaluators-reordered",
        about="evaluators in another order",
        files={CONFIG: replaced(('"text_matching", "rouge"', '"rouge", "text_matching"'))},
    ),
    Edit(
        name="gate-added", about="a gate on a metric", arguments=("--evalstudio-gate", "rouge.rouge_l >= 0.5")
    ),
    Edit(
        name="configuration-comment",
        about="a comment and blank lines in the configuration",
        files={CONFIG: prepended("# Ask the desk's owners before you change a threshold.\n\n\n")},
    ),
    Edit(
        name="configuration-in-pyproject",
        about="the configuration moves to pyproject.toml",
        files={
            CONFIG: None,
            "pyproject.toml": """[tool.evalstudio]
evaluators = ["text_matching", "rouge", "tool_calls", "custom_judge", "politeness"]
evaluator.rouge.threshold = 0.9
evaluator.custom_judge = { name = "Completeness", definition = "The answer names an amount or a duration." }
judge = { host = "python", target = "judge:decide" }
model = [{ name = "desk", host = "python", target = "app:ask", timeout_s = 20 }]
""",
        },
    ),
    Edit(
        name="report-folder",
        about="another folder of the report",
        arguments=("--evalstudio-output", "build/report"),
    ),
    Edit(
        name="report-folder-in-configuration",
        about="another folder of the report, in the configuration",
        files={CONFIG: prepended('output = "build/report"\n')},
    ),
    Edit(
        name="run-name",
        about="a title of the report",
        files={CONFIG: appended('\n[run]\nname = "Desk"\ndescription = "Before the release of May."\n')},
    ),
    Edit(
        name="model-renamed",
        about="another name of the same application",
        files={CONFIG: replaced(('name = "desk"', 'name = "service-desk"'))},
        arguments=("-o", "evalstudio_baseline_model=desk=service-desk"),
    ),
    Edit(
        name="timeout-and-retries",
        about="limits of the host",
        files={CONFIG: replaced(("timeout_s = 20", "timeout_s = 60\nretries = 1"))},
    ),
    Edit(
        name="concurrency",
        about="fewer questions at once",
        files={CONFIG: replaced(("timeout_s = 20", "timeout_s = 20\nconcurrency = 2"))},
    ),
    Edit(name="unrelated-fixture", about="a fixture in conftest.py", files={CONFTEST: appended(FIXTURE)}),
    Edit(
        name="report-header",
        about="a hook in conftest.py that prints a line",
        files={CONFTEST: appended(HEADER_HOOK)},
    ),
    Edit(
        name="shuffled-items",
        about="a hook in conftest.py that shuffles the tests",
        files={CONFTEST: appended(SHUFFLE_HOOK)},
    ),
    Edit(name="two-workers", about="two processes", arguments=("-n", "2")),
    Edit(
        name="verbose-output",
        about="addopts for the terminal",
        files={INI: appended("addopts = -v -ra --durations=3\n")},
    ),
    Edit(
        name="marker-declared",
        about="a marker in the ini file",
        files={INI: appended("markers =\n    nightly: takes long\n")},
    ),
    Edit(name="strict-xfail", about="xfail is strict", files={INI: appended("xfail_strict = true\n")}),
    Edit(
        name="categories-changed",
        about="another category of a case",
        files={FEES: replaced(("categories: [time]", "categories: [time, transfers]"))},
    ),
    Edit(name="categories-removed", about="no categories", files={FEES: _without_categories}),
    Edit(
        name="metadata-added",
        about="metadata of a case",
        files={
            FEES: replaced(
                ("key: card\n", "key: card\n        metadata: {language: en}\n        x-ticket: BANK-12\n")
            )
        },
    ),
    Edit(
        name="suite-renamed",
        about="another name and a description of a suite",
        files={
            FEES: replaced(("name: Fees and limits\n", "name: Fees\ndescription: Fees and limits of 2026.\n"))
        },
    ),
    Edit(
        name="suite-moved", about="a suite in another folder", moved=(FEES, "suites/handbook/fees_suite.yaml")
    ),
    Edit(
        name="suite-file-renamed",
        about="another file name of a suite",
        moved=(FEES, "suites/handbook_suite.yaml"),
    ),
    Edit(
        name="documents-added",
        about="a test names its document",
        files={
            "suites/handbook.md": HANDBOOK,
            FEES: replaced(("  - key: handbook\n", "  - key: handbook\n    documents: [handbook.md]\n")),
        },
    ),
    Edit(
        name="question-reworded-in-whitespace",
        about="a question as a folded block, the same text",
        files={
            FEES: replaced(
                (
                    "prompt: How do I close an account?",
                    "prompt: >-\n          How do I close\n          an account?",
                )
            )
        },
    ),
    Edit(
        name="wider-fail-on",
        about="more reasons to fail",
        arguments=("--evalstudio-fail-on", "case,gone,unchecked"),
    ),
    Edit(name="repeats", about="each question is asked twice", arguments=("--evalstudio-runs", "2")),
    Edit(
        name="application-formatted",
        about="a comment in the application",
        files={"app.py": appended("\n# The end.\n")},
    ),
    Edit(
        name="notes-added",
        about="a text file that nothing reads",
        files={"NOTES.md": "# Notes\n\nFees are those of 2026.\n"},
    ),
)
