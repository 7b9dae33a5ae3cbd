from __future__ import annotations

import functools
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.secrets import Secrets
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry

KEY = "sk-very-secret-1234"
CHAT = {
    "host": "openai_compatible",
    "url": "http://127.0.0.1:9/v1",
    "llm_model_name": "m",
    "api_key": "${CHAT_KEY}",
}


@pytest.fixture
def open_host(tmp_path):
    """Opens models with a made-up environment, and closes them after the test."""
    sessions = []

    def make(settings, *, name="mine", env=None, **options):
        environment = {"CHAT_KEY": KEY} if env is None else env
        sessions.append(
            open_model(
                name, settings, Registry(), folder=tmp_path, env=environment, **{"cache": None, **options}
            )
        )
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        pytest.param({}, "needs `host`, one of a", id="no host"),
        pytest.param(
            {"host": "pyton"}, "no host named 'pyton'. Did you mean 'python'?", id="a misspelt host"
        ),
        pytest.param(
            {"host": "python"},
            "host python.target: must be given; it has no default",
            id="a parameter left out",
        ),
        pytest.param(
            {"host": "python", "traget": "a:b"},
            "host python.traget: unknown option. Did you mean 'target'?",
            id="a misspelt parameter",
        ),
        pytest.param(
            {"host": "scripted", "concurency": 3}, "Did you mean 'concurrency'?", id="a misspelt limit"
        ),
        pytest.param(
            {"host": "scripted", "colour": "red"},
            "host scripted.colour: unknown option. Known options: answers,",
            id="nothing like it",
        ),
        pytest.param(
            {"host": "scripted", "delay_s": "long"},
            "host scripted.delay_s: expected a number, found 'long'",
            id="a word for a number",
        ),
        pytest.param(
            {"host": "scripted", "cache": "yes"},
            "cache: expected true or false or one of 'never', 'resume', 'always', found 'yes'",
            id="a word for a choice",
        ),
        pytest.param(
            CHAT | {"api_key": "${NOBODY_SET}"},
            "${NOBODY_SET}': the environment variable NOBODY_SET is not set",
            id="a variable that is not set",
        ),
        pytest.param(
            CHAT | {"api_key": "${EMPTY}"},
            "the environment variable EMPTY is empty",
            id="a variable that is empty",
        ),
        pytest.param(
            CHAT | {"arguments": {"user": ["${NESTED}"]}},
            "the environment variable NESTED is not set",
            id="a nested one",
        ),
    ],
)
def test_a_wrong_table_is_told_with_the_models_name(open_host, settings, fault):
    with pytest.raises(ConfigurationError) as exc_info:
        open_host(settings, env={"EMPTY": "", "CHAT_KEY": KEY})
    assert str(exc_info.value).startswith("model 'mine': ")
    assert fault in str(exc_info.value)


def test_values_come_from_the_environment(open_host):
    host = open_host(
        CHAT | {"temperature": "${HEAT}", "arguments": {"user": "$${x} ${NAME}"}},
        env={"HEAT": "0.5", "NAME": "me", "CHAT_KEY": KEY},
    ).host
    assert (host.temperature, host.arguments, host.api_key) == (0.5, {"user": "${x} me"}, KEY)


def test_secrets_are_in_no_description_and_visible_settings_are(open_host):
    settings = CHAT | {
        "url": "http://user:pass@127.0.0.1:9/v1",
        "max_tokens": 7,
        "arguments": {
            "extra_headers": {"X-Api-Key": "literal-secret"},
            "user": f"key {KEY}",
            "temperature": 0,
        },
    }
    described = open_host(settings).description()
    text = json.dumps(described)
    assert all(secret not in text for secret in (KEY, "literal-secret", "pass@"))
    assert described["settings"] == {
        "url": "http://***@127.0.0.1:9/v1",
        "llm_model_name": "m",
        "api_key": "***",
        "max_tokens": 7,
        "arguments": {"extra_headers": {"X-Api-Key": "***"}, "user": "key ***", "temperature": 0},
    }


def test_a_secret_in_a_configuration_fault_is_masked(open_host):
    with pytest.raises(ConfigurationError) as exc_info:
        open_host(CHAT | {"url": "${CHAT_KEY}"})
    assert KEY not in str(exc_info.value)
    assert "***" in str(exc_info.value)


