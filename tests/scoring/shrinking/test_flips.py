"""Shrinking the flips of a chunk: calls, budgets, ends, and shared questions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import pytest
from msgspec import structs

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.asking.dialogues import Dialogue
from pytest_evalstudio.core.cases import Answer, Relationship
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.flips import ShrinkCode
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.judges.budget import LocalPurse
from pytest_evalstudio.record.smallest import describe, equal_edits
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.shrinking.budget import CallBudget
from pytest_evalstudio.scoring.shrinking.flips import OF_FLIP, OF_RUN, FlipShrinker, ShrinkLimits
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from support.toys import toy_registry

ORIGINAL = "What does a replacement card cost?"
PERTURBED = "Waht does, a repalcement, crad cot?"
MODEL = ModelInfo(key="m", label="M")


@evaluator("counted_judge", name="Counted judge", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class CountedJudge:
    """Calls an answer good unless it is 0, with two calls of a judge."""

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("good", threshold=0.5, primary=True),)

    def score(self, cases, tools):
        return [
            structs.replace(
                Outcome.score({"good": float(case.actual_output != "0")}), judging=Judging(calls=2)
            )
            for case in cases
        ]


class Model:
    """Answers "0" to what breaks it, else "1"; notes what it is asked."""

    retrieves = None
    retrieval = ""

    def __init__(self, breaks, *, stored=()):
        self.breaks = breaks
        self.stored = stored
        self.asked = []

    def ask(self, requests, *, progress=None):
        return [self._reply(request) for request in requests]

    def _reply(self, request):
        if isinstance(request, Dialogue):
            self.asked += request.user.messages
            broken = any(map(self.breaks, request.user.messages))
            return Answer(text="0" if broken else "1")
        self.asked.append(request.text)
        answer = self.breaks(request.text)
        return answer if isinstance(answer, Answer) else Answer(text="0" if answer else "1")

    def peek(self, requests):
        return [
            Answer(text="0" if self.breaks(request.text) else "1")
            if self.stored and request.text in self.stored
            else None
            for request in requests
        ]


def pair(original=ORIGINAL, *perturbed, model=MODEL, key="k", answers=None, **fields):
    """Return the task of a question, and those of its perturbations."""
    source = EvalTask(name=key, model=model, case=make_case(original, key=key, model_key="", **fields))
    link = (Relationship(type="perturbation_source", target=key),)
    tasks = [
        EvalTask(
            name=f"{key}-{number}",
            model=model,
            source=source,
            case=make_case(text, key=f"{key}-{number}", model_key="", relationships=link, **fields),
        )
        for number, text in enumerate(perturbed)
    ]
    for task, answer in zip([source, *tasks] if answers else (), answers or (), strict=True):
        task.answers = (task.case.with_answer(text=answer),)
    return [source, *tasks]


def shrunk(
    model, tasks, *, calls=1000, per_flip=100, is_repeatable=True, evaluators=("reading",), strict=True
):
    """Evaluate tasks and shrink their flips; return the results, and the calls that were taken."""
    registry = toy_registry()
    registry.add_evaluator(CountedJudge)
    plan = Plan(registry, configuration({"evaluators": list(evaluators)}))
    pipeline = Pipeline(plan, models={"m": model}, strict_flips=strict)
    results = pipeline.evaluate(tasks)
    model.asked.clear()
    budget = CallBudget(calls, LocalPurse())
    limits = ShrinkLimits(budget=budget, calls_per_flip=per_flip)
    FlipShrinker(pipeline, {"m": model}, lambda _: is_repeatable, limits).shrink(results, earlier={})
    return results, calls - budget.remaining


def smallest_of(results):
    return [flip.smallest for result in results for flip in result.flips]


def test_the_smallest_edit_is_noted_with_the_calls_that_it_took():
    model = Model(lambda text: "crad" in text)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED))
    (smallest,) = smallest_of(results)
    assert (smallest.code, smallest.original, smallest.question) == (
        ShrinkCode.MINIMAL,
        ORIGINAL,
        "What does a replacement crad cost?",
    )
    assert (smallest.edits, smallest.total_edits) == (1, 6)
    assert smallest.calls == calls == len(model.asked) == len(set(model.asked))
    assert not {ORIGINAL, PERTURBED} & set(model.asked)
    assert describe([smallest]) == (
        "smallest edit that flips: What does a replacement [-card-]{+crad+} cost?"
        f" (1 of 6 edits; {calls} calls)"
    )


def test_a_perfect_model_is_asked_nothing():
    model = Model(lambda text: False)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED, "What does the card cost?"))
    assert (smallest_of(results), calls, model.asked) == ([], 0, [])


def test_a_model_that_is_broken_by_everything_has_one_edit_after_a_few_calls():
    model = Model(lambda text: text != ORIGINAL)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED))
    (smallest,) = smallest_of(results)
    assert (smallest.code, smallest.edits, calls) == (ShrinkCode.MINIMAL, 1, 2)


def test_flips_from_fail_to_pass_are_shrunk_too():
    model = Model(lambda text: "crad" not in text)
    results, _ = shrunk(model, pair(ORIGINAL, PERTURBED))
    (smallest,) = smallest_of(results)
    assert smallest.question == "What does a replacement crad cost?"


def test_unchanged_copies_are_left_out():
    answers = iter([False, True])
    model = Model(lambda text: next(answers))
    results, calls = shrunk(model, pair(ORIGINAL, ORIGINAL))
    assert (smallest_of(results), calls) == ([None], 0)


def test_precomputed_answers_cannot_be_shrunk():
    model = Model(lambda text: pytest.fail("no model"))
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED, answers=["1", "0"]))
    (smallest,) = smallest_of(results)
    assert (smallest.code, calls) == (ShrinkCode.NO_MODEL, 0)
    assert describe([smallest]) == "not shrunk: the answers are precomputed, and no model can be asked"


def test_a_model_that_answers_otherwise_when_asked_again_is_not_shrunk():
    counts = Counter()

    def breaks(text):
        counts[text] += 1
        return text == PERTURBED and counts[text] == 1

    results, calls = shrunk(Model(breaks), pair(ORIGINAL, PERTURBED), is_repeatable=False)
    (smallest,) = smallest_of(results)
    assert (smallest.code, smallest.calls, calls) == (ShrinkCode.NOT_REPRODUCED, 2, 2)


def test_a_model_that_may_answer_otherwise_is_asked_three_times_more():
    model = Model(lambda text: "crad" in text)
    repeatable, fewer = shrunk(model, pair(ORIGINAL, PERTURBED))
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED), is_repeatable=False)
    assert smallest_of(results)[0].question == smallest_of(repeatable)[0].question
    assert calls == fewer + 3 == len(model.asked)


def test_the_calls_of_a_flip_end_its_search():
    model = Model(lambda text: "crad" in text)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED), per_flip=3)
    (smallest,) = smallest_of(results)
    assert (smallest.code, smallest.reason, calls) == (ShrinkCode.BUDGET, OF_FLIP, 3)
    assert 1 <= smallest.edits < smallest.total_edits
    assert "crad" in smallest.question
    assert describe([smallest]).startswith("smallest edit within 3 calls: ")


def test_the_calls_of_the_run_go_to_flips_that_fail_and_one_after_the_other():
    model = Model(lambda text: "crad" in text)
    tasks = pair(ORIGINAL, PERTURBED, PERTURBED.replace("does", "deos"), PERTURBED.replace("cot", "csot"))
    results, calls = shrunk(model, tasks, calls=8, per_flip=8)
    first, second, third = smallest_of(results)
    assert first.code is ShrinkCode.MINIMAL
    assert (second.code, second.reason) == (ShrinkCode.BUDGET, OF_RUN)
    assert describe([third]) == "not shrunk: the calls of the run are used up"
    assert calls == len(model.asked) == first.calls + second.calls <= 8


def test_flips_that_fail_their_case_come_before_those_that_change_the_meaning():
    model = Model(lambda text: "crad" in text)
    tasks = pair(ORIGINAL, PERTURBED, PERTURBED.replace("does", "deos"))
    tasks[1].case = structs.replace(tasks[1].case, categories=("perturbed_by:antonym:HIGH",))
    results, _ = shrunk(model, tasks, calls=8, per_flip=8)
    assert [smallest.code for smallest in smallest_of(results)] == [ShrinkCode.BUDGET, ShrinkCode.MINIMAL]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(error="no connection"), "no connection"),
        (Answer(error="budget.calls = 3 is used up", not_asked=True), "budget.calls = 3 is used up"),
    ],
)
def test_a_question_without_a_verdict_interrupts_the_search(answer, reason):
    def breaks(text):
        return answer if "crad cost" in text else "crad" in text

    results, _ = shrunk(Model(breaks), pair(ORIGINAL, PERTURBED))
    (smallest,) = smallest_of(results)
    assert (smallest.code, smallest.reason) == (ShrinkCode.INTERRUPTED, reason)
    assert "crad" in smallest.question
    assert describe([smallest]).endswith(f"; {reason})")


def test_stored_answers_take_no_calls():
    model = Model(lambda text: "crad" in text)
    _, calls = shrunk(model, pair(ORIGINAL, PERTURBED))
    stored = Model(model.breaks, stored=set(model.asked))
    results, none = shrunk(stored, pair(ORIGINAL, PERTURBED), calls=1)
    assert (calls > 1, none, smallest_of(results)[0].code) == (True, 0, ShrinkCode.MINIMAL)


def test_flips_of_several_evaluators_share_their_questions():
    model = Model(lambda text: "crad" in text)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED), evaluators=("reading", "counted_judge"))
    first, second = smallest_of(results)
    assert first.question == second.question == "What does a replacement crad cost?"
    assert calls == first.calls + second.calls == 3 * len(model.asked)
    assert [len(edits) for edits in equal_edits([first, second])] == [2]
    assert describe([first, second]).endswith(f"(1 of 6 edits; {calls} calls)")
    assert len(model.asked) == len(set(model.asked))


def test_flips_of_one_case_share_their_questions_where_calls_are_few():
    model = Model(lambda text: "crad" in text)
    evaluators = ("reading", "counted_judge")
    _, calls = shrunk(model, pair(ORIGINAL, PERTURBED), calls=40, per_flip=40, evaluators=evaluators)
    assert calls == 3 * len(set(model.asked)) == 3 * len(model.asked)


def test_the_calls_of_judges_count():
    model = Model(lambda text: "crad" in text)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED), evaluators=("counted_judge",))
    (smallest,) = smallest_of(results)
    assert smallest.calls == calls == 3 * len(model.asked)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED), evaluators=("counted_judge",), per_flip=7)
    assert (smallest_of(results)[0].code, calls) == (ShrinkCode.BUDGET, 6)


def test_each_repeat_of_a_question_is_a_call():
    thrice = ModelInfo(key="m", label="M", runs=3)
    model = Model(lambda text: "crad" in text)
    results, calls = shrunk(model, pair(ORIGINAL, PERTURBED, model=thrice))
    assert smallest_of(results)[0].calls == calls == len(model.asked) == 3 * len(set(model.asked))


def test_the_perturbed_turn_of_a_conversation_is_shrunk():
    def conversation(last):
        return ConversationPlan(turns=(PlannedTurn(prompt="Hello"), PlannedTurn(prompt=last)))

    tasks = pair("Hello", "Hello")
    for task, last in zip(tasks, (ORIGINAL, PERTURBED), strict=True):
        task.case = structs.replace(task.case, plan=conversation(last))
    model = Model(lambda text: "crad" in text)
    results, calls = shrunk(model, tasks)
    (flip,) = results[1].flips
    assert (flip.turn, flip.smallest.question) == (2, "What does a replacement crad cost?")
    assert calls == flip.smallest.calls > 0
    tasks[1].case = structs.replace(
        tasks[1].case,
        plan=ConversationPlan(turns=(PlannedTurn(prompt="Hallo"), PlannedTurn(prompt=PERTURBED))),
    )
    results, calls = shrunk(model, tasks)
    assert (results[1].flips[0].smallest.code, calls) == (ShrinkCode.OTHER_CHANGES, 0)
