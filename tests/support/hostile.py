"""Text that attacks the terminal or the CI runner that shows it, and a check of what was written."""

from __future__ import annotations

import re

UNSAFE = "".join(
    map(
        chr,
        (
            *range(1, 9),
            *range(0x0B, 0x20),
            *range(0x7F, 0xA0),
            0x61C,
            0x200E,
            0x200F,
            *range(0x2028, 0x202F),
            *range(0x2066, 0x206A),
            0xFEFF,
        ),
    )
)
LINK = "\x1b]8;;http://x\x1b\\here\x1b]8;;\x07"
COMMANDS = (
    "\n::error file=a::gotcha\n  ::stop-commands::x\n##[error]gotcha\n##vso[task.setvariable"
    " variable=a]gotcha\r::warning::gotcha\n"
)
NASTY = f"é€ \x1b[31mred\x1b[0m {LINK} {UNSAFE} ##[group] {COMMANDS}"

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_COMMAND = re.compile(r"^\s*::|##(vso)?\[", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def faults(raw: bytes, *, coloured: bool = False) -> list[str]:
    """Return the lines of an output that would control a terminal or a CI runner."""
    text = raw.decode("utf-8")
    if coloured:
        text = _COLOUR.sub("", text)
    lines = text.split("\n")
    return [ascii(line[:300]) for line in lines if _CONTROL.search(line) or _COMMAND.search(line)]
