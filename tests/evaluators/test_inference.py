"""The evaluators that read an answer against its context by a model: formulas on numbers that are chosen, and
how strange texts fare.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Entailment, Tools
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.metrics.entailment import (
    PERCENTILES,
    read_conv_weights,
    summac_conv,
    summac_zs,
)
from pytest_evalstudio.text.sentences import split_sentences
from support.embedders import WordEmbedder
from support.judges_of_text import WordNli, WordSupport
from support.scored_cases import outcomes_of

REGISTRY = Registry()
HCAT, HALLUCINATION, SUMMARY = (
    "hcat_nli_groundedness",
    "hallucination",
    "summarization_completeness_faithfulness",
)
FEE, RATE = "The fee is five dollars.", "The rate rose to nine percent."
FIRST, SECOND = "Banks charge a fee of five dollars.", "Rates fell."
CONTEXT = f"{FIRST}\n\n{SECOND}"
CASE = Case(
    key="c", question=f"{FIRST} {SECOND}", answer=Answer(text=f"{FEE} {RATE}", context=(FIRST, SECOND, FIRST))
)


def judged(entailment: float, distance: float | None = None, margin: float | None = None) -> Entailment:
    return Entailment(
        entailment=entailment, neutral=1 - entailment, contradiction=0.0, distance=distance, margin=margin
    )


NLI = {
    (CONTEXT, FEE): judged(0.9, 2.0, 1.0),
    (CONTEXT, RATE): judged(0.1, -1.0, -3.0),
    (FIRST, FEE): judged(0.8),
    (SECOND, FEE): judged(0.3),
    (FIRST, RATE): judged(0.1),
    (SECOND, RATE): judged(0.2),
}


def outcome(id: str, case: Case = CASE, tools: Tools | None = None, **options: Any) -> Outcome:
    provided = tools or Tools(
        split_sentences=split_sentences,
        nli=WordNli(NLI),
        embedder=WordEmbedder(),
        hallucination_model=WordSupport(),
    )
    return REGISTRY.evaluators.get(id)(**options).score([case], provided)[0]


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


@pytest.mark.parametrize(("boundary", "distances"), [("logit", (2.0, -1.0)), ("class", (1.0, -3.0))])
def test_hcat_is_the_logistic_function_of_the_distance(boundary: str, distances: tuple[float, float]) -> None:
    result = outcome(HCAT, boundary=boundary)
    both = [sigmoid(distance) for distance in distances]
    assert result.scores["nli_groundedness"] == pytest.approx(sum(both) / 2, abs=1e-5)
    assert result.scores["min_nli_groundedness"] == pytest.approx(min(both), abs=1e-6)
    assert result.reason.startswith("least entailed sentence")
    assert RATE in result.reason


def test_a_sentence_beyond_the_boundary_is_marked() -> None:
    fragments = outcome(HCAT).fragments
    assert [fragment.message for fragment in fragments] == ["", "potential hallucination (D = -1)"]
    assert [CASE.actual_output[fragment.start : fragment.end] for fragment in fragments] == [FEE, RATE]


def test_sentences_may_count_by_their_length() -> None:
    both, lengths = [sigmoid(2.0), sigmoid(-1.0)], [len(FEE), len(RATE)]
    expected = sum(value * length for value, length in zip(both, lengths, strict=True)) / sum(lengths)
    assert outcome(HCAT, weights="length").scores["nli_groundedness"] == pytest.approx(expected, abs=1e-5)


def test_without_a_linear_layer_there_is_no_distance() -> None:
    tools = Tools(
        split_sentences=split_sentences,
        nli=WordNli({(CONTEXT, FEE): judged(0.5), (CONTEXT, RATE): judged(0.5)}),
    )
    with pytest.raises(EvaluationError, match="no final linear layer"):
        outcome(HCAT, tools=tools)


def test_hallucination_is_the_support_of_the_whole_answer_by_the_whole_context() -> None:
    model = WordSupport()
    result = outcome(HALLUCINATION, tools=Tools(split_sentences=split_sentences, hallucination_model=model))
    assert model.calls == [[(CONTEXT, CASE.actual_output), (CONTEXT, FEE), (CONTEXT, RATE)]]
    assert result.scores == {"hallucination": 0.3}  # of ten words: fee, five, dollars
    assert [fragment.scores["hallucination"] for fragment in result.fragments] == [0.6, 0.0]
    assert result.reason == f"least supported sentence (0): {RATE}"


def test_sentences_are_read_only_where_that_is_asked_for() -> None:
    model = WordSupport()
    result = outcome(
        HALLUCINATION,
        tools=Tools(split_sentences=split_sentences, hallucination_model=model),
        sentence_scores=False,
    )
    assert model.calls == [[(CONTEXT, CASE.actual_output)]]
    assert not result.fragments


def test_summac_zs_is_the_mean_of_the_best_entailments() -> None:
    assert outcome(SUMMARY).scores["faithfulness_zs"] == pytest.approx((0.8 + 0.2) / 2)
    image = np.random.default_rng(0).random((4, 9))
    assert summac_zs(image.tolist()) == pytest.approx(image.max(axis=1).mean())


def test_completeness_is_the_cosine_of_document_and_faithful_sentences() -> None:
    document, fee, both = WordEmbedder().encode([CASE.question, FEE, f"{FEE} {RATE}"])
    assert outcome(SUMMARY).scores["completeness"] == pytest.approx(max(0.0, float(document @ fee)), abs=1e-5)
    assert outcome(SUMMARY, faithful_from=0.2).scores["completeness"] == pytest.approx(
        max(0.0, float(document @ both)), abs=1e-5
    )


def test_a_summary_without_a_faithful_sentence_is_not_complete() -> None:
    result = outcome(SUMMARY, faithful_from=0.9)
    assert result.scores["completeness"] == 0.0
    assert result.reason.startswith(
        "no sentence of the summary follows from the document; least faithful sentence"
    )


def test_without_trained_weights_conv_is_not_applicable() -> None:
    assert outcome(SUMMARY).scores["faithfulness_conv"] is None


def state(seed: int = 0) -> dict[str, Any]:
    """Weights of SummaC Conv by the names of the published model, random."""
    random = np.random.default_rng(seed)
    return {
        "mlp.weight": random.normal(size=(1, len(PERCENTILES) - 1)).tolist(),
        "mlp.bias": random.normal(size=1).tolist(),
        "layer_final.weight": random.normal(size=(2, 3)).tolist(),
        "layer_final.bias": random.normal(size=2).tolist(),
    }


def test_conv_weights_are_read_from_json_and_from_torchs_file(tmp_path: Path) -> None:
    (tmp_path / "conv.json").write_text(json.dumps(state()))
    weights = read_conv_weights(tmp_path / "conv.json")
    result = outcome(SUMMARY, conv_weights=str(tmp_path / "conv.json"))
    assert result.scores["faithfulness_conv"] == summac_conv([[0.8, 0.3], [0.1, 0.2]], weights)
    torch = pytest.importorskip("torch", exc_type=ImportError)
    layers = torch.nn.ModuleDict(
        {"mlp": torch.nn.Linear(len(PERCENTILES) - 1, 1), "layer_final": torch.nn.Linear(3, 2)}
    )
    layers.load_state_dict({name: torch.tensor(value) for name, value in state().items()})
    torch.save(layers.state_dict(), tmp_path / "conv.bin")
    image = [[0.8, 0.3], [0.1, 0.2]]
    assert summac_conv(image, read_conv_weights(tmp_path / "conv.bin")) == pytest.approx(
        summac_conv(image, weights), abs=1e-5
    )


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="there is no file nowhere"):
        outcome(SUMMARY, conv_weights="nowhere")
    with pytest.raises(ConfigurationError, match="expected a probability"):
        outcome(SUMMARY, faithful_from=2.0)


@pytest.mark.parametrize("id", [HCAT, HALLUCINATION, SUMMARY])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"actual_output": "👍👍"}, "the answer has no words", id="emoji alone"),
        pytest.param(
            {"context": ("...", ""), "question": "?!"}, "has no words", id="nothing to read it against"
        ),
    ],
)
def test_what_cannot_be_judged_is_worst_and_says_why(id: str, fields: dict[str, Any], reason: str) -> None:
    inputs = {
        "question": CASE.question,
        "actual_output": CASE.actual_output,
        "context": CASE.context,
        "is_rag": False,
        **fields,
    }
    tools = Tools(
        split_sentences=split_sentences,
        nli=WordNli(),
        hallucination_model=WordSupport(),
        embedder=WordEmbedder(),
    )
    [result] = outcomes_of(REGISTRY.evaluators.get(id)(), [make_case(**inputs)], tools)
    assert set(result.scores.values()) <= {0.0, None}
    assert reason in result.reason


@pytest.mark.parametrize("id", [HCAT, HALLUCINATION, SUMMARY])
@pytest.mark.parametrize(
    "answer",
    [
        "Yes.",
        "五",
        "Москва — столица.",
        "القاهرة",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "def f(x):\n    return x",
    ],
)
def test_short_answers_and_other_scripts_are_scored(id: str, answer: str) -> None:
    result = outcome(id, Case(key="c", question=answer, answer=Answer(text=answer, context=(answer,))))
    assert all(value is None or value > 0.8 for value in result.scores.values())


@pytest.mark.parametrize("id", [HCAT, HALLUCINATION, SUMMARY])
def test_without_a_model_it_says_so(id: str) -> None:
    with pytest.raises(EvaluationError, match=r"no .+ is configured"):
        outcome(id, tools=Tools(split_sentences=split_sentences))


@pytest.mark.parametrize("id", [HCAT, HALLUCINATION, SUMMARY])
def test_a_batch_is_one_call_with_each_pair_once(id: str) -> None:
    nli, support = WordNli(), WordSupport()
    tools = Tools(
        split_sentences=split_sentences, nli=nli, hallucination_model=support, embedder=WordEmbedder()
    )
    REGISTRY.evaluators.get(id)().score(
        [CASE, CASE, Case(key="d", question=FIRST, answer=Answer(text=FEE, context=(SECOND,)))], tools
    )
    calls = support.calls if id == HALLUCINATION else nli.calls
    assert len(calls) == 1
    assert len(set(calls[0])) == len(calls[0])


@pytest.mark.filterwarnings("default")
def test_from_a_folder_to_the_score(tmp_path: Path) -> None:
    """Everything real but the size of the models: what the run records is what the models' logits say."""
    pytest.importorskip("torch", exc_type=ImportError)
    pytest.importorskip("sentence_transformers", exc_type=ImportError)
    from support.tiny_models import NLI as LABELS
    from support.tiny_models import by_hand, save_classifier

    nli, hhem = (
        save_classifier(tmp_path / "nli", LABELS),
        save_classifier(tmp_path / "hhem", ["LABEL_0"], "DebertaV2"),
    )
    dataset = LlmDataset()
    answer, context = "the fee is five dollars", "the bank pays five dollars ."
    dataset.add_input("Why?", key="k", actual_output=answer, context=[context])
    config = {
        name: {"model": folder.name, "device": "cpu"}
        for name, folder in (("nli", nli), ("hallucination_model", hhem))
    }
    result = evaluate(dataset, [HCAT, HALLUCINATION], config=config, folder=tmp_path).items[0]
    scores = {key: value for outcome in result.outcomes[0].values() for key, value in outcome.scores.items()}
    assert scores[HALLUCINATION] == pytest.approx(sigmoid(by_hand(hhem, context, answer)[0]), abs=1e-5)
    from safetensors.numpy import load_file

    weights = load_file(nli / "model.safetensors")["classifier.weight"][LABELS.index("entailment")]
    distance = by_hand(nli, context, answer)[LABELS.index("entailment")] / float(np.linalg.norm(weights))
    assert scores["nli_groundedness"] == pytest.approx(sigmoid(distance), abs=1e-4)
