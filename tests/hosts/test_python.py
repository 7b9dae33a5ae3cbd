from __future__ import annotations

import asyncio
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pytest_evalstudio.core.cases import Answer, Prompt, Turn
from pytest_evalstudio.core.errors import ConfigurationError
from support.children import LONGEST_WAIT_S

ASK = [Prompt(text="how much?", corpus=("a.pdf",), run=2)]


@pytest.fixture
def application(tmp_path, request):
    """Writes a module beside the configuration; it is forgotten after the test."""
    name = f"application_{abs(hash(request.node.nodeid))}"

    def write(source):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        return name

    yield write
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(prompt): return 'said ' + prompt", id="a function"),
        pytest.param("async def f(prompt): return 'said ' + prompt", id="a coroutine function"),
        pytest.param(
            "async def g(prompt): return 'said ' + prompt\nf = lambda prompt: g(prompt)",
            id="a function that returns a coroutine",
        ),
        pytest.param(
            "class A:\n    def __call__(self, prompt): return 'said ' + prompt\nf = A()", id="an instance"
        ),
        pytest.param(
            "class A:\n    async def __call__(self, prompt): return 'said ' + prompt\nf = A()",
            id="an async instance",
        ),
        pytest.param("def f(prompt): return {'text': 'said ' + prompt}", id="a mapping"),
        pytest.param(
            "from pytest_evalstudio.core.cases import Answer\ndef f(prompt): return Answer(text='said ' +"
            " prompt)",
            id="an Answer",
        ),
    ],
)
def test_a_callable_is_called_with_the_prompt(application, model, source):
    assert model("python", target=application(source) + ":f").ask(ASK)[0].text == "said how much?"


def test_dots_after_the_colon_reach_attributes(application, model):
    name = application("class App:\n    @staticmethod\n    def ask(prompt): return 'yes'")
    assert model("python", target=f"{name}:App.ask").ask(ASK)[0].text == "yes"


def test_a_callable_gets_what_it_asks_for_by_name(application, model):
    name = application("""
        def f(question, corpus, run, *, model, llm_model_name, system_prompt, style, missing=1):
            return repr((question, corpus, run, model, llm_model_name, system_prompt, style, missing))
    """)
    session = model(
        "python",
        target=name + ":f",
        llm_model_name="m",
        system_prompt="be brief",
        parameters={"style": "dry"},
    )
    assert session.ask(ASK)[0].text == repr(("how much?", ("a.pdf",), 2, "mine", "m", "be brief", "dry", 1))


def test_a_mapping_may_carry_context_cost_and_usage(application, model):
    name = application("""
        def f(prompt):
            sources = {"context": ["fees are 2 EUR"], "context_sources": ["fees.pdf#page=1"]}
            return {"answer": "2 EUR", **sources, "cost": 0.5, "usage": {"input_tokens": 3}}
    """)
    [answer] = model("python", target=name + ":f").ask(ASK)
    assert (answer.text, answer.context, answer.context_sources, answer.cost_usd, dict(answer.usage)) == (
        "2 EUR",
        ("fees are 2 EUR",),
        ("fees.pdf#page=1",),
        0.5,
        {"input_tokens": 3},
    )


