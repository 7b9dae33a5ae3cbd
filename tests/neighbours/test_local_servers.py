"""`transformers serve`, a real OpenAI-compatible server, with a small random model."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.children import Children
from support.project import Project
from support.real_servers import command, free_port, wait_for

WORDS = (
    "<unk> <pad> <eos> user assistant system : the fee is five dollars rate rises falls bank pays you are . ?"
)
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }} : {{ message['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}assistant : {% endif %}"
)
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "local"
host = "openai_compatible"
url = "URL/v1"
llm_model_name = "MODEL"
"""


def save_chat_model(folder: Path) -> None:
    """Save a language model of one layer with a chat template; its answers are words without a meaning."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    numbers = {word: number for number, word in enumerate(WORDS.split())}
    words = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", eos_token="<eos>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    special = {"bos_token_id": 2, "eos_token_id": 2, "pad_token_id": 1}
    config = transformers.GPT2Config(
        vocab_size=len(numbers), n_positions=2048, n_embd=16, n_layer=1, n_head=2, **special
    )
    model = transformers.GPT2LMHeadModel(config)
    model.generation_config = transformers.GenerationConfig(
        max_new_tokens=8, do_sample=False, eos_token_id=2, pad_token_id=1
    )
    model.save_pretrained(folder)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Address of the server, and name of its model."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed; `tox -e models` has it")
    folder = tmp_path_factory.mktemp("model")
    save_chat_model(folder)
    port = free_port()
    children = Children()
    options = ("--host", "127.0.0.1", "--port", str(port), "--device", "cpu")
    try:
        process = children.start(
            [command("transformers"), "serve", str(folder), *options],
            folder,
            environment={"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""},
            is_group=True,
        )
        url = f"http://127.0.0.1:{port}"
        wait_for(process, f"{url}/health")
        yield url, folder.as_posix()
    finally:
        children.close()


def test_answers_and_usage_of_a_local_server_arrive(project: Project, server: tuple[str, str]) -> None:
    url, model = server
    project.write("evalstudio.toml", CONFIG.replace("URL", url).replace("MODEL", model))
    project.suite(
        {"key": "words", "prompt": "the fee is ?", "condition": 'regexp("[a-z:.?]")'},
        {"key": "number", "prompt": "the fee is five dollars ?", "condition": '"1234"'},
    )
    project.run().assert_outcomes(passed=1, failed=1)

    _, items = project.record()
    for item in items.values():
        (row,) = item["rows"]
        words = row["answer"]["actual_output"].split()
        assert words
        assert set(words) <= set(WORDS.split())
        assert row["answer"]["usage"]["input_tokens"] > 0
        assert row["answer"]["usage"]["output_tokens"] >= len(words)
    project.run("-n", "1").assert_outcomes(passed=1, failed=1)
