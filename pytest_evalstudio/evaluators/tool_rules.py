"""Tool rules: the order, number and conditions of tool calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import InteractionEvaluator, evaluator
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords, listed
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.folding import fold

_AGREEMENT = re.compile(
    r"\W*(?:yes|yep|yeah|sure|ok|okay|agreed|confirmed?|correct|go ahead|please (?:do|go ahead|proceed)"
    r"|proceed|do it|i (?:confirm|agree)|ja|oui|s[ií])\b",
    re.IGNORECASE,
)
"""Beginning of a user's message that agrees to an action."""
_OBJECTION = re.compile(r"\A[^,.;!?]*\bnot\b|\A[^.!?]*\b(?:do not|don't|wait|stop|hold on)\b", re.IGNORECASE)
"""A first clause or sentence that takes the agreement back."""
_WITHDRAWAL = re.compile(
    r"(?:\A\W*\w+|[,;.!?-])\s*\bno\b(?=\s*(?:[,;.!?]|\Z|thank))"
    r"|\bnever ?mind\b(?!\s+(?:the|my|your|about)\b)|\bchanged? my mind\b|\bon second thoughts?\b"
    r"|\bforget (?:it|that|about it)\b|\bleave it\b(?! at\b)|\brather not\b",
    re.IGNORECASE,
)
"""Words anywhere in the message that take the agreement back; "no" stands alone, as in "ok, no, leave it"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rule on the calls of a tool.

    Attributes:
        tool: pattern of names, e.g. "cancel_*".
        never: the tool must not be called.
        after: pattern of a tool that must have been called, without an error, before each call.
        at_most: largest number of calls; None for no limit.
        at_least: smallest number of calls.
        not_after_error: the tool must not be called after any call that ended with an error.
        needs_confirmation: the user's message before each call must agree ("yes", "go ahead").
    """

    tool: str
    never: bool = False
    after: str = ""
    at_most: int | None = None
    at_least: int = 0
    not_after_error: bool = False
    needs_confirmation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRule:
    """Condition of a rule that the calls of a case break.

    Attributes:
        condition: name of the field of `Rule`.
        call: index of the call that breaks it, None where a call is missing.
    """

    condition: str
    tool: str
    call: int | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the broken rule for exports; calls are numbered from 1."""
        number = {} if self.call is None else {"call": self.call + 1}
        return {"condition": self.condition, "tool": self.tool, **number, "text": self.text}


@evaluator(
    "tool_rules",
    name="Tool rules",
    domain="generation",
    needs=("actual_output",),
    requires=("option:rules",),
    method=("rules",),
    keywords=keywords("S AT VR", "C O", "evaluation-method-rule-based", "evaluation-method-agents"),
)
@dataclass(frozen=True)
class ToolRules(InteractionEvaluator):
    """The calls of tools keep all rules.

    `rules` is a list of tables, each with a pattern of tools and a rule for their calls: `{tool =
    "cancel_*", after = "get_reservation"}`, `never = true`, `at_most = 2`, `at_least = 1`, `not_after_error
    = true`, `needs_confirmation = true` (the user's message before the call agrees).

    Source: policies of tool use as in τ-bench (Yao et al., 2024), stated as data.
    """

    decided_by_one_observation: ClassVar[bool] = True
    rules: tuple[Mapping[str, Any], ...] = ()
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "tool_rules_kept",
            "Tool rules kept",
            threshold=1.0,
            primary=True,
            boolean=True,
            description="1.0 where all rules are kept, else 0.0.",
        ),
    )

    def __post_init__(self) -> None:
        for index, table in enumerate(self.rules):
            read_rule(table, index)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        rules = [read_rule(table, index) for index, table in enumerate(self.rules)]
        return [self._score(case, rules) for case in cases]

    def _score(self, case: Case, rules: Sequence[Rule]) -> Outcome:
        broken = [fault for rule in rules for fault in _faults(rule, case)]
        if case.error:  # the calls that are missing might have come
            broken = [fault for fault in broken if fault.call is not None]
            if not broken:
                return Outcome.not_applicable("no call before the failure breaks a rule")
        return Outcome.score(
            {"tool_rules_kept": float(not broken)},
            reason=listed([fault.text for fault in broken]),
            code=_code(broken),
            details={"broken": [fault.to_dict() for fault in broken]} if broken else {},
        )


def _code(broken: Sequence[BrokenRule]) -> OutcomeCode:
    if not broken:
        return OutcomeCode.NONE
    # A rule that asks for a call is broken by its absence.
    is_missing = all(fault.call is None for fault in broken)
    return OutcomeCode.CALLS_DIFFER if is_missing else OutcomeCode.CALL_FORBIDDEN


def read_rule(table: object, index: int) -> Rule:
    """Read a rule.

    Raises:
        ConfigurationError: for an unknown key or a value of a wrong type.
    """
    location = f"rules[{index}]"
    if not isinstance(table, Mapping):
        raise ConfigurationError(f'{location}: expected a table, e.g. {{tool = "cancel_*", at_most = 1}}')
    types: dict[str, type] = {
        "tool": str,
        "never": bool,
        "after": str,
        "at_most": int,
        "at_least": int,
        "not_after_error": bool,
        "needs_confirmation": bool,
    }
    for name, value in table.items():
        if name not in types:
            raise ConfigurationError(
                f"{location}: a rule has no key {name!r}. {nearest(name, types)}".strip()
            )
        # True and False are of the type int, too.
        if not isinstance(value, types[name]) or (isinstance(value, bool) and types[name] is int):
            raise ConfigurationError(f"{location}.{name}: expected {types[name].__name__}, found {value!r}")
    if not table.get("tool"):
        raise ConfigurationError(f'{location}: `tool` is missing; write tool = "*" for all tools')
    if len(table) == 1:
        conditions = ", ".join(item.name for item in fields(Rule)[1:])
        raise ConfigurationError(
            f"{location}: has no condition for {table['tool']!r}; add one of {conditions}"
        )
    return Rule(**table)


def _faults(rule: Rule, case: Case) -> Iterator[BrokenRule]:
    """Yield how the calls of a case break a rule, at most once for each of its conditions."""
    calls = case.tool_calls
    names = {name for name in {call.name for call in calls} if fnmatchcase(name, rule.tool)}
    concerned = [index for index, call in enumerate(calls) if call.name in names]
    tool = one_line(rule.tool)

    def broken(condition: str, call: int | None, text: str) -> BrokenRule:
        return BrokenRule(condition=condition, tool=rule.tool, call=call, text=text)

    count = _times(len(concerned))
    if len(concerned) < rule.at_least:
        yield broken("at_least", None, f"{tool} is called {count}, at least {rule.at_least} expected")
    if rule.at_most is not None and len(concerned) > rule.at_most:
        extra = concerned[rule.at_most]
        text = f"{tool} is called {count}, at most {rule.at_most} allowed ({_named(calls, extra)})"
        yield broken("at_most", extra, text)
    if not concerned:
        return
    first = concerned[0]
    if rule.never:
        yield broken("never", first, f"{_named(calls, first)} is never allowed")
    if rule.needs_confirmation:
        messages = _messages_before(case)
        index = next((index for index in concerned if not _agrees(messages[index])), None)
        if index is not None:
            text = f"{_named(calls, index)} without the user's confirmation"
            yield broken("needs_confirmation", index, text)
    # What precedes the first call precedes all of them.
    if rule.after and not any(
        fnmatchcase(call.name, rule.after) and not call.error for call in calls[:first]
    ):
        yield broken("after", first, f"{_named(calls, first)} before {one_line(rule.after)}")
    if rule.not_after_error:
        first_error = next((index for index, call in enumerate(calls) if call.error), len(calls))
        # The last call decides: an error after all calls of the tool breaks nothing.
        if concerned[-1] > first_error:
            index = next(index for index in concerned if index > first_error)
            yield broken("not_after_error", index, f"{_named(calls, index)} after an error")


def _messages_before(case: Case) -> list[str]:
    """Return for each call the message of the user that it follows."""
    messages = [turn.prompt for turn in case.answer.turns for _ in turn.answer.tool_calls]
    # Without turns, or with calls that belong to none, all calls follow the question.
    return messages if len(messages) == len(case.tool_calls) else [case.question] * len(case.tool_calls)


def _agrees(message: str) -> bool:
    plain = fold(message)
    return (
        _AGREEMENT.match(plain) is not None
        and _OBJECTION.match(plain) is None
        and _WITHDRAWAL.search(plain) is None
    )


def _named(calls: Sequence[ToolCall], index: int) -> str:
    return f"call {index + 1}, {one_line(calls[index].name)}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
