"""Panels: ask the questions of judgements concurrently, of one model or several, and read the replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import structs

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import LENGTH, OutcomeCode
from pytest_evalstudio.core.judging import Flow, JudgeFault, Judgement, Judging, Question, Reply, Vote
from pytest_evalstudio.core.progress import report_progress
from pytest_evalstudio.judges.budget import Budget, Grant
from pytest_evalstudio.judges.layout import with_enums_reversed
from pytest_evalstudio.judges.parsing import LONGEST_REPLY, Unparsable, read_reply
from pytest_evalstudio.judges.prompts import Prompts

LONGEST_QUOTE = 4_000
"""Characters of an unparsable reply that are shown to the judge again, and kept."""
BEGINNING = 80
"""Characters of it that stand in a message."""
MAX_REMEMBERED = 10_000
"""Replies that are kept in memory where none are stored."""

T = TypeVar("T")


class JudgeModel(Protocol):
    """A model that can be asked; `asking.resolve.ModelSession` is one."""

    @property
    def name(self) -> str: ...

    @property
    def stores(self) -> bool: ...

    @property
    def takes_system(self) -> bool: ...

    @property
    def concurrency(self) -> int: ...

    async def answer(
        self,
        prompt: Prompt,
        *,
        admit: Callable[[], Awaitable[str]],
        accept: Callable[[Answer], bool],
        priority: int,
    ) -> Answer: ...

    def keep(self, prompt: Prompt, answer: Answer) -> None: ...

    def forget(self, prompt: Prompt) -> None: ...


class Panel:
    """One judge or several; `core.judging.Judge`.

    Args:
        members: the models; the same question is put to each.
        run: starts a coroutine where the members' requests run, and waits for it.
        repeat: 1 for the first; another number asks again what is stored.
        reverse_options: name the choices of a reply, their criteria and examples in the other order.

    Attributes:
        progress: called with (done, total) after each flow, in the thread of the requests;
            None for the display that is shown, if there is one.
        on_question: called with the prompt of each question, stored ones too, in that thread.
    """

    progress: Callable[[int, int], None] | None = None
    on_question: Callable[[str], None] | None = None

    def __init__(
        self,
        members: Sequence[JudgeModel],
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
        self._prompts = prompts
        self._run = run

    @property
    def members(self) -> int:
        """Return how many models judge each case."""
        return len(self._judges)

    def prompt_text(self, question: Question) -> str:
        """Return the whole prompt of a question, e.g. to estimate its tokens."""
        return self._prompts.render(question)

    def follow(self, flows: Sequence[Callable[[], Flow[T]]]) -> list[list[Judgement]]:
        """The judgement of each judge on each flow; see `core.judging.Judge.follow`."""
        judgements: list[list[Judgement]] = self._run(self._followed(flows))
        return judgements

    async def _followed(self, flows: Sequence[Callable[[], Flow[T]]]) -> list[list[Judgement]]:
        # A judgement has at least one question at a time, so that these many keep all slots busy. Questions
        # of earlier ones go first: when the budget ends, few judgements are left in the middle.
        for judge in self._judges:
            judge.on_question = self.on_question
        begun = [asyncio.Semaphore(judge.concurrency) for judge in self._judges]

        async def judgement(index: int, make: Callable[[], Flow[T]], judge: _Member) -> Judgement:
            async with begun[self._judges.index(judge)]:
                return await judge.judgement(make(), priority=index)

        tasks = [
            [asyncio.create_task(judgement(index, make, judge)) for judge in self._judges]
            for index, make in enumerate(flows)
        ]
        done = 0

        def count(_: object) -> None:
            nonlocal done
            done += 1
            total = len(flows) * len(self._judges)
            if self.progress is not None:
                self.progress(done, total)
            else:
                report_progress(done, total, "judgements")

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
        self, session: JudgeModel, prompts: Prompts, budget: Budget, repeat: int, reverse_options: bool
    ) -> None:
        self._asked = session
        self._prompts = prompts
        self._budget = budget
        self._repeat = repeat
        self._reverse_options = reverse_options
        self._replies: dict[tuple[str, ...], asyncio.Task[tuple[Reply, Judging]]] = {}
        self.on_question: Callable[[str], None] | None = None

    @property
    def concurrency(self) -> int:
        return self._asked.concurrency

    async def judgement(self, flow: Flow[Any], *, priority: int) -> Judgement:
        """Follow one flow to its end."""
        spent = Judging()
        name = self._asked.name
        try:
            questions = next(flow)
            while True:
                replies = await asyncio.gather(*(self._reply(question, priority) for question in questions))
                for _, took in replies:
                    spent += took
                questions = flow.send([reply for reply, _ in replies])
        except StopIteration as end:
            return Judgement(judge=name, value=end.value, spent=spent)
        except JudgeFault as fault:
            return Judgement(judge=name, fault=fault, spent=spent)
        finally:
            flow.close()

    async def _reply(self, question: Question, priority: int) -> tuple[Reply, Judging]:
        text = self._prompts.render_user(question, reverse_options=self._reverse_options)
        if self.on_question is not None:
            self.on_question(text)
        images = self._images(question)
        key = (text, *(image.sha256 for image in images))
        task = self._replies.get(key)
        if task is None:
            task = self._replies[key] = asyncio.create_task(self._put(text, question, priority))
            if self._asked.stores or len(self._replies) > MAX_REMEMBERED:
                task.add_done_callback(lambda _: self._replies.pop(key, None))
        # Other judgements may wait for the same reply, whatever becomes of this one.
        return await asyncio.shield(task)

    async def _put(self, text: str, question: Question, priority: int) -> tuple[Reply, Judging]:
        first = self._prompt(text, question)
        reading = _Reading(question)
        unreadable, took = await self._answer(first, reading, priority)
        if unreadable.error:
            return _fault(unreadable.error), took
        if (content := reading.content(unreadable)) is not None:
            return Reply(content=content, grades=unreadable.grades), took
        repair = self._prompt(
            self._prompts.render_repair(text, unreadable.text[:LONGEST_QUOTE], reading.fault), question
        )
        answer, more = await self._answer(repair, reading, priority)
        took = structs.replace(took + more, repairs=took.repairs + more.calls)
        if not answer.error and (content := reading.content(answer)) is not None:
            if len(unreadable.text) <= LONGEST_REPLY:  # with its repair, so that a second run asks nothing
                self._asked.keep(first, unreadable)
            return Reply(content=content, grades=answer.grades), took
        self._asked.forget(first)
        if answer.error:
            return _fault(answer.error), took
        self._asked.forget(repair)
        fault = self._unusable(answer, reading)
        return Reply(fault=fault), structs.replace(took, unparsable=int(fault.unparsable))

    def _unusable(self, answer: Answer, reading: _Reading) -> JudgeFault:
        """Return the fault of a question whose repair cannot be used either."""
        from pytest_evalstudio.metrics.detectors import redact

        # Masked before it is cut: half of an address or a key would not be recognised any more.
        beginning = redact(" ".join(answer.text[:LONGEST_QUOTE].split()))[:BEGINNING]
        subject = f"the reply of judge {self._asked.name!r}"
        if reading.is_contradictory:
            message = f"{subject} contradicts itself, and asking again did not help: {reading.fault}"
            code = OutcomeCode.JUDGE_CONTRADICTORY
        else:
            message = (
                f"{subject} could not be read, nor could its repair: {reading.fault}{_cut(answer)}; it begins"
                f" {beginning!r}"
            )
            code = OutcomeCode.JUDGE_UNREADABLE
        return JudgeFault(message, code=code, raw=answer.text[:LONGEST_QUOTE])

    def _prompt(self, text: str, question: Question) -> Prompt:
        system = self._prompts.system_of(question.prompt)
        if not self._asked.takes_system:
            text, system = f"{system}\n\n{text}", ""
        schema = with_enums_reversed(question.reply) if self._reverse_options else question.reply
        return Prompt(
            text=text,
            run=self._repeat,
            reply_schema=schema,
            system=system,
            graded=question.graded,
            attachments=self._images(question),
        )

    def _images(self, question: Question) -> tuple[Attachment, ...]:
        """Return the images that are sent with the prompt of a question."""
        if not self._prompts.shows_images:
            return ()
        return tuple(each for each in question.attachments if each.is_image)

    async def _answer(self, prompt: Prompt, reading: _Reading, priority: int) -> tuple[Answer, Judging]:
        chars = sum(each.estimated_chars for each in prompt.attachments)
        meter = _Meter(self._budget, len(prompt.system) + len(prompt.text) + chars)
        answer = Answer(error="it was interrupted")
        try:
            answer = await self._asked.answer(
                prompt, admit=meter.admit, accept=reading.is_worth_keeping, priority=priority
            )
        finally:
            meter.settle(answer)
        if answer.error and not meter.calls:  # not asked: the budget is used up, or the host counts as dead
            return answer, Judging(over_budget=meter.refused)
        return answer, Judging(
            calls=1,
            input_tokens=answer.usage.get("input_tokens", 0),
            output_tokens=answer.usage.get("output_tokens", 0),
            cost_usd=answer.cost_usd or 0.0,
            unpriced=int(answer.cost_usd is None),
            over_budget=meter.refused,
        )


class _Reading:
    """Reads the replies to one question, each once.

    Attributes:
        fault: what is wrong with the reply that was read last, "" for nothing.
        is_contradictory: the reply has the right form, and its parts contradict each other.
    """

    def __init__(self, question: Question) -> None:
        self.fault = ""
        self.is_contradictory = False
        self._schema = question.reply
        self._consistency = question.consistency
        self._published = question.published
        self._text: str | None = None
        self._content: dict[str, Any] | None = None

    def content(self, answer: Answer) -> dict[str, Any] | None:
        """Return the object of a reply; None if there is none, or if it contradicts itself."""
        if answer.text != self._text:
            self._text, self._content, self.fault, self.is_contradictory = answer.text, None, "", False
            try:
                content = read_reply(answer.text, self._schema, self._published)
            except Unparsable as exc:
                self.fault = str(exc)
                return None
            self.fault = self._consistency(content) if self._consistency is not None else ""
            self.is_contradictory = bool(self.fault)
            self._content = None if self.fault else content
        return self._content

    def is_worth_keeping(self, answer: Answer) -> bool:
        """Return whether a reply can be stored: it can be used, and has a usual length."""
        return len(answer.text) <= LONGEST_REPLY and self.content(answer) is not None


class _Meter:
    """Takes the tries of one question from a budget."""

    def __init__(self, budget: Budget, chars: int) -> None:
        self.calls = 0
        self.refused = 0
        self._budget = budget
        self._chars = chars
        self._grant: Grant | None = None

    async def admit(self) -> str:
        """Return why another try is not made, "" if it is; the one before has failed."""
        self.settle(Answer(error="failed"))
        admitted = await self._budget.reserve(self._chars)
        if not isinstance(admitted, Grant):
            self.refused = 1
            return admitted
        self._grant = admitted
        self.calls += 1
        return ""

    def settle(self, answer: Answer) -> None:
        """Pay for the last try, if there is one that was not paid for."""
        if self._grant is None:
            return
        self._budget.settle(
            self._grant,
            answered=not answer.error,
            cost_usd=answer.cost_usd,
            input_tokens=answer.usage.get("input_tokens", 0),
            output_tokens=answer.usage.get("output_tokens", 0),
        )
        self._grant = None


def _fault(error: str) -> Reply:
    return Reply(fault=JudgeFault(error))


def _cut(answer: Answer) -> str:
    return "; it was cut at its length limit, raise max_tokens" if answer.finish_reason == LENGTH else ""
