"""Estimate of the calls, tokens and US dollars of a run, without asking any model."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_evalstudio.asking.dialogues import Dialogue, FixedTurns, planned_prompts
from pytest_evalstudio.asking.judging import Judges
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.asking.spending import CHARS_PER_TOKEN, ExpectedPrices, chars_of
from pytest_evalstudio.core.cases import Answer, Case, Prompt
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.scoring.answering import answered, requests_of
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.score import score
from pytest_evalstudio.scoring.tasks import EvalTask
from pytest_evalstudio.text.figures import figure
from pytest_evalstudio.text.sentences import split_sentences

_UNKNOWN_ANSWER = " ".join(["word"] * 100)
"""Stands in for an answer that has not been asked for yet, where a judge would judge it."""


@dataclass(slots=True)
class CallEstimate:
    """Requests to one model or judge.

    Attributes:
        name: of the model.
        kind: "model" or "judge".
        stored: questions whose answers are stored.
        calls: requests that are needed; retries are not included.
        chars: of their prompts.
        stored_chars, input_tokens, output_tokens, metered: prompts and usage of stored answers that have a
            usage, and their number.
        cost_usd, priced: sum and number of the stored answers with a price.
        is_upper_limit: a sequential test may end the asking earlier.
        is_lower_limit: a judge's replies may lead to further questions.
    """

    name: str
    kind: str
    prices: ExpectedPrices
    stored: int = 0
    calls: int = 0
    chars: int = 0
    stored_chars: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    metered: int = 0
    cost_usd: float = 0.0
    priced: int = 0
    is_upper_limit: bool = False
    is_lower_limit: bool = False
    seen: set[Prompt] = field(default_factory=set)

    def note(self, prompt: Prompt, stored: Answer | None, example: Answer | None = None) -> None:
        """Count a question.

        Args:
            prompt: the question.
            stored: the answer that the run will use; None where it asks.
            example: answer of an earlier run, which tells the usual length.
        """
        if stored is None:
            self.calls += 1
            self.chars += chars_of(prompt)
        else:
            self.stored += 1
        example = stored or example
        if example is None:
            return
        tokens = example.usage.get("input_tokens", 0)
        # An answer without usage must not lower the means of those that have one.
        if tokens:
            self.metered += 1
            self.stored_chars += chars_of(prompt)
            self.input_tokens += tokens
            self.output_tokens += example.usage.get("output_tokens", 0)
        if example.cost_usd is not None:
            self.priced += 1
            self.cost_usd += example.cost_usd

    @property
    def expected_input(self) -> int:
        """Return the input tokens: a quarter of the characters, or as many as of stored answers."""
        per_char = self.input_tokens / self.stored_chars if self.stored_chars else 1 / CHARS_PER_TOKEN
        return round(self.chars * per_char)

    @property
    def expected_output(self) -> int | None:
        """Return the output tokens, None where neither stored answers nor `max_tokens` tell."""
        if not self.calls:
            return 0
        if self.metered:
            return round(self.calls * self.output_tokens / self.metered)
        limit = self.prices.max_output_tokens
        return None if limit is None else self.calls * limit

    @property
    def expected_usd(self) -> float | None:
        """Return the price, None where neither stored answers nor configured prices tell."""
        if not self.calls:
            return 0.0
        if self.priced:
            return self.calls * self.cost_usd / self.priced
        prices, output = self.prices, self.expected_output
        if prices.tokens is None or output is None:
            return None
        # Prices are per million tokens.
        return (self.expected_input * prices.tokens.input_usd + output * prices.tokens.output_usd) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task of the run.

    Attributes:
        session: of its model; None for an answered task.
        evaluators: that will assess it.
        config: of its folder.
    """

    task: EvalTask
    session: ModelSession | None
    evaluators: Sequence[ConfiguredEvaluator]
    config: Configuration


def estimate(planned: Iterable[PlannedTask], judges: Callable[[JudgeFactory], Judges]) -> list[CallEstimate]:
    """Return the estimates of all models and judges of a run.

    Args:
        planned: tasks of the run, without skipped ones.
        judges: returns judges whose members are made by a function.
    """
    models: dict[str, CallEstimate] = {}
    asked_judges: dict[int, _AskedJudge] = {}

    def member(session: ModelSession) -> _AskedJudge:
        return asked_judges.setdefault(id(session), _AskedJudge(session))

    opened = judges(member)
    try:
        for plan in planned:
            cases = _answered_cases(plan, models)
            for selected in plan.evaluators:
                if JUDGE in selected.requires:
                    _judge(opened, plan, selected, cases, asked_judges)
    finally:
        opened.close()
    return [*models.values(), *(judge.estimate for judge in asked_judges.values())]


