"""Conversations with a host: messages, sessions, stored turns, pauses and simulated users."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.dialogues import Dialogue, End, FixedTurns, ScriptedUser
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.model_user import ModelUser
from pytest_evalstudio.asking.runs import AskingRun, fixed_run
from pytest_evalstudio.core.cases import Answer, Exchange, Prompt
from pytest_evalstudio.core.conversations import ScriptedReply, SimulatedUser
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.judging import Flow, Judgement, Reply
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tool_calls import ToolCall


def dialogue(*messages: str, key: str = "k", run: int = 1) -> Dialogue:
    return Dialogue(prompt=Prompt(text=messages[0], run=run), user=FixedTurns(messages), key=key)


def test_a_chat_host_gets_all_messages_and_stored_turns_are_not_asked_again(scripted, cache):
    session = scripted(lambda prompt: f"to {prompt.text}", cache=cache)
    [answer] = session.ask([dialogue("a", "b", "c")])
    last = session.host.asked[-1]
    assert [(turn.role, turn.content) for turn in last.conversation] == [
        ("user", "a"),
        ("assistant", "to a"),
        ("user", "b"),
        ("assistant", "to b"),
    ]
    assert answer.text == "to c"
    assert [turn.answer.text for turn in answer.turns] == ["to a", "to b", "to c"]
    assert session.peek([dialogue("a", "b", "c"), dialogue("a", "x")])[1] is None
    session.ask([dialogue("a", "b", "d"), dialogue("a", "b", "c", key="other")])
    assert [prompt.text for prompt in session.host.asked] == ["a", "b", "c", "d"]


def test_an_answer_without_text_is_told_to_the_service_by_its_calls(scripted):
    call = {"name": "find", "arguments": {"code": "E1"}}
    session = scripted(lambda prompt: {"answer": "", "tool_calls": [call]} if prompt.text == "a" else "done")
    session.ask([dialogue("a", "b")])
    assert session.host.asked[-1].conversation[1].content == 'find(code="E1")'


def test_a_fault_ends_a_conversation_and_names_the_turn(scripted):
    def answer(prompt: Prompt) -> Any:
        return {"error": "broken"} if prompt.text == "b" else "fine"

    [result] = scripted(answer).ask([dialogue("a", "b", "c")])
    assert result.error == "turn 2: model 'mine': broken"
    assert len(result.turns) == 2


APPLICATION = """
made = []


class Desk:
    def __init__(self):
        made.append(self)
        self.said = []
        self.is_closed = False

    async def __call__(self, prompt, session):
        self.said.append(prompt)
        return f"{len(self.said)}: {' '.join(self.said)}"

    def close(self):
        self.is_closed = True
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    (tmp_path / "desk_of_test.py").write_text(APPLICATION)
    monkeypatch.syspath_prepend(tmp_path)

    def open_desk(**options: Any):
        return open_model(
            "desk",
            {"host": "python", "target": "desk_of_test:Desk", "factory": True, **options.pop("settings", {})},
            Registry(),
            folder=tmp_path,
            **{"cache": None, **options},
        )

    return open_desk


def test_a_factory_makes_an_object_for_each_conversation_and_closes_it(desk):
    with desk() as session:
        first, second, single = session.ask(
            [dialogue("a", "b"), dialogue("c", "d", key="l"), Prompt(text="e")]
        )
    assert (first.text, second.text, single.text) == ("2: a b", "2: c d", "1: e")
    import desk_of_test

    assert [each.is_closed for each in desk_of_test.made] == [True, True, True]


def test_an_object_that_does_not_know_the_stored_turns_is_asked_from_the_start(desk, tmp_path):
    run = AskingRun.new()
    with AnswerCache(tmp_path / "cache") as cache:
        settings = {"cache": "resume"}
        with desk(cache=cache, run=fixed_run(run), settings=settings) as session:
            assert session.ask([dialogue("a", "b")])[0].text == "2: a b"
        with desk(cache=cache, run=fixed_run(run), settings=settings) as session:
            [answer] = session.ask([dialogue("a", "b", "c")])
    assert [turn.answer.text for turn in answer.turns] == ["1: a", "2: a b", "3: a b c"]


class Service(BaseHTTPRequestHandler):
    """Counts the turns of each session, by its id in the request or by a cookie."""

    counts: ClassVar[dict[str, int]] = {}
    number = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        cookie = self.headers.get("Cookie", "")
        session = body.get("session") or cookie.removeprefix("id=")
        if session not in self.counts:
            type(self).number += 1
            session = f"service-{self.number}"
        self.counts[session] = self.counts.get(session, 0) + 1
        reply = json.dumps({"answer": f"turn {self.counts[session]} of {session}", "id": session}).encode()
        self.send_response(200)
        self.send_header("Set-Cookie", f"id={session}")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def service():
    Service.counts, Service.number = {}, 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "settings",
    [
        {
            "body": {"q": "{{ prompt }}", "session": "{{ session }}"},
            "reply": {"answer": "/answer", "session": "/id"},
        },
        {"body": {"q": "{{ prompt }}"}, "cookies": True},
    ],
    ids=["session-of-reply", "cookies"],
)
def test_a_service_over_http_keeps_conversations_apart(service, settings, tmp_path):
    with open_model(
        "s", {"host": "http", "url": service, **settings}, Registry(), folder=tmp_path, cache=None
    ) as session:
        answers = session.ask([dialogue("a", "b", "c"), dialogue("a", "b", key="l"), Prompt(text="a")])
    assert sorted(answer.text.split(" of ")[0] for answer in answers) == ["turn 1", "turn 2", "turn 3"]
    assert len({answer.text.split(" of ")[1] for answer in answers}) == 3


