"""Effort: calls, tokens, seconds and cost of an answer, against a budget."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import orjson

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.codes import LENGTH, OutcomeCode
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import InteractionEvaluator, evaluator
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.core.usage import CACHE_WRITE, CACHED, INPUT, OUTPUT
from pytest_evalstudio.evaluators._common import keywords


def _amount(key: str, name: str, description: str) -> Metric:
    return Metric(
        key, name, better="lower", range=(0.0, math.inf), threshold=math.inf, description=description
    )


@evaluator(
    "effort",
    name="Effort",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S VR", "O", "evaluation-method-rule-based", "evaluation-method-agents"),
    problem_type="efficiency",
)
@dataclass(frozen=True)
class Effort(InteractionEvaluator):
    """The answer keeps its budget of calls, tokens, seconds and US dollars.

    `max_calls`, `max_repeated_calls`, `max_failed_calls`, `max_model_calls`, `max_tokens`,
    `max_uncached_tokens`, `max_cache_write_tokens`, `max_seconds`, `max_cost_usd` and `max_cut_answers` are
    limits for one answer. Without any of them nothing decides. A limit on an amount that the host does not
    report is an error.

    Source: own definition; amounts as the host reports them.
    """

    detector: ClassVar[bool] = True
    may_only_measure: ClassVar[bool] = True
    max_calls: int | None = None
    max_repeated_calls: int | None = None
    max_failed_calls: int | None = None
    max_model_calls: int | None = None
    max_tokens: int | None = None
    max_uncached_tokens: int | None = None
    max_cache_write_tokens: int | None = None
    max_seconds: float | None = None
    max_cost_usd: float | None = None
    max_cut_answers: int | None = None
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "within_budget",
            "Within the budget",
            threshold=1.0,
            primary=True,
            boolean=True,
            description="1.0 where no limit is exceeded, else 0.0.",
        ),
        _amount("calls", "Tool calls", "Calls of tools."),
        _amount("repeated_calls", "Repeated tool calls", "Calls with tool and arguments of an earlier one."),
        _amount("failed_calls", "Failed tool calls", "Calls that ended with an error."),
        _amount("model_calls", "Model calls", "Calls of models, where the host reports the steps."),
        _amount("tokens", "Tokens", "Tokens of input and output."),
        _amount(
            "uncached_tokens",
            "Uncached tokens",
            "Tokens of input that the service did not read from its prompt cache, where it reports those.",
        ),
        _amount("cache_write_tokens", "Tokens written to the cache", "Tokens of input that it wrote there."),
        _amount("seconds", "Seconds", "Seconds of the request that succeeded."),
        _amount("cost_usd", "US dollars", "Cost of the answer in US dollars."),
        _amount(
            "cut_answers",
            "Cut answers",
            "Answers cut at their limit of tokens.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        amounts = amounts_of(case)
        limits = {name: limit for name in amounts if (limit := getattr(self, f"max_{name}")) is not None}
        # The amounts of a failed answer are missing because it failed, not because of the host.
        if not case.error and (unknown := [name for name in limits if amounts[name] is None]):
            return Outcome.error(
                f"max_{unknown[0]} is set, but the host does not report {unknown[0]}; remove the limit, or"
                " configure the host to report them",
                OutcomeCode.INPUT_INVALID,
            )
        exceeded = [
            f"{name}: {_shown(amount)}, at most {_shown(limit)} allowed"
            for name, limit in limits.items()
            if (amount := amounts[name]) is not None and amount > limit
        ]
        if case.error and not exceeded:
            return Outcome.not_applicable("what was spent before the failure exceeds no limit")
        within = float(not exceeded) if limits else None
        return Outcome.score({"within_budget": within, **amounts}, reason="; ".join(exceeded))


def amounts_of(case: Case) -> dict[str, float | None]:
    """Return calls, tokens, seconds and cost of an answer; None for what the host does not report."""
    calls = case.tool_calls
    answer = case.answer
    usage = answer.usage
    # One of both alone would pass a limit that the sum exceeds.
    tokens = float(usage[INPUT] + usage[OUTPUT]) if INPUT in usage and OUTPUT in usage else None
    # Some services count cached tokens beside those of the input and not among them.
    uncached = float(max(0, usage[INPUT] - usage[CACHED])) if INPUT in usage and CACHED in usage else None
    return {
        "calls": float(len(calls)),
        "repeated_calls": float(len(calls) - len(Counter(map(_identity, calls)))),
        "failed_calls": float(sum(bool(call.error) for call in calls)),
        "model_calls": float(sum(step.kind == "model" for step in answer.steps)) if answer.steps else None,
        "tokens": tokens,
        "uncached_tokens": uncached,
        "cache_write_tokens": float(usage[CACHE_WRITE]) if CACHE_WRITE in usage else None,
        "seconds": answer.duration_s or None,  # 0.0 is the time of an answer that was not measured
        "cost_usd": answer.cost_usd,
        "cut_answers": _cut_answers(answer),
    }


def _cut_answers(answer: Answer) -> float | None:
    """Return the number of turns that their limit of tokens cut; None where the host reports nothing."""
    reasons = [turn.answer.finish_reason for turn in answer.turns] or [answer.finish_reason]
    return float(reasons.count(LENGTH)) if any(reasons) or answer.usage else None


_SORTED_JSON = json.JSONEncoder(sort_keys=True, default=str)


def _identity(call: ToolCall) -> bytes:
    arguments = call.arguments if call.arguments.__class__ is dict else dict(call.arguments)
    content = (call.name, arguments, call.arguments_text)
    try:
        # As JSON, since arguments may be nested; the order of their keys does not matter.
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # half a surrogate pair, a large integer, a value that JSON lacks
        return _SORTED_JSON.encode(content).encode("ascii")


def _shown(amount: float) -> str:
    return f"{amount:,.4g}" if amount < 1000 else f"{amount:,.0f}"
