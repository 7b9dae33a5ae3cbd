"""Models of inference on real code and small random weights: their numbers are those of the models' own
logits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.formats.weights_tables import HallucinationModel, Nli
from pytest_evalstudio.models.consistency import ConsistencyScorer
from pytest_evalstudio.models.nli import EntailmentJudge
from pytest_evalstudio.models.premises import Readings
from pytest_evalstudio.models.weights import find_weights
from pytest_evalstudio.models.windows import token_counts
from support.tiny_models import NLI, POSITIONS, WORDS, by_hand, save_classifier

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")

KINDS = ("Bert", "Roberta", "DebertaV2", "DistilBert")
PAIRS = [
    ("the bank pays five dollars", "the fee is five dollars"),
    ("the rate rises", "the rate falls"),
    ("bank", "a\ud800"),
    ("the", "👩‍👩‍👧"),
]
LONG = " ".join(
    f"the {word} rises and the bank pays {number} dollars ." for number, word in enumerate(WORDS[:8])
)


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("nli") / request.param, NLI, request.param)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("nli") / "bert", NLI)


def judge(folder: Path, **options: Any) -> EntailmentJudge:
    settings = Nli(model=str(folder), device="cpu", **options)
    return EntailmentJudge(
        find_weights(settings.model, revision=None, table="nli", start=Path(), fetch=False), settings
    )


def scorer(folder: Path) -> ConsistencyScorer:
    settings = HallucinationModel(model=str(folder), device="cpu")
    return ConsistencyScorer(
        find_weights(settings.model, revision=None, table="hallucination_model", start=Path(), fetch=False),
        settings,
    )


def softmax(logits: list[float]) -> list[float]:
    powers = np.exp(np.array(logits) - max(logits))
    return list(powers / powers.sum())


def head_of(folder: Path) -> Any:
    """Weights and bias of the last layer, by the names that the classes give it."""
    from safetensors.numpy import load_file

    state = load_file(folder / "model.safetensors")
    name = next(name for name in ("classifier.weight", "classifier.out_proj.weight") if name in state)
    return state[name]


def test_probabilities_are_the_softmax_of_the_logits_by_the_labels_names(model: Path) -> None:
    result = judge(model).judge([*PAIRS, PAIRS[0]])
    for prediction, (premise, hypothesis) in zip(result, PAIRS, strict=False):
        expected = dict(
            zip(
                NLI,
                softmax(
                    by_hand(
                        model, premise.replace("\ud800", "\ufffd"), hypothesis.replace("\ud800", "\ufffd")
                    )
                ),
                strict=True,
            )
        )
        assert (prediction.entailment, prediction.neutral, prediction.contradiction) == pytest.approx(
            (expected["entailment"], expected["neutral"], expected["contradiction"]), abs=1e-5
        )
    assert result[0] == result[-1]
    assert len({round(item.entailment, 5) for item in result}) > 2


def test_the_distance_is_the_logit_over_the_length_of_its_weights(model: Path) -> None:
    head = head_of(model)
    entailment, others = (
        NLI.index("entailment"),
        [place for place, label in enumerate(NLI) if label != "entailment"],
    )
    for prediction, pair in zip(judge(model).judge(PAIRS[:2]), PAIRS, strict=False):
        logits = by_hand(model, *pair)
        assert prediction.distance == pytest.approx(
            logits[entailment] / np.linalg.norm(head[entailment]), abs=1e-4
        )
        margins = [
            (logits[entailment] - logits[place]) / np.linalg.norm(head[entailment] - head[place])
            for place in others
        ]
        assert prediction.margin == pytest.approx(min(margins), abs=1e-4)
        assert (prediction.margin > 0) == (
            prediction.entailment > max(prediction.neutral, prediction.contradiction)
        )


def test_the_distance_is_that_of_the_representation_to_the_hyperplane(bert: Path) -> None:
    """(w·x + b) / |w| with x taken from the model's inside, not from its logits."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network = AutoModelForSequenceClassification.from_pretrained(bert).eval()
    with torch.no_grad():
        features = network.bert(
            **AutoTokenizer.from_pretrained(bert)(*PAIRS[0], return_tensors="pt")
        ).pooler_output[0]
    weights, bias = network.classifier.weight[1], network.classifier.bias[1]
    expected = float(((weights @ features + bias) / weights.norm()).detach())
    assert judge(bert).judge(PAIRS[:1])[0].distance == pytest.approx(expected, abs=1e-5)


def test_the_best_window_of_a_long_premise_counts(model: Path) -> None:
    from transformers import AutoTokenizer

    hypothesis = "the fee is five dollars"
    result = judge(model)
    room = result._classifier.room(pair=True)
    assert room == POSITIONS - 3
    rows = Readings(AutoTokenizer.from_pretrained(model), room).of((LONG, hypothesis))
    assert len(rows) == 1
    windows = [premise for premise, _ in rows[0]]
    assert len(windows) > 2
    assert " ".join(windows) == LONG
    by_window = [softmax(by_hand(model, window, hypothesis))[NLI.index("entailment")] for window in windows]
    assert result.judge([(LONG, hypothesis)])[0].entailment == pytest.approx(max(by_window), abs=1e-5)
    distances = [
        by_hand(model, window, hypothesis)[1] / np.linalg.norm(head_of(model)[1]) for window in windows
    ]
    assert result.judge([(LONG, hypothesis)])[0].distance == pytest.approx(max(distances), abs=1e-4)


