from __future__ import annotations

import signal
import sqlite3
import sys
import textwrap
import threading
import time
from contextlib import closing

import pytest
from msgspec import structs

from pytest_evalstudio.asking import limits
from pytest_evalstudio.asking.answers import FILE_NAME
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.limits import Counters
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.hosts.scripted import Scripted
from support.prompts import ask_for


def test_answers_stand_in_the_order_of_the_prompts(scripted):
    session = scripted({"a": "A", "b": {"answer": "B", "context": ["chunk"]}})
    assert [(answer.text, answer.context) for answer in session.ask(ask_for("b", "a", "x"))] == [
        ("B", ("chunk",)),
        ("A", ()),
        ("fine", ()),
    ]


def test_no_prompts_are_no_answers(scripted):
    assert scripted().ask([]) == []


def test_a_passing_fault_is_retried_and_counted(scripted):
    session = scripted(fail_first=2)
    [answer] = session.ask(ask_for("a"))
    assert (answer.text, answer.retries, answer.error) == ("fine", 2, "")
    counters = session.counters
    assert (
        counters["success_count"],
        counters["retry_count"],
        counters["failure_count"],
        counters["timeout_count"],
    ) == (1, 2, 0, 0)
    assert counters["call_count"] == 3


def test_retries_end_and_the_error_says_how_often_was_tried(scripted):
    session = scripted(fail_first=9, retries=1)
    [answer] = session.ask(ask_for("a"))
    assert (answer.error, answer.text, answer.retries) == ("model 'mine': scripted failure (2 tries)", "", 1)


def test_a_fault_that_cannot_heal_is_not_retried(scripted):
    session = scripted(fail_first=1, retry=False)
    assert session.ask(ask_for("a"))[0].error == "model 'mine': scripted failure"
    assert len(session.host.asked) == 1


def test_while_a_service_asks_to_wait_nobody_is_asked(scripted):
    session = scripted(fail_first=1, retry_after_s=0.4, concurrency=1)
    start = time.perf_counter()
    thread = threading.Thread(target=session.ask, args=(ask_for("a"),))
    thread.start()
    time.sleep(0.1)
    session.ask(ask_for("b"))
    thread.join()
    assert time.perf_counter() - start >= 0.4


def test_one_failure_leaves_the_others_alone(scripted):
    answers = scripted({"bad": {"error": "no index"}}).ask(ask_for("a", "bad", "b"))
    assert [answer.error for answer in answers] == ["", "model 'mine': no index", ""]


def test_a_dead_host_fails_the_remaining_cases_at_once(scripted):
    session = scripted(fail_first=10_000, fault="connection refused", retries=0, concurrency=1, breaker=3)
    answers = session.ask(ask_for(*map(str, range(50))))
    assert len(session.host.asked) == 3
    assert answers[2].error == "model 'mine': connection refused"
    assert (
        answers[3].error
        == "model 'mine': not asked: the host did not answer 3 prompts in a row; the last time: connection"
        " refused"
    )
    assert session.counters["failure_count"] == 50


def test_a_host_that_comes_back_is_asked_again(scripted, monkeypatch):
    session = scripted(fail_first=3, retries=0, concurrency=1, breaker=3)
    assert all(answer.error for answer in session.ask(ask_for("a", "b", "c", "d")))
    monkeypatch.setattr(limits, "BREAKER_REST_S", 0.0)
    assert [answer.error for answer in session.ask(ask_for("e", "f"))] == ["", ""]


def test_faults_of_single_prompts_do_not_make_a_host_dead(scripted):
    session = scripted(fail_first=10, retry=False, breaker=3, concurrency=1)
    session.ask(ask_for(*map(str, range(10))))
    assert len(session.host.asked) == 10


def test_answers_are_stored_and_not_asked_for_again(scripted, cache):
    first = scripted(cache=cache).ask(ask_for("a", "b"))
    second_session = scripted(cache=cache)
    stored, missing = second_session.peek(ask_for("a", "c"))
    assert (structs.replace(stored, stored_at=None), missing) == (first[0], None)
    answers = second_session.ask(ask_for("a", "b"))
    assert [structs.replace(answer, stored_at=None) for answer in answers] == first
    assert second_session.host.asked == []
    assert second_session.counters["success_count"] == 0


