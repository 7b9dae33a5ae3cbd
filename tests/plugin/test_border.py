"""Evaluators score the text of the border, whatever source an answer comes from.

The text of the border is valid Unicode without thoughts, composed and without invisible characters; nothing
else of it is changed.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_evalstudio import LlmDataset, evaluate
from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.guard.checking import Guard
from pytest_evalstudio.contrib.guard.results import CheckRequest
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.text.comparable import comparable_text
from pytest_evalstudio.text.thoughts import split_thoughts
from pytest_evalstudio.text.unicode import is_valid, valid_text
from support.guard_server import configure
from support.processor_time import assert_linear
from support.project import Project

PLUGIN = '''
"""Evaluator that notes the texts that it scores."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator

FILE = Path(__file__).with_name("scored.jsonl")


@evaluator("observed", name="Observed", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Observed:
    """Passes every answer."""

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("observed", primary=True, threshold=0.0),)

    def score(self, cases, tools):
        with open(FILE, "a", encoding="utf-8") as file:
            file.writelines(json.dumps([case.question, case.actual_output]) + chr(10) for case in cases)
        return [Outcome.score({"observed": 1.0}) for _ in cases]


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Observed)
'''
APP = """
import json
from pathlib import Path

ANSWERS = json.loads(Path(__file__).with_name("answers.txt").read_text(encoding="utf-8"))


def ask(prompt):
    return ANSWERS[int(prompt.split()[1])]
"""
CONFIG = 'evaluators = ["observed"]\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n'
ODD = [
    "plain",
    "  spaces, two  inside \t and a tab  ",
    "line\nline\r\nline\rline",
    "<think>Perhaps 15 USD? No.</think>It is free.",
    "Perhaps 15 USD? No.\n</think>\nIt is free.",
    "Write <think> before it.",
    "half \ud83d and \udc00, whole \U0001f600",
    "controls \x00\x01\x1b[2J\x7f\x85\u2028",
    "bidi \u202egnorw\u202c \u2066x\u2069",
    "zero\u200bwidth 15\u202fUSD \ufeff \u0301\u0301\u0301",
    '{"fee": 15, "fee": 16, "x": 1.0}',
    "['a' 'b'], \"quoted\", 'single', a;b,c|d",
    "=1+1",
    "NaN",
    "0042",
    "1e400",
    "true",
    "\\ud83d \\n \\",
    "甲。乙！ पहला। ؟",
]


def expected(text: str) -> str:
    return comparable_text(split_thoughts(valid_text(text)).text).text


def question(index: int) -> str:
    return f"Question {index} of the test?"


def rows(texts: Mapping[int, str]) -> list[dict[str, str]]:
    return [{"input": question(index), "actual_output": text} for index, text in texts.items()]


def as_csv(records: Iterable[Mapping[str, str]]) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, ["input", "actual_output"])
    writer.writeheader()
    writer.writerows(records)
    return buffer.getvalue().encode()


def new_texts(project: Project) -> dict[str, set[str]]:
    """Return the texts that were scored since the last call, by question."""
    file = project.folder / "scored.jsonl"
    texts: dict[str, set[str]] = defaultdict(set)
    for line in file.read_text(encoding="utf-8").splitlines():
        prompt, text = json.loads(line)
        texts[prompt].add(text)
    file.unlink()
    return texts


def hosts(project: Project, texts: Mapping[int, str]) -> None:
    project.write("app.py", APP)
    answers = [texts.get(index, "") for index in range(len(ODD))]
    project.write("answers.txt", json.dumps(answers))
    project.suite(*({"key": f"k{index}", "prompt": question(index)} for index in texts))
    project.run("sums_suite.json")


def lab(project: Project, texts: Mapping[int, str]) -> None:
    project.lab(*({"key": f"k{index}", **row} for index, row in zip(texts, rows(texts), strict=True)))
    project.run("answers_lab.json")


def dataset(project: Project, texts: Mapping[int, str]) -> None:
    project.write("a_dataset.json", json.dumps({"inputs": rows(texts)}))
    project.run("a_dataset.json")


def csv_dataset(project: Project, texts: Mapping[int, str]) -> None:
    project.write("a_dataset.csv", as_csv(rows(texts)))
    project.run("a_dataset.csv")


def imported(name: str) -> Callable[[Project, Mapping[int, str]], None]:
    def source(project: Project, texts: Mapping[int, str]) -> None:
        write_table(project.folder / name, texts)
        target = str(project.folder / "imported_dataset.json")
        assert main(["import", "table", str(project.folder / name), "-o", target, "--to", "dataset"]) == 0
        project.run("imported_dataset.json")

    return source


def table(name: str) -> Callable[[Project, Mapping[int, str]], None]:
    def source(project: Project, texts: Mapping[int, str]) -> None:
        write_table(project.folder / name, texts)
        command = ["score", str(project.folder / name), "-e", "observed", "--workers", "1", "--overwrite"]
        output = str(project.folder / "out.parquet")
        plugin = ["--plugin-module", "observing"]
        assert main([*command, "-o", output, *plugin]) == 0

    return source


def write_table(path: Path, texts: Mapping[int, str]) -> None:
    records = rows(texts)
    if path.suffix == ".csv":
        path.write_bytes(as_csv(records))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        pq.write_table(pa.Table.from_pylist(records), path)


def registry_of(project: Project) -> Registry:
    import observing

    registry = Registry()
    registry.add_evaluator(observing.Observed)
    return registry


def api(project: Project, texts: Mapping[int, str]) -> None:
    data = LlmDataset()
    for row in rows(texts):
        data.add_input(row["input"], actual_output=row["actual_output"])
    evaluate(data, ["observed"], registry=registry_of(project))


def frame(project: Project, texts: Mapping[int, str]) -> None:
    pd = pytest.importorskip("pandas")
    evaluate(
        LlmDataset.from_frame(pd.DataFrame(rows(texts), dtype=object)),
        ["observed"],
        registry=registry_of(project),
    )


def guard(project: Project, texts: Mapping[int, str]) -> None:
    file = configure(project.folder / "guardrails.json", "observed")
    with Guard(file, registry=registry_of(project)) as service:
        service.check_all(
            [CheckRequest(question=row["input"], answer=row["actual_output"]) for row in rows(texts)]
        )


SOURCES: dict[str, Callable[[Project, Mapping[int, str]], None]] = {
    "host": hosts,
    "lab": lab,
    "data set": dataset,
    "API": api,
    "frame": frame,
    "guard": guard,
    "CSV": csv_dataset,
    "import of CSV": imported("log.csv"),
    "import of JSONL": imported("log.jsonl"),
    "import of Parquet": imported("log.parquet"),
    "table of CSV": table("log.csv"),
    "table of JSONL": table("log.jsonl"),
    "table of Parquet": table("log.parquet"),
}
UTF8 = {"CSV", "import of CSV", "import of Parquet", "table of CSV", "table of Parquet"}
"""Sources whose files cannot hold lone surrogates."""


@pytest.fixture
def observed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    import sys

    project.write("observing.py", PLUGIN)
    project.write("conftest.py", "from observing import pytest_evalstudio_register\n")
    project.write("evalstudio.toml", CONFIG)
    monkeypatch.syspath_prepend(project.folder)
    monkeypatch.chdir(project.folder)
    monkeypatch.delitem(sys.modules, "observing", raising=False)
    return project


@pytest.mark.parametrize("source", SOURCES)
def test_the_scored_text_is_that_of_the_border(observed: Project, source: str) -> None:
    texts = {index: text for index, text in enumerate(ODD) if source not in UTF8 or is_valid(text)}
    SOURCES[source](observed, texts)
    assert new_texts(observed) == {question(index): {expected(text)} for index, text in texts.items()}


LONG = {
    "a word": lambda size: "a" * size,
    "bullets": lambda size: "- item and more words\n" * (size // 22),
    "surrogates": lambda size: "\ud83d" * size,
    "bidi": lambda size: "\u202e\u202c" * (size // 2),
    "controls": lambda size: "\x00\x1b" * (size // 2),
    "thoughts": lambda size: "<think>x</think>" * (size // 16),
    "open thoughts": lambda size: "<think>" * (size // 7),
}


@pytest.mark.parametrize("shape", LONG)
def test_the_border_takes_linear_time(observed: Project, shape: str) -> None:
    assert_linear(lambda size: partial(api, observed, {0: LONG[shape](size)}), 50_000)