def test_the_worst_part_of_a_long_hypothesis_counts(bert: Path) -> None:
    result = judge(bert)
    readings = Readings(result._classifier.opened.tokenizer, result._classifier.room(pair=True))
    rows = readings.of((LONG, LONG))
    assert len(rows) > 1
    by_part = [max(softmax(by_hand(bert, *pair))[1] for pair in row) for row in rows]
    assert result.judge([(LONG, LONG)])[0].entailment == pytest.approx(min(by_part), abs=1e-5)


@pytest.mark.parametrize(
    "premise",
    [
        LONG,
        "x" * 3000,
        "東京 は 日本 の 首都 です 。 " * 40,
        "👩‍👩‍👧 " * 200,
        "no end " * 300,
        "",
        ". " * 200,
    ],
)
@pytest.mark.parametrize("hypothesis", ["the fee", "rises " * 60, "", "日本" * 50])
def test_no_reading_is_beyond_the_limit_and_no_word_is_lost(
    bert: Path, premise: str, hypothesis: str
) -> None:
    tokenizer = judge(bert)._classifier.opened.tokenizer
    room = POSITIONS - 3
    rows = Readings(tokenizer, room).of((premise, hypothesis))
    assert all(sum(token_counts(tokenizer, list(pair))) <= room for row in rows for pair in row)
    assert "".join("".join(row[0][1] for row in rows).split()) == "".join(hypothesis.split())
    for row in rows:
        assert "".join("".join(window for window, _ in row).split()) == "".join(premise.split())
    assert np.isfinite(judge(bert).judge([(premise, hypothesis)])[0].entailment)


def test_without_a_limit_a_pair_is_read_whole(bert: Path) -> None:
    assert Readings(judge(bert)._classifier.opened.tokenizer, None).of((LONG, LONG)) == [[(LONG, LONG)]]


def test_batches_change_nothing(bert: Path) -> None:
    pairs = [(LONG, f"the fee is {word}") for word in WORDS] + PAIRS
    singles, batch = judge(bert, batch_size=1).judge(pairs), judge(bert, batch_size=64).judge(pairs)
    assert [result.entailment for result in singles] == pytest.approx(
        [result.entailment for result in batch], abs=1e-5
    )
    assert judge(bert).judge([]) == []


def test_other_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        EvaluationError,
        match=r"the labels of the model .* are LABEL_0, LABEL_1, LABEL_2, but an NLI model needs the labels",
    ):
        judge(save_classifier(tmp_path / "model", ["LABEL_0", "LABEL_1", "LABEL_2"])).judge(PAIRS[:1])


@pytest.mark.parametrize(
    "labels", [("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), ("SUPPORTS", "NOT ENOUGH INFO", "REFUTES")]
)
def test_labels_are_known_in_any_case_and_by_the_names_of_fact_checking(
    tmp_path: Path, labels: tuple[str, ...]
) -> None:
    folder = save_classifier(tmp_path / "model", labels)
    expected = softmax(by_hand(folder, *PAIRS[0]))
    result = judge(folder).judge(PAIRS[:1])[0]
    assert (result.entailment, result.neutral, result.contradiction) == pytest.approx(
        tuple(expected), abs=1e-5
    )


def test_numbers_that_are_none_are_an_error(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = save_classifier(tmp_path / "model", NLI)
    state = load_file(folder / "model.safetensors")
    save_file(
        {**state, "classifier.bias": state["classifier.bias"] * np.nan},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(EvaluationError, match=r"gave no number for a text; try nli\.dtype"):
        judge(folder).judge(PAIRS[:1])


def test_support_is_what_the_cross_encoder_of_sentence_transformers_says(tmp_path: Path) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers", exc_type=ImportError)
    from torch.nn import Sigmoid

    folder = save_classifier(tmp_path / "model", ["LABEL_0"], "DebertaV2")
    reference = sentence_transformers.CrossEncoder(str(folder), device="cpu", local_files_only=True)
    reference.save_pretrained(str(tmp_path / "saved"))
    expected = reference.predict(PAIRS[:2], activation_fn=Sigmoid())
    for place in (folder, tmp_path / "saved"):
        assert scorer(place).score(PAIRS[:2]) == pytest.approx(list(map(float, expected)), abs=1e-5)


def test_support_is_that_of_the_best_window_and_the_worst_part(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path / "model", ["LABEL_0"])
    result = scorer(folder)
    readings = Readings(result._classifier.opened.tokenizer, POSITIONS - 3)
    for pair in ((LONG, "the fee is five dollars"), (LONG, LONG)):
        rows = readings.of(pair)
        expected = min(max(1 / (1 + np.exp(-by_hand(folder, *part)[0])) for part in row) for row in rows)
        assert result.score([pair]) == pytest.approx([expected], abs=1e-5)
    assert result.score([]) == []


def test_a_model_of_support_has_one_output(bert: Path) -> None:
    with pytest.raises(EvaluationError, match="has 3 outputs, but a hallucination model needs exactly one"):
        scorer(bert).score(PAIRS[:1])


def test_code_that_comes_with_weights_is_not_run(tmp_path: Path) -> None:
    """HHEM 2's configuration, by its names."""
    import json

    folder = save_classifier(tmp_path / "hhem", ["LABEL_0"])
    config = json.loads((folder / "config.json").read_text())
    code = {
        "model_type": "HHEMv2Config",
        "auto_map": {
            "AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2ForSequenceClassification"
        },
    }
    (folder / "config.json").write_text(json.dumps({**config, **code}))
    (folder / "modeling_hhem_v2.py").write_text("raise SystemExit('run')")
    with pytest.raises(
        ConfigurationError,
        match=r"'HHEMv2Config', which needs its own code; such code is not run.*hhem-1\.0-open",
    ):
        scorer(folder)
