"""`evalstudio verify-run` in real repositories: runs as they are, weakened ones, and broken ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from contrib.attestation.material.project_runs import CI_ARGUMENTS, apply, copy_project, replaced, run_pytest
from contrib.attestation.repositories import git, good_repository
from support.command import evalstudio

CONFIG, FEES = "evalstudio.toml", "suites/fees_suite.yaml"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repository whose only commit is the protected revision, with the record of a good run."""
    folder = good_repository(tmp_path_factory.mktemp("desk") / "good")
    assert run_pytest(folder).returncode == 0
    return folder


def codes(folder: Path, *arguments: str, status: int) -> dict[str, set[str]]:
    """Return the codes of the findings by kind."""
    result = evalstudio("verify-run", "--json", *arguments, folder=folder)
    assert result.returncode == status, result.stdout + result.stderr
    by_kind: dict[str, set[str]] = {}
    findings: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    for each in findings:
        by_kind.setdefault(each["kind"], set()).add(each["code"])
    return by_kind


def test_a_run_without_a_change_is_verified(good: Path) -> None:
    result = evalstudio("verify-run", folder=good)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    commit = git(good, "rev-parse", "HEAD")
    assert lines[0] == f"verified: 8 of 8 protected cases pass under the rules of {commit[:12]}"
    assert lines[1:] == [
        "taken on trust:",
        "  answers: 8 answers are those of the record; --ask asks the application itself",
    ]
    assert git(good, "status", "--porcelain") == ""


def test_the_failing_run_of_a_regressed_application_is_not_verified(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, "app_wrong_fee.py", good)
    assert run_pytest(folder).returncode == 1
    finding_codes = codes(folder, status=1)
    assert finding_codes["failure"] == {"case_fails", "run_failed"}
    assert "weakness" not in finding_codes


@pytest.mark.slow
def test_a_relaxed_threshold_is_a_weakness_although_the_verdict_stands(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, source=good)
    apply(folder, {CONFIG: replaced(("threshold = 0.9", "threshold = 0.5"))})
    # The run alone fails: every test changed, so that none is compared.
    assert run_pytest(folder).returncode == 1
    assert run_pytest(folder, (*CI_ARGUMENTS, "--evalstudio-fail-on", "none")).returncode == 0
    result = evalstudio("verify-run", folder=folder)
    assert result.returncode == 1
    first, title, line, *_ = result.stdout.splitlines()
    assert first.startswith("weakened: 1 weakness; the verdict stands without them, 8 of 8")
    assert title == "weakened:"
    assert line.endswith("threshold of rouge.rouge_l is relaxed: 0.9 → 0.5")


@pytest.mark.slow
def test_an_edited_expectation_is_described(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, "app_wrong_fee.py", good)
    apply(folder, {FEES: replaced(("costs 15 USD", "costs 12 USD"), ("number(15,", "number(12,"))})
    assert run_pytest(folder).returncode == 0
    result = evalstudio("verify-run", folder=folder)
    assert result.returncode == 1
    assert "abroad[desk]: fails under the protected rules: text_matching: answer and context: lacks" in (
        result.stdout
    )
    assert 'condition edited: number(15, unit="USD") → number(12, unit="USD")' in result.stdout
    assert "costs 15 USD. → A transfer abroad costs 12 USD." in result.stdout


@pytest.mark.slow
def test_asking_the_application_settles_a_doubt_and_finds_a_patch(good: Path, tmp_path: Path) -> None:
    patch = "\n\nimport app\nfrom app_good import ask\n\napp.ask = ask\n"
    for application, status, kind in (("app_good.py", 0, "change"), ("app_wrong_fee.py", 1, "failure")):
        folder = tmp_path / application
        copy_project(folder, application, good)
        apply(folder, {"conftest.py": lambda text: text + patch})
        assert run_pytest(folder).returncode == 0
        assert codes(folder, status=1)["weakness"] == {"test_code"}
        finding_codes = codes(folder, "--ask", status=status)
        assert ("asked_fails" if kind == "failure" else "test_code") in finding_codes[kind]


@pytest.mark.slow
def test_a_revision_under_test_needs_no_check_out(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, source=good)
    git(folder, "checkout", "-q", "-b", "change")
    apply(folder, {CONFIG: replaced(('"tool_calls", ', ""))})
    git(folder, "commit", "-q", "-a", "-m", "Drop an evaluator")
    assert run_pytest(folder).returncode == 0
    git(folder, "checkout", "-q", "main")
    assert codes(folder, "--head", "change", status=1)["weakness"] == {"evaluator_dropped"}
    # The default base is where the branch has left main.
    git(folder, "checkout", "-q", "change")
    assert codes(folder, status=1)["weakness"] == {"evaluator_dropped"}


