"""Evaluators that are pointed at steps of an answer."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Case, Exchange
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.score import score
from pytest_evalstudio.scoring.step_selection import step_cases, step_selection, texts_of_result
from pytest_evalstudio.scoring.turns import units_of, worst_outcome
from pytest_evalstudio.text.sentences import split_sentences

ANSWER = Answer(
    text="A transfer costs 5 USD.",
    context=("Cards are free.", "A transfer costs 5 USD.", "Call us."),
    context_sources=("cards.md", "fees.md", "help.md"),
    tool_calls=(
        ToolCall(name="search_web", arguments={"query": "fee"}, result='[{"text": "5 USD"}, "Call us."]'),
        ToolCall(name="send_mail", arguments={"to": "a", "text": "b"}, result="SSN 219-09-9999"),
        ToolCall(name="search_web", arguments={"query": "lost"}),
    ),
    steps=(
        Step(kind="retrieval", name="cards", text="transfer cost", documents=(0,)),
        Step(kind="retrieval", name="fees", documents=(1, 2)),
        Step(kind="model", name="small", agent="writer", output="A transfer costs 5 USD."),
        Step(kind="model", name="small", agent="critic", text="Is it right?", output="No idea, you idiot."),
        Step(kind="tool", name="search_web", call=0),
        Step(kind="message"),
    ),
)
CASE = Case(key="k", question="What does a transfer cost?", answer=ANSWER)


def cases_of(**keys: str) -> list[tuple[str, Case]]:
    return step_cases(CASE, step_selection(keys, "here"))


def test_a_retrieval_has_its_own_chunks() -> None:
    [(first, cards), (second, fees)] = cases_of(kind="retrieval")
    assert (first, cards.question, cards.context) == ("step 1, cards", "transfer cost", ("Cards are free.",))
    assert (second, fees.question) == ("step 2, fees", "What does a transfer cost?")
    assert fees.context == ("A transfer costs 5 USD.", "Call us.")
    assert fees.context_sources == ("fees.md", "help.md")
    assert fees.actual_output == ANSWER.text
    assert fees.is_rag


def test_names_and_agents_are_patterns() -> None:
    assert [place for place, _ in cases_of(kind="retrieval", name="f*")] == ["step 2, fees"]
    assert [place for place, _ in cases_of(kind="model", agent="critic")] == ["step 4, small"]
    assert cases_of(kind="retrieval", name="FEES") == []


def test_a_tool_has_its_query_and_the_texts_of_its_result() -> None:
    [(place, search)] = cases_of(kind="tool", name="search_*")
    assert (place, search.question, search.context) == ("step 5, search_web", "fee", ("5 USD", "Call us."))
    [(place, mail)] = cases_of(kind="tool", name="send_mail")
    assert (place, mail.question) == ("call 2, send_mail", "What does a transfer cost?")
    assert mail.actual_output == "SSN 219-09-9999"


def test_a_model_has_what_it_is_asked_and_says() -> None:
    [(_, writer), (_, critic)] = cases_of(kind="model")
    assert (writer.question, writer.actual_output) == (CASE.question, "A transfer costs 5 USD.")
    assert (critic.question, critic.actual_output) == ("Is it right?", "No idea, you idiot.")


def test_an_answer_without_steps_is_one_retrieval() -> None:
    case = Case(key="k", question="q", answer=Answer(text="a", context=("c",)))
    assert step_cases(case, step_selection({"kind": "retrieval"}, "")) == [("", case)]
    assert step_cases(case, step_selection({"kind": "retrieval", "name": "x"}, "")) == []
    bare = Case(key="k", question="q", answer=Answer(text="a"))
    assert step_cases(bare, step_selection({"kind": "retrieval"}, "")) == []


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("retrieval", "expected a table such as"),
        ({"kind": 3}, "expected a table such as"),
        ({}, "expected kind = model, tool"),
        ({"kind": "span"}, "found 'span'"),
        ({"kind": "tool", "nam": "x"}, "Did you mean 'name'?"),
        ({"kind": "tool", "decides": "any"}, "expected decides = worst, best, first or last, found 'any'"),
    ],
)
def test_a_wrong_selection_is_refused(value: object, fault: str) -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        step_selection(value, "evaluator toxicity.on")
    assert str(exc_info.value).startswith("evaluator toxicity.on: ")
    assert fault in str(exc_info.value)


def outcome_of(case: Case, id: str, **on: str) -> Outcome:
    plan = Plan(Registry(), configuration({"evaluators": [id], "evaluator": {id: {"on": on}}}))
    [selected] = plan.selected
    units = units_of(selected, case)
    return worst_outcome(
        selected,
        units,
        score(selected, [unit.case for unit in units], Tools(split_sentences=split_sentences)),
    )


def labelled(**on: str) -> Outcome:
    fields: dict[str, Any] = {"expected_chunks": ("A transfer costs 5 USD.",)}
    case = Case(key="k", question="q", answer=ANSWER, **fields)
    return outcome_of(case, "labelled_retrieval", kind="retrieval", **on)


@pytest.mark.parametrize(
    ("on", "recall", "step"),
    [
        ({}, 0.0, "step 1, cards"),
        ({"decides": "best"}, 1.0, "step 2, fees"),
        ({"decides": "last"}, 1.0, "step 2, fees"),
        ({"decides": "first"}, 0.0, "step 1, cards"),
        ({"name": "fees"}, 1.0, "step 2, fees"),
    ],
)
def test_which_step_decides(on: dict[str, str], recall: float, step: str) -> None:
    outcome = labelled(**on)
    assert outcome.scores["recall"] == recall
    assert outcome.reason.startswith(step)


def test_findings_of_all_steps_are_kept() -> None:
    outcome = outcome_of(CASE, "pii_leakage", kind="tool")
    assert outcome.scores["model_passes"] == 0
    assert outcome.reason.startswith("call 2, send_mail: ")
    assert len(outcome.findings) == 1


def test_without_such_a_step_it_does_not_apply() -> None:
    outcome = outcome_of(CASE, "labelled_retrieval", kind="retrieval", name="nothing")
    assert (outcome.status, outcome.reason) == (
        "not_applicable",
        "the answer has no step with a text: retrieval 'nothing'",
    )


def test_an_error_of_the_host_stays_an_error() -> None:
    case = Case(key="k", question="q", answer=Answer(error="timed out"))
    assert outcome_of(case, "pii_leakage", kind="tool").status == "error"


def test_each_turn_of_a_conversation_has_its_own_steps() -> None:
    clean = Answer(text="Hello", steps=(Step(kind="model", name="m", output="Hello"),))
    leaking = Answer(text="Bye", steps=(Step(kind="model", name="m", output="Her SSN is 219-09-9999."),))
    case = Case(
        key="k",
        question="b",
        plan=ConversationPlan(turns=(PlannedTurn(prompt="a"), PlannedTurn(prompt="b"))),
        answer=Answer(
            text="Bye",
            steps=(*clean.steps, *leaking.steps),
            turns=(Exchange(prompt="a", answer=clean), Exchange(prompt="b", answer=leaking)),
        ),
    )
    outcome = outcome_of(case, "pii_leakage", kind="model")
    assert outcome.turn == 2
    assert outcome.reason.startswith("turn 2: step 1, m: ")
    assert [each.turn for each in outcome.turns] == [1, 2]


@pytest.mark.parametrize("id", ["trajectory_judge", "questions_drift", "tool_consistency"])
def test_evaluators_of_whole_answers_refuse_it(id: str) -> None:
    with pytest.raises(ConfigurationError, match="scores whole answers only"):
        Plan(Registry(), configuration({"evaluators": [], "evaluator": {id: {"on": {"kind": "model"}}}}))


def test_a_wrong_kind_is_answered_with_all_kinds() -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        step_selection({"kind": "span"}, "evaluator toxicity.on")
    assert str(exc_info.value) == (
        "evaluator toxicity.on: expected kind = model, tool, retrieval, handover, agent or message, found"
        " 'span'"
    )


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        ("[1] see the notes", ["[1] see the notes"]),
        ("[" * 100_000, ["[" * 100_000]),
        ("[]", ["[]"]),
        ('{"hits": [{"snippet": "a"}, {"id": 1}], "items": ["b"]}', ["a", '{"id": 1}']),
        ('{"items": "none", "matches": ["é", 2]}', ["é", "2"]),
        ('{"text": "a", "content": "b"}', ["a"]),
        ('{"text": 1, "content": "b"}', ["b"]),
        ('{"fee": "5 €"}', ['{"fee": "5 €"}']),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_the_texts_of_a_result_are_those_of_its_list_or_the_result(result: str, texts: list[str]) -> None:
    assert texts_of_result(result) == texts


def test_a_message_has_its_text_and_the_question_of_the_case() -> None:
    steps = (Step(kind="message", name="bot", text="One moment."), Step(kind="message", text=" "))
    case = Case(key="k", question="q", answer=Answer(text="a", steps=steps))
    [(place, message)] = step_cases(case, step_selection({"kind": "message"}, ""))
    assert (place, message.question, message.actual_output) == ("step 1, bot", "q", "One moment.")


def test_a_step_without_a_name_is_named_by_its_kind() -> None:
    answer = Answer(text="a", steps=(Step(kind="agent", output="b"),))
    [(place, _)] = step_cases(
        Case(key="k", question="q", answer=answer), step_selection({"kind": "agent"}, "")
    )
    assert place == "step 1, agent"


def test_a_step_has_no_calls_steps_or_conversation_of_its_answer() -> None:
    plan = ConversationPlan(turns=(PlannedTurn(prompt="a"),))
    case = structs.replace(CASE, plan=plan, condition='"USD"', condition_on="answer")
    retrieval = step_cases(case, step_selection({"kind": "retrieval"}, ""))[0][1]
    model = step_cases(case, step_selection({"kind": "model"}, ""))[0][1]
    for step in (retrieval, model):
        assert (step.answer.tool_calls, step.answer.steps, step.answer.turns, step.plan) == ((), (), (), None)
    assert (retrieval.condition_on, model.condition_on) == ("context", "answer")
    assert (retrieval.is_rag, model.is_rag) == (True, False)
    both = structs.replace(case, condition_on="both")
    assert step_cases(both, step_selection({"kind": "retrieval"}, ""))[0][1].condition_on == "both"


def test_a_selection_is_written_as_it_is_configured() -> None:
    brief = step_selection({"kind": "tool"}, "")
    assert (str(brief), brief.to_dict()) == ("tool", {"kind": "tool"})
    full = {"kind": "tool", "name": "search_*", "agent": "bot", "decides": "last"}
    selection = step_selection(full, "")
    assert (str(selection), selection.to_dict()) == ("tool 'search_*' of agent 'bot'", full)
