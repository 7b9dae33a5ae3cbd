"""`evalstudio score` prints a leaderboard, and answers bad input with one sentence and exit status 2."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from support.tables_of_answers import answers, write_csv, write_jsonl, write_parquet

MAP = "input=question,actual_output=answer,context=chunks"


@pytest.fixture(autouse=True)
def current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score(*arguments: str, mapping: str = MAP, evaluators: str = "rouge") -> int:
    command = ["score", "log.parquet", "-e", evaluators, "-o", "out.parquet", "--workers", "1"]
    return main([*command, *(["--map", mapping] if mapping else []), *arguments])


def test_the_command_prints_a_leaderboard_of_each_metric(capsys: pytest.CaptureFixture[str]) -> None:
    write_parquet(Path("log.parquet"), answers(40))
    assert score("--keep", "topic", evaluators="rouge,classification") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "rouge"
    expected = [["rouge_1", ">=", "0.75", name, "20"] for name in ("m1", "m0")]
    assert [line.split()[:5] for line in lines[2:4]] == expected
    assert " to " in lines[2]
    assert any(
        line.startswith("wrote out.parquet: 40 answers, 280 scores; 40 answers scored in") for line in lines
    )
    assert lines[-1] == "next: evalstudio report out.parquet -o report"


def test_failures_that_mirror_the_passes_are_not_printed_and_columns_stay_aligned(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_parquet(Path("log.parquet"), [{**row, "output_condition": '"never"'} for row in answers(40)])
    assert score(evaluators="text_matching") == 0
    head, *lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert {line.split()[0] for line in lines} <= {"model_passes", "model_retrieval_failures"}
    assert {line.index(line.split()[3]) for line in lines} == {head.index("model ")}


def test_the_evaluators_of_the_configuration_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    write_parquet(Path("log.parquet"), answers(4))
    Path("evalstudio.toml").write_text('evaluators = ["rouge"]\n[evaluator.rouge]\nthreshold = 0.01\n')
    command = ["score", "log.parquet", "-o", "out.parquet", "--workers", "1", "--map", MAP]
    assert main(command) == 0
    rouge_l = [line for line in capsys.readouterr().out.splitlines() if line.split()[0] == "rouge_l"]
    assert "100 %" in rouge_l[0]


def write_number_as_answer() -> None:
    write_parquet(Path("log.parquet"), [{**row, "answer": 5} for row in answers(3)])


def write_corrupt_row_group() -> None:
    path = write_parquet(Path("log.parquet"), answers(300), row_group=100)
    content = bytearray(path.read_bytes())
    content[len(content) // 3 : len(content) // 3 + 600] = b"\xff" * 600
    path.write_bytes(content)


def write_plain() -> None:
    write_parquet(Path("log.parquet"), answers(20))


def write_two_files() -> None:
    write_parquet(Path("logs/a.parquet"), answers(3))
    write_parquet(Path("logs/b.parquet"), [{**row, "answer": 5} for row in answers(3)])


def write_text() -> None:
    Path("log.parquet").write_text("no table")


def write_other_folder() -> None:
    write_plain()
    Path("out.parquet").mkdir()
    Path("out.parquet/mine.txt").write_text("mine")


def write_finished() -> None:
    write_plain()
    assert score() == 0


def write_interrupted() -> None:
    write_plain()
    Path("out.parquet/.progress").mkdir(parents=True)


def write_broken_line() -> None:
    path = write_jsonl(Path("log.jsonl"), answers(3))
    path.write_text(path.read_text() + "{broken\n")


def write_list_as_answer() -> None:
    write_jsonl(Path("log.jsonl"), [*answers(2), {**answers(1)[0], "answer": ["a"]}])


def write_uneven_csv() -> None:
    path = write_csv(Path("log.csv"), answers(3))
    path.write_text(path.read_text() + "jane.doe@bank.com,too,few\n")


Bad = tuple[Callable[[], object], dict[str, object], str]
BAD: dict[str, Bad] = {
    "no column of answers": (
        write_plain,
        {"mapping": "input=question"},
        "log.parquet: has no column 'actual_output', which holds the answers; map one by"
        " --map actual_output=COLUMN. Did you mean 'expected_output'?",
    ),
    "unknown column": (
        write_plain,
        {"mapping": "actual_output=anwser"},
        "log.parquet: has no column 'anwser', which --map actual_output=anwser names. Did you mean 'answer'?",
    ),
    "unknown field": (write_plain, {"mapping": "outptu=answer"}, "--map outptu: is not a field of a row."),
    "no equals sign": (write_plain, {"mapping": "answer"}, "--map answer: write NAME=COLUMN"),
    "column that an evaluator needs": (
        write_plain,
        {"mapping": "actual_output=answer", "evaluators": "lexical_groundedness"},
        "has no column 'context', which lexical_groundedness needs; map one by --map context=COLUMN.",
    ),
    "unknown kept column": (write_plain, {"more": ["--keep", "topics"]}, "Did you mean 'topic'?"),
    "reserved kept column": (write_plain, {"more": ["--keep", "model"]}, "rename it by --keep NAME=model"),
    "wrong type": (
        write_number_as_answer,
        {},
        "log.parquet: column 'answer' is int64; actual_output needs text",
    ),
    "wrong type in a later file": (
        write_two_files,
        {"source": "logs"},
        "logs/b.parquet: column 'answer' is int64; actual_output needs text",
    ),
    "corrupt row group": (write_corrupt_row_group, {}, "log.parquet: cannot be read as Parquet (row group"),
    "not Parquet": (write_text, {}, "log.parquet: cannot be read as Parquet:"),
    "broken line": (
        write_broken_line,
        {"source": "log.jsonl"},
        "log.jsonl:4: is not JSON; give a JSON object",
    ),
    "wrong type in a line": (
        write_list_as_answer,
        {"source": "log.jsonl"},
        "log.jsonl:3: column 'answer' is a list; actual_output needs text",
    ),
    "uneven CSV": (
        write_uneven_csv,
        {"source": "log.csv"},
        "log.csv: cannot be read as CSV: CSV parse error:",
    ),
    "no such file": (lambda: None, {}, "log.parquet: there is no such file or folder"),
    "unknown kind of file": (
        lambda: Path("log.parquet").mkdir(),
        {},
        "log.parquet: has no file that ends in",
    ),
    "unknown store": (write_plain, {"source": "floppy://a.parquet"}, "floppy://a.parquet: "),
    "unreachable store": (
        write_plain,
        {"source": "sftp://127.0.0.1:1/a.parquet"},
        "sftp://127.0.0.1:1/a.parquet: the ",
    ),
    "unknown evaluator": (write_plain, {"evaluators": "rogue"}, "Did you mean 'rouge'?"),
    "evaluator of a whole model": (
        write_plain,
        {"evaluators": "questions_drift"},
        "evaluator questions_drift: needs all rows of a model together, and a table is scored in batches",
    ),
    "evaluator of repeats": (
        write_plain,
        {"evaluators": "self_consistency"},
        "evaluator self_consistency: needs all answers to a question together",
    ),
    "other folder": (write_other_folder, {}, "out.parquet: exists and is not a scored table"),
    "finished table": (write_finished, {}, "out.parquet: is a complete scored table; use --overwrite"),
    "interrupted table": (write_interrupted, {}, "out.parquet: is an incomplete scored table; use --resume"),
    "strata without a sample": (write_plain, {"more": ["--by", "topic"]}, "--by: needs --sample"),
    "too many strata": (
        write_plain,
        {"more": ["--sample", "9", "--by", "id"]},
        "--sample 9: --by id has more than 4 strata, and each needs 2 rows",
    ),
    "address without Ray": (
        write_plain,
        {"more": ["--address", "auto"]},
        "--address and --gpus-per-actor: need --engine ray",
    ),
    "unknown stratum": (
        write_plain,
        {"more": ["--sample", "9", "--by", "topik"]},
        "log.parquet: has no column 'topik', which --by names. Did you mean 'topic'?",
    ),
    "sample of nothing": (write_plain, {"more": ["--sample", "0"]}, "sample = 0: must be at least 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    write, options, message = BAD[name]
    write()
    capsys.readouterr()
    command = ["score", str(options.get("source", "log.parquet")), "-o", "out.parquet", "--workers", "1"]
    command += ["-e", str(options.get("evaluators", "rouge")), "--map", str(options.get("mapping", MAP))]
    assert main([*command, *options.get("more", [])]) == 2  # type: ignore[misc]
    output = capsys.readouterr().err
    assert message in output
    assert output.count("\n") == 1, output
    assert "jane.doe" not in output
    if name.startswith("wrong type in a later"):
        assert not Path("out.parquet").exists()
    if not name.startswith("finished"):
        assert not Path("out.parquet/manifest.json").exists()


@pytest.mark.parametrize(
    ("module", "extra"), [("pyarrow", "score"), ("fsspec", "score"), ("datasketches", "score")]
)
def test_a_missing_package_is_named_with_its_extra(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plain()
    monkeypatch.setitem(sys.modules, module, None)
    assert score() == 2
    assert f'needs {module}: pip install "pytest-evalstudio[{extra}]"' in capsys.readouterr().err


def test_a_missing_ray_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plain()
    monkeypatch.setitem(sys.modules, "ray", None)
    assert score("--engine", "ray") == 2
    assert '--engine ray needs ray: pip install "pytest-evalstudio[ray]"' in capsys.readouterr().err
    assert not Path("out.parquet").exists()


def test_a_sample_is_described_with_its_strata(capsys: pytest.CaptureFixture[str]) -> None:
    write_parquet(Path("log.parquet"), answers(300))
    assert score("--sample", "60", "--by", "model,topic", "--seed", "3") == 0
    assert "estimates from a sample of 60 of 300 rows in 6 strata" in capsys.readouterr().out
    manifest = json.loads(Path("out.parquet/manifest.json").read_text())
    assert [stratum["sample"] for stratum in manifest["sampling"]["strata"]] == [10] * 6
