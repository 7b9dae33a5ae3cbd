"""The validator of options: types as TOML and JSON know them, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.options import OptionError, build, check_options


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of all types."""

    target: str
    min_words: int = 1
    ratio: float = 0.5
    strict: bool = False
    mode: Literal["a", "b"] = "a"
    words: tuple[str, ...] = ()
    names: list[str] = field(default_factory=list)
    limit: int | None = None
    share: float | Literal["auto"] = "auto"
    weights: Mapping[str, float] = field(default_factory=dict)
    file: Path = Path()
    call: Callable[[], Any] | None = None
    _hidden: int = 0

    def __post_init__(self) -> None:
        if self.min_words < 0:
            raise ValueError("min_words must not be negative")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("min_words", "many", "a whole number, found 'many'"),
        ("min_words", "3", "a whole number, found '3'"),
        ("min_words", 1.5, "a whole number, found 1.5"),
        ("min_words", 1.0, "a whole number, found 1.0"),
        ("min_words", True, "a whole number, found True"),
        ("ratio", "0.5", "a number, found '0.5'"),
        ("ratio", False, "a number, found False"),
        ("strict", "yes", "true or false, found 'yes'"),
        ("strict", 1, "true or false, found 1"),
        ("mode", "c", "one of 'a', 'b', found 'c'"),
        ("words", "abc", "a list of strings, found 'abc'"),
        ("words", ["a", 1], "a list of strings, found ['a', 1]"),
        ("names", "abc", "a list of strings, found 'abc'"),
        ("names", {"a": 1}, "a list of strings, found {'a': 1}"),
        ("limit", "x", "a whole number, found 'x'"),
        ("share", "all", "a number or one of 'auto', found 'all'"),
        ("weights", ["a"], "a table, found ['a']"),
        ("weights", {"a": "b"}, "a table, found {'a': 'b'}"),
        ("target", 5, "a string, found 5"),
    ],
)
def test_a_value_of_another_type_is_refused(key: str, value: object, expected: str) -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        check_options(Options, {key: value}, "evaluator it")
    assert str(exc_info.value) == f"evaluator it.{key}: expected {expected}"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("min_words", 3, 3),
        ("ratio", 2, 2),
        ("words", ["a", "b"], ("a", "b")),
        ("names", ["a"], ["a"]),
        ("limit", None, None),
        ("share", "auto", "auto"),
        ("share", 0.25, 0.25),
        ("weights", {"a": 1}, {"a": 1}),
        ("file", "a/b.json", Path("a/b.json")),
        ("call", print, print),
    ],
)
def test_a_value_of_the_declared_type_is_kept(key: str, value: object, expected: object) -> None:
    checked = check_options(Options, {key: value}, "")[key]
    assert (checked, type(checked)) == (expected, type(expected))


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(OptionError) as exc_info:
        check_options(Options, {"min_word": 1}, "step it")
    assert str(exc_info.value) == "step it.min_word: unknown option. Did you mean 'min_words'?"
    with pytest.raises(OptionError, match="It has none"):
        check_options(dataclass(type("Empty", (), {})), {"x": 1}, "")
    with pytest.raises(OptionError, match="unknown option"):
        check_options(Options, {"_hidden": 1}, "")


def test_names_that_belong_to_the_place_are_left_out() -> None:
    assert check_options(Options, {"threshold": "x", "ratio": 1.0}, "", also=("threshold",)) == {"ratio": 1.0}


def test_a_text_of_the_environment_may_stand_for_a_number() -> None:
    options = {"min_words": "3", "strict": "true"}
    assert check_options(Options, options, "", from_text=options) == {"min_words": 3, "strict": True}
    with pytest.raises(OptionError) as exc_info:
        check_options(Options, {"min_words": "secret"}, "", from_text=("min_words",))
    assert "secret" not in str(exc_info.value)


def test_what_must_be_given_and_what_the_class_refuses_is_said_with_its_place() -> None:
    with pytest.raises(OptionError, match=r"^host it\.target: must be given"):
        build(Options, {}, "host it")
    with pytest.raises(OptionError, match=r"^host it: min_words must not be negative"):
        build(Options, {"target": "t", "min_words": -1}, "host it")


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(OptionError) as exc_info:
        check_options(Options, {"min_words": "x" * 100_000}, "")
    assert len(str(exc_info.value)) < 300


def test_a_long_value_is_not_quoted_in_part() -> None:
    # A part of a secret is not recognised as one, and would be printed.
    secret = "sk-live-" + "a1B2" * 40
    with pytest.raises(OptionError) as exc_info:
        check_options(Options, {"target": "x", "min_words": secret}, "options")
    assert "sk-live" not in str(exc_info.value)