def test_a_question_asked_twice_is_paid_for_once(scripted, cache):
    session = scripted(cache=cache, delay_s=0.02)
    assert len(session.ask(ask_for("a", "a", "a"))) == 3
    assert len(session.host.asked) == 1


def test_repeats_are_questions_of_their_own(scripted, cache):
    session = scripted(["one", "two"], cache=cache, concurrency=1)
    assert [answer.text for answer in session.ask([Prompt(text="a", run=1), Prompt(text="a", run=2)])] == [
        "one",
        "two",
    ]


def test_refresh_asks_again_what_earlier_sessions_stored_but_not_what_this_one_did(scripted, cache):
    scripted(cache=cache).ask(ask_for("a"))
    session = scripted(cache=cache, refresh=True)
    assert session.peek(ask_for("a")) == [None]
    assert session.ask(ask_for("a")) == session.ask(ask_for("a")) == session.peek(ask_for("a"))
    assert len(session.host.asked) == 1


def test_a_question_has_a_deadline_over_all_its_tries(scripted):
    session = scripted(fail_first=9, retry=True, retries=9, deadline_s=0.3)
    [answer] = session.ask(ask_for("a"))
    assert "no answer within 0.3 s (`deadline_s`)" in answer.error
    assert len(session.host.asked) < 9


def test_an_answer_without_a_cost_is_priced_by_the_model_that_served_it(tmp_path, cache):
    price = {"input_usd_per_million": 1.0, "output_usd_per_million": 4.0, "as_of": "2026-01-31"}

    def ask(prices):
        settings = {"host": "scripted", "default": "fine", "cache": True, "prices": prices}
        with open_model("mine", settings, Registry(), folder=tmp_path, cache=cache) as session:
            usage = {"input_tokens": 1_000_000, "output_tokens": 500_000}

            async def answer(prompt):
                return Answer(text="fine", usage=usage, served_model="served-1")

            session.host.answer = answer
            return session.ask(ask_for("a"))[0].cost_usd, session.counters.get("prices")

    assert ask({}) == (None, None)
    assert ask({"served-1": price, "m": {**price, "input_usd_per_million": 9.0}}) == (
        3.0,
        {"served-1": price},
    )


def test_errors_are_asked_again(scripted, cache):
    session = scripted(cache=cache, fail_first=1, retries=0)
    assert session.ask(ask_for("a"))[0].error
    assert session.ask(ask_for("a"))[0].text == "fine"


def test_progress_is_told(scripted):
    progress = []
    scripted().ask(ask_for("a", "b", "c"), progress=lambda count, total: progress.append((count, total)))
    assert progress == [(1, 3), (2, 3), (3, 3)]


def test_a_corpus_is_prepared_once(scripted):
    session = scripted()
    for _ in range(2):
        session.ask([Prompt(text=text, corpus=corpus) for text in "abc" for corpus in (("x",), ("y",))])
    assert sorted(session.host.prepared) == [("x",), ("y",)]


def test_figures_of_answers_are_summed_up():
    counters = Counters()
    counters.success(Answer(text="a", duration_s=2.0, usage={"input_tokens": 3}))
    assert "time_to_first_token_stats" not in counters.as_dict()
    counters.success(
        Answer(text="b", duration_s=1.0, first_token_s=0.5, usage={"output_tokens": 2, "input_tokens": 1})
    )
    counters.success(Answer(text="c", duration_s=6.0, first_token_s=0.25))

    figures = counters.as_dict()

    assert figures["duration_stats"] == {"n": 3, "sum": 9.0, "min": 1.0, "max": 6.0, "avg": 3.0}
    assert figures["time_to_first_token_stats"] == {
        "n": 2,
        "sum": 0.75,
        "min": 0.25,
        "max": 0.5,
        "avg": 0.375,
    }
    assert figures["usage"] == {"input_tokens": 4, "output_tokens": 2}


