"""The commands of docs/run/bisect.md find the commit in a repository that the test makes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support.pages import DOCS, read

PAGE = read(DOCS / "run" / "bisect.md")
SCRIPT = re.findall(r'^```bash title="bisect_case\.sh"[^\n]*\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = [
    line
    for block in re.findall(r"^```sh[^\n]*\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
SUITE = """name: Fees
tests:
  - test_cases:
      - {key: card, prompt: card?, condition: '"5 USD"'}
      - {key: transfer, prompt: transfer?, condition: '"15 USD"'}
"""
CONFIG = """evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
"""
APP = """VERSION = {version}
ANSWERS = {{"card?": "It costs {card}.", "transfer?": "It costs 15 USD."}}


def ask(prompt):
    return ANSWERS[prompt]
"""
BROKEN = {"syntax": "def ask(prompt:\n", "silent": "def ask(prompt):\n    raise OSError('no connection')\n"}
NOISY = """import pathlib

VERSION = {version}
# Outcomes of a noisy application in a fixed order, so that the test has the same result each time.
OUTCOMES = "{outcomes}"
COUNTER = pathlib.Path("../asked.txt")


def ask(prompt):
    asked = int(COUNTER.read_text())
    COUNTER.write_text(str(asked + 1))
    return "It costs 5 USD." if OUTCOMES[asked % len(OUTCOMES)] == "p" else "It costs 6 USD."
"""
MOSTLY_PASS, MOSTLY_FAIL = "pppppfpppp", "fffpffffff"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("git") and shutil.which("bash")), reason="git or bash is missing"),
]


class Repository:
    """A Git repository whose commits are versions of an application."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{role}_NAME": "A Tester" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": "tester@example.com" for role in ("AUTHOR", "COMMITTER")},
        }
        self.run("git init --quiet --initial-branch=main .")

    def run(self, command: str) -> str:
        """Return what a command prints; its exit status is that of the bisection or of the test."""
        result = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return result.stdout + result.stderr

    def commit(self, text: str, message: str) -> str:
        (self.folder / "app.py").write_text(text, encoding="utf-8")
        self.run("git add app.py fees_suite.yaml evalstudio.toml")
        self.run(f"git commit --quiet --message '{message}'")
        return self.run("git rev-parse HEAD").strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "fees_suite.yaml").write_text(SUITE, encoding="utf-8")
    (folder / "evalstudio.toml").write_text(CONFIG, encoding="utf-8")
    return Repository(folder)


@pytest.fixture
def history(repository: Repository) -> list[str]:
    """Commits of an application: the 6th cannot be imported, the 9th breaks a case, the 11th is silent."""
    commits = []
    for version in range(1, 13):
        text = APP.format(version=version, card="5 USD" if version < 9 else "6 USD")
        text = {6: BROKEN["syntax"], 11: BROKEN["silent"]}.get(version, text)
        commits.append(repository.commit(text, f"version {version}"))
    repository.run(f"git tag v1.0 {commits[0]}")
    (repository.folder / "bisect_case.sh").write_text(SCRIPT[0], encoding="utf-8")
    return commits


def commands(*beginnings: str) -> Sequence[str]:
    """Return the commands of the page that begin so, in its order."""
    return [command for command in COMMANDS if command.startswith(beginnings)]


def test_git_bisect_finds_the_commit(repository: Repository, history: list[str]) -> None:
    output = ""
    for command in commands("cp ", "git bisect "):
        output += repository.run(command)

    assert f"{history[8]} is the first bad commit" in output
    assert "version 9" in output
    assert repository.run("git rev-parse HEAD").strip() == history[-1]  # after the reset


def test_without_the_script_git_blames_a_commit_that_cannot_be_tested(
    repository: Repository, history: list[str]
) -> None:
    """This is why the page says which exit codes matter."""
    repository.run("cp fees_suite.yaml bisect_suite.yaml")
    repository.run("git bisect start HEAD v1.0")

    output = repository.run(
        "git bisect run python -B -m pytest bisect_suite.yaml -k card -p no:cacheprovider"
    )

    assert f"{history[5]} is the first bad commit" in output


@pytest.mark.parametrize(
    ("change", "key", "status"),
    [
        (lambda folder: None, "card", 0),
        (lambda folder: (folder / "app.py").write_text(APP.format(version=2, card="7 USD")), "card", 1),
        (lambda folder: (folder / "app.py").write_text(BROKEN["silent"]), "card", 125),
        (lambda folder: (folder / "app.py").write_text(BROKEN["syntax"]), "card", 125),
        (lambda folder: (folder / "evalstudio.toml").write_text("evaluaters = []\n"), "card", 125),
        (lambda folder: (folder / "bisect_suite.yaml").unlink(), "card", 125),
        (lambda folder: (folder / "bisect_suite.yaml").write_text("tests: ["), "card", 125),
        (lambda folder: None, "loan", 125),
    ],
    ids=["pass", "fail", "no-answer", "import", "configuration", "no-suite", "broken-suite", "no-case"],
)
def test_the_script_has_the_exit_codes_of_the_table(
    repository: Repository, change: Callable[[Path], object], key: str, status: int
) -> None:
    repository.commit(APP.format(version=1, card="5 USD"), "version 1")
    (repository.folder / "bisect_case.sh").write_text(SCRIPT[0], encoding="utf-8")
    repository.run("cp fees_suite.yaml bisect_suite.yaml")
    change(repository.folder)

    output = repository.run(f"bash bisect_case.sh {key}; echo status $?")

    assert f"status {status}" in output.splitlines(), output


@pytest.mark.skipif(
    shutil.which("git-bayesect") is None, reason="git-bayesect is not installed: pip install git-bayesect"
)
def test_git_bayesect_finds_the_commit_of_a_noisy_application(repository: Repository) -> None:
    (repository.folder.parent / "asked.txt").write_text("0")
    commits = [
        repository.commit(
            NOISY.format(version=version, outcomes=MOSTLY_PASS if version < 6 else MOSTLY_FAIL),
            f"version {version}",
        )
        for version in range(1, 9)
    ]
    repository.run(f"git tag v1.0 {commits[0]}")
    (repository.folder / "bisect_case.sh").write_text(SCRIPT[0], encoding="utf-8")

    output = ""
    for command in commands("cp ", "git bayesect "):
        output += repository.run(command)

    [commit] = set(re.findall(r"^(?:\x1b\[\d*m)*commit ([0-9a-f]{40})", output, re.MULTILINE))
    assert commit == commits[5]
    assert int((repository.folder.parent / "asked.txt").read_text()) > len(commits)
