"""Judges in pytest runs, over real connections to a service on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

PROMPT = "Is {actual_output} a good answer to {question}?"
GOOD, BAD = (
    json.dumps({"reason": "it fits", "verdict": "true"}),
    json.dumps({"reason": "it misses the point", "verdict": "false"}),
)
KEY = "key-that-must-not-be-seen"


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        running.default = Reply(GOOD)
        yield running


def configure(
    project: Project, service: OpenAIServer, *, evaluators: str = '"fit"', judge: str = "", more: str = ""
) -> None:
    table = f'[evaluator.fit]\ntype = "byop"\nprompt = "{PROMPT}"' if "fit" in evaluators else ""
    project.write(
        "evalstudio.toml",
        f'evaluators = [{evaluators}]\n{more}\n{table}\n[judge]\nhost = "openai_compatible"\n'
        f'url = "{service.url}"\nllm_model_name = "judge-model"\napi_key = "{KEY}"\nretries = 2\n{judge}\n',
    )


def rows(count: int = 2) -> list[dict[str, Any]]:
    return [
        {"key": f"q{number}", "input": f"Question {number}?", "actual_output": f"Answer {number}."}
        for number in range(count)
    ]


def judging_of(project: Project) -> dict[str, Any]:
    header, _ = project.record()
    actual: dict[str, Any] = header["judging"]
    return actual


def test_a_judges_verdict_decides_an_item(project: Project, service: OpenAIServer) -> None:
    configure(project, service, judge="input_usd_per_million = 1.0\noutput_usd_per_million = 2.0")
    service.default = lambda prompt: Reply(BAD if "Answer 1." in prompt else GOOD)
    project.lab(*rows())
    result = project.run("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "fit: answer: it misses the point*",
            "judge: 2 calls in this run for 2 judgements*0.00004 USD)",
        ]
    )
    header, items = project.record()
    judge = header["evaluators"]["fit"]["judge"]
    assert judge["models"] == [{"host": "openai_compatible", "llm_model_name": "judge-model"}]
    assert set(judge["prompts"]) == {"byop", "system", "frame", "repair"}
    outcome = items["q0[m]"]["rows"][0]["outcomes"]["fit"]
    assert outcome["judging"] == {
        "calls": 1,
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_usd": pytest.approx(20e-6),
    }
    report = json.loads(
        (project.folder / "evalstudio-report" / "interpretation.json").read_text(encoding="utf-8")
    )
    assert report["judging"]["this_run"]["calls"] == 2
    assert report["judging"]["evaluators"][0]["cost_usd"] == pytest.approx(40e-6)


def test_the_judge_is_asked_steadily_and_for_a_form(project: Project, service: OpenAIServer) -> None:
    configure(project, service)
    project.lab(*rows(1))
    project.run()
    [request] = service.requests
    assert (request["temperature"], request["seed"]) == (0.0, 0)
    form = request["response_format"]["json_schema"]
    assert form["strict"] is True
    assert form["schema"]["properties"]["verdict"]["enum"] == ["true", "false"]


def test_a_judge_may_be_left_as_its_service_has_it(project: Project, service: OpenAIServer) -> None:
    configure(project, service, judge='steady = false\nstructured_output = "none"')
    project.lab(*rows(1))
    project.run().assert_outcomes(passed=1)
    assert not {"temperature", "seed", "response_format"} & set(service.requests[0])


def test_a_service_that_knows_no_form_is_asked_without(project: Project, service: OpenAIServer) -> None:
    configure(project, service, judge="concurrency = 1")
    refusal = Reply(status=400, error={"message": "unknown parameter: response_format"})
    service.replies = [refusal, refusal]
    project.lab(*rows())
    project.run().assert_outcomes(passed=2)
    forms = [request.get("response_format", {}).get("type") for request in service.requests]
    assert forms == ["json_schema", "json_object", None, None]


@pytest.mark.parametrize(
    ("replies", "requests"),
    [
        pytest.param([Reply(f"```json\n{GOOD}\n```")], 1, id="in a code fence"),
        pytest.param([Reply(f"My verdict is:\n\n{GOOD}\n\nI hope this helps.")], 1, id="in prose"),
        pytest.param([Reply(GOOD[:-9], finish="length")], 2, id="truncated, then whole"),
        pytest.param([Reply(None, refusal="I cannot help with that.")], 2, id="refused, then given"),
        pytest.param([Reply(status=429, headers={"Retry-After": "0.2"})], 2, id="429, then given"),
        pytest.param([Reply(status=503), Reply(status=500)], 3, id="out of order, then given"),
        pytest.param([Reply(disconnect=True)], 2, id="disconnected, then given"),
        pytest.param([Reply(GOOD, delay_s=0.5)], 1, id="slow"),
    ],
)
def test_a_verdict_survives_what_services_do(
    project: Project, service: OpenAIServer, replies: list[Reply], requests: int
) -> None:
    configure(project, service)
    service.replies = list(replies)
    project.lab(*rows(1))
    project.run().assert_outcomes(passed=1)
    assert len(service.requests) == requests


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param(
            Reply(GOOD[:-9], finish="length"),
            "*could not be read, nor could its repair*cut at its length limit*",
            id="always truncated",
        ),
        pytest.param(
            Reply(None, refusal="I cannot help with that."),
            "*could not be read*there is no JSON object in it*",
            id="always refused",
        ),
        pytest.param(Reply(status=401), "*HTTP 401*check api_key*", id="no entry"),
        pytest.param(Reply(GOOD, delay_s=3.0), "*no answer within 0.3 s*", id="too slow"),
    ],
)
def test_a_judge_that_cannot_judge_is_an_error_of_the_item(
    project: Project, service: OpenAIServer, reply: Reply, message: str
) -> None:
    configure(project, service, judge="timeout_s = 0.3" if reply.delay_s else "")
    service.default = reply
    project.lab(*rows(1))
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    assert KEY not in result.stdout.str()


@pytest.mark.slow
def test_a_second_run_asks_nothing_also_on_workers(project: Project, service: OpenAIServer) -> None:
    configure(project, service)
    project.lab(*rows(6))
    project.run("-v").assert_outcomes(passed=6)
    request_count = len(service.requests)
    second = project.run("-v", "-n", "2")
    second.assert_outcomes(passed=6)
    assert (request_count, len(service.requests)) == (6, 6)
    second.stdout.fnmatch_lines(["judge: 0 calls in this run for 6 judgements*"])
    project.run("-v", "--evalstudio-refresh")
    assert len(service.requests) == 12


@pytest.mark.slow
def test_the_record_is_the_same_whether_verdicts_were_stored_or_not(
    project: Project, service: OpenAIServer
) -> None:
    configure(project, service)
    project.lab(*rows(4))
    results = []
    for arguments in ((), ("-n", "2")):
        project.run(*arguments)
        _, items = project.record()
        results.append({name: {**item, "duration_s": 0} for name, item in items.items()})
    assert results[0] == results[1]


@pytest.mark.slow
def test_workers_keep_to_one_budget_and_add_up_what_they_spent(
    project: Project, service: OpenAIServer
) -> None:
    configure(project, service, judge="max_calls = 4")
    project.lab(*rows(12))
    result = project.run("-v", "-n", "2")
    result.assert_outcomes(passed=4, errors=8)
    assert len(service.requests) == 4
    assert judging_of(project)["calls"] == 4
    result.stdout.fnmatch_lines(["judge: 8 judgements were not asked for: *the budget of calls is used up*"])
    problems = json.loads(
        (project.folder / "evalstudio-report" / "interpretation.json").read_text(encoding="utf-8")
    )["problems"]
    [cost] = [problem for problem in problems if problem["problem_type"] == "cost"]
    assert cost["severity"] == "high"
    assert cost["attributes"]["count"] == 8


def test_judging_goes_on_concurrently_within_the_limit(project: Project, service: OpenAIServer) -> None:
    configure(project, service, judge="concurrency = 5")
    service.default = Reply(GOOD, delay_s=0.1)
    project.lab(*rows(20))
    project.run().assert_outcomes(passed=20)
    assert 2 <= service.peak <= 5


def test_no_judge_is_a_usage_error_that_says_how_to_configure_one(project: Project) -> None:
    project.lab(*rows(1))
    result = project.run("--evalstudio-evaluators", "sexism,stereotypes")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*evaluator sexism, stereotypes: asks a judge, and none is configured: add a table [[]judge] to"
            " evalstudio.toml*"
        ]
    )


def test_a_secret_that_is_not_set_is_a_usage_error_that_names_it(
    project: Project, service: OpenAIServer
) -> None:
    project.write(
        "evalstudio.toml",
        f'evaluators = ["sexism"]\n[judge]\nhost = "openai_compatible"\nurl = "{service.url}"\nllm_model_name'
        ' = "m"\napi_key = "${NO_SUCH_KEY}"\n',
    )
    project.lab(*rows(1))
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*judge 'm'*NO_SUCH_KEY is not set*"])


def test_all_leaves_judges_out_where_there_is_none(project: Project) -> None:
    project.lab(*rows(1))
    result = project.run("--evalstudio-evaluators", "all")
    assert "\njudge:" not in result.stdout.str()
    assert re.search(
        r"sexism[^;]*: asks a judge, and none is configured(;|$)", result.stdout.str(), re.MULTILINE
    )


def test_a_case_cannot_choose_its_judge(project: Project, service: OpenAIServer) -> None:
    configure(project, service)
    project.lab({**rows(1)[0], "evaluators": {"fit": {"judge": {"url": "http://evil.example/v1"}}}})
    result = project.run()
    assert result.ret != 0
    assert "a case cannot choose its judge" in result.stdout.str() + result.stderr.str()
    assert not service.requests


def test_the_key_is_written_nowhere(project: Project, service: OpenAIServer) -> None:
    configure(project, service, judge="max_calls = 1")
    service.default = Reply(f'{{"reason": "the key is {KEY}", "verdict": "false"}}')
    project.lab(*rows(2))
    result = project.run()
    assert KEY not in result.stdout.str() + result.stderr.str()
    leaks = [
        path
        for path in project.folder.rglob("*")
        if path.is_file() and path.name != "evalstudio.toml" and KEY.encode() in path.read_bytes()
    ]
    assert leaks == []


def test_judges_serve_tests_written_in_python(project: Project, service: OpenAIServer) -> None:
    configure(project, service)
    project.write(
        "test_app.py",
        "def test_tone(eval_language_mismatch, eval_case):\n"
        "    outcome = eval_language_mismatch.check(eval_case('Why?', actual_output='So.'))\n"
        "    assert outcome.judging.calls == 1\n",
    )
    service.default = Reply(json.dumps({"reason": "both English", "verdict": "same"}))
    project.run().assert_outcomes(passed=1)


def test_a_prompt_of_the_users_takes_the_place_of_ours_and_is_named(
    project: Project, service: OpenAIServer
) -> None:
    configure(project, service, judge='templates = "prompts"', evaluators='"language_mismatch"')
    project.write(
        "prompts/language_mismatch.j2",
        "{# version: house-7 #}\nCompare the tongues of {{ question }} and {{ answer }}.",
    )
    service.default = Reply(json.dumps({"reason": "", "verdict": "same"}))
    project.lab(*rows(1))
    project.run().assert_outcomes(passed=1)
    assert "Compare the tongues of" in service.requests[0]["messages"][-1]["content"]
    header, _ = project.record()
    assert header["evaluators"]["language_mismatch"]["judge"]["prompts"]["language_mismatch"].startswith(
        "house-7-"
    )


def test_a_judge_takes_over_a_connection_and_is_priced(project: Project, service: OpenAIServer) -> None:
    project.write(
        "evalstudio.toml",
        f'evaluators = ["fit"]\n[evaluator.fit]\ntype = "byop"\nprompt = "{PROMPT}"\n'
        f'[connection.judges]\nhost = "openai_compatible"\nurl = "{service.url}"\napi_key = "{KEY}"\n'
        '[judge]\nconnection = "judges"\nllm_model_name = "judge-model"\n'
        '[prices."judge-model"]\ninput_usd_per_million = 1.0\noutput_usd_per_million = 4.0\n'
        "as_of = 2026-01-31\n",
    )
    project.lab(*rows(1))
    project.run().assert_outcomes(passed=1)
    assert service.requests[0]["model"] == "judge-model"
    assert service.headers[0]["authorization"] == f"Bearer {KEY}"
    assert judging_of(project)["cost_usd"] == pytest.approx(30e-6)  # (10 * 1 + 5 * 4) / 1,000,000


def test_a_changed_price_asks_nothing_again(project: Project, service: OpenAIServer) -> None:
    costs = []
    project.lab(*rows(2))
    for price in ("1.0", "3.0"):
        configure(project, service, judge=f"input_usd_per_million = {price}\noutput_usd_per_million = 2.0")
        project.run().assert_outcomes(passed=2)
        report = project.folder / "evalstudio-report" / "interpretation.json"
        [figures] = json.loads(report.read_text(encoding="utf-8"))["judging"]["evaluators"]
        costs.append(figures["cost_usd"])
    assert len(service.requests) == 2
    assert costs == [pytest.approx(2 * (10 * 1 + 5 * 2) / 1e6), pytest.approx(2 * (10 * 3 + 5 * 2) / 1e6)]


def test_a_budget_in_dollars_without_a_price_says_so(project: Project, service: OpenAIServer) -> None:
    configure(project, service, judge="max_cost = 5.0\nconcurrency = 1")
    project.lab(*rows(3))
    result = project.run("-v")
    result.assert_outcomes(passed=1, errors=2, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*judge 'judge-model': judge.max_cost = 5, and no price of 'judge-model' is configured: asking"
            ' ends with the first reply, whose cost is not known; add [[]prices."judge-model"], or*',
            "judge: 2 judgements were not asked for: *judge.max_cost cannot be held*does not say what a*",
        ]
    )


PRICES = "input_usd_per_million = 1.0\noutput_usd_per_million = 2.0"


@pytest.mark.parametrize("prices", [PRICES, f'[prices.judge-model]\n{PRICES}\nas_of = "2026-01-31"'])
def test_a_budget_in_dollars_with_a_price_is_held_without_a_word(
    project: Project, service: OpenAIServer, prices: str
) -> None:
    configure(project, service, judge=f"max_cost = 5.0\n{prices}")
    project.lab(*rows(3))
    project.run().assert_outcomes(passed=3)


def test_budgets_of_models_without_a_price_say_so(project: Project, service: OpenAIServer) -> None:
    project.write(
        "evalstudio.toml",
        'evaluators = ["looping_detection"]\nmax_cost = 3.0\n[[model]]\nname = "app"\nhost ='
        f' "openai_compatible"\nurl = "{service.url}"\nllm_model_name = "m-1"\napi_key = "{KEY}"\nbudget ='
        " {cost_usd = 2.0}\nconcurrency = 1\n",
    )
    project.suite({"key": "a", "prompt": "Why?"}, {"key": "b", "prompt": "How?"})
    result = project.run()
    result.assert_outcomes(passed=1, skipped=1, warnings=2)
    result.stdout.fnmatch_lines(
        [
            "*model 'app': budget.cost_usd = 2, and no price of 'm-1' is configured*",
            "*model 'app': max_cost = 3, and no price of 'm-1' is configured: the cost of the run is not*",
        ]
    )
