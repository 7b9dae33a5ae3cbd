from __future__ import annotations

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import kind_of, read_source
from pytest_evalstudio.formats.suite import TestSuite

WORKFLOWS = pytest.mark.part("validation")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"tests": []}, "suite"),
        ({"dataset": {}, "models": []}, "lab"),
        ({"inputs": []}, "dataset"),
        pytest.param({"evalstudio_workflow": {}, "tests": []}, "workflow", marks=WORKFLOWS),
        ({"dataset": {}}, ""),
        ({"name": "x"}, ""),
        ([{"tests": []}], ""),
        ("tests", ""),
        (None, ""),
    ],
)
def test_kinds_are_told_apart_by_their_content(data, kind):
    assert kind_of(data) == kind


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.json", '{"tests": []}', "suite"),
        ("a.JSON", '{"dataset": {"inputs": []}, "models": []}', "lab"),
        ("a.yaml", "inputs: []", "dataset"),
        ("a.YML", "tests: []", "suite"),
        ("a.Csv", "input\nq\n", "dataset"),
    ],
)
def test_the_form_is_told_by_the_ending(tmp_path, name, text, kind):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read(read_source(tmp_path / name)).kind == kind


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.txt", "{}", "a.txt: the file type is unknown; use one of .json, .yaml, .yml, .csv"),
        (
            "a.json",
            "{}",
            (
                "a.json: has no supported format: a test suite has `tests`, a single test `test_cases`, a"
                " single test case a `prompt`, a test lab `dataset` and `models`, an LLM data set `inputs`"
            ),
        ),
        ("a.json", "", "a.json:1:1: is not JSON: expecting value"),
        ("a.yaml", "", "a.yaml: has no supported format: a test suite has"),
        pytest.param(
            "a.json",
            '{"evalstudio_workflow": {}}',
            "a.json: is a workflow, which has no test cases",
            marks=WORKFLOWS,
        ),
        ("a.json", '{"tests": [}', "a.json:1:12: is not JSON: expecting value"),
    ],
)
def test_what_is_none_of_ours_is_refused(tmp_path, name, text, fault):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as exc_info:
        read(read_source(tmp_path / name, name))
    assert str(exc_info.value).startswith(fault)


def test_a_file_of_another_kind_is_not_loaded(tmp_path):
    (tmp_path / "d.json").write_text('{"inputs": []}', encoding="utf-8")
    with pytest.raises(DataError, match="is a dataset, not a suite: a test suite has `tests`"):
        TestSuite.load(tmp_path / "d.json")
