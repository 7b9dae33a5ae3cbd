"""`evalstudio import` and `export`: what is written, what is printed, and how faults are reported."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.cli.importing import FORMAT_IDS, KIND_IDS
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.importers.exporting import FORMATS
from pytest_evalstudio.importers.kinds import KINDS

FILES = Path(__file__).parent / "files"


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, *records: object) -> str:
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return name


def test_the_help_names_every_kind() -> None:
    assert list(KINDS) == list(KIND_IDS)
    assert list(FORMATS) == list(FORMAT_IDS)


def test_a_file_is_imported_and_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["import", "deepeval", str(FILES / "deepeval_goldens.json"), "-o", "out/fees_suite.json"]) == 0
    )
    assert capsys.readouterr().out == "wrote out/fees_suite.json: suite, 2 test cases\n"
    assert main(["validate", "out/fees_suite.json"]) == 0


def test_a_faulty_record_is_reported_and_the_others_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    name = write(
        "set.jsonl", {"user_input": "Fee?", "reference": "5"}, {"user_input": 5}, {"user_input": " "}, 7
    )
    assert main(["import", "ragas", name, "-o", "set.json"]) == 1
    assert len(TestSuite.load("set.json").cases()) == 1
    output = capsys.readouterr().out.splitlines()
    assert output[0].startswith("set.jsonl:2")
    assert "expected a question as a text" in output[0]
    assert output[1].startswith("set.jsonl:3")
    assert "has no question" in output[1]
    assert "expected an object" in output[2]
    assert output[-1] == "wrote set.json: suite, 1 test case; 3 records are left out"


def test_nothing_is_written_where_nothing_is_imported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "ragas", write("set.jsonl", {"user_input": 5}), "-o", "set.json"]) == 2
    assert not Path("set.json").exists()
    assert "no record could be imported" in capsys.readouterr().err


def test_columns_of_a_table_are_mapped() -> None:
    Path("log.csv").write_text(
        'asked,said,chunks,team\nWhat is the fee?,30 USD,"[""The fee is 30 USD.""]",cards\n', encoding="utf-8"
    )
    columns = "input=asked,actual_output=said,context=chunks"
    assert main(["import", "table", "log.csv", "--map", columns, "-o", "log.json"]) == 0
    [row] = LlmDataset.load("log.json").inputs
    assert (row.input, row.actual_output, row.context) == (
        "What is the fee?",
        "30 USD",
        ["The fee is 30 USD."],
    )
    assert row.model_extra == {"metadata": {"team": "cards"}}


def test_a_parquet_file_is_a_table() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {"question": ["What is the fee?"], "answer": ["30 USD"], "chunks": [["The fee is 30."]]}
    )
    parquet.write_table(table, "log.parquet")
    columns = "input=question,actual_output=answer,context=chunks"
    assert main(["import", "table", "log.parquet", "--map", columns, "-o", "log.csv"]) == 0
    assert LlmDataset.load("log.csv").inputs[0].context == ["The fee is 30."]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("input=quetsion", "no column named 'quetsion'. Did you mean 'question'?"),
        ("inptu=question", "no field named 'inptu'. Did you mean 'input'?"),
        ("question", "expected FIELD=COLUMN"),
        ("", "no column named 'input'."),
    ],
)
def test_a_wrong_map_is_a_usage_error(columns: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = write("log.jsonl", {"question": "Fee?"})
    assert main(["import", "table", name, "--map", columns, "-o", "log.json"]) == 2
    assert message in capsys.readouterr().err


def test_a_suite_of_h2o_sonar_stays_as_it_is() -> None:
    suite = TestSuite(name="Fees")
    suite.add_test(documents=["fees.md"]).add_case("What is the fee?", condition='"30"')
    suite.save("first.json")
    assert main(["import", "h2o-sonar", "first.json", "-o", "second.json"]) == 0
    assert Path("first.json").read_text() == Path("second.json").read_text()


def test_a_target_can_be_chosen() -> None:
    name = str(FILES / "deepeval_cases.json")
    assert main(["import", "deepeval", name, "-o", "lab.json", "--to", "lab"]) == 0
    lab = TestLab.load("lab.json")
    assert [row.model_key for row in lab.dataset.inputs] == [model.key for model in lab.models]


def test_the_name_of_the_output_must_fit(capsys: pytest.CaptureFixture[str]) -> None:
    name = str(FILES / "deepeval_goldens.json")
    assert main(["import", "deepeval", name, "-o", "suite.csv"]) == 2
    assert "ends with .json" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [kind for kind in FORMAT_IDS if kind != "openai-evals"])
def test_an_export_is_imported_again(kind: str) -> None:
    dataset = LlmDataset()
    dataset.add_input("What is the fee?", key="fee", expected_output="30 USD", actual_output="It is 30 USD.")
    dataset.save("first.json")
    out = "out.json" if kind == "deepeval" else "out.jsonl"
    assert main(["export", kind, "first.json", "-o", out]) == 0
    assert main(["import", kind, out, "-o", "second.json", "--to", "dataset"]) == 0
    [row] = LlmDataset.load("second.json").inputs
    assert (row.input, row.expected_output) == ("What is the fee?", "30 USD")
    assert row.actual_output == ("" if kind == "langsmith" else "It is 30 USD.")


def test_what_cannot_be_exported_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    suite = TestSuite()
    suite.add_test(documents=["fees.md"]).add_case("Fee?", condition='"30"', guidelines=["Be brief."])
    suite.save("suite.json")
    assert main(["export", "openai-evals", "suite.json", "-o", "evals.jsonl"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert output == [
        "not exported: guidelines: openai-evals has no place for it",
        "not exported: condition: openai-evals has no place for it",
        "not exported: corpus: openai-evals has no place for it",
        "wrote evals.jsonl: openai-evals, 1 records",
    ]


@pytest.mark.parametrize("kind", FORMAT_IDS)
def test_expected_calls_turns_and_retrieval_that_are_not_exported_are_listed(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = TestSuite()
    suite.add_test().add_case(
        "Fee?",
        turns=[{"prompt": "Fee?"}, {"prompt": "And abroad?"}],
        expected_tool_calls=[{"name": "fees"}],
        retrieval="required",
    )
    suite.save("suite.json")
    out = "out.json" if kind == "deepeval" else "out.jsonl"
    assert main(["export", kind, "suite.json", "-o", out]) == 0
    output = capsys.readouterr().out
    for name in ("expected_tool_calls", "turns", "retrieval"):
        assert f"not exported: {name}: {kind} has no place for it" in output


def test_a_prompt_with_template_logic_is_left_out_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "prompts": ["{{q}}", "{% for x in range(10) %}{{q}}{% endfor %}"],
        "tests": [{"vars": {"q": "Fee?"}, "assert": [{"type": "equals", "value": "30"}]}],
    }
    Path("config.json").write_text(json.dumps(config), encoding="utf-8")
    assert main(["import", "promptfoo", "config.json", "-o", "suite.json"]) == 0
    [(_, case)] = TestSuite.load("suite.json").cases()
    assert (case.expected_output, case.condition) == ("30", r'regexp("\A30\Z")')
    assert "with template logic" in capsys.readouterr().out


def test_too_many_combinations_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    values = list(map(str, range(200)))
    config = {"prompts": ["{{a}}{{b}}"], "tests": [{"vars": {"a": values, "b": values}}]}
    Path("config.json").write_text(json.dumps(config), encoding="utf-8")
    assert main(["import", "promptfoo", "config.json", "-o", "suite.json"]) == 2
    assert "more than 10,000 combinations" in capsys.readouterr().out


def test_convert_reads_sets_that_hold_only_a_trace() -> None:
    assert main(["convert", str(FILES / "mlflow_traces.jsonl"), "-o", "set.json"]) == 0
    assert LlmDataset.load("set.json").inputs[0].expected_facts == ["15 USD"]


def test_a_suite_and_repeats_survive_an_evaluation_set() -> None:
    suite = TestSuite()
    suite.add_test().add_case("What is the fee?", key="fee", expected_output="30 USD")
    suite.save("suite.json")
    assert main(["export", "agent-evaluation", "suite.json", "-o", "set.jsonl"]) == 0
    assert main(["import", "agent-evaluation", "set.jsonl", "-o", "again.json"]) == 0
    assert [case.key for _, case in TestSuite.load("again.json").cases()] == ["fee"]
    dataset = LlmDataset()
    for run in (1, 2):
        dataset.add_input("What is the fee?", key="fee", actual_output="30 USD", run=run)
    dataset.save("repeats.json")
    assert main(["export", "agent-evaluation", "repeats.json", "-o", "set.jsonl"]) == 0
    assert main(["import", "agent-evaluation", "set.jsonl", "-o", "rows.json"]) == 0
    assert len(LlmDataset.load("rows.json").inputs) == 2


def read_from(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize(
    ("kind", "file", "options"),
    [
        ("deepeval", "deepeval_goldens.json", []),
        ("ragas", "ragas.jsonl", []),
        ("deepeval", "deepeval_cases.csv", []),
        ("promptfoo", "promptfoo.yaml", []),
        ("inspect", "inspect.eval", []),
    ],
)
def test_standard_input_is_read_like_the_file(
    kind: str, file: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FILES, "files")
    monkeypatch.chdir("files")
    main(["import", kind, file, "-o", "from_file.json", *options])
    read_from(monkeypatch, Path(file).read_bytes())

    assert main(["import", kind, "-", "-o", "from_input.json", *options]) == 0

    from_file, from_input = (
        json.loads(Path(name).read_text(encoding="utf-8")) for name in ("from_file.json", "from_input.json")
    )
    stem = Path(file).stem
    assert json.dumps(from_input).replace("standard input", stem) == json.dumps(from_file)


def test_faults_of_standard_input_name_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read_from(monkeypatch, b"\n{")
    assert main(["import", "ragas", "-", "-o", "set.json"]) == 2
    assert capsys.readouterr().err.startswith("evalstudio: standard input:2:2: is not JSON: ")
    assert main(["import", "traces", "-", "-o", "new/set.json"]) == 2
    assert not Path("new").exists()
    assert capsys.readouterr().err == "evalstudio: traces are read from files, not from standard input\n"


def test_a_lab_is_imported_with_a_prefix_and_a_description(capsys: pytest.CaptureFixture[str]) -> None:
    lab = TestLab(name="Fees", description="old")
    lab.add_model("m").add_input("Fee?", actual_output="5")
    lab.save("first.json")

    assert (
        main(["import", "h2o-sonar", "first.json", "-o", "second.json", "--name-prefix", "Q3 / "])
        == main(["import", "h2o-sonar", "first.json", "-o", "third.json", "--description", "new"])
        == 0
    )

    second, third = TestLab.load("second.json"), TestLab.load("third.json")
    assert (second.name, second.description) == ("Q3 / Fees", "old")
    assert (third.name, third.description) == ("Fees", "new")
    assert second.dataset == lab.dataset
    lab.dataset.save("rows.json")
    capsys.readouterr()
    assert main(["import", "h2o-sonar", "rows.json", "-o", "rows2.json", "--name-prefix", "x"]) == 2
    assert "a data set has neither a name nor a description" in capsys.readouterr().err
    assert not Path("rows2.json").exists()
