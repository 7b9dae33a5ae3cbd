"""Follows judgements: puts their questions to one model or several, all at the same time, and reads the
replies.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.judging import Flow, JudgeFault, Judgement, Judging, Question, Reply, Vote
from pytest_evalstudio.judges.budget import Budget
from pytest_evalstudio.judges.parsing import Unparsable, read_reply
from pytest_evalstudio.judges.prompts import Prompts

LONGEST_QUOTE = 4_000
"""Characters of an unparsable reply that are shown to the judge again, and kept."""
BEGINNING = 80
"""Characters of it that stand in a message."""
MOST_REMEMBERED = 10_000
"""Replies that are kept in memory where none are stored."""

T = TypeVar("T")


class Asked(Protocol):
    """A model that can be asked; `engine.asking.resolve.ModelSession` is one."""

    name: str

    @property
    def stores(self) -> bool: ...

    async def answer(self, prompt: Prompt, *, admit: Callable[[], str]) -> Answer: ...

    def forget(self, prompt: Prompt) -> None: ...


class Panel:
    """One judge or several; `core.judging.Judge`.

    Args:
        members: the models; the same question is put to each.
        run: starts a coroutine where the members' requests run, and waits for it.
        repeat: 1 for the first; another number asks again what is stored.
        reverse_options: name the choices of a reply in the other order.

    Attributes:
        progress: called with (done, total) after each flow, in the thread of the requests; None for nobody.
    """

    progress: Callable[[int, int], None] | None = None

    def __init__(
        self,
        members: Sequence[Asked],
        prompts: Prompts,
        *,
        run: Callable[[Coroutine[Any, Any, Any]], Any],
        vote: Vote = "majority",
        budget: Budget | None = None,
        repeat: int = 1,
        reverse_options: bool = False,
    ) -> None:
        self.name = ", ".join(member.name for member in members)
        self.vote: Vote = vote
        self._judges = [
            _Member(member, prompts, budget or Budget(), repeat, reverse_options) for member in members
        ]
        self._run = run

    def follow(self, flows: Sequence[Callable[[], Flow[T]]]) -> list[list[Judgement]]:
        """The judgement of each judge on each flow; see `core.judging.Judge.follow`."""
        found: list[list[Judgement]] = self._run(self._followed(flows))
        return found

    async def _followed(self, flows: Sequence[Callable[[], Flow[T]]]) -> list[list[Judgement]]:
        tasks = [[asyncio.create_task(judge.judgement(make())) for judge in self._judges] for make in flows]
        done = 0

        def count(_: object) -> None:
            nonlocal done
            done += 1
            if self.progress is not None:
                self.progress(done, len(flows) * len(self._judges))

        for row in tasks:
            for task in row:
                task.add_done_callback(count)
        try:
            return [list(await asyncio.gather(*row)) for row in tasks]
        finally:
            unfinished = [task for row in tasks for task in row if not task.done()]
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)


class _Member:
    """One model of a panel; a question that is being put already is not put twice."""

    def __init__(
        self, asked: Asked, prompts: Prompts, budget: Budget, repeat: int, reverse_options: bool
    ) -> None:
        self._asked = asked
        self._prompts = prompts
        self._budget = budget
        self._repeat = repeat
        self._reverse_options = reverse_options
        self._replies: dict[str, asyncio.Task[tuple[Reply, Judging]]] = {}

    async def judgement(self, flow: Flow[Any]) -> Judgement:
        """Follow one flow to its end."""
        spent = Judging()
        name = self._asked.name
        try:
            questions = next(flow)
            while True:
                replies = await asyncio.gather(*map(self._reply, questions))
                for _, took in replies:
                    spent += took
                questions = flow.send([reply for reply, _ in replies])
        except StopIteration as end:
            return Judgement(judge=name, found=end.value, spent=spent)
        except JudgeFault as fault:
            return Judgement(judge=name, fault=fault, spent=spent)
        finally:
            flow.close()

    async def _reply(self, question: Question) -> tuple[Reply, Judging]:
        text = self._prompts.render(question, reverse_options=self._reverse_options)
        task = self._replies.get(text)
        if task is None:
            task = self._replies[text] = asyncio.create_task(self._put(text, question))
            if self._asked.stores or len(self._replies) > MOST_REMEMBERED:
                task.add_done_callback(lambda _: self._replies.pop(text, None))
        return await asyncio.shield(task)

    async def _put(self, text: str, question: Question) -> tuple[Reply, Judging]:
        first = Prompt(text=text, run=self._repeat, reply_schema=question.reply)
        answer, took = await self._answer(first)
        if answer.error:
            return _fault(answer.error), took
        try:
            return Reply(content=read_reply(answer.text, question.reply)), took
        except Unparsable as exc:
            wrong = str(exc)
        repair = dataclasses.replace(
            first, text=self._prompts.render_repair(text, answer.text[:LONGEST_QUOTE], wrong)
        )
        answer, more = await self._answer(repair)
        took = dataclasses.replace(took + more, repairs=took.repairs + more.calls)
        if answer.error:
            return _fault(answer.error), took
        try:
            return Reply(content=read_reply(answer.text, question.reply)), took
        except Unparsable as exc:
            for prompt in (first, repair):
                self._asked.forget(prompt)
            beginning = " ".join(answer.text.split())[:BEGINNING]
            told = (
                f"the reply of judge {self._asked.name!r} could not be read, nor could its repair:"
                f" {exc}{_cut(answer)}; it begins {beginning!r}"
            )
            fault = JudgeFault(told, unparsable=True, raw=answer.text[:LONGEST_QUOTE])
            return Reply(fault=fault), dataclasses.replace(took, unparsable=1)

    async def _answer(self, prompt: Prompt) -> tuple[Answer, Judging]:
        made = refused = 0

        def admit() -> str:
            nonlocal made, refused
            reason = self._budget.refuses()
            made, refused = int(not reason), int(bool(reason))
            self._budget.calls += made
            return reason

        answer = await self._asked.answer(prompt, admit=admit)
        if answer.error and not made:  # nobody was asked: the budget is used up, or the host counts as dead
            return answer, Judging(over_budget=refused)
        tokens = answer.usage.get("input_tokens", 0), answer.usage.get("output_tokens", 0)
        if made and not answer.error:
            self._budget.pay(answer.cost_usd, *tokens)
        return answer, Judging(
            calls=1,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cost_usd=answer.cost_usd or 0.0,
            unpriced=int(answer.cost_usd is None),
        )


def _fault(error: str) -> Reply:
    return Reply(fault=JudgeFault(error))


def _cut(answer: Answer) -> str:
    return "; it was cut at its length limit, raise max_tokens" if answer.usage.get("cut_at_length") else ""
