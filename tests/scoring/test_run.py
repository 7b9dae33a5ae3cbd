from __future__ import annotations

import pytest
from msgspec import structs

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Answer, Relationship
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.messages import explain, flip_line, has_misses, headline, misses, short
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from support.toys import toy_registry


class Oracle:
    """A model whose answers are known by question and run; `peek` gives what it was asked before."""

    def __init__(self, answers, *, rag=None, stored=()):
        self.answers = answers
        self.retrieves = rag
        self.retrieval = ""
        self.stored = set(stored)
        self.asked = []

    def ask(self, prompts, *, progress=None):
        self.asked.append([(prompt.text, prompt.run, prompt.corpus) for prompt in prompts])
        return [self._answer(prompt) for prompt in prompts]

    def peek(self, prompts):
        return [self._answer(prompt) if prompt.text in self.stored else None for prompt in prompts]

    def _answer(self, prompt):
        actual = self.answers[prompt.text]
        actual = actual[prompt.run - 1] if isinstance(actual, list) else actual
        return actual if isinstance(actual, Answer) else Answer(text=actual)


def plan_of(*evaluators, **tables):
    return Plan(
        toy_registry(), configuration({"evaluators": list(evaluators or ["reading"]), "evaluator": tables})
    )


def task(key, answer=None, *, model=None, source=None, **more):
    model = model or ModelInfo(key="m", label="M")
    links = (Relationship(type="perturbation_source", target=source.key),) if source else ()
    case = make_case(
        key,
        key=key,
        model_key="",
        relationships=links,
        is_rag=False,
        **{
            name: value
            for name, value in more.items()
            if name in ("categories", "corpus", "condition", "context")
        },
    )
    answers = (
        ()
        if answer is None
        else tuple(
            structs.replace(case.with_answer(text=text), run=run)
            for run, text in enumerate(answer.split("|"), 1)
        )
    )
    options = {name: value for name, value in more.items() if name in ("choice", "xfail")}
    return EvalTask(
        name=f"{key}[{model.label}]", model=model, case=case, answers=answers, source=source, **options
    )


def values(results):
    return [
        {
            selected.id: verdict.scores.get("value", verdict.status)
            for selected, verdict in result.verdicts.items()
        }
        for result in results
    ]


def test_answers_at_hand_are_scored_without_asking():
    results = Pipeline(plan_of("reading", "answered")).evaluate([task("a", "0.75"), task("b", "0.25")])
    assert values(results) == [{"reading": 0.75, "answered": "score"}, {"reading": 0.25, "answered": "score"}]
    assert [result.verdicts[next(iter(result.verdicts))].passed for result in results] == [True, False]
    assert all(result.seconds > 0 for result in results)


def test_no_tasks_give_no_results():
    assert Pipeline(plan_of()).evaluate([]) == []


def test_a_model_is_asked_once_for_all_its_questions_and_repeats():
    model = ModelInfo(key="m", label="M", runs=2)
    oracle = Oracle({"a": ["0.2", "0.4"], "b": ["1", "1"]}, rag=True)
    results = Pipeline(plan_of(), models={"m": oracle}).evaluate(
        [task("a", model=model, corpus=("d.md",)), task("b", model=model)]
    )
    assert oracle.asked == [[("a", 1, ("d.md",)), ("a", 2, ("d.md",)), ("b", 1, ()), ("b", 2, ())]]
    assert values(results) == [{"reading": pytest.approx(0.3)}, {"reading": 1.0}]
    first, second = results[0].answers
    assert (first.run, second.run, first.model_key, first.model_name, first.is_rag) == (1, 2, "m", "M", True)


def test_what_a_model_said_beside_its_text_is_kept():
    answer = Answer(
        text="1",
        context=("c",),
        context_sources=("s",),
        duration_s=0.5,
        cost_usd=0.1,
        usage={"n": 1},
        retries=2,
    )
    [result] = Pipeline(plan_of(), models={"m": Oracle({"a": answer})}).evaluate([task("a")])
    [case] = result.answers
    assert case.answer == answer
    assert case.is_rag


def test_a_model_that_could_not_answer_is_an_error_of_every_evaluator():
    [result] = Pipeline(
        plan_of("reading", "answered"), models={"m": Oracle({"a": Answer(error="down")})}
    ).evaluate([task("a")])
    assert result.errors == [("reading", "no_answer", "down"), ("answered", "no_answer", "down")]
    assert headline(result) == "down"


def test_a_fault_of_the_host_names_no_evaluator_and_shows_no_expectation():
    [result] = Pipeline(
        plan_of("reading", "answered"), models={"m": Oracle({"a": Answer(error="down")})}
    ).evaluate([task("a", condition='"b"')])
    assert explain(result) == "error: down\nquestion:  a"


def test_a_case_to_which_nothing_applies_is_told():
    [empty_result, scored_result] = Pipeline(plan_of("picky", "reading")).evaluate(
        [task("a", "nothing"), task("b", "1")]
    )
    assert (empty_result.applicable, scored_result.applicable) == (False, True)


def test_a_case_has_its_own_evaluators_and_thresholds():
    results = Pipeline(plan_of("reading", "answered")).evaluate(
        [
            task("a", "0.5", choice={"reading": {"threshold": 0.9}}),
            task("b", "0.5"),
            task("c", "0.5", choice={}),
        ]
    )
    assert [[selected.id for selected in result.verdicts] for result in results] == [
        ["reading"],
        ["reading", "answered"],
        [],
    ]
    assert [misses(result)[:1] for result in results] == [
        ["reading: value 0.5 < 0.9: read 0.5"],
        ["answered: model_passes 0 < 0.5"],
        [],
    ]