@pytest.mark.slow
def test_modules_of_the_tree_under_test_are_not_imported(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "desk"
    shutil.copytree(good, folder)
    apply(
        folder,
        {"checks.py": lambda text: "raise SystemExit('imported')\n" + text, "sitecustomize.py": "1/0\n"},
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    assert codes(folder, status=1)["weakness"] == {"start_up_code"}


def test_no_record_is_no_verdict(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, source=good)
    shutil.rmtree(folder / "evalstudio-report")
    assert "record_missing" in codes(folder, status=1)["failure"]


def test_faults_of_usage_have_a_remedy(good: Path, tmp_path: Path) -> None:
    result = evalstudio("verify-run", "--base", "nowhere", folder=good)
    assert result.returncode == 2
    assert "no revision 'nowhere'; fetch it" in result.stderr
    no_repository = evalstudio("verify-run", folder=tmp_path)
    assert no_repository.returncode == 2
    assert "run the command in the project's repository" in no_repository.stderr
    assert evalstudio("verify-run", "--ask", "some", folder=good).returncode == 2
    assert evalstudio("verify-run", "--sign", "true", folder=good).returncode == 2


@pytest.mark.slow
def test_arguments_of_the_protected_job_count(good: Path) -> None:
    finding_codes = codes(good, "--pytest", "-k hours --evalstudio-threshold rouge=0.95", status=1)
    assert finding_codes["weakness"] == {"threshold"}
    assert "case_added" in finding_codes["change"]


MAIL_APPLICATION = """
import re


def ask(prompt):
    name = re.search("of (\\\\w+)", prompt)[1].lower()
    return f"Write to {name}@bank-of-leeds.co.uk."
"""
MAIL_SUITE = """
name: Addresses
tests:
  - test_cases:
      - key: ada
        prompt: What is the address of Ada?
        expected_output: Write to ada@bank-of-leeds.co.uk.
        condition: '"ada@bank-of-leeds.co.uk"'
      - {key: bo, prompt: What is the address of Bo?, condition: 'word("Write")'}
      - key: both
        turns:
          - {prompt: What is the address of Ada?, condition: '"ada@bank-of-leeds.co.uk"'}
          - {prompt: And of Bo?, condition: '"bo@bank-of-leeds.co.uk"'}
"""
MAIL_TEST = """
def test_cy(eval_model, eval_text_matching):
    case = eval_model("desk").ask("What is the address of Cy?", condition='"Write"')
    eval_text_matching.check(case)


def test_arithmetic():
    assert 1 + 1 == 2
"""


@pytest.mark.slow
def test_masked_answers_a_conversation_and_tests_in_python_of_a_folder(tmp_path: Path) -> None:
    """A project in a folder of its repository, whose answers have personal data."""
    root = tmp_path / "repository"
    folder = root / "services" / "mail"
    files = {
        "app.py": MAIL_APPLICATION,
        "mail_suite.yaml": MAIL_SUITE,
        "test_mail.py": MAIL_TEST,
        CONFIG: 'evaluators = ["text_matching", "rouge", "sensitive_data_leakage"]\n'
        '[[model]]\nname = "desk"\nhost = "python"\ntarget = "app:ask"\n',
    }
    folder.mkdir(parents=True)
    apply(folder, files)
    (root / ".gitignore").write_text("evalstudio-report\n.evalstudio\n__pycache__\n.pytest_cache\n")
    (root / "link").symlink_to("/etc")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Protected revision")
    run = run_pytest(folder, ())
    record = (folder / "evalstudio-report" / "record.jsonl").read_text()
    assert "ada@bank" not in record
    result = evalstudio("verify-run", folder=folder)
    assert result.returncode == run.returncode == 0
    assert result.stdout.startswith("verified: 3 of 3 protected cases pass")
    assert "tests in Python: 1 verdicts are those of the record" in result.stdout
    assert evalstudio("verify-run", "--ask", folder=folder).returncode == 0
    weaker = replaced(("""'"bo@bank-of-leeds.co.uk"'""", """'"bo@bank-of-leeds.co.uk" OR "Write"'"""))
    apply(folder, {"mail_suite.yaml": weaker})
    assert run_pytest(folder, ()).returncode == 0
    assert "expectation" in codes(folder, status=0)["change"]
    apply(folder, {"test_mail.py": "def test_arithmetic():\n    assert True\n"})
    assert run_pytest(folder, ()).returncode == 0
    assert "case_not_run" in codes(folder, status=1)["failure"]


@pytest.mark.slow
def test_two_applications_of_one_name_are_told_apart(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    for name, answer in (("first", "It is 5 USD."), ("second", "It is 6 USD.")):
        folder = root / name
        folder.mkdir(parents=True)
        number = answer.split()[2]
        apply(
            folder,
            {
                "app.py": f"def ask(prompt):\n    return {answer!r}\n",
                "fee_suite.yaml": "name: Fees\ntests:\n  - test_cases:\n"
                f"      - {{key: fee, prompt: What is it?, condition: 'number({number})'}}\n",
                CONFIG: 'evaluators = ["text_matching"]\n'
                '[[model]]\nname = "desk"\nhost = "python"\ntarget = "app:ask"\n',
            },
        )
    (root / ".gitignore").write_text("evalstudio-report\n.evalstudio\n__pycache__\n.pytest_cache\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Protected revision")
    assert run_pytest(root, ()).returncode == 0
    assert codes(root, status=0) == {"trust": {"answers"}}
    assert codes(root, "--ask", status=0) == {}
    apply(root / "second", {"app.py": replaced(("6 USD", "7 USD")), "fee_suite.yaml": replaced(("6", "7"))})
    assert run_pytest(root, ()).returncode == 0
    assert codes(root, status=1)["failure"] == {"case_fails"}


def test_a_revision_without_test_cases_verifies_nothing(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    shutil.copytree(good, folder)
    git(folder, "checkout", "-q", "--orphan", "empty")
    git(folder, "rm", "-r", "-q", "--cached", ".")
    git(folder, "add", "app.py")
    git(folder, "commit", "-q", "-m", "No tests")
    result = evalstudio("verify-run", "--base", "empty", folder=folder)
    assert result.returncode == 1
    assert "protected revision: it has no test case; give another --base" in result.stdout