@pytest.mark.parametrize(
    ("returned", "fault"),
    [
        pytest.param("None", "returned None; return a str", id="nothing"),
        pytest.param("{'answr': 'x'}", "unknown key 'answr'. Did you mean 'answer'?", id="a misspelt key"),
        pytest.param("{'context': []}", "no 'answer'", id="a mapping without an answer"),
        pytest.param("{'answer': 'x', 'text': 'y'}", "both 'answer' and 'text'", id="two answers"),
        pytest.param("{'answer': 3}", "'answer' as an int; make it str", id="a number for an answer"),
        pytest.param(
            "{'answer': 'x', 'context': 'chunk'}",
            "'context' as a str; make it a list of strings",
            id="a bare string for context",
        ),
        pytest.param(
            "{'answer': 'x', 'context': ['a'], 'context_sources': ['b', 'c']}",
            "1 context chunks and 2",
            id="sources that match no chunk",
        ),
        pytest.param("{'answer': 'x', 'cost': 'much'}", "'cost' as a str", id="a cost in words"),
        pytest.param("{'answer': 'x', 'usage': {'tokens': 'many'}}", "'usage'", id="usage in words"),
        pytest.param("{'error': 'the index is down'}", "the index is down", id="an error of its own"),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_so(application, model, returned, fault):
    [answer] = model("python", target=application(f"def f(prompt): return {returned}") + ":f").ask(ASK)
    assert fault in answer.error
    assert answer.text == ""


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_callable_that_raises_is_an_error_with_file_and_line(application, model, kind):
    name = application(f"import json\ndef inner():\n    json.loads('{{')\n{kind} f(prompt):\n    inner()\n")
    [answer] = model("python", target=name + ":f").ask(ASK)
    assert "JSONDecodeError: Expecting property name" in answer.error
    assert f"{name}.py:3)" in answer.error
    assert "Traceback" not in answer.error


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("end", ["raise SystemExit(3)", "import pytest; pytest.fail('no')"])
def test_a_callable_that_wants_to_end_the_process_ends_only_its_case(application, model, kind, end):
    session = model(
        "python",
        target=application(f"{kind} f(prompt):\n    if prompt == 'bad': {end}\n    return 'ok'") + ":f",
    )
    bad, good = session.ask([Prompt(text="bad"), Prompt(text="good")])
    assert bad.error
    assert good.text == "ok"


def test_a_callable_may_ask_for_another_try(application, model):
    name = application("""
        from pytest_evalstudio.core.plugins.host import HostFault
        tries = []
        def f(prompt):
            tries.append(prompt)
            if len(tries) < 2: raise HostFault("warming up", retry=True, retry_after_s=0.01)
            return "ok"
    """)
    [answer] = model("python", target=name + ":f").ask(ASK)
    assert (answer.text, answer.retries) == ("ok", 1)


def test_blocking_callables_run_at_the_same_time(application, model):
    name = application(f"""
        import threading
        sixteen = threading.Barrier(16, timeout={LONGEST_WAIT_S})
        def f(prompt):
            sixteen.wait()
            return "ok"
    """)
    answers = model("python", target=name + ":f", concurrency=16).ask(
        [Prompt(text=str(number)) for number in range(32)]
    )
    assert [answer.text for answer in answers] == ["ok"] * 32


def test_a_callable_that_hangs_delays_neither_other_cases_nor_the_end(application, model):
    name = application(
        "import time\ndef f(prompt):\n    time.sleep(120 if prompt == 'hang' else 0)\n    return 'ok'"
    )
    session = model("python", target=name + ":f", concurrency=1, timeout_s=5, retries=0)
    start = time.perf_counter()
    hung, fine = session.ask([Prompt(text="hang"), Prompt(text="fine")])
    session.close()
    assert "no answer within 5 s" in hung.error
    assert fine.text == "ok"
    assert time.perf_counter() - start < 60


def test_a_running_event_loop_is_no_hindrance(application, model):
    session = model("python", target=application("async def f(prompt): return 'ok'") + ":f")

    async def user_test() -> list[Answer]:
        return session.ask(ASK)

    assert asyncio.run(user_test())[0].text == "ok"


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        pytest.param("nowhere", "not of the form 'package.module:callable'", id="no colon"),
        pytest.param("no_such_module_here:f", "no module named 'no_such_module_here'", id="no such module"),
        pytest.param("json:lods", "module 'json' has no 'lods'. Did you mean 'loads'?", id="a misspelt name"),
        pytest.param(
            "json:JSONDecoder.decod",
            "'JSONDecoder' has no 'decod'. Did you mean 'decode'?",
            id="a misspelt attribute",
        ),
        pytest.param("json:__version__", "is not callable but a str", id="no callable"),
        pytest.param("json:JSONDecoder", "is a class", id="a class"),
    ],
)
def test_a_wrong_target_is_told_when_the_model_is_opened(model, target, fault):
    with pytest.raises(ConfigurationError) as raised:
        model("python", target=target)
    assert fault in str(raised.value)
    assert str(raised.value).startswith("model 'mine': ")


