"""Toxicity and fairness bias: which sentence decides, how labels are read, and how strange texts fare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.classifiers import LABELS
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.metrics.classification import verdict_scale
from pytest_evalstudio.text.sentences import split_sentences
from support.judges_of_text import BIASED, TOXIC, WordLabels

REGISTRY = Registry()


def outcome(id: str, answer: str, tools: Tools | None = None, **options: Any) -> Outcome:
    provided = tools or Tools(
        split_sentences=split_sentences, toxicity_model=WordLabels(TOXIC), bias_model=WordLabels(BIASED)
    )
    return REGISTRY.evaluators.get(id)(**options).score(
        [Case(key="c", question="Why?", answer=Answer(text=answer))], provided
    )[0]


def test_the_most_toxic_sentence_decides_label_by_label() -> None:
    answer = "Hello there, my friend. Idiot! I will kill the process."
    result = outcome("toxicity", answer)
    assert result.scores == {
        "toxicity": 0.9,
        "severe_toxicity": 0.01,
        "obscene": 0.01,
        "threat": 0.9,
        "insult": 0.9,
        "identity_attack": 0.01,
    }
    assert result.reason == "most toxic sentence (0.9): Idiot!"
    by_sentence = {
        answer[fragment.start : fragment.end]: fragment.scores["insult"] for fragment in result.fragments
    }
    assert by_sentence == {"Hello there, my friend.": 0.01, "Idiot!": 0.9, "I will kill the process.": 0.01}


def test_a_harmless_answer_needs_no_words() -> None:
    result = outcome("toxicity", "Hello there.")
    assert result.scores["toxicity"] == 0.01
    assert result.reason == ""


def test_older_names_of_labels_are_known() -> None:
    names = {
        "toxic": {"idiot"},
        "severe_toxic": set(),
        "obscene": set(),
        "threat": set(),
        "insult": set(),
        "identity_hate": {"idiot"},
        "other": {"x"},
    }
    result = outcome(
        "toxicity", "Idiot.", Tools(split_sentences=split_sentences, toxicity_model=WordLabels(names))
    )
    assert set(result.scores) == set(LABELS)
    assert (result.scores["toxicity"], result.scores["identity_attack"], result.scores["insult"]) == (
        0.9,
        0.9,
        0.01,
    )


def test_a_label_that_is_missing_is_named() -> None:
    tools = Tools(
        split_sentences=split_sentences, toxicity_model=WordLabels({"toxic": set(), "LABEL_1": set()})
    )
    with pytest.raises(
        EvaluationError,
        match=r"the classifier words has no label severe_toxicity, .*; its labels are toxic, LABEL_1",
    ):
        outcome("toxicity", "Idiot.", tools)


@pytest.mark.parametrize(
    ("probability", "expected"), [(1.0, 1.0), (0.6, 0.8), (0.5, 0.25), (0.4, 0.2), (0.0, 0.0)]
)
def test_the_scale_of_verdicts_follows_the_rule(probability: float, expected: float) -> None:
    assert verdict_scale(probability) == pytest.approx(expected)
    label, sure = ("Biased", probability) if probability > 0.5 else ("Non-biased", 1 - probability)
    assert verdict_scale(probability) == pytest.approx(
        0.5 + sure / 2 if label == "Biased" else 0.5 - sure / 2
    )


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a probability"):
        verdict_scale(1.5)


def test_bias_is_of_the_whole_answer_and_shown_by_sentence() -> None:
    result = outcome("fairness_bias", "They are lazy people. The fee is five dollars.")
    assert result.scores == {"fairness_bias": 0.95}
    assert result.reason == "most biased sentence (0.95): They are lazy people."
    assert [fragment.scores["fairness_bias"] for fragment in result.fragments] == [0.95, 0.005]
    assert outcome("fairness_bias", "They are lazy.", scale="probability").scores == {"fairness_bias": 0.9}
    assert outcome("fairness_bias", "The fee is five dollars.").reason == ""


def test_the_label_of_bias_may_have_another_name() -> None:
    tools = Tools(
        split_sentences=split_sentences, bias_model=WordLabels({"LABEL_0": set(), "LABEL_1": {"lazy"}})
    )
    assert outcome("fairness_bias", "Lazy.", tools, biased_label="label_1").scores == {"fairness_bias": 0.95}
    with pytest.raises(EvaluationError, match="has no label biased; its labels are LABEL_0, LABEL_1"):
        outcome("fairness_bias", "Lazy.", tools)
    with pytest.raises(ConfigurationError, match="biased_label"):
        outcome("fairness_bias", "Lazy.", tools, biased_label=" ")


@pytest.mark.parametrize("id", ["toxicity", "fairness_bias"])
@pytest.mark.parametrize("answer", ["Idiot", "!", "👍", "東京", "القاهرة", "x" * 5000, "No. " * 2000])
def test_every_other_answer_is_scored(id: str, answer: str) -> None:
    result = outcome(id, answer)
    assert result.status == "score"
    assert all(value is not None and value < 1.0 for value in result.scores.values())


@pytest.mark.parametrize("id", ["toxicity", "fairness_bias"])
def test_a_batch_is_one_call_with_each_text_once(id: str) -> None:
    toxic, biased = WordLabels(TOXIC), WordLabels(BIASED)
    cases = [
        Case(key=str(key), question="?", answer=Answer(text="You idiot. You lazy one.")) for key in range(3)
    ]
    REGISTRY.evaluators.get(id)().score(
        cases, Tools(split_sentences=split_sentences, toxicity_model=toxic, bias_model=biased)
    )
    calls = toxic.calls if id == "toxicity" else biased.calls
    assert len(calls) == 1
    assert len(set(calls[0])) == len(calls[0])
    with pytest.raises(EvaluationError, match="no classifier is configured"):
        outcome(id, "Yes.", Tools(split_sentences=split_sentences))


@pytest.mark.filterwarnings("default")
def test_from_a_folder_to_the_score(tmp_path: Path) -> None:
    """Everything real but the size of the models: what the run records is what the models' logits say."""
    pytest.importorskip("torch", exc_type=ImportError)
    pytest.importorskip("sentence_transformers", exc_type=ImportError)
    from support.tiny_models import by_hand, save_classifier

    toxic = save_classifier(tmp_path / "toxic", list(LABELS), problem_type="multi_label_classification")
    biased = save_classifier(tmp_path / "biased", ["Non-biased", "Biased"], "DistilBert")
    sentences = ["You are an idiot.", "The rate falls."]
    dataset = LlmDataset()
    dataset.add_input("Why?", key="k", actual_output=" ".join(sentences))
    config = {
        name: {"model": folder.name, "device": "cpu"}
        for name, folder in (("toxicity_model", toxic), ("bias_model", biased))
    }
    result = evaluate(dataset, ["toxicity", "fairness_bias"], config=config, folder=tmp_path).items[0]
    scores = {key: value for outcome in result.outcomes[0].values() for key, value in outcome.scores.items()}
    for place, label in enumerate(LABELS):
        assert scores[label] == pytest.approx(
            max(1 / (1 + np.exp(-by_hand(toxic, text)[place])) for text in sentences), abs=1e-5
        )
    powers = np.exp(by_hand(biased, " ".join(sentences)))
    assert scores["fairness_bias"] == pytest.approx(verdict_scale(float(powers[1] / powers.sum())), abs=1e-5)
