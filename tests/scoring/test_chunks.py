from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.cases import Answer, Case, Relationship
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring import chunks
from pytest_evalstudio.scoring.chunks import SIZE, SIZE_TO_ASK, cut
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from support.toys import toy_registry

MODELS = [ModelInfo(key=str(number), label=str(number)) for number in range(3)]


def task(key, *, model=0, question="", source=None, has_answer=True, answer="1"):
    links = (Relationship(type="perturbation_source", target=source.key),) if source else ()
    case = Case(
        key=key,
        question=question or key,
        answer=Answer(text=answer),
        model_key=MODELS[model].key,
        relationships=links,
    )
    return EvalTask(
        name=f"{key}[{model}]",
        model=MODELS[model],
        case=case,
        answers=(case,) if has_answer else (),
        source=source,
    )


def keys(members, *, files=lambda member: 0, **options):
    actual = cut(members, lambda member: member, place_of=files, **{"by_question": False, **options})
    return [[f"{member.model.key}{member.key}" for member in chunk] for chunk in actual]


def test_nothing_gives_no_chunks():
    assert keys([]) == []


def test_a_chunk_holds_one_model_and_one_file():
    members = [task("a"), task("b", model=1), task("c"), task("d", model=1)]
    assert keys(members) == [["0a", "0c"], ["1b", "1d"]]
    assert keys(members, files=lambda member: member.key in "ab") == [["0a"], ["1b"], ["0c"], ["1d"]]


@pytest.mark.parametrize(("has_answers", "size"), [(True, SIZE), (False, SIZE_TO_ASK)])
def test_chunks_have_a_greatest_size(has_answers, size):
    actual = keys([task(str(number), has_answer=has_answers) for number in range(2 * size + 1)])
    assert [len(chunk) for chunk in actual] == [size, size, 1]


def test_an_original_and_its_perturbations_stay_together(monkeypatch):
    monkeypatch.setattr(chunks, "SIZE", 2)
    original = task("o")
    first = task("p", source=original)
    members = [task("a"), original, task("b"), first, task("q", source=first)]
    assert keys(members) == [["0a"], ["0o", "0p", "0q"], ["0b"]]


def test_a_case_stays_with_the_one_that_it_is_compared_with(monkeypatch):
    monkeypatch.setattr(chunks, "SIZE", 1)
    counterpart = task("o")
    compared = dataclasses.replace(task("p"), related={"counterpart_of": counterpart})
    assert keys([counterpart, task("a"), compared]) == [["0o", "0p"], ["0a"]]


def test_answers_to_one_question_stay_together_where_they_are_compared(monkeypatch):
    monkeypatch.setattr(chunks, "SIZE", 2)
    members = [
        task("a", question="x"),
        task("b"),
        task("c", question="x"),
        task("d", question="x"),
    ]
    assert keys(members) == [["0a", "0b"], ["0c", "0d"]]
    assert keys(members, by_question=True) == [["0a", "0c", "0d"], ["0b"]]


def test_with_workers_there_are_chunks_for_all():
    actual = keys([task(str(number)) for number in range(80)], workers=4)
    assert [len(chunk) for chunk in actual] == [10, 8, 7, 6, 6, 5, 5] + [5] * 6 + [3]


def test_chunks_shrink_to_the_end_so_that_workers_end_together():
    actual = keys([task(str(number)) for number in range(2_400)], workers=2)
    sizes = [len(chunk) for chunk in actual]
    assert sum(sizes) == 2_400
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == chunks.SIZE
    assert sizes[-1] <= chunks.SMALLEST
    assert len(sizes) < 30


QUESTIONS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("xyz"), st.integers(-1, 12), st.sampled_from("012345")),
    max_size=14,
)


@given(QUESTIONS, st.integers(1, 6), st.integers(1, 3))
def test_no_score_depends_on_the_size_of_the_chunks(rows, size, workers):
    plan = Plan(
        toy_registry(),
        configuration(
            {
                "evaluators": ["reading", "counting", "self_consistency"],
                "evaluator": {"reading": {"threshold": 0.5}},
            }
        ),
    )
    members = []
    for number, (model, question, source, answer) in enumerate(rows):
        originals = (
            [member for member in members[max(source, 0) :] if member.model is MODELS[model]]
            if source >= 0
            else []
        )
        members.append(
            task(
                f"k{number}",
                model=model,
                question=question,
                answer=answer,
                source=originals[0] if originals else None,
            )
        )

    def verdicts_by_name(chunk_size, shares):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chunks, "SIZE", chunk_size)
            cuts = cut(
                members, lambda member: member, place_of=lambda member: 0, by_question=True, workers=shares
            )
        results = [result for chunk in cuts for result in Pipeline(plan).evaluate(chunk)]
        return {result.task.name: (list(result.verdicts.values()), result.flips) for result in results}

    expected = verdicts_by_name(1000, 1)
    assert len(expected) == len(members)
    assert verdicts_by_name(size, workers) == expected
