"""Places of items for IDEs, and node ids that can be run again."""

from __future__ import annotations

import json
from pathlib import Path

from support.project import Project

LOCATIONS = """
def pytest_collection_modifyitems(items):
    with open("locations.txt", "w") as file:
        for item in items:
            file.write(f"{item.location[0]}:{item.location[1] + 1} {item.name}\\n")
"""
SUITE = """{
  "tests": [
    {"test_cases": [
      {"key": "a", "prompt": "2+2?", "condition": "\\"4\\""},
      {"key": "b", "prompt": "3+3?",
       "condition": "\\"7\\""}
    ]},
    {"test_cases": [

      {"prompt": "no key", "condition": "\\"4\\""}
    ]}
  ]
}
"""
YAML = """tests:
  - test_cases:
      - key: y1
        prompt: 2+2?
        condition: '"4"'

      - {key: y2, prompt: 3+3?, condition: '"6"'}
"""
LAB = """{"models": [{"key": "m", "name": "m"}, {"key": "n", "name": "n"}],
 "dataset": {"inputs": [
  {"key": "q", "input": "2+2?", "actual_output": "4", "output_condition": "\\"4\\"", "model_key": "m"},
  {"key": "q", "input": "2+2?", "actual_output": "5", "output_condition": "\\"4\\"", "model_key": "n"}
]}}
"""


def test_an_item_stands_at_the_line_of_its_case(project: Project) -> None:
    project.write("conftest.py", LOCATIONS)
    project.write("a_suite.json", SUITE)
    project.write("b_suite.yaml", YAML)
    project.write("c_lab.json", LAB)

    project.run("--co", "-q", "--evalstudio-perturb", "copy", "a_suite.json", "b_suite.yaml")
    locations = (project.folder / "locations.txt").read_text().splitlines()
    assert [place.split()[0] for place in locations] == [
        *["a_suite.json:4"] * 2,
        *["a_suite.json:5"] * 2,
        *["a_suite.json:10"] * 2,
        *["b_suite.yaml:3"] * 2,
        *["b_suite.yaml:7"] * 2,
    ]

    project.run("--co", "-q", "c_lab.json")
    assert (project.folder / "locations.txt").read_text() == "c_lab.json:3 q[m]\nc_lab.json:4 q[n]\n"


def test_a_failure_on_one_line_begins_with_the_place_of_its_case(project: Project) -> None:
    project.write("a_suite.json", SUITE)

    result = project.run("-v", "--tb=line", "-k", "b")

    result.stdout.fnmatch_lines(["*a_suite.json:5: text_matching: *"])


AWKWARD = ["a::b", "a[b]", "a/b", "a\nb", "a b", "a_b", "ä\u202eb", "[x]::[y]"]


def test_awkward_keys_give_unique_node_ids_that_run_again(project: Project) -> None:
    project.suite(*({"key": key, "prompt": "2+2?", "condition": '"4"'} for key in AWKWARD))

    result = project.run("--co", "-q")

    names = [line for line in result.outlines if "::" in line]
    assert len(set(names)) == len(AWKWARD)
    project.run(*names).assert_outcomes(passed=len(AWKWARD))
    project.run(names[2]).assert_outcomes(passed=1)


def test_a_file_outside_the_rootdir_runs_again_by_its_node_id(project: Project, tmp_path: Path) -> None:
    outer_folder = tmp_path / "else where"
    outer_folder.mkdir()
    case = {"prompt": "2+2?", "condition": '"4"'}
    suite = {"tests": [{"test_cases": [{"key": "a", **case}, {"key": "b::c", **case}]}]}
    (outer_folder / "sums_suite.json").write_text(json.dumps(suite))
    common = (f"--evalstudio-config={project.folder / 'evalstudio.toml'}", f"--rootdir={project.folder}")

    result = project.run("-v", str(outer_folder), *common)

    result.assert_outcomes(passed=2)
    names = [item["nodeid"] for item in project.record()[1].values()]
    assert len(set(names)) == 2
    for name in names:
        project.run(name, *common).assert_outcomes(passed=1)


def test_rows_of_a_csv_data_set_have_their_lines(project: Project) -> None:
    project.write(
        "answers_dataset.csv",
        'key,input,actual_output,expected_output\na,q1,"two\nlines",yes\nb,q2,zzz,no\n',
    )
    result = project.run(
        "answers_dataset.csv", "--evalstudio-evaluators", "rouge", "-o", "evalstudio_github=yes"
    )
    lines = [line.partition(",title")[0] for line in result.outlines if line.startswith("::error")]
    assert lines == ["::error file=answers_dataset.csv,line=2", "::error file=answers_dataset.csv,line=4"]
