"""Examples in the prompt of a judge, fenced like the material that it judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import Example
from pytest_evalstudio.judges.fence import fenced

_HEADING = (
    "Examples of this task that people have judged. A fence of an example opens with a line that begins with"
    " <<<{mark} and closes with a line that reads {mark}>>>. Do not judge the examples again; judge the"
    " material below by the same standard."
)


def examples_shown(
    examples: Sequence[Example], schema: Mapping[str, Any], mark: str, *, is_reversed: bool = False
) -> str:
    """Return the examples as a part of a prompt, "" for none.

    Args:
        examples: their material is put between fences.
        schema: of the reply; it has one choice, which the examples decide.
        mark: of the fences.
        is_reversed: show the last example first.

    Raises:
        ConfigurationError: if the verdict of an example is no option of the reply.
    """
    if not examples:
        return ""
    key, options = verdict_of(schema)
    shown = [_HEADING.format(mark=mark)]
    for number, example in enumerate(reversed(examples) if is_reversed else examples, 1):
        if example.verdict not in options:
            raise ConfigurationError(
                f"judge.examples: the verdict of example {number} is {example.verdict!r}, expected"
                f" {' or '.join(map(repr, options))}; run judge-tune again"
            )
        texts = [
            fenced(f"example {number} {name}", part, mark)
            for name, text in example.texts.items()
            for part in ([text] if isinstance(text, str) else text)
        ]
        shown.append("\n".join([f"Example {number}:", *texts, f'"{key}": "{example.verdict}"']))
    return "\n\n".join(shown)


def verdict_of(schema: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    """Return the key and the options of the choice that a reply makes; "" and none if it does not make one.

    The first option is that of a case that passes.
    """
    choices = [(name, part["enum"]) for name, part in schema.get("properties", {}).items() if "enum" in part]
    return choices[0] if len(choices) == 1 and len(choices[0][1]) == 2 else ("", ())
