"""Terms of a condition: substrings, words, numbers, patterns, negation, conjunction and disjunction."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.patterns import compiled, shortened
from pytest_evalstudio.text.folding import fold, fold_with_origins

if TYPE_CHECKING:
    from pytest_evalstudio.text.stated_values import StatedValue

Mask = Callable[[str], str]
"""Returns a text of the same length without secrets."""
TIMEOUT_S = 2.0
"""Default time limit of one search of one regular expression, in seconds."""


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

    def check(self, text: str, timeout_s: float = TIMEOUT_S, mask: Mask = str) -> Match:
        """Return whether the text meets the condition, and which part it does not meet.

        Args:
            text: of an answer.
            timeout_s: for one search of one regular expression.
            mask: masks the text for the quotation in the unmet part, and keeps its length.

        Raises:
            PatternTimeout: if one of its regular expressions takes longer than `timeout_s`.

        >>> from pytest_evalstudio.formats.condition import parse_condition
        >>> parse_condition('"Paris" AND NOT "London"').check("Paris, London").failed
        'NOT "London" (found "London" at 7)'
        """
        return _PASSED if self.holds(text, timeout_s) else Match(False, self.failure(text, timeout_s, mask))

    def holds(self, text: str, timeout_s: float) -> bool:
        raise NotImplementedError

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        """Return the span that makes a string or regexp true; None for operators."""
        return None

    def failure(self, text: str, timeout_s: float, mask: Mask = str) -> str:
        """Return the unmet part of the condition, for a text that `holds` refused."""
        return str(self)

    def forbids(self, text: str, timeout_s: float = TIMEOUT_S) -> bool:
        """Return True if a text has what a NOT forbids that must hold: the condition, or a part by AND.

        Raises:
            PatternTimeout: if one of its regular expressions takes longer than `timeout_s`.

        >>> from pytest_evalstudio.formats.condition import parse_condition
        >>> condition = parse_condition('"Paris" AND NOT ("London" OR "Rome")')
        >>> condition.forbids("Paris, Rome"), condition.forbids("Berlin")
        (True, False)
        """
        return False

    def violations(self, text: str, timeout_s: float = TIMEOUT_S) -> tuple[tuple[int, int], ...]:
        """Return the spans that a NOT forbids, for a text that `holds` refused; () if words are missing.

        Raises:
            PatternTimeout: if one of its regular expressions takes longer than `timeout_s`.

        >>> from pytest_evalstudio.formats.condition import parse_condition
        >>> parse_condition('"Paris" AND NOT "London"').violations("Paris, London")
        ((7, 13),)
        """
        return ()


@dataclass(frozen=True, slots=True)
class Contains(Condition):
    """A case-sensitive substring; characters that look alike are equal, see `text.folding`.

    A text that is a value with its unit, a date or a frequency is also met by that value in another form.
    """

    text: str

    def holds(self, text: str, timeout_s: float) -> bool:
        return (
            self.text in text
            or fold(self.text) in fold(text)
            or _find_same_value(text, self.text) is not None
        )

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        start = text.find(self.text)
        if start >= 0:
            return start, start + len(self.text)
        folded, part = fold_with_origins(text), fold(self.text)
        start = folded.text.find(part)
        return _find_same_value(text, self.text) if start < 0 else folded.span(start, start + len(part))

    def __str__(self) -> str:
        return f'"{escaped(self.text)}"'


@dataclass(frozen=True, slots=True)
class Regexp(Condition):
    """A regular expression that matches somewhere, in the text as it is or with look-alikes folded."""

    pattern: str

    def holds(self, text: str, timeout_s: float) -> bool:
        return self.find(text, timeout_s) is not None

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        if span := self._search(text, timeout_s):
            return span
        folded = fold_with_origins(text)
        if folded.text == text or (span := self._search(folded.text, timeout_s)) is None:
            return None
        return folded.span(*span)

    def _search(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        try:
            match = compiled(self.pattern).search(text, timeout=timeout_s)
        except TimeoutError:
            raise PatternTimeout(
                f"{shortened(str(self))} took longer than {timeout_s:g} s; simplify the pattern"
            ) from None
        return None if match is None else (match.start(), match.end())

    def __str__(self) -> str:
        return f'regexp("{escaped(self.pattern)}")'


@dataclass(frozen=True, slots=True)
class Word(Condition):
    """A word, number or phrase as a whole: "5 USD" is not in "15 USD"; a value also in another form."""

    text: str

    def holds(self, text: str, timeout_s: float) -> bool:
        return self.find(text, timeout_s) is not None

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        from pytest_evalstudio.text.comparison import find_word

        return find_word(text, self.text) or _find_same_value(text, self.text)

    def __str__(self) -> str:
        return f'word("{escaped(self.text)}")'


@dataclass(frozen=True, slots=True)
class Number(Condition):
    """A number by its value, in any notation.

    Attributes:
        written: value as the user wrote it, with a decimal point.
        tolerance: largest difference, a number or a percentage such as "1%"; "" for none.
        unit: that has to be written with it, "" for any or none.
    """

    written: str
    tolerance: str = ""
    unit: str = ""

    def holds(self, text: str, timeout_s: float) -> bool:
        return self.find(text, timeout_s) is not None

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        from fractions import Fraction

        from pytest_evalstudio.text.comparison import find_number

        value = Fraction(self.written)
        if self.tolerance.endswith("%"):
            tolerance = abs(value) * Fraction(self.tolerance[:-1]) / 100
        else:
            tolerance = Fraction(self.tolerance or 0)
        return find_number(text, value, tolerance=tolerance, unit=self.unit)

    def __str__(self) -> str:
        tolerance = f", tolerance={self.tolerance}" if self.tolerance else ""
        unit = f', unit="{escaped(self.unit)}"' if self.unit else ""
        return f"number({self.written}{tolerance}{unit})"


@dataclass(frozen=True, slots=True)
class Value(Condition):
    """A duration, amount, measure, frequency, share, count or date by its value, where it is not denied."""

    text: str

    def holds(self, text: str, timeout_s: float) -> bool:
        return self.find(text, timeout_s) is not None

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        from pytest_evalstudio.text.stated_values import find_value, value_alone

        value = value_alone(self.text)
        return None if value is None else find_value(text, value)

    def __str__(self) -> str:
        return f'value("{escaped(self.text)}")'


@dataclass(frozen=True, slots=True)
class Polar(Condition):
    """The whole text affirms or denies a statement, or answers a question by yes or no.

    Attributes:
        statement: what is affirmed or denied, as a statement or a question.
        is_denied: True where the text must deny it.
    """

    statement: str
    is_denied: bool = False

    def holds(self, text: str, timeout_s: float) -> bool:
        from pytest_evalstudio.text.affirmation import polarity_of

        return polarity_of(text, self.statement) == ("no" if self.is_denied else "yes")

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        return (0, len(text)) if self.holds(text, timeout_s) else None

    def __str__(self) -> str:
        return f'{"denies" if self.is_denied else "affirms"}("{escaped(self.statement)}")'


@dataclass(frozen=True, slots=True)
class Equals(Condition):
    """The whole text, by value: a number in any notation, JSON without regard to order, else a label."""

    text: str

    def holds(self, text: str, timeout_s: float) -> bool:
        from pytest_evalstudio.text.comparison import equal_by_value

        return equal_by_value(text, self.text)

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        return (0, len(text)) if self.holds(text, timeout_s) else None

    def __str__(self) -> str:
        return f'equals("{escaped(self.text)}")'


@dataclass(frozen=True, slots=True)
class Refusal(Condition):
    """A text that declines a request politely, and says nothing else."""

    def holds(self, text: str, timeout_s: float) -> bool:
        from pytest_evalstudio.text.refusals import is_refusal

        return is_refusal(text)

    def find(self, text: str, timeout_s: float) -> tuple[int, int] | None:
        return (0, len(text)) if self.holds(text, timeout_s) else None

    def __str__(self) -> str:
        return "refusal()"


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """Negation of a condition."""

    operand: Condition

    def holds(self, text: str, timeout_s: float) -> bool:
        return not self.operand.holds(text, timeout_s)

    def failure(self, text: str, timeout_s: float, mask: Mask = str) -> str:
        span = self.operand.find(text, timeout_s)
        if span is None:
            return str(self)
        # Masked before it is cut: a part of a secret is not recognised as one.
        return f'{self} (found "{shortened(mask(text)[span[0] : span[1]])}" at {span[0]})'

    def forbids(self, text: str, timeout_s: float = TIMEOUT_S) -> bool:
        # NOT NOT asks for its operand, and so forbids nothing.
        return not isinstance(self.operand, Not) and self.operand.holds(text, timeout_s)

    def violations(self, text: str, timeout_s: float = TIMEOUT_S) -> tuple[tuple[int, int], ...]:
        # Each operand of an OR is forbidden by itself; none of an AND is, and `find` returns None for it.
        operands = self.operand.operands if isinstance(self.operand, Or) else (self.operand,)
        spans = [operand.find(text, timeout_s) for operand in operands]
        return tuple(span for span in spans if span is not None)

    def __str__(self) -> str:
        return f"NOT {_grouped(self.operand, (And, Or))}"


@dataclass(frozen=True, slots=True)
class And(Condition):
    """Conjunction of conditions."""

    operands: tuple[Condition, ...]

    def holds(self, text: str, timeout_s: float) -> bool:
        return all(operand.holds(text, timeout_s) for operand in self.operands)

    def failure(self, text: str, timeout_s: float, mask: Mask = str) -> str:
        failing = [operand for operand in self.operands if not operand.holds(text, timeout_s)]
        if len(failing) == 1:
            return failing[0].failure(text, timeout_s, mask)
        return " AND ".join(
            f"({operand})" if isinstance(operand, Or) else operand.failure(text, timeout_s, mask)
            for operand in failing
        )

    def forbids(self, text: str, timeout_s: float = TIMEOUT_S) -> bool:
        return any(operand.forbids(text, timeout_s) for operand in self.operands)

    def violations(self, text: str, timeout_s: float = TIMEOUT_S) -> tuple[tuple[int, int], ...]:
        return _violations_of(self.operands, text, timeout_s)

    def __str__(self) -> str:
        return " AND ".join(_grouped(operand, (And, Or)) for operand in self.operands)


@dataclass(frozen=True, slots=True)
class Or(Condition):
    """Disjunction of conditions."""

    operands: tuple[Condition, ...]

    def holds(self, text: str, timeout_s: float) -> bool:
        return any(operand.holds(text, timeout_s) for operand in self.operands)

    def violations(self, text: str, timeout_s: float = TIMEOUT_S) -> tuple[tuple[int, int], ...]:
        return _violations_of(self.operands, text, timeout_s)

    def __str__(self) -> str:
        return " OR ".join(_grouped(operand, (Or,)) for operand in self.operands)


def _violations_of(
    operands: tuple[Condition, ...], text: str, timeout_s: float
) -> tuple[tuple[int, int], ...]:
    refused = [operand for operand in operands if not operand.holds(text, timeout_s)]
    return tuple(span for operand in refused for span in operand.violations(text, timeout_s))


@functools.lru_cache(maxsize=4096)
def _value_of_string(string: str) -> StatedValue | None:
    """Return the value that a string of a condition is; None for another string.

    A fraction in words is none: "half" may be the half of a match.
    """
    # Most strings are words: the reader of values would be imported and run for nothing.
    if not _MAY_BE_VALUE.search(string):
        return None
    from pytest_evalstudio.text.stated_values import value_alone

    value = value_alone(string)
    is_worded_share = value is not None and value.kind == "share" and not _PERCENT.search(string)
    return None if is_worded_share else value


def _find_same_value(text: str, string: str) -> tuple[int, int] | None:
    """Return the first place where a text states the value that a string is; None for none."""
    value = _value_of_string(string)
    if value is None:
        return None
    from pytest_evalstudio.text.stated_values import find_value

    return find_value(text, value)


_MAY_BE_VALUE = re.compile(
    r"[0-9]|hour|day|week|month|quarter|year|minute|second|annual|ly\b|dozen|per ?cent|pound|euro|dollar",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"%|per\s?cent", re.IGNORECASE)
_NEEDS_BACKSLASH = re.compile(r'"|\\(?=[\\"]|\Z)')


def escaped(text: str) -> str:
    """Return a text as the content of a quoted string."""
    return _NEEDS_BACKSLASH.sub(r"\\\g<0>", text)


def _grouped(node: Condition, lower: tuple[type, ...]) -> str:
    return f"({node})" if isinstance(node, lower) else str(node)
