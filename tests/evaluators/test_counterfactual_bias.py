"""Counterfactual bias: likeness and sentiment of the answers to a question and its counterfactual."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Answer, Case, Relationship
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.counterfactual_bias import CounterfactualBias, sentiments
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from pytest_evalstudio.text.sentences import split_sentences
from support.judges_of_text import WordLabels

from support.embedders import WordEmbedder  # isort: skip
from support.scored_cases import outcomes_of

Make = Callable[..., Case]
EMBEDDER = WordEmbedder({"Yes.": [1, 0], "Yes, gladly.": [0.6, 0.8], "Never.": [-1, 0]})
TOOLS = Tools(split_sentences=split_sentences, embedder=EMBEDDER)


def outcome(case: Make, answer: str, other: str, tools: Tools = TOOLS):
    (actual,) = outcomes_of(CounterfactualBias(), [case(answer, counterpart=case(other, key="o"))], tools)
    return actual


def test_the_cosine_of_both_answers_and_the_gap_of_their_sentiments(case: Make) -> None:
    actual = outcome(
        case, "Yes, gladly.", "Yes."
    )  # vectors (0.6, 0.8) and (1, 0); good words: "yes" and "gladly" against "yes"
    assert actual.scores["counterfactual_similarity"] == pytest.approx(0.6)
    assert actual.scores["sentiment_gap"] == pytest.approx(2 / math.sqrt(4 + 15) - 1 / 4, abs=1e-6)
    assert actual.reason == "the answer is more favourable than that to 'o' by 0.2088"


def test_the_same_answer_is_fair_and_an_opposite_one_is_not_below_nothing(case: Make) -> None:
    assert dict(outcome(case, "Yes.", "Yes.").scores) == {
        "counterfactual_similarity": 1.0,
        "sentiment_gap": 0.0,
    }
    assert outcome(case, "Never.", "Yes.").scores["counterfactual_similarity"] == 0.0


def test_without_an_answer_of_either_there_is_nothing_to_say(case: Make) -> None:
    (lone_outcome,) = outcomes_of(CounterfactualBias(), [case("Yes.")], TOOLS)
    codes = [actual.code for actual in (outcome(case, "", "Yes."), outcome(case, "Yes.", " "), lone_outcome)]
    assert codes == [OutcomeCode.ANSWER_EMPTY, OutcomeCode.NO_COUNTERPART, OutcomeCode.NO_COUNTERPART]


def test_a_classifier_tells_the_sentiment_where_there_is_one(case: Make) -> None:
    class Mood:
        name = "mood"

        def classify(self, texts):
            return [
                {"NEGATIVE": 0.9, "Positive": 0.1} if text == "Never." else {"NEGATIVE": 0.2, "Positive": 0.8}
                for text in texts
            ]

    tools = Tools(split_sentences=split_sentences, embedder=EMBEDDER, sentiment_model=Mood())
    assert outcome(case, "Never.", "Yes.", tools).scores["sentiment_gap"] == pytest.approx(0.6 + 0.8)


def test_a_classifier_of_something_else_is_told() -> None:
    with pytest.raises(Exception, match="has no label that begins with 'pos'; its labels are"):
        sentiments(["a"], WordLabels({"toxicity": {"a"}}))


def tasks_with(answers: dict[str, str], model: ModelInfo) -> list[EvalTask]:
    original = Case(key="o", question="May he?", answer=Answer(text=answers["o"]), model_key="m")
    link = (Relationship(type="counterfactual_source", target="o"),)
    other = Case(
        key="c",
        question="May she?",
        answer=Answer(text=answers["c"], error=answers.get("error", "")),
        model_key="m",
        relationships=link,
    )
    first = EvalTask(name="o", model=model, case=original, answers=(original,))
    second = EvalTask(
        name="c", model=model, case=other, answers=(other,), related={"counterfactual_source": first}
    )
    return [first, second]


@pytest.mark.parametrize("is_alone", [False, True], ids=["both run", "the original is a companion"])
def test_the_engine_provides_the_originals_answer(is_alone: bool) -> None:
    plan = Plan(Registry(), configuration({"evaluators": ["counterfactual_bias"]}))
    actual = tasks_with({"o": "Yes.", "c": "Yes, gladly."}, ModelInfo(key="m", label="m"))
    results = Pipeline(plan, provide=lambda selected: TOOLS).evaluate(actual[1:] if is_alone else actual)
    (verdict,) = results[-1].verdicts.values()
    assert verdict.scores["counterfactual_similarity"] == pytest.approx(0.6)
    if not is_alone:
        (original,) = results[0].verdicts.values()
        assert (original.status, original.reason) == ("not_applicable", "it has no counterfactual_source")


def test_an_original_without_answer_is_an_error_of_the_comparison() -> None:
    plan = Plan(Registry(), configuration({"evaluators": ["counterfactual_bias"]}))
    original, other = tasks_with({"o": "", "c": "Yes."}, ModelInfo(key="m", label="m"))
    broken = Case(key="o", question="May he?", model_key="m", answer=Answer(error="503"))
    original.answers = (broken,)
    (result,) = Pipeline(plan, provide=lambda selected: TOOLS).evaluate([other])
    (verdict,) = result.verdicts.values()
    assert (verdict.status, verdict.reason) == (
        "error",
        "the case that it is compared with, 'o', was not answered: 503",
    )
