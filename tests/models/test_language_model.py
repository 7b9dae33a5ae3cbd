"""The language models on real code and small random models: likelihoods are those of plain torch, token by
token.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.tools import Likelihood, Passage
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.weights_tables import LanguageModels
from pytest_evalstudio.models.language_model import TextReader, batches, plan_windows
from pytest_evalstudio.models.weights import find_weights

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("transformers", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")

CONTEXT = 24
SENTENCE = "the fee is five dollars and the rate rises"
LONG = " ".join([SENTENCE, "banks pay what they owe", "Москва 東京 👍 zero", SENTENCE[::-1]] * 4)
TEXTS = [SENTENCE, "fee", "東京は日本の首都です。", "👩‍👩‍👧 👍", "a\ud800b", LONG]


def byte_tokenizer() -> Any:
    """A token per byte, as GPT-2's before any merge."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = ["<|endoftext|>", "<pad>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE(vocab={sign: place for place, sign in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>", pad_token="<pad>"
    )


def save(folder: Path, model: Any, tokenizer: Any) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    tokenizer = byte_tokenizer()
    size = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": CONTEXT, "initializer_range": 0.3}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), bos_token_id=0, eos_token_id=0, **size))
    return save(tmp_path_factory.mktemp("gpt2"), model, tokenizer)


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(1)
    tokenizer = byte_tokenizer()
    tokenizer.model_max_length = CONTEXT
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=1,
        pad_token_id=1,
        eos_token_id=0,
    )
    return save(tmp_path_factory.mktemp("t5"), T5ForConditionalGeneration(config), tokenizer)


def reader(folder: Path, **settings: Any) -> TextReader:
    weights = find_weights(str(folder), revision=None, table="model", start=Path(), fetch=False)
    return TextReader(weights, LanguageModels(device="cpu", **settings))


def ids(folder: Path, text: str) -> list[int]:
    from transformers import AutoTokenizer

    actual: list[int] = AutoTokenizer.from_pretrained(folder)(
        text.replace("\ud800", "\ufffd"), add_special_tokens=False
    )["input_ids"]
    return actual


def next_token(model: Any, read: list[int], token: int, source: list[int] | None = None) -> float:
    """Log-probability of one token after those that are read, by itself."""
    import torch

    with torch.no_grad():
        inputs = {"input_ids": torch.tensor([read])}
        if source is not None:
            inputs = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([read])}
        return float(torch.log_softmax(model(**inputs).logits[0, -1].double(), dim=-1)[token])


def causal(folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder).eval()


@pytest.mark.parametrize(
    "text", TEXTS, ids=["a sentence", "a word", "another script", "emoji", "lone surrogate", "a long text"]
)
def test_a_window_of_one_token_is_the_naive_loop(gpt2: Path, text: str) -> None:
    model, tokens = causal(gpt2), ids(gpt2, text)
    expected = [
        next_token(model, [0, *tokens[max(0, place - CONTEXT + 1) : place]], token)
        for place, token in enumerate(tokens)
    ]
    actual = reader(gpt2).read([Passage(text=text)], stride=1)[0]
    assert actual.tokens == pytest.approx(expected, abs=1e-4)
    assert actual.is_cut == (len(tokens) > CONTEXT)


def test_windows_move_on_by_the_stride_and_predict_each_token_once(gpt2: Path) -> None:
    model, tokens, stride = causal(gpt2), ids(gpt2, LONG), 7
    expected, position = [], 0
    while position < len(tokens):
        end = CONTEXT if not position else min(position + stride, len(tokens))
        start = max(0, end - CONTEXT)
        expected += [
            next_token(model, [0, *tokens[start:place]], tokens[place]) for place in range(position, end)
        ]
        position = end
    assert reader(gpt2).read([Passage(text=LONG)], stride=stride)[0].tokens == pytest.approx(
        expected, abs=1e-4
    )


def test_a_text_is_predicted_after_what_stands_before_it(gpt2: Path) -> None:
    model = causal(gpt2)
    instruction, before, text = "Say: ", "fee =", " five"
    read = [0, *ids(gpt2, instruction), *ids(gpt2, before)]
    expected = []
    for token in ids(gpt2, text):
        expected.append(next_token(model, read, token))
        read.append(token)
    actual = reader(gpt2).read([Passage(instruction=instruction, before=before, text=text)])[0]
    assert actual.tokens == pytest.approx(expected, abs=1e-4)
    assert not actual.is_cut


def test_the_beginning_of_what_stands_before_is_cut_and_the_instruction_kept(gpt2: Path) -> None:
    model = causal(gpt2)
    instruction, before, text = "Say: ", LONG, " five"
    room = CONTEXT + 1 - 1 - len(instruction) - len(text)
    read = [0, *ids(gpt2, instruction), *ids(gpt2, before)[-room:]]
    expected = []
    for token in ids(gpt2, text):
        expected.append(next_token(model, read, token))
        read.append(token)
    actual = reader(gpt2).read([Passage(instruction=instruction, before=before, text=text)])[0]
    assert actual.tokens == pytest.approx(expected, abs=1e-4)
    assert actual.is_cut


def test_a_sequence_to_sequence_model_reads_what_stands_before_in_its_encoder(t5: Path) -> None:
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(t5).eval()
    for passage in (
        Passage(instruction="Say: ", before="a fee", text="five"),
        Passage(instruction="Say: ", before=LONG, text="five"),
        Passage(text="five"),
    ):
        room = CONTEXT - 1 - len(passage.instruction)
        source = [*ids(t5, passage.instruction), *ids(t5, passage.before)[-room:], 0]
        read, expected = [1], []
        for token in ids(t5, passage.text):
            expected.append(next_token(model, read, token, source))
            read.append(token)
        actual = reader(t5).read([passage])[0]
        assert actual.tokens == pytest.approx(expected, abs=1e-4)
        assert actual.is_cut == (passage.before == LONG)