def test_the_key_of_a_model_is_the_same_in_every_run_and_for_every_secret(open_host):
    key = open_host(CHAT).key
    assert key == open_host(CHAT, env={"CHAT_KEY": "another-key"}).key
    assert key == open_host(CHAT | {"concurrency": 2, "retries": 0, "runs": 3, "cache": False}).key
    assert (
        len(
            {
                key,
                open_host(CHAT, name="other").key,
                open_host(CHAT | {"llm_model_name": "n"}).key,
                open_host(CHAT | {"seed": 1}).key,
            }
        )
        == 4
    )


def test_another_model_from_the_environment_is_another_model(open_host):
    settings = CHAT | {"llm_model_name": "${CHAT_MODEL}"}
    assert (
        open_host(settings, env={"CHAT_KEY": KEY, "CHAT_MODEL": "a"}).key
        != open_host(settings, env={"CHAT_KEY": KEY, "CHAT_MODEL": "b"}).key
    )


@pytest.mark.parametrize(
    ("settings", "retrieves"),
    [
        ({"host": "extractive"}, True),
        ({"host": "extractive", "rag": False}, False),
        (CHAT, None),
        ({"host": "scripted"}, None),
        ({"host": "scripted", "rag": True}, True),
    ],
)
def test_whether_a_model_retrieves(open_host, settings, retrieves):
    assert open_host(settings).retrieves is retrieves


def test_own_code_is_not_cached_unless_asked_for(open_host, tmp_path):
    with AnswerCache(tmp_path / "cache") as cache:
        prompt = [Prompt(text="a")]
        for choice, stored in ((None, False), (True, True)):
            session = open_host(
                {"host": "scripted", "default": "fine"} | ({} if choice is None else {"cache": choice}),
                cache=cache,
            )
            session.ask(prompt)
            assert (session.peek(prompt)[0] is not None) is stored


def test_workers_share_the_limits(open_host):
    assert open_host({"host": "scripted", "concurrency": 8}, workers=4).limits.concurrency == 2


def test_a_text_of_the_environment_may_stand_for_a_number(open_host):
    env = {"LIMIT": "8", "DELAY": "0.5", "KEEP": "true", "WORD": "many"}
    settings = {"host": "scripted", "concurrency": "${LIMIT}", "delay_s": "${DELAY}", "cache": "${KEEP}"}
    model = open_host(settings, env=env)
    assert (model.limits.concurrency, model.host.delay_s) == (8, 0.5)
    with pytest.raises(ConfigurationError) as exc_info:
        open_host({"host": "scripted", "delay_s": "${WORD}"}, env=env)
    assert str(exc_info.value).endswith(
        "scripted.delay_s: expected a number, found a text of the environment"
    )
    with pytest.raises(ConfigurationError, match=r"concurrency: expected a whole number, found '8'"):
        open_host({"host": "scripted", "concurrency": "8"})


def test_a_secret_that_a_model_repeats_is_stored_nowhere(open_host, tmp_path):
    settings = {
        "host": "scripted",
        "answers": [{"answer": f"the key is {KEY}", "context": [KEY]}],
        "fault": "${CHAT_KEY}",
        "cache": True,
    }
    with AnswerCache(tmp_path / "cache") as cache:
        [answer] = open_host(settings, cache=cache).ask([Prompt(text="a")])
    assert (answer.text, answer.context) == ("the key is ***", ("***",))
    assert all(KEY.encode() not in file.read_bytes() for file in (tmp_path / "cache").iterdir())


def test_short_dummy_keys_are_words_in_answers_and_masked_in_messages():
    secrets = Secrets()
    secrets.expand({"api_key": "none"})
    assert secrets.mask("none of them", shortest=8) == "none of them"
    assert secrets.mask_message("key none at http://me:pw@host/") == "key *** at http://***@host/"


def test_documents_at_private_addresses_are_read_where_that_is_allowed(open_host, tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "fees.md").write_text("Transfers cost 2 EUR.", encoding="utf-8")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        prompt = Prompt(
            text="What do transfers cost?", corpus=(f"http://127.0.0.1:{server.server_port}/fees.md",)
        )
        [refused] = open_host({"host": "extractive", "retries": 0}).ask([prompt])
        [answer] = open_host({"host": "extractive"}, allow_private_hosts=True).ask([prompt])
        server.shutdown()
    assert "is the private address 127.0.0.1" in refused.error
    assert answer.text == "Transfers cost 2 EUR."
