"""Selection of cases: the expression language of pytest's `-m` for the categories of a case.

It shares no parser with `formats.condition`, whose grammar is that of suite files: quoted strings, patterns
that end at their balanced parenthesis, upper-case operators, and an explanation of what is not met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pytest_evalstudio.core.errors import ConfigurationError

PYTESTS_OWN = frozenset(
    {
        "skip",
        "skipif",
        "xfail",
        "parametrize",
        "usefixtures",
        "filterwarnings",
        "tryfirst",
        "trylast",
        "evalstudio",
    }
)
_NOT_IN_MARKERS = re.compile(r"[^\w.:+/-]")
_TOKEN = re.compile(r"([\w.:+/-]+)|\S")
MAX_DEPTH = 100
_MAX_SHOWN = 200

Test = Callable[[frozenset[str]], bool]


def marker_name(category: str) -> str:
    """Return a category as a marker name, or "" if it must not become one.

    >>> marker_name("Question answering"), marker_name("skip")
    ('question_answering', '')
    """
    name = _NOT_IN_MARKERS.sub("_", category.strip().lower())
    return "" if name in PYTESTS_OWN or name.startswith("_") else name


class Where:
    """Expression over categories: names, `and`, `or`, `not`, parentheses.

    A name is a category in its form as a marker.

    Raises:
        ConfigurationError: if it cannot be parsed.

    >>> where = Where("fees and not (perturbed or internal)")
    >>> where(["Fees"]), where(["fees", "perturbed"])
    (True, False)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_TOKEN.finditer(text))
        self._at = 0
        self._depth = 0
        self._test = self._either()
        if self._at < len(self._tokens):
            raise self._wrong()

    def __call__(self, categories: Iterable[str]) -> bool:
        return self._test(frozenset(map(marker_name, categories)))

    def _either(self) -> Test:
        tests = [self._both()]
        while self._take("or"):
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda names: any(test(names) for test in tests)

    def _both(self) -> Test:
        tests = [self._one()]
        while self._take("and"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda names: all(test(names) for test in tests)

    def _one(self) -> Test:
        negations = 0
        while self._take("not"):
            negations += 1
        if negations % 2:
            denied = self._positive()
            return lambda names: not denied(names)
        return self._positive()

    def _positive(self) -> Test:
        if self._take("("):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise ConfigurationError(
                    f"expression {self._excerpt()} nests parentheses more than {MAX_DEPTH} deep; simplify it"
                )
            inner = self._either()
            if not self._take(")"):
                raise self._wrong()
            self._depth -= 1
            return inner
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if token is None or not token[1] or token[1] in ("and", "or"):
            raise self._wrong()
        self._at += 1
        name = marker_name(token[1])
        return lambda names: name in names

    def _take(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == word:
            self._at += 1
            return True
        return False

    def _wrong(self) -> ConfigurationError:
        location = f"at {self._tokens[self._at][0]!r}" if self._at < len(self._tokens) else "at its end"
        return ConfigurationError(
            f"expression {self._excerpt()} cannot be read {location}; write categories with and, or, not and"
            " parentheses"
        )

    def _excerpt(self) -> str:
        return repr(self._text if len(self._text) <= _MAX_SHOWN else self._text[:_MAX_SHOWN] + "…")
