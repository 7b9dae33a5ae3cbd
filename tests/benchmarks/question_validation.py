"""Validation of people's own questions: good ones that it rejects, and planted faults that it rejects.

    python tests/benchmarks/question_validation.py [--set second] [--misses]

Reads `tests/data/questions/human_questions.csv` and `planted_faults.csv`, which were written by hand before
the rules that are measured, and which no test of these rules uses. The second set is of other documents and
was measured when the rules were finished. The cases of a document are validated twice: as a suite that
replaces the generated one, and as cases added to the generated suite.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pytest_evalstudio.contrib.validation.methods.test_cases.results import ValidationResults
from pytest_evalstudio.contrib.validation.steps.test_generation.results import SUITE
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.suite import Test, TestSuite
from pytest_evalstudio.scoring.model_provider import ModelProvider

DATA = Path(__file__).parents[1] / "data"
FILES = ("human_questions.csv", "planted_faults.csv")
"""Good questions, and faults; with the prefix "second_" those that were written after the rules."""
OTHER_DOCUMENT = "development/travel_policy.md"
"""A document that gives questions by rules, which own questions are added to."""
Row = Mapping[str, str]


def rows_by_document(prefix: str) -> dict[str, list[Row]]:
    """Return the rows of two files by document; good questions have no fault."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for name in FILES:
        with (DATA / "questions" / f"{prefix}{name}").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rows[row["document"]].append(row)
    return rows


def rejected(document: str, rows: Sequence[Row], *, is_added: bool) -> dict[int, str]:
    """Return the reasons of the rejected rows of a document by their index."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source = TestSuite(name="own questions")
        add_cases(source.add_test([], key="questions"), rows)
        source.save(folder / "own_suite.json")
        generation = {"count": 20} if is_added else {"suite": "own_suite.json"}
        documents = [document, OTHER_DOCUMENT] if is_added else [document]
        vectors = {"vectors": "tf-idf"}
        workflow = Workflow(
            name="w",
            documents=[str(DATA / "documents" / path) for path in documents],
            steps={"topic_modeling": vectors, "test_generation": generation, "test_validation": vectors},
        )
        registry = Registry()
        run = WorkflowRun(workflow, folder / "w_workflow.json", Configuration(folder=folder), registry)
        with closing(ModelProvider(cache=folder / "cache", registry=registry)) as provider:
            for step in ("topic_modeling", "test_generation", "test_validation"):
                if step == "test_validation" and is_added:
                    path = run.folder_of("test_generation") / SUITE
                    suite = TestSuite.load(path)
                    add_cases(suite.tests[0], rows)
                    suite.save(path)
                run.run(step, provider=provider, cache=folder / "cache", progress=lambda *_: None)
        results = run.completed_results("test_validation", ValidationResults)
    assert results is not None
    reasons = {key: "; ".join(texts) for key, texts in results.rejected.items()}
    return {index: reasons[f"q{index}"] for index in range(len(rows)) if f"q{index}" in reasons}


def add_cases(test: Test, rows: Sequence[Row]) -> None:
    """Add rows as cases named by their index."""
    for index, row in enumerate(rows):
        test.add_case(
            row["question"],
            key=f"q{index}",
            expected_output=row["answer"],
            condition=row["condition"] or None,
        )


def main() -> None:
    """Print the share of rejected questions by fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="print each wrong decision")
    parser.add_argument("--set", choices=("first", "second"), default="first")
    arguments = parser.parse_args()
    shows_misses, prefix = arguments.misses, "second_" * (arguments.set == "second")
    for is_added in (False, True):
        counts: dict[str, list[int]] = {}
        for document, rows in sorted(rows_by_document(prefix).items()):
            reasons = rejected(document, rows, is_added=is_added)
            for index, row in enumerate(rows):
                fault = row.get("fault", "")
                count = counts.setdefault(fault or "good questions", [0, 0])
                count[0] += index in reasons
                count[1] += 1
                if shows_misses and (index in reasons) != bool(fault):
                    sys.stdout.write(
                        f"  {document}: {fault or 'good'}: {row['question']} | {row['answer']} |"
                        f" {row['condition']} {reasons.get(index, '')}\n"
                    )
        sys.stdout.write(f"{'added to generated questions' if is_added else 'as a suite of its own'}:\n")
        for fault, (hits, total) in sorted(counts.items()):
            sys.stdout.write(f"  {fault.replace('_', ' ')}: {hits} of {total} rejected\n")


if __name__ == "__main__":
    main()
