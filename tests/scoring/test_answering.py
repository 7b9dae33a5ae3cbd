"""A case has the answer of its model."""

from __future__ import annotations

import pytest

from pytest_evalstudio.asking.dialogues import Dialogue, FixedTurns, ScriptedUser
from pytest_evalstudio.asking.model_user import ModelUser
from pytest_evalstudio.core.cases import Answer, Case, Prompt
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn, ScriptedReply, SimulatedUser
from pytest_evalstudio.scoring.answering import answered, requests_of, user_of
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo


@pytest.mark.parametrize(
    ("context", "retrieves", "is_rag"),
    [(("The fee is 5 USD.",), None, True), ((), None, False), ((), True, True), (("c",), False, False)],
)
def test_a_case_has_the_answer_and_its_model(
    context: tuple[str, ...], retrieves: bool | None, is_rag: bool
) -> None:
    answer = Answer(text="5 USD", context=context, retries=2)
    case = answered(Case(key="k", question="Fee?"), answer, ModelInfo("m", "model"), 3, retrieves=retrieves)
    assert case.answer is answer
    assert (case.key, case.run, case.model_key, case.model_name) == ("k", 3, "m", "model")
    assert case.is_rag is is_rag


def task(question: str, original: str, plan: ConversationPlan | None = None) -> EvalTask:
    model = ModelInfo("m", "model", runs=2)
    source = EvalTask(name="o", model=model, case=Case(key="o", question=original))
    return EvalTask(
        name="p", model=model, case=Case(key="p", question=question, test_key="t", plan=plan), source=source
    )


def test_an_unchanged_copy_is_asked_again() -> None:
    copies = requests_of(task("Fee?", "Fee?"))
    assert [request.sample for request in copies if isinstance(request, Prompt)] == ["p", "p"]
    changed = requests_of(task("Fee!", "Fee?"))
    assert [request.sample for request in changed if isinstance(request, Prompt)] == ["", ""]
    assert [request.run for request in changed if isinstance(request, Prompt)] == [1, 2]


def test_further_repeats_are_numbered_from_the_first_one() -> None:
    requests = requests_of(task("Fee!", "Fee?"), 3, 3)
    assert [request.run for request in requests if isinstance(request, Prompt)] == [3, 4, 5]


def test_a_conversation_pauses_after_each_turn_only_where_a_failing_one_stops_it() -> None:
    turns = (PlannedTurn(prompt="Fee?"), PlannedTurn(prompt="Sure?"))
    for on_failure, max_turns in (("continue", None), ("stop", 1)):
        [first, _] = requests_of(task("Fee?", "Fee?", ConversationPlan(turns=turns, on_failure=on_failure)))
        assert isinstance(first, Dialogue)
        assert (first.key, first.max_turns, first.prompt.sample) == ("t p", max_turns, "")
        assert isinstance(first.user, FixedTurns)
        assert first.user.messages == ("Fee?", "Sure?")


def test_a_simulated_user_is_played_by_its_script_else_by_a_model() -> None:
    scripted = SimulatedUser(opening="Hello", replies=(ScriptedReply(when='"USD"', say="Thanks"),))
    assert isinstance(user_of(ConversationPlan(user=scripted)), ScriptedUser)
    assert isinstance(user_of(ConversationPlan(user=SimulatedUser(goal="Learn the fee"))), ModelUser)
