"""The evaluators on language models and on bert-score: formulas on known likelihoods, and how strange answers
fare.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Passage, Tools
from pytest_evalstudio.metrics.likelihood import perplexity
from pytest_evalstudio.text.sentences import split_sentences
from support.language_models import WordLanguageModel, WordMatcher

REGISTRY = Registry()
GPT_SCORES = [id for id in REGISTRY.evaluators if id.endswith("gptscore")]
ON_LANGUAGE_MODELS = ["perplexity", *GPT_SCORES]
CASE = Case(key="c", question="Q1 Q2", answer=Answer(text="yes five"), expected_output="five")


def tools(model: WordLanguageModel | None = None, matcher: WordMatcher | None = None) -> Tools:
    model, matcher = model or WordLanguageModel(), matcher or WordMatcher()
    return Tools(
        split_sentences=split_sentences,
        language_model=lambda name: model,
        token_matcher=lambda name, layers: matcher,
    )


def outcome(id: str, case: Case = CASE, provided: Tools | None = None, **options: Any) -> Outcome:
    return REGISTRY.evaluators.get(id)(**options).score([case], provided or tools())[0]


def test_perplexity_is_the_exponential_of_the_mean_surprise() -> None:
    assert outcome("perplexity").scores == {"perplexity": pytest.approx(math.exp((3 + 4) / 2), abs=1e-3)}
    assert perplexity([-1.0, -2.0, -6.0]) == pytest.approx(math.e**3, abs=1e-3)
    assert perplexity([0.0]) == 1.0


def test_question_answering_asks_for_yes_after_each_of_eight_questions() -> None:
    model = WordLanguageModel()
    result = outcome("question_answering_gptscore", provided=tools(model))
    assert len(model.calls) == 1
    assert len(model.calls[0]) == len(result.scores) == 8
    for passage in model.calls[0]:
        assert passage.text == "Answer: Yes"
        assert passage.before == "Q1 Q2\nyes five\n"
        assert "(a) Yes. (b) No." in passage.instruction
    # "Answer:" is new, "Yes" is not: "Yes." is another word.
    assert set(result.scores.values()) == {(7 + 3) / 2}


@pytest.mark.parametrize("id", ["machine_translation_gptscore", "summarization_with_reference_gptscore"])
def test_paraphrases_are_scored_in_both_directions(id: str) -> None:
    model = WordLanguageModel()
    result = outcome(id, provided=tools(model))
    assert {(passage.before, passage.text) for passage in model.calls[0]} == {
        ("five In other words,", " yes five"),
        ("yes five In other words,", " five"),
    }
    assert len({passage.instruction for passage in model.calls[0]}) == len(result.scores)
    assert set(result.scores.values()) == {((3 + 0.5) / 2 + 0.5) / 2}


def test_without_a_reference_the_question_is_summarised() -> None:
    model = WordLanguageModel()
    result = outcome("summarization_without_reference_gptscore", provided=tools(model))
    assert {(passage.before, passage.text) for passage in model.calls[0]} == {("Q1 Q2\nTl;dr\n", "yes five")}
    assert len({passage.instruction for passage in model.calls[0]}) == len(result.scores) == 7
    assert set(result.scores.values()) == {(3 + 4) / 2}


@pytest.mark.parametrize(
    ("id", "published"),
    [
        (
            "question_answering_gptscore",
            "Answer the question based on the conversation between a human and AI. Question: Are the"
            " responses of AI interesting? (a) Yes. (b) No. Conversation: ",
        ),
        (
            "machine_translation_gptscore",
            "Rewrite the following text with its core information and consistent facts: ",
        ),
        ("summarization_with_reference_gptscore", "Rewrite the following text with the same semantics. "),
        (
            "summarization_without_reference_gptscore",
            "Generate a summary with as much semantic coverage as possible for the following text: ",
        ),
    ],
)
def test_the_published_instructions_are_the_default(id: str, published: str) -> None:
    by_wording = {}
    for wording in ("published", "own"):
        model = WordLanguageModel()
        outcome(id, provided=tools(model), wording=wording)
        by_wording[wording] = {passage.instruction for passage in model.calls[0]}
    model = WordLanguageModel()
    outcome(id, provided=tools(model))
    assert published in by_wording["published"]
    assert {passage.instruction for passage in model.calls[0]} == by_wording["published"]
    assert by_wording["published"].isdisjoint(by_wording["own"])


@pytest.mark.parametrize("id", ON_LANGUAGE_MODELS)
def test_each_distinct_passage_of_a_batch_is_read_once_and_together(id: str) -> None:
    model = WordLanguageModel()
    cases = [CASE, CASE, Case(key="d", question="Q", answer=Answer(text="no"), expected_output="no")]
    assert len(REGISTRY.evaluators.get(id)().score(cases, tools(model))) == 3
    assert len(model.calls) == 1
    assert len(set(model.calls[0])) == len(model.calls[0])


class Deaf(WordLanguageModel):
    """Knows no word."""

    def _read(self, passage: Passage) -> Any:
        return super()._read(Passage(text=""))


@pytest.mark.parametrize("id", ON_LANGUAGE_MODELS)
def test_an_answer_of_which_no_token_is_known_is_an_error(id: str) -> None:
    result = outcome(id, provided=tools(Deaf()))
    assert result.status == "error"
    assert "knows no token of it" in result.reason


@pytest.mark.parametrize("id", GPT_SCORES)
def test_a_text_that_was_cut_is_told(id: str) -> None:
    long = Case(key="c", question="Q " * 50, answer=Answer(text="yes " * 50), expected_output="five " * 50)
    assert outcome(id).reason == ""
    assert (
        "the beginning of the preceding text was left out"
        in outcome(id, long, tools(WordLanguageModel(context=20))).reason
    )


@pytest.mark.parametrize("id", [*ON_LANGUAGE_MODELS, "bertscore"])
def test_without_its_model_it_says_so(id: str) -> None:
    with pytest.raises(EvaluationError, match=r"no .+ is configured"):
        outcome(id, provided=Tools(split_sentences=split_sentences))


def test_the_option_decides_which_model_is_required() -> None:
    assert REGISTRY.evaluators.get("perplexity")(model="gpt2").requires == ("language_model:gpt2",)
    assert REGISTRY.evaluators.spec("perplexity").requires == ("language_model:distilgpt2",)
    for id in GPT_SCORES:
        assert REGISTRY.evaluators.get(id)(gpt_score_model="flan").requires == ("language_model:flan",)
        assert REGISTRY.evaluators.spec(id).requires == ("language_model:gpt2-medium",)
    assert REGISTRY.evaluators.get("bertscore")(model="bert").requires == (
        "module:bert_score",
        "token_matcher:bert",
    )


@pytest.mark.parametrize(("id", "options"), [("perplexity", {"stride": 0}), ("bertscore", {"num_layers": 0})])
def test_options_out_of_range_are_refused(id: str, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        REGISTRY.evaluators.get(id)(**options)


def test_bertscore_gives_what_the_matcher_says_within_its_range() -> None:
    class Beyond(WordMatcher):
        def match(self, pairs: Any) -> list[tuple[float, float, float]]:
            return [(1.0000002, -0.01, 0.1234567)]

    assert outcome("bertscore").scores == pytest.approx(
        {"bertscore_precision": 0.5, "bertscore_recall": 1.0, "bertscore_f1": 2 / 3}, abs=1e-6
    )
    assert list(outcome("bertscore", provided=tools(matcher=Beyond())).scores.values()) == [
        1.0,
        0.0,
        0.123457,
    ]


def test_bertscore_reads_each_distinct_pair_once() -> None:
    matcher = WordMatcher()
    result = REGISTRY.evaluators.get("bertscore")().score([CASE, CASE], tools(matcher=matcher))
    assert matcher.calls == [[("yes five", "five")]]
    assert result[0] == result[1]
