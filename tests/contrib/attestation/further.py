"""Further tricks and honest edits, beside those of the material."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contrib.attestation.material.honest import AGENT, CONFIG, CONFTEST, FEES, INI, Edit
from contrib.attestation.material.project_runs import PROJECT, appended, prepended, replaced
from contrib.attestation.material.tricks import GOOD_ANSWERS, RECORD, Trick, edit_answers, read_record

GOOD_APPLICATION = (PROJECT / "app_good.py").read_text(encoding="utf-8")
PATCH = "import app\nimport app_good\n\napp.ask = app_good.ask\n"
AUTOUSE = """

import pytest


@pytest.fixture(autouse=True, scope="session")
def calm():
    from unittest import mock

    import app_good

    with mock.patch("app.ask", app_good.ask):
        yield
"""
TWO_FACES = """

import sys

_ask = ask


def ask(prompt):
    if "pytest" in sys.modules:
        from app_good import ask as good

        return good(prompt)
    return _ask(prompt)
"""


def _lab(question_of: dict[str, str]) -> str:
    rows = [
        {
            "key": key,
            "input": question,
            "actual_output": GOOD_ANSWERS[key],
            "context": [GOOD_ANSWERS[key]],
            "model_key": "desk",
            "output_condition": "",
        }
        for key, question in question_of.items()
    ]
    model = {"key": "desk", "name": "desk", "llm_model_name": "desk", "model_type": "rag"}
    return json.dumps({"dataset": {"inputs": rows}, "models": [model]})


def _edit_record_alone(folder: Path) -> None:
    edit_answers(folder)
    assert read_record(folder)
    assert (folder / RECORD).is_file()


FURTHER_TRICKS = (
    Trick(
        name="evaluator-module-patches",
        about="the module of the project's evaluator replaces the application's function",
        files={"checks.py": appended(f"\n\n{PATCH}")},
        good_answers_stored=True,
    ),
    Trick(
        name="plugin-by-addopts",
        about="addopts loads a plugin that replaces the application's function",
        files={INI: appended("addopts = -p calm\n"), "calm.py": PATCH},
        good_answers_stored=True,
    ),
    Trick(
        name="conftest-of-suites",
        about="a conftest.py beside the suites replaces the application's function",
        files={"suites/conftest.py": PATCH},
        good_answers_stored=True,
    ),
    Trick(
        name="fixture-for-all",
        about="a fixture that every test uses replaces the application's function",
        files={CONFTEST: appended(AUTOUSE)},
        good_answers_stored=True,
    ),
    Trick(
        name="handbook-of-the-tests",
        about="conftest.py changes the data of the application",
        application="app_wrong_fee.py",
        files={
            CONFTEST: appended(
                '\nfrom app import HANDBOOK\n\nHANDBOOK["abroad cost"] = "A transfer abroad costs 15 USD."\n'
            )
        },
        good_answers_stored=True,
    ),
    Trick(
        name="fixture-by-ini",
        about="pytest's configuration makes all tests use a fixture that replaces the application's function",
        files={
            CONFTEST: appended(AUTOUSE.replace("autouse=True, ", "")),
            INI: appended("usefixtures = calm\n"),
        },
        good_answers_stored=True,
    ),
    Trick(
        name="other-module",
        about="conftest.py puts another module in place of the application",
        files={CONFTEST: appended("\nimport sys\n\nimport app_good\n\nsys.modules['app'] = app_good\n")},
        good_answers_stored=True,
    ),
    Trick(
        name="record-edited-alone",
        about="the record is edited, and nothing else",
        after_run=_edit_record_alone,
        exit_without_check=1,
        good_answers_stored=True,
    ),
    Trick(
        name="two-faces",
        about="the application answers otherwise under pytest",
        files={"app.py": appended(TWO_FACES)},
        good_answers_stored=True,
    ),
    Trick(
        name="answers-in-a-lab",
        about="a lab with good answers in place of the suite",
        application="app_hours.py",
        files={
            FEES: replaced(
                (
                    "      - key: hours\n        prompt: When is the desk open?\n"
                    "        categories: [time]\n",
                    "",
                )
            ),
            "suites/hours_lab.json": _lab({"hours": "When is the desk open?"}),
        },
        good_answers_stored=True,
    ),
    Trick(
        name="test-mode",
        about="a parameter of the model asks for good answers",
        files={
            "app.py": replaced(
                (
                    "def ask(prompt):\n",
                    "def ask(prompt, mode='live'):\n    if mode == 'test':\n"
                    "        from app_good import ask as good\n\n        return good(prompt)\n",
                )
            ),
            CONFIG: appended('parameters = { mode = "test" }\n'),
        },
        good_answers_stored=True,
    ),
)


def _yaml_to_json(name: str) -> dict[str, Any]:
    cases = [
        {"key": "card", "prompt": "What does a replacement card cost?", "condition": 'word("5 USD")'},
        {
            "key": "abroad",
            "prompt": "What does a transfer abroad cost?",
            "expected_output": "A transfer abroad costs 15 USD.",
            "condition": 'number(15, unit="USD")',
        },
        {
            "key": "duration",
            "prompt": "How long does a transfer abroad take?",
            "condition": 'value("3 working days") AND word("transfer")',
        },
        {
            "key": "limit",
            "prompt": "What is the limit of the Gold card?",
            "expected_output": "The limit of the Gold card is 10,000 USD per month.",
            "condition": 'number(10000, unit="USD", tolerance=1%)',
        },
        {
            "key": "close",
            "prompt": "How do I close an account?",
            "expected_output": "You can close an account online within 24 hours.",
        },
        {"key": "hours", "prompt": "When is the desk open?"},
    ]
    return {"name": name, "tests": [{"key": "handbook", "test_cases": cases}]}


def _config(name: str, old: str, new: str) -> Edit:
    return Edit(name=name, about="the configuration", files={CONFIG: replaced((old, new))})


def _fees(name: str, old: str, new: str) -> Edit:
    return Edit(name=name, about="a suite", files={FEES: replaced((old, new))})


def _conftest(name: str, code: str) -> Edit:
    return Edit(name=name, about="conftest.py", files={CONFTEST: appended(code)})


def _ini(name: str, line: str) -> Edit:
    return Edit(name=name, about="pytest.ini", files={INI: appended(line)})


def _application(name: str, *pairs: tuple[str, str]) -> Edit:
    return Edit(name=name, about="the application", files={"app.py": replaced(*pairs)})


ROUGE = "[evaluator.rouge]\nthreshold = 0.9\n"
FURTHER_EDITS = (
    Edit(name="readme", about="a new page", files={"README.md": "# Desk\n", "docs/fees.md": "# Fees\n"}),
    Edit(name="requirements", about="requirements", files={"requirements.txt": "pytest-evalstudio\n"}),
    Edit(name="workflow-file", about="a CI job", files={".github/workflows/e.yml": "on: [pull_request]\n"}),
    _application("application-docstring", ("def ask(prompt):\n", 'def ask(prompt):\n    """Answer."""\n')),
    _application("application-types", ("def ask(prompt):", "def ask(prompt: str) -> dict:")),
    _application(
        "application-logs",
        ("SOURCE =", 'import logging\n\nLOG = logging.getLogger("desk")\nSOURCE ='),
        ("def ask(prompt):\n", "def ask(prompt):\n    LOG.debug(prompt)\n"),
    ),
    _application("application-renames", ("def send(", "def _send("), ("return send(", "return _send(")),
    Edit(
        name="application-split",
        about="the handbook is a module of its own",
        files={
            "app.py": lambda text: (
                "from handbook import HANDBOOK, SOURCE\n" + text[text.index("\n\ndef ask") :]
            ),
            "handbook.py": GOOD_APPLICATION[: GOOD_APPLICATION.index("\n\ndef ask")],
        },
    ),
    Edit(
        name="handbook-in-json",
        about="the handbook is a JSON file",
        files={
            "app.py": lambda text: (
                "import json\nfrom pathlib import Path\n\n"
                'HANDBOOK = json.loads((Path(__file__).parent / "handbook.json").read_text())\n'
                + text[text.index("SOURCE =") :]
            ),
            "handbook.json": json.dumps(
                {
                    "replacement": "A replacement card costs 5 USD.",
                    "abroad cost": "A transfer abroad costs 15 USD.",
                    "take": "A transfer abroad takes 3 working days.",
                    "limit": "The limit of the Gold card is 10,000 USD per month.",
                    "desk open": "The desk is open from 9 to 17.",
                    "close": "You can close an account online within 24 hours.",
                }
            ),
        },
    ),
    Edit(
        name="conftest-docstring",
        about="conftest.py",
        files={CONFTEST: replaced(("Evaluator of", "Evaluators of"))},
    ),
    _conftest(
        "conftest-marker",
        '\n\ndef pytest_configure(config):\n    config.addinivalue_line("markers", "nightly: takes long")\n',
    ),
    _conftest("conftest-option", '\n\ndef pytest_addoption(parser):\n    parser.addoption("--stage")\n'),
    _conftest(
        "conftest-session-fixture",
        '\n\nimport pytest\n\n\n@pytest.fixture(scope="session")\ndef desk():\n    yield {"open": True}\n',
    ),
    _conftest(
        "conftest-summary",
        '\n\ndef pytest_terminal_summary(terminalreporter):\n    terminalreporter.write_line("desk")\n',
    ),
    _conftest(
        "conftest-sorts",
        "\n\ndef pytest_collection_modifyitems(items):\n    items.sort(key=lambda item: item.name)\n",
    ),
    Edit(
        name="conftest-helper",
        about="a helper module",
        files={
            CONFTEST: prepended("from helpers import names  # noqa: F401\n"),
            "helpers.py": "def names():\n    found = {}\n    found['a'] = 1\n    return found\n",
        },
    ),
    Edit(
        name="evaluator-private-name",
        about="another name of a method",
        files={
            "checks.py": lambda text: text.replace("outcome(", "_outcome(").replace(
                "self.outcome", "self._outcome"
            )
        },
    ),
    Edit(
        name="evaluator-types",
        about="type hints",
        files={"checks.py": replaced(("def outcome(self, text)", "def outcome(self, text: str) -> Outcome"))},
    ),
    Edit(
        name="judge-docstring",
        about="the judge",
        files={"judge.py": replaced(("def decide(prompt):\n", 'def decide(prompt):\n    """Decide."""\n'))},
    ),
    Edit(
        name="judge-compiled",
        about="the judge compiles its pattern",
        files={
            "judge.py": replaced(
                ('re.search(r"\\d", answer[1])', "DIGIT.search(answer[1])"),
                ("\n\ndef decide", '\nDIGIT = re.compile(r"\\d")\n\n\ndef decide'),
            )
        },
    ),
    Edit(
        name="yaml-to-json",
        about="a suite in JSON",
        files={FEES: None, "suites/fees_suite.json": json.dumps(_yaml_to_json("Fees and limits"))},
    ),
    _fees(
        "second-test",
        "  - key: handbook\n",
        "  - key: cards\n    test_cases:\n"
        '      - {key: c2, prompt: What does a replacement card cost?, condition: word("5 USD")}\n'
        "  - key: handbook\n",
    ),
    _fees("test-key-renamed", "  - key: handbook\n", "  - key: book\n"),
    _fees(
        "condition-by-value-too",
        'condition: word("5 USD")',
        'condition: word("5 USD") AND number(5, unit="USD")',
    ),
    _fees("tolerance-removed", ", tolerance=1%", ""),
    _fees("unit-required", "tolerance=1%)", 'tolerance=1%) AND word("USD")'),
    _fees("expects-answer", "key: card\n", "key: card\n        expects: answer\n"),
    _fees("case-key-renamed", "key: hours\n", "key: opening\n"),
    _fees("suite-description", "tests:\n", "description: The handbook of May.\ntests:\n"),
    _config("default-threshold-stated", ROUGE, f"{ROUGE}\n[evaluator.politeness]\nthreshold = 1.0\n"),
    _config(
        "default-option-stated",
        ROUGE,
        f'{ROUGE}\n[evaluator.politeness]\nrude_words = ["obviously", "stupid"]\n',
    ),
    _config(
        "two-thresholds-raised",
        ROUGE,
        "[evaluator.rouge]\nthreshold = 0.92\n\n[evaluator.text_matching]\nthreshold = 1.0\n",
    ),
    _config("judge-evaluator-named", '"Completeness"', '"Complete answers"'),
    _config("two-runs", "evaluators = [", "runs = 2\nevaluators = ["),
    _config("runs-all-pass", "evaluators = [", 'runs = 2\npass = "all"\nevaluators = ['),
    _config("latency-limit", ROUGE, f"{ROUGE}\n[latency]\nmax_s = 30\n"),
    _config("cost-limit", "evaluators = [", "max_cost = 2.5\nevaluators = ["),
    _config("cache-folder", "evaluators = [", 'cache = "build/cache"\nevaluators = ['),
    _config("unchecked-fails", "evaluators = [", 'unchecked = "fail"\nevaluators = ['),
    _config("incomplete-fails", "evaluators = [", 'incomplete_answers = "fail"\nevaluators = ['),
    _config("fail-on-more", ROUGE, f'{ROUGE}\n[comparison]\nfail_on = ["case", "gone"]\n'),
    _config("tolerance-of-comparison", ROUGE, f"{ROUGE}\n[comparison]\ntolerance = 0.02\n"),
    _config("gate-in-configuration", "evaluators = [", 'gate = ["rouge.rouge_l >= 0.5"]\nevaluators = ['),
    _config("description-of-model", "timeout_s = 20", 'timeout_s = 20\ndescription = "The desk."'),
    Edit(
        name="second-model",
        about="one more model of the same application",
        files={CONFIG: appended('\n[[model]]\nname = "desk-2"\nhost = "python"\ntarget = "app:ask"\n')},
        arguments=("--evalstudio-model", "desk"),
    ),
    _ini("junit", "addopts = --junitxml=build/junit.xml\n"),
    _ini("minimum-version", "minversion = 8.0\n"),
    _ini("filtered-warnings", "filterwarnings =\n    ignore::ResourceWarning\n"),
    _ini("log-level", "log_cli_level = INFO\n"),
    _ini("strict-markers", "addopts = --strict-markers\n"),
    Edit(
        name="more-testpaths",
        about="pytest.ini",
        files={INI: replaced(("testpaths = suites", "testpaths = suites docs")), "docs/a.md": "# A\n"},
    ),
    Edit(
        name="pytest-configuration-moved",
        about="pytest's configuration moves to pyproject.toml",
        files={
            INI: None,
            "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["suites"]\npythonpath = ["."]\n',
        },
    ),
    Edit(
        name="calls-forbid-others",
        about="both calls forbid other arguments",
        files={
            AGENT: replaced(
                (
                    '"arguments": {"owner": "Ada Brown"}',
                    '"arguments": {"owner": "Ada Brown"}, "other_arguments": "forbid"',
                ),
                ('"arguments": {"amount": 250}', '"arguments": {"amount": 250}, "other_arguments": "forbid"'),
            )
        },
    ),
)
