from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.display import printable, visible, visible_json, visible_lines
from support.processor_time import assert_within

UNSAFE = [
    *map(
        chr,
        (
            *range(0x20),
            *range(0x7F, 0xA0),
            0x61C,
            0x200E,
            0x200F,
            *range(0x2028, 0x202F),
            *range(0x2066, 0x206A),
            0xFEFF,
            0xE0041,
        ),
    ),
    "\udfff",
    "\ud800",
]


@pytest.mark.parametrize("char", UNSAFE, ids=lambda char: f"{ord(char):04x}")
def test_a_control_character_is_shown_as_its_escape(char: str) -> None:
    text = visible(f"a{char}b")

    assert text.isascii()
    assert text.isprintable()
    assert text.startswith("a\\")
    assert text.encode().decode("unicode-escape") == f"a{char}b"


def test_line_breaks_and_tabs_of_a_block_stay() -> None:
    assert visible_lines("a\n\tb\rc\x0b") == "a\n\tb\\rc\\x0b"


@pytest.mark.parametrize(
    "text", ["plain", "Zürich, 5 €", "日本語", "👩‍🔬", "a::b", "# [x]", "C:\\new", "no\u00a0break"]
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == visible_lines(text) == text


@pytest.mark.parametrize(
    "command",
    [
        "::error::x",
        " \t::error::x",
        "\u3000::stop-commands::t",
        "##[error]x",
        "a ##vso[task.x]",
        "a ##VSO[x]",
    ],
)
def test_a_command_of_a_ci_runner_is_broken_up(command: str) -> None:
    for text in (visible_lines(f"first\n{command}\nlast").splitlines()[1], visible(command)):
        assert not text.lstrip().startswith("::")
        assert "##[" not in text
        assert "##vso[" not in text.lower()


def test_making_visible_twice_changes_nothing_more() -> None:
    text = visible_lines("".join(UNSAFE) + "\n::a\n##[b]")

    assert visible_lines(text) == text


def test_printed_json_decodes_to_the_same_value() -> None:
    value = {"##[error]": ["".join(UNSAFE), "##vso[x]", "::stop::", "\\##[", "é"]}

    text = visible_json(json.dumps(value, ensure_ascii=False))

    assert json.loads(text) == value
    assert text.isprintable()
    assert "##[" not in text
    assert "é" in text


def test_characters_that_an_encoding_lacks_become_escapes() -> None:
    assert printable("5 € 😀", "ascii") == "5 \\u20ac \\U0001f600"
    assert printable("5 €", "utf-8") == "5 €"


@pytest.mark.parametrize(
    "text", [" " * 300_000, ("\n" + " " * 999) * 300, "#" * 300_000, ":" * 300_000, "\x1b" * 300_000], ids=len
)
def test_time_is_linear(text: str) -> None:
    assert_within(10, lambda turn: visible_lines("::" + text[turn:] + "##"))