@pytest.mark.parametrize(
    ("source", "parameters", "fault"),
    [
        pytest.param(
            "raise ValueError('broken')", {}, "does not import: ValueError: broken", id="a module that fails"
        ),
        pytest.param(
            "import no_such_thing",
            {},
            "needs 'no_such_thing', which is not installed",
            id="a module that needs another",
        ),
        pytest.param(
            "def f(): return 1", {}, "its first one must be the prompt", id="no place for the prompt"
        ),
        pytest.param(
            "def f(prompt, key): return 1",
            {},
            "asks for 'key', which is not provided",
            id="an argument that nobody gives",
        ),
        pytest.param(
            "def f(prompt, top_k=1): return 1",
            {"topk": 2},
            "no parameter 'topk'. Did you mean 'top_k'?",
            id="a parameter it has not",
        ),
    ],
)
def test_a_target_that_cannot_be_called_is_told_when_the_model_is_opened(
    application, model, source, parameters, fault
):
    with pytest.raises(ConfigurationError) as raised:
        model("python", target=application(source) + ":f", parameters=parameters)
    assert fault in str(raised.value)


def test_the_import_path_is_as_it_was_once_the_model_is_closed(application, model, tmp_path: Path):
    before = list(sys.path)
    session = model(
        "python", target=application("def f(prompt):\n    import late\n    return late.word") + ":f"
    )
    (tmp_path / "late.py").write_text("word = 'late'", encoding="utf-8")
    assert session.ask(ASK)[0].text == "late"
    session.close()
    assert sys.path == before
    sys.modules.pop("late")


def test_a_fixture_is_called_once_it_is_bound(model):
    session = model("fixture", fixture="app", parameters={"style": "dry"})
    with pytest.raises(ConfigurationError, match="fixture 'app' exists only in a pytest run"):
        session.ask(ASK)
    session.host.bind(lambda prompt, style, model: f"{prompt} {style} {model}")
    assert session.ask(ASK)[0].text == "how much? dry mine"


def test_a_fixture_whose_value_cannot_be_called_is_a_configuration_error(model):
    with pytest.raises(ConfigurationError, match="the value of fixture 'app' is not callable but None"):
        model("fixture", fixture="app").host.bind(None)


def test_earlier_turns_are_given_to_those_who_ask(application, model):
    name = application("def f(prompt, conversation): return repr(conversation)\ndef g(prompt): return prompt")
    prompts = [Prompt(text="q", conversation=(Turn(role="user", content="Hello"),)), Prompt(text="q")]
    answers = model("python", target=f"{name}:f").ask(prompts)
    assert [answer.text for answer in answers] == ["[{'role': 'user', 'content': 'Hello'}]", "[]"]
    assert model("python", target=f"{name}:g").ask(prompts)[0].text == "q"


def test_scores_of_chunks_are_those_of_the_retriever(model):
    def ask(prompt):
        return {"answer": "5 USD", "context": ["a", "b"], "context_scores": [1, 0.25]}

    [answer] = model("python", target=ask).ask(ASK)
    assert answer.context_scores == (1.0, 0.25)


@pytest.mark.parametrize(
    ("scores", "fact"),
    [
        ([0.5], "returned 2 context chunks and 1 context_scores; give one score per chunk, or none"),
        (["high", "low"], "returned 'context_scores' as a list; make it a list of numbers"),
        (0.5, "returned 'context_scores' as a float; make it a list of numbers"),
        ([True, False], "make it a list of numbers"),
        ([float("nan"), 1.0], "context_scores"),
    ],
    ids=["too few", "words", "one number", "truth values", "no number"],
)
def test_scores_that_cannot_be_those_of_the_chunks_are_refused(model, scores, fact):
    def ask(prompt):
        return {"answer": "5 USD", "context": ["a", "b"], "context_scores": scores}

    assert fact in model("python", target=ask).ask(ASK)[0].error
