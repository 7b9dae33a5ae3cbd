"""The rules write the stored questions of the graded documents, byte for byte.

`python tests/support/published_questions.py` rewrites `tests/data/questions/published.jsonl`. Do so only for
an intended change of questions, and read the difference. The grades in
`docs/explanation/generated-questions.md` are of the questions of earlier rules, which are in the tables of
grades.
"""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.plugins.registry import Registry
from support.published_questions import FOLDERS, stored_questions, written_questions

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("folder", FOLDERS)
def test_questions_for_graded_documents_are_unchanged(folder: str) -> None:
    stored = stored_questions(folder)
    assert stored
    assert written_questions(folder) == stored


def test_stored_questions_are_of_every_generator_that_works_by_rules() -> None:
    generators = Registry().generators
    by_rules = {id for id in generators if generators.spec(id).drafts}
    assert {row["generator"] for folder in FOLDERS for row in stored_questions(folder)} == by_rules
