"""Questions for lists."""

from __future__ import annotations

import random

import pytest

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition


def drafts(*sentences: str) -> list[Draft]:
    excerpt = Excerpt(id="c", sentences=sentences, topic="1", title="")
    generator = Registry().generators.get("simple_factual")()
    return list(generator.drafts(excerpt, Corpus((excerpt,)), random.Random(0)))


@pytest.mark.parametrize(
    ("sentences", "question", "answer"),
    [
        pytest.param(
            ("You must enclose:", "a test of the battery;", "cleaning of the filter.", "Next."),
            "What must I enclose?",
            "a test of the battery; cleaning of the filter",
            id="object",
        ),
        pytest.param(
            (
                "The following documents must be enclosed with the form:",
                "- a bank statement - proof of address",
            ),
            "Which documents must be enclosed with the form?",
            "a bank statement; proof of address",
            id="on one line",
        ),
        pytest.param(
            ("The following are excluded from carriage:", "cash", "live animals", "4. Packaging"),
            "What is excluded from carriage?",
            "cash; live animals",
            id="without full stops",
        ),
    ],
)
def test_the_items_of_a_list_are_asked_for(sentences: tuple[str, ...], question: str, answer: str) -> None:
    (draft,) = drafts(*sentences)
    assert (draft.question, draft.answer) == (question, answer)
    condition = parse_condition(draft.condition)
    assert condition.check(f"These are {answer}.")
    assert not condition.check(answer.split("; ")[0])
    assert set(draft.evidence.split("\n")) <= set(sentences)


@pytest.mark.parametrize(
    "sentences",
    [
        pytest.param(("You must enclose:", "a test of the battery;", "cleaning;"), id="cut off"),
        pytest.param(("The annual service includes:", "Cash.", "Cheques."), id="sentences"),
        pytest.param(("The following are not allowed:", "dogs;", "cats."), id="nobody knows where"),
        pytest.param(("It consists of:", "two pieces;", "scales."), id="unclear subject"),
        pytest.param(("The annual service includes:",), id="no items"),
    ],
)
def test_lists_in_doubt_give_no_question(sentences: tuple[str, ...]) -> None:
    assert drafts(*sentences) == []
