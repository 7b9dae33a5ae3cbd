"""Plugins of another package are treated like those of this one, by whichever way they are registered."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.core.plugins.registry import Registry
from support.project import Project
from tests.extension.conftest import PLUGINS

pytestmark = pytest.mark.slow

KINDS = [kind.kind for kind in Registry().kinds]
CONFIG = """
evaluators = ["acme_brevity"]

[evaluator.acme_brevity]
max_words = 10

[perturbations]
apply = "acme_shout"

[[model]]
name = "echo"
host = "acme_echo"
times = 2
"""
SEPARATOR = "\n--- next kind\n"
LISTS = f"""
import sys
from pytest_evalstudio.cli import main
for number, kind in enumerate({KINDS}):
    print({SEPARATOR!r} * (number > 0), end="")
    status = main([kind + "s", *sys.argv[1:]])
    assert status == 0, (kind, status)
"""
WORKFLOW = {
    "evalstudio_workflow": {
        "documents": ["fees.md"],
        "steps": {"acme_inventory": {"min_documents": 1}},
    }
}


def evalstudio(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest_evalstudio.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_the_external_package_has_one_plugin_of_each_kind() -> None:
    assert set(PLUGINS) == set(KINDS)


def lists_of_kinds(*options: str, folder: Path) -> dict[str, str]:
    """Return what `evalstudio KINDS` prints with options, by kind; all from one process."""
    result = subprocess.run(
        [sys.executable, "-c", LISTS, *options], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return dict(zip(KINDS, result.stdout.split(SEPARATOR), strict=True))


@pytest.mark.slow
def test_entry_points_are_listed_and_described(site: Path, tmp_path: Path) -> None:
    tables = lists_of_kinds(folder=tmp_path)
    as_json = lists_of_kinds("--json", folder=tmp_path)
    for kind in KINDS:
        id = PLUGINS[kind].partition(" ")[0]
        entry = next(entry for entry in json.loads(as_json[kind]) if entry["id"] == id)
        assert id in tables[kind]
        assert entry["description"]


@pytest.mark.slow
def test_plugins_of_a_conftest_are_listed_where_its_module_is_named(registrar: Path, tmp_path: Path) -> None:
    plain = lists_of_kinds(folder=registrar.parent)
    by_path = lists_of_kinds("--plugin-module", str(registrar), folder=tmp_path)
    by_name = lists_of_kinds("--plugin-module", "conftest", folder=registrar.parent)
    for kind in KINDS:
        id = PLUGINS[kind].partition(" ")[0]
        assert id not in plain[kind]
        assert id in by_path[kind]
        assert id in by_name[kind]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.py", None, "--plugin-module gone.py: there is no such file"),
        ("empty.py", "", "--plugin-module empty.py: it has no function pytest_evalstudio_register(registry)"),
        (
            "broken.py",
            "1 / 0",
            "--plugin-module broken.py: does not load: ZeroDivisionError: division by zero",
        ),
        ("no_such_module", None, "--plugin-module no_such_module: does not load: ModuleNotFoundError"),
    ],
)
def test_a_module_that_registers_nothing_is_a_usage_error(
    name: str, content: str | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    result = evalstudio("steps", "--plugin-module", name, folder=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_external_plugins_run_in_a_suite_and_their_section_is_on_the_page(
    site: Path, project: Project
) -> None:
    project.write("evalstudio.toml", CONFIG)
    project.suite({"key": "short", "prompt": "hello there"}, {"key": "long", "prompt": "a b c d e f"})
    assert evalstudio("validate", "evalstudio.toml", "sums_suite.json", folder=project.folder).returncode == 0

    result = project.run_process("sums_suite.json")

    result.assert_outcomes(passed=2, failed=2)
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert ">Acme note</h2>" in page
    assert "<p>1 boards by Acme</p>" in page


def test_an_external_step_runs_in_a_workflow(site: Path, project: Project) -> None:
    project.write("fees.md", "# Fees\n\nA card costs 30 USD a year.\n")
    project.write("bank_workflow.json", json.dumps(WORKFLOW))

    result = project.run_process("bank_workflow.json", "-k", "acme_inventory")
    status = evalstudio("mrm", "status", "bank_workflow.json", folder=project.folder)

    result.assert_outcomes(passed=1)
    assert (project.folder / "bank_workflow_artifacts" / "20_acme_inventory" / "inventory.txt").is_file()
    assert "acme_inventory              completed" in status.stdout


def test_a_workflow_with_a_step_of_a_conftest_is_valid_where_its_module_is_named(
    registrar: Path, project: Project
) -> None:
    project.write("fees.md", "# Fees\n\nA card costs 30 USD a year.\n")
    project.write("bank_workflow.json", json.dumps(WORKFLOW))
    unknown = evalstudio("validate", "bank_workflow.json", folder=project.folder)
    plugin_result = evalstudio(
        "validate", "bank_workflow.json", "--plugin-module", str(registrar), folder=project.folder
    )
    assert (unknown.returncode, plugin_result.returncode) == (1, 0)
    assert "/evalstudio_workflow/steps/acme_inventory: there is no step of this name" in unknown.stdout
    module_option = ("--plugin-module", str(registrar))
    status = evalstudio("mrm", "status", "bank_workflow.json", *module_option, folder=project.folder)
    assert "20. acme_inventory" in status.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            '[evaluator.acme_brevity]\nmax_words = "many"',
            "evaluator.acme_brevity.max_words: expected a whole number",
        ),
        (
            "[evaluator.acme_brevity]\nmax_words = 1.5",
            "evaluator.acme_brevity.max_words: expected a whole number",
        ),
        ('[evaluator.acme_brevity]\nis_strict = "yes"', "acme_brevity.is_strict: expected true or false"),
        ('[evaluator.acme_brevity]\nstop_words = "a"', "acme_brevity.stop_words: expected a list of strings"),
        ("[perturbator.acme_shout]\nending = 1", "perturbator.acme_shout.ending: expected a string, found 1"),
        (
            '[[model]]\nname = "m"\nhost = "acme_echo"\ntimes = "2"',
            "host acme_echo.times: expected a whole number",
        ),
        (
            '[[model]]\nname = "m"\nhost = "acme_echo"\ntime = 2',
            "time: unknown option. Did you mean 'times'?",
        ),
        ('[[model]]\nname = "m"\nhost = "acme_eco"', "no host named 'acme_eco'. Did you mean 'acme_echo'?"),
        (
            '[judge]\nhost = "acme_echo"\ntimes = true',
            "host acme_echo.times: expected a whole number, found True",
        ),
    ],
)
def test_an_option_of_the_wrong_type_is_refused_by_validate(
    config: str, message: str, site: Path, tmp_path: Path
) -> None:
    (tmp_path / "evalstudio.toml").write_text(config, encoding="utf-8")
    result = evalstudio("validate", "evalstudio.toml", folder=tmp_path)
    assert result.returncode == 1
    assert message in result.stdout


def test_a_parameter_of_a_step_of_the_wrong_type_is_refused(site: Path, project: Project) -> None:
    workflow = json.loads(json.dumps(WORKFLOW).replace('"min_documents": 1', '"min_documents": "one"'))
    project.write("fees.md", "Fees.\n")
    project.write("bank_workflow.json", json.dumps(workflow))
    result = evalstudio("validate", "bank_workflow.json", folder=project.folder)
    assert result.returncode == 1
    assert "/steps/acme_inventory/min_documents: expected a whole number, found 'one'" in result.stdout


@pytest.mark.slow
def test_a_rag_model_without_context_is_the_same_problem_live_and_resolved(
    site: Path, project: Project
) -> None:
    project.write(
        "evalstudio.toml", CONFIG.replace('apply = "acme_shout"', "").replace("[perturbations]", "")
    )
    project.suite({"key": "short", "prompt": "hello there"})
    project.run_process("sums_suite.json", "--evalstudio-output", "live")
    resolved = evalstudio("resolve", "sums_suite.json", "-o", "answers_lab.json", folder=project.folder)
    project.run_process("answers_lab.json", "--evalstudio-output", "resolved")

    def problems(folder: str) -> list[tuple[str, str]]:
        data = json.loads((project.folder / folder / "interpretation.json").read_text(encoding="utf-8"))
        return sorted((problem["severity"], problem["description"]) for problem in data["problems"])

    lab = json.loads((project.folder / "answers_lab.json").read_text(encoding="utf-8"))
    assert resolved.returncode == 0
    assert lab["models"][0]["retrieves"] is True
    assert any(severity == "high" for severity, _ in problems("live"))
    assert problems("live") == problems("resolved")
