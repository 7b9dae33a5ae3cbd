"""The examples in CONTRIBUTING.md: each is one new file, nothing else is changed, and all checks pass."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_evalstudio
from pytest_evalstudio.core.plugins.registry import Registry
from support.project import Project

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^```python example=(\S+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE))
KINDS = Registry().kinds
SUITE = {"key": "greeting", "prompt": "hello there"}
CONFIG = """
evaluators = ["word_limit"]

[evaluator.word_limit]
max_words = 10

[perturbations]
apply = "upper_case"

[[model]]
name = "echo"
host = "echo"
"""
WORKFLOW = {"evalstudio_workflow": {"documents": ["fees.md"], "steps": {"document_count": {}}}}


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the files of the examples."""
    folder = tmp_path_factory.mktemp("extended")
    source = Path(pytest_evalstudio.__file__).parent
    shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, code in EXAMPLES.items():
        file = folder / name
        if not file.parent.is_dir():
            file.parent.mkdir()
            (file.parent / "__init__.py").write_text('"""A plugin of several files."""\n', encoding="utf-8")
        file.write_text(code, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def repository(extended: Path) -> Path:
    """The same copy with the tests and the documentation, and the examples in the index of plugins."""
    for name in ("tests", "docs", "example_suites"):
        shutil.copytree(ROOT / name, extended / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "CONTRIBUTING.md", "conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, extended)
    with pytest.MonkeyPatch.context() as patch:
        use_copy(extended, patch)
        index = run("tests/support/plugin_index.py", folder=extended)
    assert index.returncode == 0, index.stderr
    return extended


@pytest.fixture
def in_extended(extended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_copy(extended, monkeypatch)


def use_copy(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let new processes import the copied package."""
    patch.setenv("PYTHONPATH", str(folder), prepend=":")
    # Coverage would count the copy as a second, hardly tested package.
    for name in ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"):
        patch.delenv(name, raising=False)


def id_of(kind: str) -> str:
    """The id of the example of a kind."""
    return re.findall(rf'^@{kind}\("(\w+)"', "\n".join(EXAMPLES.values()), re.MULTILINE)[0]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def evalstudio(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run("-m", "pytest_evalstudio.cli", *arguments, folder=folder)


def mirror_of(example: str) -> str:
    """The folder of the tests that mirrors the folder of an example."""
    folder = Path("tests", *Path(example).parts[1:-1])
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return str(folder)


def test_the_guide_is_short() -> None:
    assert len(TEXT.splitlines()) <= 210


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_the_guide_names_each_kind(kind) -> None:
    folder = f"`{kind.packages[0]}`"
    if kind.group != kind.packages[0]:
        folder += f"; `{kind.group}`"
    row = f"| `{kind.kind}` | {folder} | `registry.add_{kind.kind}` | `evalstudio {kind.kind}s` |"
    assert row in TEXT


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
@pytest.mark.usefixtures("in_extended")
def test_an_example_is_found_in_its_folder(kind: str, tmp_path: Path) -> None:
    entries = json.loads(evalstudio(f"{kind}s", "--json", folder=tmp_path).stdout)
    assert id_of(kind) in [entry["id"] for entry in entries]


@pytest.mark.usefixtures("in_extended")
def test_the_examples_run(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG)
    project.write("fees.md", "# Fees\n\nA card costs 30 USD a year.\n")
    project.write("bank_workflow.json", json.dumps(WORKFLOW))
    project.suite(SUITE)

    result = project.run_process("sums_suite.json", "bank_workflow.json", "-k", "greeting or document_count")

    result.assert_outcomes(passed=3)
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "<p>1 leaderboards</p>" in page


def test_the_example_of_a_generator_makes_drafts(extended: Path) -> None:
    file = extended / "pytest_evalstudio" / "contrib" / "questions" / "generators" / "verbatim.py"
    names: dict[str, type] = {"__name__": "verbatim"}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
    excerpt = names["Excerpt"](id="1", sentences=("A card costs 30 USD.",), topic="fees")
    drafts = list(names["Verbatim"]().drafts(excerpt, names["Corpus"]((excerpt,)), None))
    assert [draft.question for draft in drafts] == ["Is it so? A card costs 30 USD."]


@pytest.mark.slow
@pytest.mark.usefixtures("in_extended")
def test_the_examples_pass_the_tests_of_their_kinds(repository: Path) -> None:
    """One process runs the tests of all kinds that name an example."""
    example_of = {
        kind.kind: next(name for name, code in EXAMPLES.items() if f"\n@{kind.kind}(" in code)
        for kind in KINDS
    }
    folders = sorted({mirror_of(example) for example in example_of.values()})
    ids = " or ".join(id_of(kind) for kind in example_of)
    selection = ("-k", ids, "-m", "not browser and not slow", "-p", "no:cacheprovider", "-vv")
    tests = run("-m", "pytest", *folders, *selection, folder=repository)
    assert tests.returncode == 0, tests.stdout
    passed = [line for line in tests.stdout.splitlines() if " PASSED " in line]
    # No test of steps and sections names them: those run as part of workflows and pages.
    for kind in example_of.keys() - {"step", "section"}:
        assert any(mirror_of(example_of[kind]) in line and id_of(kind) in line for line in passed), kind


@pytest.mark.slow
@pytest.mark.usefixtures("in_extended")
def test_the_tables_of_the_documentation_take_the_examples(repository: Path) -> None:
    tables = run("tests/support/tables.py", folder=repository)
    assert (tables.returncode, tables.stderr) == (0, "")
    pages = "".join(page.read_text(encoding="utf-8") for page in (repository / "docs").rglob("*.md"))
    assert [kind for kind in ("evaluator", "host", "perturbator") if f"`{id_of(kind)}`" not in pages] == []


@pytest.mark.slow
@pytest.mark.usefixtures("in_extended")
@pytest.mark.parametrize("check", [("ruff", "check"), ("ruff", "format", "--check"), ("mypy",)], ids=" ".join)
def test_the_examples_pass_the_checks_of_a_change(check: tuple[str, ...], repository: Path) -> None:
    pytest.importorskip(check[0])
    result = run("-m", *check, *EXAMPLES, folder=repository)
    assert result.returncode == 0, result.stdout