def test_a_long_text_is_read_in_windows_by_a_decoder_too(t5: Path) -> None:
    actual = reader(t5).read([Passage(before="a fee", text=LONG)])[0]
    assert len(actual.tokens) == len(ids(t5, LONG))
    assert actual.is_cut


@pytest.mark.parametrize("model", ["gpt2", "t5"])
def test_a_batch_reads_as_its_passages_alone(request: pytest.FixtureRequest, model: str) -> None:
    folder = request.getfixturevalue(model)
    passages = [Passage(text=text, before=before) for text in TEXTS for before in ("", "a fee = ")]
    batch = reader(folder, batch_size=5).read([*passages, passages[0]])
    for passage, actual in zip(passages, batch[:-1], strict=True):
        single = reader(folder, batch_size=1).read([passage])[0]
        assert actual.tokens == pytest.approx(single.tokens, abs=1e-4)
        assert actual.is_cut == single.is_cut
    assert batch[-1] == batch[0]
    assert reader(folder).read([]) == []


def test_a_text_without_tokens_has_no_likelihood(gpt2: Path) -> None:
    assert reader(gpt2).read([Passage(text="")]) == [Likelihood(tokens=())]


def test_nothing_is_read_before_a_passage_comes(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    broken = reader(tmp_path)
    with pytest.raises(EvaluationError, match=f"the model {tmp_path} .* cannot be loaded"):
        broken.read([Passage(text="fee")])


def test_a_model_that_reads_both_ways_is_refused(tmp_path: Path) -> None:
    from transformers import BertConfig, BertForMaskedLM

    size = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "vocab_size": 300,
    }
    save(tmp_path, BertForMaskedLM(BertConfig(**size)), byte_tokenizer())
    with pytest.raises(EvaluationError, match="BertForMaskedLM is not a language model"):
        reader(tmp_path).read([Passage(text="fee")])


def test_a_model_that_gives_no_number_is_an_error(gpt2: Path) -> None:
    import torch

    broken = reader(gpt2)
    with torch.no_grad():
        broken._model.transformer.ln_f.weight.fill_(math.nan)
    with pytest.raises(EvaluationError, match=r"gave no number for a text; try language_model.dtype"):
        broken.read([Passage(text="fee")])


@pytest.mark.parametrize("size", [0, 1, 5, 24, 60])
@pytest.mark.parametrize("length", [1, 11, 12, 24, 25, 90])
@pytest.mark.parametrize("stride", [None, 1, 5, 1000])
def test_windows_fit_the_context_and_predict_every_token_once_and_in_order(
    size: int, length: int, stride: int | None
) -> None:
    head, before, text = (-1, -2), tuple(range(-100, -100 + size)), tuple(range(length))
    windows, is_cut = plan_windows(head, before, text, context=CONTEXT, stride=stride)
    assert [token for window in windows for token in window.ids[window.first :]] == list(text)
    all_tokens = before + text
    for window in windows:
        assert len(window.ids) - 1 <= CONTEXT
        assert window.ids[:2] == head
        end = all_tokens.index(window.ids[-1]) + 1
        assert window.ids[2:] == all_tokens[end - len(window.ids) + 2 : end]
    assert is_cut == (len(head) + size + length > CONTEXT + 1)


def test_an_instruction_beyond_half_the_context_is_cut_like_the_rest() -> None:
    windows, is_cut = plan_windows(tuple(range(40)), (50,), (60, 61), context=10, stride=None)
    assert [window.ids for window in windows] == [(0, 33, 34, 35, 36, 37, 38, 39, 50, 60, 61)]
    assert is_cut


def test_long_windows_come_in_smaller_batches() -> None:
    windows = [plan_windows((0,), (), tuple(range(1000)), context=1024, stride=None)[0][0] for _ in range(6)]
    assert [len(batch) for batch in batches(windows, 32)] == [4, 2]
    assert [len(batch) for batch in batches(windows, 3)] == [3, 3]


def test_evaluators_that_name_one_folder_share_one_model(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    loaded: list[str] = []
    load = transformers.AutoModelForCausalLM.from_pretrained

    def count(folder: str, **settings: Any) -> Any:
        loaded.append(folder)
        return load(folder, **settings)

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", count)
    dataset = LlmDataset()
    dataset.add_input("Which fee?", key="a", actual_output=SENTENCE, expected_output="five")
    dataset.add_input("Which rate?", key="b", actual_output="", expected_output="five")
    options = {
        "perplexity": {"model": gpt2.name},
        "machine_translation_gptscore": {"gpt_score_model": f"./{gpt2.name}/"},
    }
    config = {"evaluator": options, "language_model": {"device": "cpu"}}
    results = evaluate(dataset, list(options), config=config, folder=gpt2.parent)
    first, second = (
        {selected.id: verdict for selected, verdict in result.verdicts.items()} for result in results
    )
    tokens = ids(gpt2, SENTENCE)
    expected = reader(gpt2).read([Passage(text=SENTENCE)], stride=512)[0].tokens
    assert first["perplexity"].scores["perplexity"] == pytest.approx(
        math.exp(-sum(expected) / len(tokens)), rel=1e-3
    )
    assert first["machine_translation_gptscore"].status == "score"
    assert second["perplexity"].code == OutcomeCode.ANSWER_EMPTY
    assert loaded == [str(gpt2)] * 2  # one of them the reader's of this test