def lines_of(estimates: Sequence[CallEstimate]) -> list[str]:
    """Return the estimates in words, a line each, and their sum."""
    if not estimates:
        return ["estimate: no model and no judge is to be asked"]
    lines = []
    for each in estimates:
        bound = "at least " if each.is_lower_limit else ""
        if each.is_upper_limit:
            bound = "at most "
        lines.append(
            f"{each.kind} {each.name}: {bound}{each.calls:,} calls ({each.stored:,} answers are stored),"
            f" {_tokens(each)}, {_usd(each.expected_usd)}"
        )
    amounts = [usd for each in estimates if (usd := each.expected_usd) is not None]
    more = "" if len(amounts) == len(estimates) else " and what is not known"
    lines.append(f"together: {sum(each.calls for each in estimates):,} calls, {_usd(sum(amounts))}{more}")
    return lines


def _tokens(each: CallEstimate) -> str:
    output = each.expected_output
    shown = "an unknown number of" if output is None else f"about {output:,}"
    return f"about {each.expected_input:,} tokens in, {shown} out"


def _usd(usd: float | None) -> str:
    return "price not known" if usd is None else f"{figure(usd)} USD"


def _answered_cases(plan: PlannedTask, models: dict[str, CallEstimate]) -> list[Case]:
    """Return the cases that judges will see; count the questions to the model."""
    task, session = plan.task, plan.session
    if session is None:
        return list(task.answers)
    entry = models.get(session.key)
    if entry is None:
        entry = models[session.key] = CallEstimate(session.name, "model", session.prices)
    entry.is_upper_limit = entry.is_upper_limit or task.model.stopping is not None
    cases = []
    requests = requests_of(task, 1, task.model.runs)
    for request, stored in zip(requests, session.peek(requests), strict=True):
        if isinstance(request, Dialogue):
            entry.is_upper_limit |= not isinstance(request.user, FixedTurns)
            turns = stored.turns if stored is not None else ()
            prompts = planned_prompts(request)
            # Turns that a stored conversation did not reach are counted as if they were to be asked.
            answers = [*(turn.answer for turn in turns), *[None] * (len(prompts) - len(turns))]
        else:
            prompts, answers = [request], [stored]
        examples = session.earlier_answers(prompts)
        for prompt, known, example in zip(prompts, answers, examples, strict=True):
            # The run asks a repeated question once, where answers are stored.
            if not (session.stores and prompt in entry.seen):
                entry.seen.add(prompt)
                entry.note(prompt, known, example)
        # Judges are asked about an invented answer where there is none yet: only the length of the prompt
        # matters.
        answer = examples[-1] or Answer(
            text=_UNKNOWN_ANSWER, context=(_UNKNOWN_ANSWER,) if session.retrieves else ()
        )
        cases.append(
            answered(
                task.case,
                answer,
                task.model,
                request.run,
                retrieves=session.retrieves,
                retrieval=session.retrieval,
            )
        )
    return cases


def _judge(
    judges: Judges,
    plan: PlannedTask,
    selected: ConfiguredEvaluator,
    cases: Sequence[Case],
    usage: Mapping[int, _AskedJudge],
) -> None:
    """Count the questions that an evaluator would ask, as far as they do not depend on replies."""
    panel = judges.open(plan.config, selected.own_judge)
    tools = Tools(max_text_chars=plan.config.max_text_chars, split_sentences=split_sentences, judge=panel)
    # Without the calibration, which needs scores of other evaluators and asks no judge.
    bare = dataclasses.replace(selected, attached=None)
    for case in cases:
        before = {judge: judge.estimate.calls for judge in usage.values()}
        score(bare, [case], tools)
        for judge, calls in before.items():
            judge.add_later_questions(judge.estimate.calls - calls, len(selected.spec.prompts))


class _AskedJudge:
    """A judge that gives stored replies and counts the others; a member of a panel."""

    def __init__(self, session: ModelSession) -> None:
        self.estimate = CallEstimate(session.name, "judge", session.prices, is_lower_limit=True)
        self.name = session.name
        self._session = session

    @property
    def stores(self) -> bool:
        return self._session.stores

    @property
    def takes_system(self) -> bool:
        return self._session.takes_system

    @property
    def concurrency(self) -> int:
        return self._session.concurrency

    async def answer(
        self,
        prompt: Prompt,
        *,
        admit: Callable[[], Awaitable[str]],
        accept: Callable[[Answer], bool],
        priority: int,
    ) -> Answer:
        """Return the stored reply, or an error where the judge would be asked."""
        [stored] = self._session.peek([prompt])
        self.estimate.note(prompt, stored)
        # An error ends the questions of the case, so that follow-up questions are estimated in
        # `add_later_questions`.
        return stored or Answer(error="the judge is not asked in an estimate")

    def keep(self, prompt: Prompt, answer: Answer) -> None:
        """Store nothing."""

    def forget(self, prompt: Prompt) -> None:
        """Keep what is stored."""

    def add_later_questions(self, missed: int, prompts: int) -> None:
        """Count the questions that follow from replies that are not there: one per further prompt."""
        # Without a missed reply all is stored; with as many as there are prompts, none follows from another.
        if missed and missed < prompts:
            mean = self.estimate.chars / self.estimate.calls
            self.estimate.calls += prompts - missed
            self.estimate.chars += round(mean * (prompts - missed))


JudgeFactory = Callable[[ModelSession], _AskedJudge]
