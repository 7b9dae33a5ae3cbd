"""Step alignment by hand: what counts as a step, which steps are the same, and the edits from one list to
another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.step_alignment import StepAlignment
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.metrics.steps import merged
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.text.sentences import split_sentences
from support.embedders import WordEmbedder
from support.processor_time import assert_within

OPEN, CHOOSE, PAY = "Open the app.", "Choose a card.", "Confirm the payment."
CONTEXT = f"1. {OPEN}\n2. {CHOOSE}\n3. {PAY}"


def outcome(answer: str, *context: str, tools: Tools | None = None, **options: Any) -> Outcome:
    case = Case(key="c", question="How?", answer=Answer(text=answer, context=context or (CONTEXT,)))
    return StepAlignment(**options).score([case], tools or Tools(split_sentences=split_sentences))[0]


def edits(answer: str, *context: str) -> tuple[float | None, ...]:
    """Edits, insertions, deletions, mismatches, steps of the context, steps of the answer."""
    return tuple(outcome(answer, *context).scores.values())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(CONTEXT, (0, 0, 0, 0, 3, 3), id="the same"),
        pytest.param(
            f"- {OPEN}\n- Choose the card\n- confirm payment", (0, 0, 0, 0, 3, 3), id="in other signs"
        ),
        pytest.param(f"1. {OPEN}\n2. {PAY}", (1, 1, 0, 0, 3, 2), id="one is missing"),
        pytest.param(f"{CONTEXT}\n4. Smile at the clerk.", (1, 0, 1, 0, 3, 4), id="one too many"),
        pytest.param(f"1. {OPEN}\n2. Burn the house.\n3. {PAY}", (1, 0, 0, 1, 3, 3), id="another one"),
        pytest.param(f"1. {CHOOSE}\n2. {OPEN}\n3. {PAY}", (2, 1, 1, 0, 3, 3), id="a swap"),
        pytest.param("It works like magic.", (3, 3, 0, 0, 3, 0), id="no steps"),
        pytest.param("yes", (3, 3, 0, 0, 3, 0), id="one word"),
    ],
)
def test_scores_by_hand(answer: str, expected: tuple[float, ...]) -> None:
    assert edits(answer) == expected


def test_the_reason_names_the_steps() -> None:
    assert outcome(f"1. {CHOOSE}\n2. {OPEN}\n3. {PAY}\n4. Burn the house.").reason == (
        f"missing or out of order: {CHOOSE}; not in the context, or out of order: {CHOOSE}, Burn the house."
    )
    assert (
        outcome(f"1. {OPEN}\n2. {CHOOSE}\n3. Burn the house.").reason
        == f"in place of another step: Burn the house. (context: {PAY})"
    )
    assert outcome(f"1. {OPEN}\n2. {PAY}").reason == f"missing or out of order: {CHOOSE}"
    assert outcome(CONTEXT).reason == ""


def test_every_step_of_the_answer_has_its_score() -> None:
    answer = f"1. {OPEN}\n2. choose card\n3. Burn the house."
    results = [
        (answer[part.start : part.end], part.scores["edits"], part.message)
        for part in outcome(answer).fragments
    ]
    assert results == [
        (OPEN, 0.0, ""),
        ("choose card", 0.0, "equal except for articles"),
        ("Burn the house.", 1.0, f"step in place of another: {PAY}"),
    ]


def test_a_context_without_steps_has_nothing_to_align_with() -> None:
    result = outcome(CONTEXT, "Fees are five dollars.")
    assert (result.status, result.reason) == ("not_applicable", "the retrieved context has no steps")


def test_chunks_that_overlap_or_repeat_count_once() -> None:
    assert edits(CONTEXT, f"1. {OPEN}\n2. {CHOOSE}", f"2. {CHOOSE}\n3. {PAY}", CONTEXT, f"3. {PAY}") == (
        0,
        0,
        0,
        0,
        3,
        3,
    )
    assert merged([["a"], [], ["b", "a"], ["a", "c"]]) == ["a", "b", "a", "c"]


def test_with_embeddings_steps_that_mean_the_same_are_the_same() -> None:
    embedder = WordEmbedder({PAY: [1, 0], "Settle up.": [0.9, 0.436], OPEN: [0, 1], CHOOSE: [-1, 0]})
    tools = Tools(split_sentences=split_sentences, embedder=embedder)
    answer = f"1. {OPEN}\n2. {CHOOSE}\n3. Settle up."
    assert outcome(answer).scores["mismatches"] == 1
    assert outcome(answer, tools=tools, similarity="embeddings").scores["edits"] == 0
    assert (
        outcome(answer, tools=tools, similarity="embeddings", similarity_threshold=0.95).scores["mismatches"]
        == 1
    )
    assert outcome(answer, tools=tools, similarity="embeddings").fragments[2].message == "equal in meaning"
    with pytest.raises(EvaluationError, match="no embedder"):
        outcome(answer, similarity="embeddings")


def test_the_embedder_is_required_only_where_it_is_used() -> None:
    plan = Plan(
        Registry(),
        configuration({"evaluator": {"meant": {"type": "step_alignment", "similarity": "embeddings"}}}),
    )
    assert (plan.get("step_alignment").requires, plan.get("meant").requires) == ((), ("embedder",))
    with pytest.raises(ConfigurationError, match="similarity_threshold"):
        StepAlignment(similarity_threshold=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(
            lambda: ("\n".join(f"- {'x' * 40}{place}" for place in range(300)),) * 2,
            id="many steps that are nearly the same",
        ),
        pytest.param(lambda: (f"1. {'y' * 100_000}z", f"1. {'y' * 100_000}"), id="very long steps"),
        pytest.param(lambda: ("Open it. " * 3000, CONTEXT), id="a 200-page answer"),
        pytest.param(
            lambda: (CONTEXT, "The fee is due. " * 30_000 + "\n" + CONTEXT), id="a 200-page context"
        ),
        pytest.param(
            lambda: (CONTEXT, "-" * 50_000 + "\n" + "* " * 20_000 + "\n" + "then " * 20_000),
            id="rules and connectives",
        ),
    ],
)
def test_long_texts_are_aligned_in_time(make: Callable[[], tuple[str, str]]) -> None:
    answer, context = make()

    def align(turn: int) -> None:
        assert outcome(answer[turn:], context).status in ("score", "not_applicable")

    assert_within(40, align)


def test_texts_that_are_no_procedures_are_an_error() -> None:
    result = outcome(
        "\n".join(f"- a{place}" for place in range(600)), "\n".join(f"- b{place}" for place in range(600))
    )
    assert (result.status, result.reason) == (
        "error",
        "600 steps of the context and 600 of the answer are too many to align",
    )