def test_requests_without_a_conversation_never_share_a_cookie(service, tmp_path):
    settings = {"host": "http", "url": service, "body": {"q": "{{ prompt }}"}}
    with open_model("s", settings, Registry(), folder=tmp_path, cache=None) as session:
        texts = [session.ask([Prompt(text=text)])[0].text for text in "ab"]
    assert texts == ["turn 1 of service-1", "turn 1 of service-2"]


def message_of(user: Any, *texts: str) -> str | End:
    exchanges = [Exchange(prompt="p", answer=Answer(text=text)) for text in texts]
    return asyncio.run(user.message(exchanges))


def test_a_script_answers_by_the_first_condition_that_holds():
    user = ScriptedUser(
        SimulatedUser(
            opening="Hi",
            replies=(
                ScriptedReply(when='"code"', say="E1"),
                ScriptedReply(when='"code" OR "name"', say="Ann"),
            ),
            otherwise="Go on",
            stop_when='"bye"',
            max_turns=3,
        )
    )
    assert message_of(user) == "Hi"
    assert message_of(user, "Which code?") == "E1"
    assert message_of(user, "Your name?") == "Ann"
    assert message_of(user, "Hm") == "Go on"
    assert message_of(user, "bye") is End.DONE
    assert message_of(user, "Hm", "Hm", "Hm") is End.MAX_TURNS
    assert message_of(user, "Hm", "Hm", "bye") is End.DONE


def test_a_script_without_a_matching_reply_ends_the_conversation():
    user = ScriptedUser(SimulatedUser(opening="Hi", replies=(ScriptedReply(when='"code"', say="E1"),)))
    assert message_of(user, "Hello") is End.DONE
    waiting = ScriptedUser(SimulatedUser(opening="Hi", replies=user.user.replies, stop_when='"bye"'))
    assert message_of(waiting, "Hello") is End.NO_REPLY
    assert message_of(waiting, "Hello", "bye") is End.DONE


class WrittenJudge:
    """Judge whose replies are written down; keeps the questions."""

    name, vote, members = "written", "majority", 1

    def __init__(self, *replies: dict[str, str]) -> None:
        self.replies = list(replies)
        self.questions: list[Any] = []

    def follow(self, flows: Sequence[Any]) -> list[list[Judgement]]:
        results = []
        for make in flows:
            flow: Flow[Any] = make()
            self.questions += next(flow)
            try:
                flow.send([Reply(content=self.replies.pop(0))])
            except StopIteration as end:
                results.append([Judgement(judge=self.name, value=end.value)])
        return results


def test_a_judge_model_plays_the_user_from_goal_and_facts_alone():
    judge = WrittenJudge(
        {"has_goal": "no", "message": "Cancel my booking, please."},
        {"has_goal": "no", "message": "E1"},
        {"has_goal": "yes", "message": ""},
    )
    user = ModelUser(SimulatedUser(goal="Cancel E1", facts=("The code is E1",)), lambda: judge)
    assert message_of(user) == "Cancel my booking, please."
    assert message_of(user, "Which one?") == "E1"
    assert message_of(user, "Which one?", "Done") is End.DONE
    assert judge.questions[1].texts == {
        "goal": "Cancel E1",
        "fact": ("The code is E1",),
        "said": ["person: p", "assistant: Which one?"],
    }


@pytest.mark.parametrize("message", ["As an AI, I cannot", "How can I help you today?", "Which one?"])
def test_a_judge_model_that_leaves_its_role_is_an_error_of_the_test(message):
    user = ModelUser(SimulatedUser(goal="g"), lambda: WrittenJudge({"has_goal": "no", "message": message}))
    with pytest.raises(EvaluationError, match="replied as the assistant"):
        message_of(user, "Which one?")


def test_a_user_without_script_and_judge_is_an_error_of_the_answer(scripted):
    request = Dialogue(prompt=Prompt(text="g"), user=ModelUser(SimulatedUser(goal="g")), key="k")
    [answer] = scripted().ask([request])
    assert answer.error == (
        "the simulated user has no message for turn 1: the user has no `replies`, so a judge model must play"
        " it; configure [judge]"
    )


def test_calls_and_amounts_are_those_of_all_turns(scripted):
    def answer(prompt: Prompt) -> Any:
        call = ToolCall(name=prompt.text)
        return {"answer": "x", "tool_calls": [call], "usage": {"input_tokens": 2}, "cost_usd": 0.25}

    [answer] = scripted(answer).ask([dialogue("a", "b")])
    assert [call.name for call in answer.tool_calls] == ["a", "b"]
    assert (answer.usage, answer.cost_usd) == ({"input_tokens": 4}, 0.5)
