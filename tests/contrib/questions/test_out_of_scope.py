"""Questions that the documents do not answer."""

from __future__ import annotations

import pytest

from support.drafts import drafts, passes

CODES = "| Code | Meaning | | --- | --- | | E24 | The drain hose is blocked |"


def test_out_of_scope_asks_for_a_near_miss() -> None:
    (draft,) = drafts("out_of_scope", CODES)
    assert draft.question.startswith("What does code E")
    assert "E24" not in draft.question
    assert draft.evidence == ""


def test_out_of_distribution_asks_for_something_that_no_word_of_the_documents_is_about() -> None:
    results = [
        draft
        for seed in range(200)
        for draft in drafts(
            "out_of_distribution",
            "Our roses are pruned in March.",
            seed=seed,
            other_sentences=("Penguins live in the zoo.", "A Python is fed on Fridays."),
        )
    ]
    questions = {draft.question for draft in results}
    assert len(questions) >= 25
    assert not any(word in question for question in questions for word in ("roses", "penguins", "Python"))
    for draft in results:
        assert draft.evidence == ""
        assert passes(draft, "The documents contain no information about that.")
        assert not passes(draft, "Certainly! Here you are: seven minutes.")


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not answer this question.",
        "I'm sorry, the context has no information about that.",
        "This is outside the scope of the provided documents.",
        "The manual doesn't mention this code.",
        "I cannot find this in the documents.",
        "I don't know.",
        "That is not stated in the manual.",
        "There is no mention of this code.",
        "I am unable to answer this from the given sources.",
        "The question can't be answered with this information.",
        "None of the documents mentions it.",
        "The manual only describes E24.",
    ],
)
def test_refusals_in_many_wordings_pass(answer: str) -> None:
    (draft,) = drafts("out_of_scope", CODES)
    assert passes(draft, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "It means that the pump is blocked.",
        "The pump is not running.",
        "It is not recommended to open the door.",
        "Wait for 20 minutes, which is not mentioned in the documents.",
        "The appliance cannot be used.",
        "",
    ],
)
def test_made_up_answers_to_questions_out_of_scope_fail(answer: str) -> None:
    (draft,) = drafts("out_of_scope", CODES)
    assert not passes(draft, answer)


def test_no_contact_is_asked_for_that_a_document_may_have_in_another_form() -> None:
    results = drafts("out_of_scope", "The People team answers within two days.")
    assert not any("e-mail" in draft.question or "telephone" in draft.question for draft in results)
