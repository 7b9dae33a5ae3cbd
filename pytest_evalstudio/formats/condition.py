r"""The boolean condition of a test case: what a text must and must not contain.

    or   := and ("OR" and)*
    and  := not ("AND" not)*
    not  := "NOT" not | "(" or ")" | STRING | regexp("…") | regexp(…)

Operators are upper case, white space is free. A STRING is a case-sensitive substring; in every quoted text
`\"` and `\\` stand for a quote and a backslash, any other backslash for itself. A bare `regexp(^A.*)` ends
at its balanced parenthesis; blanks around the pattern do not belong to it. Patterns are Python's `re` syntax,
searched anywhere in the text, with a time limit.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.formats.patterns import compiled, end_of_class, excess, shortened

TIMEOUT_S = 2.0
"""Default time limit of one search of one regular expression, in seconds."""
MAX_DEPTH = 100
_EXCERPT_CHARS = 100


class PatternTimeout(EvaluationError):
    """A regular expression took longer than it may: whether it matches is not known."""


@dataclass(frozen=True, slots=True)
class Match:
    """Result of checking a text against a condition.

    Attributes:
        failed: text of the unmet sub-condition, "" if all is met. For an AND these are its failing operands,
            for an OR the whole OR, for a NOT the match and its position.
    """

    passed: bool
    failed: str = ""

    def __bool__(self) -> bool:
        return self.passed


_PASSED = Match(True)


class Condition:
    """A parsed condition; `str()` gives its canonical text, which parses to an equal condition."""

    __slots__ = ()

    def check(self, text: str, timeout_s: float = TIMEOUT_S) -> Match:
        """Return whether the text meets the condition, and which part it does not meet.

        Raises:
            PatternTimeout: if one of its regular expressions takes longer than `timeout_s`.

        >>> parse_condition('"Paris" AND NOT "London"').check("Paris, London").failed
        'NOT "London" (found "London" at 7)'
        """
        return _PASSED if self.holds(text, timeout_s) else Match(False, self.failure(text, timeout_s))

    def holds(self, text: str, timeout_s: float) -> bool:
        raise NotImplementedError

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        """Return the span that makes a string or regexp true; None for operators."""
        return None

    def failure(self, text: str, timeout_s: float) -> str:
        """Return the unmet part of the condition, for a text that `holds` refused."""
        return str(self)


@dataclass(frozen=True, slots=True)
class Contains(Condition):
    """A case-sensitive substring."""

    text: str

    def holds(self, text: str, timeout_s: float) -> bool:
        return self.text in text

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        start = text.find(self.text)
        return None if start < 0 else (start, start + len(self.text))

    def __str__(self) -> str:
        return f'"{_escaped(self.text)}"'


@dataclass(frozen=True, slots=True)
class Regexp(Condition):
    """A regular expression that matches somewhere."""

    pattern: str

    def holds(self, text: str, timeout_s: float) -> bool:
        return self.find(text, timeout_s) is not None

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        try:
            match = compiled(self.pattern).search(text, timeout=timeout_s)
        except TimeoutError:
            raise PatternTimeout(
                f"{shortened(str(self))} took longer than {timeout_s:g} s; simplify the pattern"
            ) from None
        return None if match is None else (match.start(), match.end())

    def __str__(self) -> str:
        return f'regexp("{_escaped(self.pattern)}")'


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """Negation of a condition."""

    operand: Condition

    def holds(self, text: str, timeout_s: float) -> bool:
        return not self.operand.holds(text, timeout_s)

    def failure(self, text: str, timeout_s: float) -> str:
        span = self.operand.find(text, timeout_s)
        if span is None:
            return str(self)
        return f'{self} (found "{shortened(text[span[0] : span[1]])}" at {span[0]})'

    def __str__(self) -> str:
        return f"NOT {_grouped(self.operand, (And, Or))}"


@dataclass(frozen=True, slots=True)
class And(Condition):
    """Conjunction of conditions."""

    operands: tuple[Condition, ...]

    def holds(self, text: str, timeout_s: float) -> bool:
        return all(operand.holds(text, timeout_s) for operand in self.operands)

    def failure(self, text: str, timeout_s: float) -> str:
        failing = [operand for operand in self.operands if not operand.holds(text, timeout_s)]
        if len(failing) == 1:
            return failing[0].failure(text, timeout_s)
        return " AND ".join(
            f"({operand})" if isinstance(operand, Or) else operand.failure(text, timeout_s)
            for operand in failing
        )

    def __str__(self) -> str:
        return " AND ".join(_grouped(operand, (And, Or)) for operand in self.operands)


@dataclass(frozen=True, slots=True)
class Or(Condition):
    """Disjunction of conditions."""

    operands: tuple[Condition, ...]

    def holds(self, text: str, timeout_s: float) -> bool:
        return any(operand.holds(text, timeout_s) for operand in self.operands)

    def __str__(self) -> str:
        return " OR ".join(_grouped(operand, (Or,)) for operand in self.operands)


@functools.lru_cache(maxsize=4096)
def parse_condition(text: str) -> Condition:
    """Read a condition.

    Args:
        text: not blank; a case without a condition has nothing to parse.

    Raises:
        DataError: if it is malformed; the message has the column and a line with a caret, `.column` is
            1-based.

    >>> str(parse_condition('("a" OR  "b") AND NOT regexp(^c.*)'))
    '("a" OR "b") AND NOT regexp("^c.*")'
    """
    return _Parser(text).parse()


def substring_condition(text: str) -> str:
    r"""Return the condition that the answer contains a text, with any characters.

    >>> print(substring_condition('say "hi"'))
    "say \"hi\""
    """
    return f'"{_escaped(text)}"'


def constraints_to_condition(constraints: Sequence[Any] | str) -> str:
    """Return the condition that is equivalent to a list of constraints, or "" for an empty list.

    Args:
        constraints: a list is AND, a list inside it is OR, a string is a substring, `REGEXP:x` a regular
            expression.

    Raises:
        DataError: if an entry is neither a string nor a list of strings.

    >>> constraints_to_condition(["a", "REGEXP:b?", ["C", "c"]])
    '"a" AND regexp("b?") AND ("C" OR "c")'
    """
    items = [constraints] if isinstance(constraints, str) else constraints
    if not isinstance(items, list | tuple):
        raise DataError(f"constraints are a list of strings and lists of strings, not {_named_type(items)}")
    operands = []
    for index, item in enumerate(items):
        if isinstance(item, list | tuple):
            choices = [_operand(choice, f"/{index}/{place}") for place, choice in enumerate(item)]
            if choices:
                operands.append(f"({' OR '.join(choices)})" if len(choices) > 1 else choices[0])
        else:
            operands.append(_operand(item, f"/{index}"))
    return " AND ".join(operands)


def _operand(item: Any, pointer: str) -> str:
    if not isinstance(item, str):
        raise DataError(
            "a constraint is a string, or a list of strings of which one must be met, not"
            f" {_named_type(item)}",
            pointer=pointer,
        )
    if item.startswith("REGEXP:"):
        return f'regexp("{_escaped(item.removeprefix("REGEXP:"))}")'
    return substring_condition(item)


_NEEDS_BACKSLASH = re.compile(r'"|\\(?=[\\"]|\Z)')
_TOKEN = re.compile(r"\w+")
_BLANK = re.compile(r"\s*")


class _Parser:
    """Recursive descent over one condition; every error knows its column."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.after = ""

    def parse(self) -> Condition:
        self._skip()
        if self.at == len(self.text):
            raise self._fault("the condition is empty")
        tree = self._or()
        if self.at < len(self.text):
            if self.text[self.at] == ")":
                raise self._fault("this ) closes nothing")
            word = _TOKEN.match(self.text, self.at)
            if word and word[0].upper() in ("AND", "OR") and word[0] not in ("AND", "OR"):
                raise self._fault(f"operators are upper case: {word[0].upper()}")
            raise self._fault("expected AND or OR")
        return tree

    def _or(self) -> Condition:
        operands = [self._and()]
        while self._word("OR"):
            operands.append(self._and())
        return operands[0] if len(operands) == 1 else Or(tuple(operands))

    def _and(self) -> Condition:
        operands = [self._not()]
        while self._word("AND"):
            operands.append(self._not())
        return operands[0] if len(operands) == 1 else And(tuple(operands))

    def _not(self) -> Condition:
        negations = 0
        while self._word("NOT"):
            negations += 1
        if negations > MAX_DEPTH:
            raise self._fault(f"more than {MAX_DEPTH} NOT in a row")
        operand = self._operand()
        for _ in range(negations):
            operand = Not(operand)
        return operand

    def _operand(self) -> Condition:
        char = self.text[self.at : self.at + 1]
        if char == '"':
            return Contains(self._string()[0])
        if char == "(":
            return self._group()
        if self._word("regexp"):
            return self._regexp()
        word = _TOKEN.match(self.text, self.at)
        if char in "'“”„«‘’" and char:
            raise self._fault('strings must be in straight double quotes: "…"')
        if word and word[0] == "not":
            raise self._fault("operators are upper case: NOT")
        raise self._fault("expected a string or regexp(...)" + (f" after {self.after}" if self.after else ""))

    def _group(self) -> Condition:
        opened = self.at
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._fault(f"parentheses nested more than {MAX_DEPTH} deep")
        self.at += 1
        self.after = "("
        self._skip()
        inside = self._or()
        if self.text[self.at : self.at + 1] != ")":
            if self.at == len(self.text):
                raise self._fault("this ( is never closed", opened)
            raise self._fault("expected AND, OR or )")
        self.at += 1
        self.depth -= 1
        self._skip()
        return inside

    def _string(self) -> tuple[str, list[int]]:
        """Return the quoted text at the cursor without escapes, and the source index of each character."""
        opened = self.at
        chars, places = [], []
        at = opened + 1
        while at < len(self.text) and self.text[at] != '"':
            places.append(at)
            if self.text[at] == "\\" and self.text[at + 1 : at + 2] in ('"', "\\"):
                at += 1
            chars.append(self.text[at])
            at += 1
        if at >= len(self.text):
            raise self._fault("this quote is never closed", opened)
        self.at = at + 1
        self._skip()
        return "".join(chars), places

    def _regexp(self) -> Condition:
        opened = self.at
        if self.text[self.at : self.at + 1] != "(":
            raise self._fault("expected ( after regexp")
        self.at += 1
        self._skip()
        if self.text[self.at : self.at + 1] == '"':
            pattern, places = self._string()
            if self.text[self.at : self.at + 1] != ")":
                raise self._fault('expected ) after the pattern (a quote inside it is written \\")')
        else:
            end = _end_of_bare_pattern(self.text, self.at)
            if end < 0:
                raise self._fault("this regexp( is never closed", opened)
            pattern = self.text[self.at : end].rstrip()
            places = list(range(self.at, self.at + len(pattern)))
            self.at = end
        self._check_pattern(pattern, places, opened)
        self.at += 1
        self._skip()
        return Regexp(pattern)

    def _check_pattern(self, pattern: str, places: list[int], opened: int) -> None:
        if too_much := excess(pattern):
            raise self._fault(f"not a regular expression that is searched for: {too_much}", opened)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except re.error as exc:
            place = places[exc.pos] if exc.pos is not None and exc.pos < len(places) else self.at
            raise self._fault(f"not a regular expression: {exc.msg}", place) from None
        except (RecursionError, OverflowError) as exc:
            raise self._fault(f"not a regular expression: {exc}", opened) from None

    def _word(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        end = self.at + len(word)
        if end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            return False
        self.at = end
        self.after = word
        self._skip()
        return True

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at

    def _fault(self, fact: str, at: int | None = None) -> DataError:
        place = self.at if at is None else at
        first = max(0, place - _EXCERPT_CHARS // 2)
        shown = "".join(
            char if char.isprintable() else " " for char in self.text[first : first + _EXCERPT_CHARS]
        )
        lead = "…" if first else ""
        return DataError(
            f"{fact}, column {place + 1}\n  {lead}{shown}\n  {' ' * (len(lead) + place - first)}^",
            column=place + 1,
        )


def _end_of_bare_pattern(text: str, start: int) -> int:
    """Return the index of the parenthesis that closes `regexp(`, or -1 if none does.

    Escapes and character classes are skipped.
    """
    depth, at = 1, start
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = end_of_class(text, at)
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return at
        at += 1
    return -1


def _escaped(text: str) -> str:
    return _NEEDS_BACKSLASH.sub(r"\\\g<0>", text)


def _grouped(node: Condition, lower: tuple[type, ...]) -> str:
    return f"({node})" if isinstance(node, lower) else str(node)


def _named_type(value: object) -> str:
    return {bool: "a boolean", dict: "an object", int: "a number", float: "a number", type(None): "null"}.get(
        type(value), type(value).__name__
    )
