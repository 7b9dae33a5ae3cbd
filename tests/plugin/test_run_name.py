"""Name and description of a run: from the command line or the configuration, in record and page."""

from __future__ import annotations

import pytest

from support.project import CONFIG, Project

CASE = {"key": "four", "prompt": "2+2?", "condition": '"4"'}


def page(project: Project) -> str:
    return (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")


def test_the_configuration_names_and_describes_a_run(project: Project) -> None:
    project.write(
        "evalstudio.toml", CONFIG + '\n[run]\nname = "Northfold <b>"\ndescription = "Before release 7"\n'
    )
    project.suite(CASE)
    project.run("sums_suite.json")
    header, _ = project.record()
    assert (header["name"], header["description"]) == ("Northfold <b>", "Before release 7")
    assert "<title>✓ 1 passed – Northfold &lt;b&gt;</title>" in page(project)
    assert "Before release 7" in page(project)


def test_the_command_line_wins_and_keeps_the_description(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG + '\n[run]\nname = "nightly"\ndescription = "all suites"\n')
    project.suite(CASE)
    project.run("sums_suite.json", "-o", "evalstudio_name=pull request 7")
    header, _ = project.record()
    assert (header["name"], header["description"]) == ("pull request 7", "all suites")


def test_without_a_name_the_page_is_named_after_its_file(project: Project) -> None:
    project.suite(CASE)
    project.run("sums_suite.json")
    header, _ = project.record()
    assert "name" not in header
    assert "<title>✓ 1 passed – Sums</title>" in page(project)


@pytest.mark.parametrize("table", ["name = 1", 'title = "x"'])
def test_a_wrong_table_is_refused(project: Project, table: str) -> None:
    project.write("evalstudio.toml", f"{CONFIG}\n[run]\n{table}\n")
    project.suite(CASE)
    assert "run." in str(project.run("sums_suite.json").outlines + project.run("sums_suite.json").errlines)