def test_flips_are_found_between_original_and_perturbation():
    original = task("o", "0.9")
    results = Pipeline(plan_of()).evaluate(
        [original, task("p", "0.1", source=original), task("q", "0.8", source=original)]
    )
    assert [len(result.flips) for result in results] == [0, 1, 0]
    assert (
        misses(results[1])[-1]
        == "reading: value flipped from pass to fail (0.9 -> 0.1, threshold 0.5; original: o)"
    )


def test_every_original_keeps_all_its_flips_and_a_chain_compares_neighbours():
    original = task("o", "0.9")
    first = task("p", "0.1", source=original)
    results = Pipeline(plan_of()).evaluate(
        [original, first, task("q", "0.2", source=original), task("r", "0.8", source=first)]
    )
    assert [[(flip.source, flip.direction) for flip in result.flips] for result in results] == [
        [],
        [("o", "pass_to_fail")],
        [("o", "pass_to_fail")],
        [("p", "fail_to_pass")],
    ]


def test_flips_compare_the_means_of_repeats():
    original = task("o", "0.4|0.8")
    _, result = Pipeline(plan_of()).evaluate([original, task("p", "0.9|0.0", source=original)])
    [flip] = result.flips
    assert (flip.source_score, flip.score) == (pytest.approx(0.6), 0.45)


def test_an_original_that_is_not_selected_is_scored_beside_the_chunk():
    original = task("o", "0.9")
    results = Pipeline(plan_of()).evaluate([task("p", "0.1", source=original)])
    assert [result.task.key for result in results] == ["p"]
    assert len(results[0].flips) == 1


@pytest.mark.parametrize(("stored", "flips", "questions"), [(["o"], 1, ["p", "o"]), ([], 0, ["p"])])
def test_an_original_of_a_model_is_scored_only_where_its_answer_is_stored(stored, flips, questions):
    oracle = Oracle({"o": "0.9", "p": "0.1"}, stored=stored)
    [result] = Pipeline(plan_of(), models={"m": oracle}).evaluate([task("p", source=task("o"))])
    assert len(result.flips) == flips
    assert [text for text, _, _ in oracle.asked[0]] == questions


def test_flips_can_be_set_to_be_reported_only():
    original = task("o", "0.9")
    _, result = Pipeline(plan_of(), strict_flips=False).evaluate(
        [original, task("p", "0.1", source=original)]
    )
    assert [flip.fails for flip in result.flips] == [False]
    assert misses(result) == ["reading: value 0.1 < 0.5: read 0.1"]


def test_circles_of_perturbations_end():
    first, second = task("a", "0.9"), task("b", "0.1")
    first.source, second.source = second, first
    results = Pipeline(plan_of()).evaluate([first, second])
    assert [[flip.direction for flip in result.flips] for result in results] == [
        ["fail_to_pass"],
        ["pass_to_fail"],
    ]


def test_an_item_with_an_error_and_a_missed_threshold_tells_both():
    [result] = Pipeline(plan_of("reading", "answered")).evaluate([task("a", "silent")])
    assert headline(result) == "the judge is silent | answered: model_passes 0 < 0.5"
    assert explain(result).splitlines() == [
        "error: reading: the judge is silent",
        "answered: model_passes 0 < 0.5",
        "question:  a",
        "answer:    silent",
    ]


def test_an_explanation_shows_what_a_person_needs_shortened():
    [result] = Pipeline(plan_of()).evaluate(
        [task("a", "0.25|0.0", condition='"x"', context=("first\nchunk", "2", "3", "4"))]
    )
    assert explain(result).splitlines() == [
        "reading: value 0.125 < 0.5 (mean; least 0): read 0.25",
        "question:  a",
        'condition: "x"',
        "answer:    0.25",
        "context 1: first chunk",
        "context 2: 2",
        "context 3: 3",
        "... and 1 more chunk",
        "(the first of 2 repeats is shown)",
    ]


def test_texts_of_messages_are_masked_and_short():
    assert "jane.roe" not in short("mail jane.roe@bank-mail.net")
    assert short("x" * 700) == "x" * 600 + "..."
    assert short(" a \n b ") == "a b"


def test_a_flip_names_its_perturbators():
    original = task("o", "0.9")
    made_by = ("perturbed_by:comma:LOW", "perturbed_by:word_swap:HIGH")
    _, result = Pipeline(plan_of()).evaluate(
        [original, task("p", "0.1", source=original, categories=made_by)]
    )
    assert (
        flip_line(result.flips[0])
        == "reading: value flipped from pass to fail under comma:LOW+word_swap:HIGH (0.9 -> 0.1, threshold"
        " 0.5; original: o)"
    )


def test_has_misses_agrees_with_the_lines_of_misses():
    original = task("q", "1")
    tasks = [
        original,
        task("q2", "0"),
        task("q3", "1 99"),
        task("q4", "1|0|0"),
        task("q5", "fault"),
        task("q6", ""),
        task("q-flip", "0", source=original, categories=["perturbed_by:antonym:HIGH"]),
        task("q-kept", "0", source=original, categories=["perturbed_by:comma:HIGH"]),
    ]
    results = Pipeline(plan_of()).evaluate(tasks)
    states = [has_misses(result) for result in results]
    assert states == [bool(misses(result)) for result in results]
    assert states == [False, True, False, True, False, True, False, True]
