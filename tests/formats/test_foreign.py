"""Files of other tools are named by what they are, and no file of this package is taken for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.foreign import foreign_file
from pytest_evalstudio.formats.imported.records import read_file
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.source import parse
from pytest_evalstudio.importers.kinds import KINDS, import_file

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "importers" / "files"
EXAMPLES = sorted(
    path
    for pattern in ("*_suite.json", "*_lab.json", "*_dataset.json", "*_workflow.json", "*_suite.yaml")
    for path in (ROOT / "example_suites").rglob(pattern)
)
RESULTS = {"evalId": "e", "results": {"version": 4, "results": []}, "config": {}}


@pytest.mark.parametrize(
    ("data", "kind", "description"),
    [
        (RESULTS, "promptfoo", "a promptfoo results file of version 4"),
        (RESULTS["results"], "promptfoo", "a promptfoo results file of version 4"),
        ({"prompts": ["{{q}}"], "providers": [], "tests": []}, "promptfoo", "a promptfoo configuration"),
        ({"columns": ["a"], "index": [0], "data": [[1]]}, "mlflow", "a table of columns and data, as MLflow"),
        ({"info": {}, "data": {"spans": []}}, "mlflow", "an MLflow trace"),
        ({"version": 2, "status": "success", "eval": {}}, "inspect", "an Inspect log of version 2"),
        ({"testCases": [], "metricsScores": []}, "", "a DeepEval test run"),
        ({"resourceSpans": []}, "traces", "an export of OpenTelemetry"),
        ({"kind": "run", "schema_version": 3}, "", "a record of a run"),
        ([{"user_input": "q"}], "ragas", "a data set of Ragas"),
        ([{"input": "q", "expected_tools": []}], "deepeval", "a list of goldens or test cases of DeepEval"),
        ([{"input": [], "ideal": "a"}], "openai-evals", "a list of samples of OpenAI's evals"),
    ],
)
def test_a_file_is_named_by_what_it_is(data: Any, kind: str, description: str, tmp_path: Path) -> None:
    foreign = foreign_file(data)
    assert foreign is not None
    assert (foreign.kind, foreign.description[: len(description)]) == (kind, description)
    (tmp_path / "theirs.json").write_text(json.dumps(data))
    with pytest.raises(DataError) as raised:
        read(read_source(tmp_path / "theirs.json"))
    if isinstance(data, dict):
        assert f"theirs.json: is {description}" in str(raised.value)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_our_own_files_are_not_taken_for_others(path: Path) -> None:
    assert (
        foreign_file(parse(path.read_text(encoding="utf-8"), path.name, yaml=path.suffix == ".yaml").data)
        is None
    )


@pytest.mark.parametrize("data", [None, 3, [], [3], {}, {"results": 3}, {"columns": [], "data": [3]}])
def test_other_content_is_not_named(data: Any) -> None:
    assert foreign_file(data) is None


@pytest.mark.parametrize(
    "name", ["deepeval_cases.json", "inspect.json", "mlflow_trace.json", "promptfoo.yaml", "ragas.jsonl"]
)
def test_a_file_that_is_imported_as_another_kind_is_refused_by_its_name_or_read(name: str) -> None:
    foreign = foreign_file(read_file(FILES / name).data)
    assert foreign is not None
    assert not import_file(foreign.kind, FILES / name).errors
    refusals = []
    for kind in KINDS.keys() - {foreign.kind, "table", "h2o-sonar"}:
        try:
            import_file(kind, FILES / name)
        except DataError as exc:
            refusals.append(str(exc))
    assert len(refusals) >= 3
    assert [refusal for refusal in refusals if foreign.fact not in refusal] == []