def test_durations_are_measured(scripted):
    session = scripted(delay_s=0.05)
    [answer] = session.ask(ask_for("a"))
    assert 0.04 < answer.duration_s < 0.5
    stats = session.counters["duration_stats"]
    assert stats == {
        "n": 1,
        "sum": answer.duration_s,
        "min": answer.duration_s,
        "max": answer.duration_s,
        "avg": answer.duration_s,
    }


@host("odd", name="Odd", kind="rag")
class Odd(Scripted):
    """Fails in the ways of other people's code."""

    async def prepare(self, corpus):
        if corpus:
            raise DataError("there is no such document", source=corpus[0])

    async def answer(self, prompt):
        match prompt.text:
            case "bug":
                raise ZeroDivisionError("division by zero")
            case "nothing":
                return None
            case "unusable":
                raise ConfigurationError("no such collection")
            case "timeout":
                raise TimeoutError("read")
        return Answer(text="fine")

    async def close(self):
        raise HostFault("will not close")


def test_faults_of_a_hosts_code_are_errors_of_their_cases(tmp_path):
    registry = Registry()
    registry.add_host(Odd)
    session = open_model("mine", {"host": "odd", "retries": 0}, registry, folder=tmp_path, cache=None)
    prompts = [*ask_for("bug", "nothing", "timeout", "fine"), Prompt(text="a", corpus=("gone.pdf",))]
    assert [answer.error for answer in session.ask(prompts)] == [
        "model 'mine': ZeroDivisionError: division by zero",
        "model 'mine': host 'odd' gave a NoneType instead of an Answer",
        "model 'mine': TimeoutError: read",
        "",
        "model 'mine': gone.pdf: there is no such document",
    ]
    with pytest.raises(ConfigurationError, match="no such collection"):
        session.ask(ask_for("fine", "unusable"))
    assert session.ask(ask_for("fine"))[0].text == "fine"
    with pytest.warns(RuntimeWarning, match="did not close: will not close"):
        session.close()


def test_closing_twice_and_asking_afterwards(scripted):
    session = scripted()
    session.close()
    session.close()
    assert session.host.closed
    with pytest.raises(RuntimeError, match="closed"):
        session.ask(ask_for("a"))


RUN = """
    import sys
    from pathlib import Path
    from pytest_evalstudio.core.cases import Prompt
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.asking import answers as stored
    from pytest_evalstudio.asking.answers import AnswerCache
    from pytest_evalstudio.asking.hosts import open_model

    stored.LEASE_S = 2.0  # the next run waits until the leases of a killed one expire
    settings = {"host": "scripted", "default": "fine", "delay_s": float(sys.argv[2]), "concurrency": 2, "cache": True}
    prompts = [Prompt(text=str(number)) for number in range(60)]
    with AnswerCache(Path(sys.argv[1])) as cache:
        session = open_model("mine", settings, Registry(), folder=Path("."), cache=cache)
        try:
            answers = session.ask(prompts, progress=lambda done, total: done == 10 and print("ten", flush=True))
            print(sum(answer.text == "fine" for answer in answers), "answers")
        except KeyboardInterrupt:
            print("interrupted with", sum(answer is not None for answer in session.peek(prompts)), "stored")
        finally:
            session.close()
"""  # noqa: E501


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_run_that_is_cut_off_keeps_what_arrived(tmp_path, children, how):
    run = [sys.executable, "-W", "error", "-c", textwrap.dedent(RUN), str(tmp_path), "0.15"]
    process = children.start(run, tmp_path)
    process.wait_until(lambda: process.out.startswith("ten\n"), "ten answers")
    process.send_signal(how)
    out, err, status = process.finish()
    if how == signal.SIGINT:
        assert out.startswith("ten\ninterrupted with ")
        assert err == ""
        assert status == 0
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
        stored = database.execute("SELECT count(*) FROM answers").fetchone()[0]
    assert 10 <= stored < 60
    second_run = children.start(run, tmp_path).finish()
    assert second_run.returncode == 0, second_run.err
    assert "60 answers" in second_run.out
