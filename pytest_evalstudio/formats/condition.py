r"""The boolean condition of a test case: what a text must and must not contain.

    or   := and ("OR" and)*
    and  := not ("AND" not)*
    not  := "NOT" not | "(" or ")" | term
    term := STRING | word(STRING) | number(VALUE, tolerance=…, unit=STRING) | equals(STRING)
            | value(STRING) | affirms(STRING) | denies(STRING) | refusal()
            | regexp("…") | regexp(…)

Operators are upper case, white space is free. A STRING is a case-sensitive substring, `word` one that is no
part of a longer word or number, `number` a number by its value, `equals` the whole text by value, `value` a
value with its unit, a frequency or a date in any form, `affirms` and `denies` a yes or no to a question, as
`text.affirmation` reads it, and `refusal()` a text that only declines. A STRING that is such a value is met
by the same value in another form. In texts `\"` and `\\` stand for a quote and a backslash, any other
backslash for itself. A bare `regexp(^A.*)` ends at its balanced parenthesis; blanks around the pattern do not
belong to it. Patterns are Python's `re` syntax, searched anywhere in the text, with a time limit.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Mapping

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.condition_terms import (
    TIMEOUT_S,
    And,
    Condition,
    Contains,
    Equals,
    Match,
    Not,
    Number,
    Or,
    PatternTimeout,
    Polar,
    Refusal,
    Regexp,
    Value,
    Word,
)
from pytest_evalstudio.formats.patterns import end_of_class, excess

__all__ = [
    "MAX_DEPTH",
    "TIMEOUT_S",
    "And",
    "Condition",
    "Contains",
    "Equals",
    "Match",
    "Not",
    "Number",
    "Or",
    "PatternTimeout",
    "Polar",
    "Refusal",
    "Regexp",
    "Value",
    "Word",
    "parse_condition",
]

# The parser is recursive: without a limit, parentheses of a stranger's file would exhaust the stack.
MAX_DEPTH = 100
_EXCERPT_CHARS = 100


# A condition is parsed when its file is read, and again for each answer.
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


def ambiguous_strings(condition: Condition) -> list[str]:
    """Return the plain strings of a condition that are a part of another number, e.g. "5 USD" of "15 USD".

    >>> ambiguous_strings(parse_condition('"5 USD" AND word("7 USD") AND NOT "fee"'))
    ['5 USD']
    """
    from pytest_evalstudio.text.comparison import longer_number

    if isinstance(condition, And | Or):
        return [text for operand in condition.operands for text in ambiguous_strings(operand)]
    if isinstance(condition, Not):
        return ambiguous_strings(condition.operand)
    return [condition.text] if isinstance(condition, Contains) and longer_number(condition.text) else []


_OPERANDS = 'a text in double quotes, or a term such as word("…") or number(…)'
_TERMS: Mapping[str, Callable[[str], Condition]] = {
    "word": Word,
    "equals": Equals,
    "affirms": Polar,
    "denies": functools.partial(Polar, is_denied=True),
}
"""Terms with a text as their only argument."""
_TOKEN = re.compile(r"\w+")
_MARKS = re.compile(r"""["()\\]|\b(?:AND|OR|NOT)\b""")
"""Characters that a text without quotes has not, if it is meant as a condition."""
_BLANK = re.compile(r"\s*")
# "1,200" does not match at all: its comma would otherwise be read as the one before an option.
_VALUE = re.compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?(?![0-9.'])(?!,[0-9])")
_TOLERANCE = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?%?")


def _depth(tree: Condition) -> int:
    """Return how many NOT, AND and OR are within each other, without recursion."""
    depth = 0
    level: list[Condition] = [tree]
    while level:
        below: list[Condition] = []
        for node in level:
            if isinstance(node, Not):
                below.append(node.operand)
            elif isinstance(node, And | Or):
                below += node.operands
        depth += bool(below)
        level = below
    return depth


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
            # Other languages have operators in lower case; the message names the remedy.
            if word and word[0].upper() in ("AND", "OR") and word[0] not in ("AND", "OR"):
                raise self._fault(f"operators are upper case: {word[0].upper()}")
            raise self._fault("expected AND or OR")
        # Evaluation and texts of conditions recurse through NOT, AND and OR alike.
        if _depth(tree) > MAX_DEPTH:
            raise self._fault(f"NOT, AND and OR nested more than {MAX_DEPTH} deep; simplify the condition", 0)
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
        for name, term in _TERMS.items():
            if self._word(name):
                return term(self._only_argument(name))
        if self._word("value"):
            return self._value()
        if self._word("number"):
            return self._number()
        if self._word("refusal"):
            return self._refusal()
        word = _TOKEN.match(self.text, self.at)
        # "" is in every string: at the end of the text the general message below applies.
        if char in "'“”„«‘’" and char:
            raise self._fault('strings must be in straight double quotes: "…"')
        if word and word[0] == "not":
            raise self._fault("operators are upper case: NOT")
        if self.text.strip() and not self.text[: self.at].strip() and not _MARKS.search(self.text):
            text = self.text.strip()
            raise self._fault(f'write texts in double quotes: "{text}", which is "\\"{text}\\"" in JSON')
        after = f" after {self.after}" if self.after else ""
        raise self._fault(f"expected {_OPERANDS}{after}")

    def _refusal(self) -> Refusal:
        for mark in "()":
            if self.text[self.at : self.at + 1] != mark:
                raise self._fault("refusal() has no argument; write refusal()")
            self.at += 1
            self.after = f"refusal{'()' if mark == ')' else '('}"
            self._skip()
        return Refusal()

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
        chars, offsets = [], []
        at = opened + 1
        while at < len(self.text) and self.text[at] != '"':
            offsets.append(at)
            # Other backslashes stand for themselves, so that patterns need not be escaped twice.
            if self.text[at] == "\\" and self.text[at + 1 : at + 2] in ('"', "\\"):
                at += 1
            chars.append(self.text[at])
            at += 1
        if at >= len(self.text):
            raise self._fault("this quote is never closed", opened)
        self.at = at + 1
        self._skip()
        return "".join(chars), offsets

    def _regexp(self) -> Condition:
        opened = self.at
        if self.text[self.at : self.at + 1] != "(":
            raise self._fault("expected ( after regexp")
        self.at += 1
        self._skip()
        if self.text[self.at : self.at + 1] == '"':
            pattern, offsets = self._string()
            if self.text[self.at : self.at + 1] != ")":
                raise self._fault('expected ) after the pattern (a quote inside it is written \\")')
        else:
            end = _end_of_bare_pattern(self.text, self.at)
            if end < 0:
                raise self._fault("this regexp( is never closed", opened)
            pattern = self.text[self.at : end].rstrip()
            offsets = list(range(self.at, self.at + len(pattern)))
            self.at = end
        # `offsets` map a position in the pattern without escapes to that in the condition.
        self._check_pattern(pattern, offsets, opened)
        self.at += 1
        self._skip()
        return Regexp(pattern)

    def _open(self, name: str) -> int:
        opened = self.at
        if self.text[self.at : self.at + 1] != "(":
            raise self._fault(f"expected ( after {name}")
        self.at += 1
        self._skip()
        return opened

    def _close(self, fact: str) -> None:
        if self.text[self.at : self.at + 1] != ")":
            raise self._fault(fact)
        self.at += 1
        self._skip()

    def _quoted(self, example: str) -> str:
        start = self.at
        if self.text[self.at : self.at + 1] != '"':
            raise self._fault(f"expected a text in straight double quotes, e.g. {example}")
        text = self._string()[0]
        if not text.strip():
            raise self._fault("the text is blank", start)
        return text

    def _only_argument(self, name: str) -> str:
        self._open(name)
        text = self._quoted(f'{name}("5 USD")')
        self._close('expected ) after the text (a quote inside it is written \\")')
        return text

    def _value(self) -> Condition:
        """Read a value, which must be one that can be compared."""
        from pytest_evalstudio.text.stated_values import value_alone

        start = self.at
        text = self._only_argument("value")
        if value_alone(text) is None:
            raise self._fault(
                f"{text!r} is not a value with a unit, a frequency or a date; for a number alone write"
                " number(...), for words a string",
                start,
            )
        return Value(text)

    def _number(self) -> Condition:
        """Read the value of a number, and its options in any order."""
        self._open("number")
        value = self._amount(
            _VALUE, "a number with a decimal point and without other signs, e.g. number(1200.5)"
        )
        options = {"tolerance": "", "unit": ""}
        while self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self._skip()
            start = self.at
            name = next((name for name in options if self._word(name)), "")
            if not name or options[name]:
                raise self._fault('expected tolerance=… or unit="…", each at most once', start)
            if self.text[self.at : self.at + 1] != "=":
                raise self._fault(f"expected = after {name}")
            self.at += 1
            self._skip()
            if name == "unit":
                options[name] = self._quoted('unit="USD"')
            else:
                options[name] = self._amount(_TOLERANCE, "a tolerance such as 0.5 or 1%")
        self._close("expected , or ) in number(...)")
        return Number(value, **options)

    def _amount(self, pattern: re.Pattern[str], expected: str) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise self._fault(f"expected {expected}")
        self.at = match.end()
        self._skip()
        return match[0]

    def _check_pattern(self, pattern: str, offsets: list[int], opened: int) -> None:
        if too_much := excess(pattern):
            raise self._fault(f"this regular expression is not supported: {too_much}", opened)
        try:
            # `re` warns of possible nested sets, and pytest can raise warnings as errors.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except re.error as exc:
            offset = offsets[exc.pos] if exc.pos is not None and exc.pos < len(offsets) else self.at
            raise self._fault(f"not a regular expression: {exc.msg}", offset) from None
        except (RecursionError, OverflowError) as exc:
            raise self._fault(f"not a regular expression: {exc}", opened) from None

    def _word(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        end = self.at + len(word)
        # "ORDER" is no OR.
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
        offset = self.at if at is None else at
        first = max(0, offset - _EXCERPT_CHARS // 2)
        # A tab or line break in the excerpt would move the caret.
        shown = "".join(
            char if char.isprintable() else " " for char in self.text[first : first + _EXCERPT_CHARS]
        )
        lead = "…" if first else ""
        return DataError(
            f"{fact}, column {offset + 1}\n  {lead}{shown}\n  {' ' * (len(lead) + offset - first)}^",
            column=offset + 1,
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
