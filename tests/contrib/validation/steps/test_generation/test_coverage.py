"""Coverage of the documents by test cases, by hand."""

from __future__ import annotations

from pytest_evalstudio.contrib.validation.methods.topics.results import Chunk
from pytest_evalstudio.contrib.validation.steps.test_generation.coverage import describe, figures, statements
from pytest_evalstudio.contrib.validation.steps.test_generation.results import Coverage
from pytest_evalstudio.formats.suite import TestSuite

TABLE = "| Cover | Premium | | --- | --- | | Basic | £96 | | Plus | £138 |"
FEE, RULE, BOTH = "A card costs £5.", "Members must carry a card.", "You must pay £9 at the gate."
PLAIN = "The bank was pleased."


def chunk(id: str, *sentences: str) -> Chunk:
    return Chunk(id=id, text=" ".join(sentences), sentences=sentences, document="d.md", topic="1")


CHUNKS = (chunk("c1", FEE, RULE, PLAIN), chunk("c2", BOTH, TABLE))


def suite(*cases: dict[str, str]) -> TestSuite:
    workspace = TestSuite(name="s")
    test = workspace.add_test([], key="t")
    for number, case in enumerate(cases):
        test.add_case(case.pop("prompt"), key=f"k{number}", **case)
    return workspace


def test_what_no_case_tests_is_listed() -> None:
    tested_suite = suite(
        {"prompt": "What does a card cost?", "evidence": FEE, "source_chunk": "c1"},
        {"prompt": "What is the premium of plus?", "evidence": TABLE, "source_chunk": "c1+c2"},
    )
    results = list(statements(tested_suite, CHUNKS))
    assert figures(results) == Coverage(
        passages=(2, 2), quantities=(1, 2), tables=(1, 2), rules=(0, 2), topics=(1, 1)
    )
    untested = [(each.kind, each.text) for each in results if not each.tested]
    assert untested == [("rules", RULE), ("quantities", BOTH), ("rules", BOTH), ("tables", "| Basic | £96 |")]
    assert describe(figures(results)) == (
        "test cases cover 2 of 2 passages, 1 of 2 sentences with a quantity, 1 of 2 rows of tables,"
        " 0 of 2 rules, 1 of 1 topics; coverage.json lists the others"
    )


def test_a_case_of_an_own_suite_tests_the_sentence_with_its_answer() -> None:
    project_suite = suite({"prompt": "What does it cost?", "expected_output": "£9", "source_chunk": "c2"})
    assert figures(statements(project_suite, CHUNKS)).quantities == (0, 2), (
        "two characters are in any sentence"
    )
    project_suite = suite(
        {"prompt": "Where do I pay?", "expected_output": "at the gate", "source_chunk": "c2"}
    )
    assert figures(statements(project_suite, CHUNKS)).quantities == (1, 2)
    assert figures(statements(project_suite, CHUNKS)).rules == (1, 2)


def test_numbers_of_sections_are_no_quantities() -> None:
    headings = chunk(
        "c3", "4. Complaints", "(2) The bank answers complaints in writing.", "12 cards are free."
    )
    assert figures(statements(suite(), (headings,))).quantities == (0, 1)


def test_without_documents_there_is_nothing_to_cover() -> None:
    assert describe(figures(statements(suite(), ()))) == ""
