"""From a task to the requests of its repeats, and from an answer to the case that evaluators take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from pytest_evalstudio.asking.dialogues import Dialogue, DialogueUser, FixedTurns, Request, ScriptedUser
from pytest_evalstudio.asking.prompts import case_variables, prompt_of
from pytest_evalstudio.core.cases import Answer, Case, Prompt, Retrieval
from pytest_evalstudio.core.conversations import ConversationPlan
from pytest_evalstudio.core.disturbances import disturbance_of
from pytest_evalstudio.formats.packed import Packed, unpacked
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo, is_rag

if TYPE_CHECKING:
    from pytest_evalstudio.asking.model_user import OpenJudge


def requests_of(
    task: EvalTask, first: int = 1, count: int | None = None, *, open_user_model: OpenJudge | None = None
) -> list[Request]:
    """Return the requests of a task whose model is to be asked, one per repeat.

    Args:
        task: the question or conversation, and its model.
        first: number of the first repeat.
        count: number of repeats; those that are always asked for where not given.
        open_user_model: opens the judge model that plays simulated users.
    """
    case, source = task.case, task.source
    prompts = [
        prompt_of(
            case.question,
            key=case.key,
            corpus=case.corpus,
            run=run,
            conversation=case.conversation,
            originals=(source.case.question,) if source is not None and case.plan is None else (),
            attempt=task.attempt,
            sample=task.sample,
            case=case_variables(case.key, case.categories, case.extra),
            attachments=case.attachments,
            disturbance=disturbance_of(case.categories),
        )
        for run in range(first, first + (task.model.first_runs if count is None else count))
    ]
    key = f"{case.test_key} {case.key}"
    return [request_of(prompt, case.plan, key, open_user_model=open_user_model) for prompt in prompts]


def request_of(
    prompt: Prompt,
    plan: ConversationPlan | None,
    key: str,
    *,
    open_user_model: OpenJudge | None = None,
) -> Request:
    """Return the request of a question, or of a conversation.

    A conversation that stops at a failing turn pauses after each turn.

    Args:
        prompt: of the question, or of the first turn.
        plan: the conversation, None for a single question.
        key: of the test case.
        open_user_model: opens the judge model that plays simulated users.
    """
    if plan is None:
        return prompt
    pauses = plan.on_failure == "stop"
    return Dialogue(
        prompt=prompt, user=user_of(plan, open_user_model), key=key, max_turns=1 if pauses else None
    )


def user_of(plan: ConversationPlan, open_model: OpenJudge | None = None) -> DialogueUser:
    """Return who takes the part of the user in a conversation.

    Args:
        plan: the conversation.
        open_model: opens the judge model that plays a user without a script.
    """
    if plan.user is None:
        return FixedTurns(
            tuple(turn.prompt for turn in plan.turns), tuple(turn.attachments for turn in plan.turns)
        )
    if plan.user.is_scripted:
        return ScriptedUser(plan.user)
    from pytest_evalstudio.asking.model_user import ModelUser

    return ModelUser(plan.user, open_model)


def answered(
    case: Case,
    answer: Answer,
    model: ModelInfo,
    run: int,
    *,
    retrieves: bool | None,
    retrieval: Retrieval = "",
) -> Case:
    """Return the case of a question with a model's answer, as evaluators take it.

    Args:
        retrieves: whether the model retrieves; None where each answer says so.
        retrieval: whether its answers must come with chunks, for cases that do not say.
    """
    retrieval = case.retrieval or retrieval
    return structs.replace(
        case,
        answer=answer,
        model_key=model.key,
        model_name=model.label,
        retrieval=retrieval,
        is_rag=is_rag(answer.retrieves if retrieves is None else retrieves, answer.context, retrieval),
        run=run,
    )


def unpacked_case(case: Case) -> Case:
    """Return a case whose calls and steps are quick to read; in a collected case they are packed."""
    answer, expected = case.answer, case.expected_tool_calls
    if not any(isinstance(values, Packed) for values in (answer.tool_calls, answer.steps, expected)):
        return case
    return structs.replace(
        case,
        answer=structs.replace(answer, tool_calls=unpacked(answer.tool_calls), steps=unpacked(answer.steps)),
        expected_tool_calls=None if expected is None else unpacked(expected),
    )
