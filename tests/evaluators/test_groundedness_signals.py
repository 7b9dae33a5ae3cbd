"""Groundedness by signals: scores, explanations, and the models that it can do without."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_evalstudio import LlmDataset, evaluate, make_case
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.groundedness_signals import GroundednessSignals
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.metrics.groundedness import EMBEDDING_SIGNALS, LEXICAL_SIGNALS, load_models
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.text.sentences import split_sentences

Make = Callable[..., Case]
CONTEXT = (
    "The central bank raised its key rate by 0.25% to 5.25 percent. Banks lend more to firms than before.",
    "The governor said that inflation will fall next year.",
)
COPIED = "The central bank raised its key rate by 0.25% to 5.25 percent."


@pytest.fixture
def lexical(tools: Tools) -> Tools:
    """Tools of a configuration that names no model."""
    return dataclasses.replace(tools, embedder=None, word_aligner=None, nli=None)


def score(tools: Tools, answer: Case) -> float:
    (outcome,) = GroundednessSignals().score([answer], tools)
    value = outcome.scores["groundedness_signals"]
    assert value is not None
    return value


@pytest.mark.parametrize(
    "worse",
    [
        pytest.param("The football team fired its coach after a bad season.", id="another topic"),
        pytest.param("The central bank raised its key rate by 0.75% to 6.25 percent.", id="other numbers"),
        pytest.param("The central bank never raised its key rate by 0.25% to 5.25 percent.", id="negation"),
        pytest.param("The central bank lowered its key rate by 0.25% to 5.25 percent.", id="opposite"),
        pytest.param("The central bank of Norway raised its key rate by 0.25% to 5.25 percent.", id="name"),
        pytest.param("I think you mean the central bank raised its key rate by 0.25%?", id="opinion"),
    ],
)
@pytest.mark.parametrize("models", ["lexical", "tools"])
def test_a_copied_sentence_scores_better_than_a_changed_one(
    case: Make, request: pytest.FixtureRequest, models: str, worse: str
) -> None:
    tools: Tools = request.getfixturevalue(models)
    copied, changed = (score(tools, case(text, context=CONTEXT)) for text in (COPIED, worse))
    assert copied > changed
    assert copied > 0.75


def test_the_question_is_no_support(case: Make, lexical: Tools) -> None:
    answers = [
        case("The pension fund owns shares.", context=CONTEXT, question=question)
        for question in ("Why?", "Does the pension fund own shares?")
    ]
    assert score(lexical, answers[0]) == score(lexical, answers[1])


def test_the_worst_sentence_is_explained_by_its_signals(case: Make, lexical: Tools) -> None:
    answer = f"{COPIED} Inflation will rise to 9 percent next year."
    (outcome,) = GroundednessSignals().score([case(answer, context=CONTEXT)], lexical)
    assert outcome.scores["min_groundedness_signals"] == outcome.fragments[1].scores["groundedness_signals"]
    assert (
        outcome.fragments[0].scores["groundedness_signals"]
        > outcome.fragments[1].scores["groundedness_signals"]
    )
    assert "numbers are not in the context" in outcome.fragments[1].message
    assert outcome.reason.startswith("unsupported numbers: 9 percent; least grounded sentence")
    first, second = outcome.details["sentences"]
    assert (second["start"], second["end"]) == (len(COPIED) + 1, len(answer))
    assert set(first["signals"]) == {signal.key for signal in LEXICAL_SIGNALS}
    assert second["log_odds"]["opposites"] < 0 == first["log_odds"]["opposites"]


def test_models_add_their_signals(case: Make, tools: Tools, lexical: Tools) -> None:
    answer = case(COPIED, context=CONTEXT)
    details = {
        name: GroundednessSignals().score([answer], used)[0].details
        for name, used in (("all", tools), ("lexical", lexical))
    }
    assert details["lexical"]["model"] == "lexical"
    assert details["all"]["model"] == "embedding"
    added = set(details["all"]["sentences"][0]["signals"]) - set(
        details["lexical"]["sentences"][0]["signals"]
    )
    assert added == {*(signal.key for signal in EMBEDDING_SIGNALS), "entailment"}


def test_entailment_counts(case: Make, tools: Tools, lexical: Tools) -> None:
    with_nli = dataclasses.replace(lexical, nli=tools.nli)
    copied, other = (
        case(COPIED, context=CONTEXT),
        case("The coach left the football club.", context=CONTEXT),
    )
    assert score(with_nli, copied) > score(lexical, copied)
    assert score(with_nli, other) < score(lexical, other)


def test_an_answer_of_function_words_is_not_applicable(case: Make, tools: Tools) -> None:
    (outcome,) = GroundednessSignals().score([case("It is what it is.", context=CONTEXT)], tools)
    assert outcome.status == "not_applicable"


def test_a_context_without_words_supports_nothing(case: Make, tools: Tools) -> None:
    (outcome,) = GroundednessSignals().score([case(COPIED, context=("…",))], tools)
    assert outcome.scores["groundedness_signals"] == 0.0


def test_no_weight_is_negative_and_every_weight_has_a_best_value() -> None:
    models = load_models()
    for model in (models.lexical, models.embedding):
        assert all(weight > 0 for weight in model.weights.values())
        assert {key.rpartition(".")[0] for key in model.weights} <= set(models.best)


def test_it_runs_without_any_configured_model() -> None:
    dataset = LlmDataset()
    dataset.add_input("Rate?", key="q", context=list(CONTEXT), actual_output=COPIED, model_key="m")
    assert evaluate(dataset, ["groundedness_signals"]).verdicts() == {"q[m]": "passed"}


@pytest.mark.parametrize(
    ("config", "models"),
    [
        pytest.param({}, (), id="none"),
        pytest.param({"nli": {"model": "some/folder"}}, ("nli",), id="entailment"),
        pytest.param({"embeddings": {"model": "x"}}, ("embedder", "word_aligner"), id="embeddings"),
    ],
)
def test_it_requires_the_models_that_the_configuration_names(
    config: dict[str, object], models: tuple[str, ...]
) -> None:
    settings = configuration({"evaluators": ["groundedness_signals"], **config}, folder=Path())
    (selected,) = Plan(Registry(), settings).selected
    assert selected.requires == models
    tools = ModelProvider().tools_of(settings, selected)
    assert [name for name in ("embedder", "word_aligner", "nli") if getattr(tools, name) is not None] == list(
        models
    )


FACTS = (
    "The card has an annual fee of 99 USD",
    "Cash withdrawals abroad cost 2.5 percent",
    "The insurance covers trips of 45 days",
    "Customers may cancel the card at any time",
)
INVENTED = "Holders also receive free tickets for every opera house"


@pytest.mark.parametrize("form", ["* {}", "- {}", "1. {}", "Step 1: {}", "| {} |", "{} [1]"])
def test_copied_facts_score_alike_in_all_forms_and_an_invented_one_fails(form: str) -> None:
    evaluator = Registry().evaluators.get("groundedness_signals")()
    context = ". ".join(FACTS) + "."

    def scores(text: str) -> dict[str, float | None]:
        tools = Tools(split_sentences=split_sentences)
        return dict(evaluator.score([make_case("?", text, context=[context])], tools)[0].scores)

    plain = scores(context)
    copied = scores("\n".join(map(form.format, FACTS)))
    invented = scores("\n".join(map(form.format, (*FACTS, INVENTED))))
    for metric in ("groundedness_signals", "min_groundedness_signals"):
        assert copied[metric] == pytest.approx(plain[metric], abs=0.02)
    assert invented["min_groundedness_signals"] < 0.25


def test_a_name_within_an_address_is_masked(case: Make, lexical: Tools) -> None:
    answer = case("The governor replied to Jane-Doe@northfold.com about inflation.", context=CONTEXT)
    (outcome,) = GroundednessSignals().score([answer], lexical)
    assert "Doe" not in outcome.reason
