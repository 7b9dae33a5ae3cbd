"""Questions that a workflow makes of documents by rules, and the share of the documents that they test.

    python tests/benchmarks/question_coverage.py FOLDER [FOLDER ...] [--csv FILE] [--each] [--pipeline NAME]

Each folder is one corpus, as in a workflow; with `--each`, each document is. Runs the steps topic modeling
(tf-idf, no model), test generation (up to 2,000 cases) and test validation, prints questions per 1,000 words
and the coverage by kind of statement, checks the conditions with answers that are known to be right or wrong
(expected answer, supporting sentence, paraphrase, wrong answer, unrelated sentence, silence, refusal), and
writes all valid questions to a table for graders: document, section, generator, question, expected answer,
condition, evidence.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_evalstudio.contrib.questions.checks.sections import Sections
from pytest_evalstudio.contrib.validation.methods.controls.answers import control_answers
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from pytest_evalstudio.scoring.model_provider import ModelProvider

STEPS = ("topic_modeling", "test_generation", "test_validation")
MAX_CASES = 2000
COLUMNS = ("document", "section", "generator", "question", "answer", "condition", "evidence")
Row = dict[str, str]


class Corpus:
    """The valid questions of a corpus, and its figures.

    Args:
        paths: of the documents.
        pipeline: name of the spaCy pipeline.
    """

    def __init__(self, paths: Sequence[Path], pipeline: str) -> None:
        self.words = sum(len(path.read_text(encoding="utf-8").split()) for path in paths)
        with tempfile.TemporaryDirectory() as scratch:
            run = _completed(Path(scratch), paths, pipeline)
            folder = run.folder_of("test_generation")
            self.coverage = json.loads((folder / "coverage.json").read_text(encoding="utf-8"))["coverage"]
            generated_suite = json.loads((folder / "tests_suite.json").read_text(encoding="utf-8"))
            self.generated = sum(len(test["test_cases"]) for test in generated_suite["tests"])
            path = run.folder_of("test_validation") / "validated_suite.json"
            self.controls = _controls([case for _, case in TestSuite.load(path).cases()])
            suite = json.loads(path.read_text(encoding="utf-8"))
            topics = json.loads((run.folder_of("topic_modeling") / "topics.json").read_text(encoding="utf-8"))
        self.rows = list(_rows(suite, topics))


def _controls(cases: Sequence[TestCase]) -> tuple[int, int]:
    """Return the number of answers with a known verdict that a condition contradicts, and of all."""
    contradicted = total = 0
    for answer in control_answers(cases):
        is_refusal = answer.control == "refusal" and answer.case.expects == "refusal"
        text = answer.case.condition_text()
        if text:
            total += 1
            contradicted += bool(parse_condition(text).check(answer.text)) != (answer.is_right or is_refusal)
    return contradicted, total


def _completed(folder: Path, paths: Sequence[Path], pipeline: str) -> WorkflowRun:
    entry = {
        "name": "Questions",
        "documents": [str(path.resolve()) for path in paths],
        "seed": 0,
        "steps": {
            "topic_modeling": {"vectors": "tf-idf"},
            "test_generation": {"count": MAX_CASES, "pipeline": pipeline},
            "test_validation": {"vectors": "tf-idf"},
        },
    }
    content = {"evalstudio_workflow": entry}
    path = folder / "questions_workflow.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    workflow = read_workflow(Source(str(path), path.read_text(encoding="utf-8"), content))
    run = WorkflowRun(workflow, path, configuration({}, folder=folder), Registry())
    provider = ModelProvider(registry=Registry())
    for step in STEPS:
        run.run(step, provider=provider, cache=folder / "cache", progress=lambda *_: None)
    return run


def _rows(suite: dict[str, list[dict[str, list[Row]]]], topics: dict[str, list[Row]]) -> Iterator[Row]:
    sentences: dict[str, list[str]] = {}
    for chunk in topics["chunks"]:
        sentences.setdefault(chunk["document"], []).extend(chunk["sentences"])
    sections = {document: Sections(texts) for document, texts in sentences.items()}
    for test in suite["tests"]:
        for case in test["test_cases"]:
            document, evidence = str(case["source_document"]), str(case.get("evidence", ""))
            yield {
                "document": Path(document).name,
                "section": sections[document].heading(evidence) if document in sections else "",
                "generator": str(case["key"]).rpartition("_c")[0] or str(case["key"]),
                "question": str(case["prompt"]),
                "answer": str(case["expected_output"]),
                "condition": str(case.get("condition", "")),
                "evidence": evidence,
            }


def main() -> None:
    """Print the figures, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--csv", type=Path, help="file of the table")
    parser.add_argument("--each", action="store_true", help="each document is a corpus of its own")
    parser.add_argument(
        "--pipeline", default="en_core_web_sm", help="spaCy pipeline, or none by an empty name"
    )
    arguments = parser.parse_args()
    rows: list[Row] = []
    words = generated = contradicted = answers = 0
    tested: dict[str, list[int]] = {}
    for folder in arguments.folders:
        if not folder.is_dir():
            raise SystemExit(f"{folder}: there is no such folder; name folders of .md or .txt files")
        paths = sorted(path for path in folder.iterdir() if path.suffix in (".md", ".txt"))
        for corpus in [[path] for path in paths] if arguments.each else [paths]:
            try:
                result = Corpus(corpus, arguments.pipeline)
            except DataError as exc:
                sys.stdout.write(f"not counted: {exc}\n")
                continue
            rows += result.rows
            words, generated = words + result.words, generated + result.generated
            contradicted, answers = contradicted + result.controls[0], answers + result.controls[1]
            for kind, (hits, total) in result.coverage.items():
                tested[kind] = [a + b for a, b in zip(tested.get(kind, [0, 0]), (hits, total), strict=True)]
    if not words:
        raise SystemExit(
            f"{arguments.folders[0]}: no document gives a question; name folders of .md or .txt files"
        )
    sys.stdout.write(
        f"{words:,} words, {generated} questions ({1000 * generated / words:.1f} per 1,000 words),"
        f" {len(rows)} valid ({1000 * len(rows) / words:.1f})\n"
    )
    for kind, (hits, total) in tested.items():
        sys.stdout.write(f"{kind}: {hits} of {total} tested ({hits / total if total else 0:.0%})\n")
    sys.stdout.write(f"control answers that a condition contradicts: {contradicted} of {answers}\n")
    if arguments.csv:
        with arguments.csv.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
