"""Everything this package raises on purpose.

EvalStudioError
├── DataError          a file of the user's is wrong            (collection error)
├── ConfigurationError an option, a key or a name is wrong      (usage error, exit status 4)
│   └── ResourceMissing a required model, judge or module is not available
├── EvaluationError    host, judge or model could not answer    (item: E)
└── ThresholdMissed    the answer is worse than asked for       (item: F)

Messages say place, fact and remedy; they are shown without a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_evalstudio.core.names import nearest_name
from pytest_evalstudio.text.unicode import valid_text


class EvalStudioError(Exception):
    """Base of all errors of this package.

    Attributes:
        is_masked: whether the message is known to be without personal data and secrets, so that reports do
            not search it again.
    """

    is_masked = False


class DataError(EvalStudioError):
    """A file of the user cannot be read in its format.

    Args:
        message: the fact and the remedy.
        source: path or URL of the file.
        pointer: JSON pointer of the place, "" for the whole file.
        line: 1-based line, 0 where the parser does not know it.
        column: 1-based column, 0 where the parser does not know it.
    """

    def __init__(
        self, message: str, *, source: str = "", pointer: str = "", line: int = 0, column: int = 0
    ) -> None:
        self.message = message
        self.source = source
        self.pointer = pointer
        self.line = line
        self.column = column
        location = source + (f":{line}:{column}" if line else "")
        super().__init__(
            " ".join(part for part in (location, pointer) if part)
            + (": " if location or pointer else "")
            + message
        )


class ConfigurationError(EvalStudioError):
    """An option, a configuration key, or a name in one of them is wrong."""


class ResourceMissing(ConfigurationError):
    """A model, judge, module or option that an evaluator requires is not available.

    Args:
        message: the fact and all remedies.
        brief: the fact alone, in a few words, without folders of this machine.

    Attributes:
        brief: as given.
    """

    def __init__(self, message: str, *, brief: str) -> None:
        super().__init__(message)
        self.brief = brief


class EvaluationError(EvalStudioError):
    """A host, judge or model could not answer: the verdict is neither pass nor fail."""


class ThresholdMissed(EvalStudioError, AssertionError):
    """An answer is worse than its threshold allows."""


def exception_text(exc: BaseException) -> str:
    """Return type and message of an exception of other people's code, whatever its `__str__` does.

    >>> exception_text(KeyError("x"))
    "KeyError: 'x'"
    """
    try:
        message = str(exc)
    except Exception:
        message = "its message cannot be read"
    return valid_text(f"{type(exc).__name__}: {message}")


def unknown_name(kind: str, name: str, names: Iterable[str], remedy: str = "") -> ConfigurationError:
    """Return the error for an unknown name; it proposes the nearest known name.

    >>> str(unknown_name("evaluator", "rogue", ["rouge", "bleu"]))
    "no evaluator named 'rogue'. Did you mean 'rouge'?"
    """
    return ConfigurationError(
        " ".join(part for part in (f"no {kind} named {name!r}.", nearest(name, names), remedy) if part)
    )


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a question that proposes the nearest known name, or "" if none is near."""
    close = nearest_name(name, names)
    return f"Did you mean {close!r}?" if close else ""
