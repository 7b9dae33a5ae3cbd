"""Accepted answers in the forms of other tools."""

from __future__ import annotations

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import Omissions, answer_key, are_parts, text_of, texts_of


def outputs_of(value: Json, omissions: Omissions) -> list[str]:
    """Return the accepted answers that a value holds: a text, a list of them, or an object with one of these.

    Of an object it is what stands under a usual name; its other keys are counted as omissions. SQuAD and
    TriviaQA have objects of their own (`text` with a list; `value` and `aliases`).
    """
    if isinstance(value, list) and not are_parts(value):
        outputs = [output for item in value for output in outputs_of(item, omissions)]
    elif isinstance(value, dict) and isinstance(value.get("aliases"), list):
        outputs = [*texts_of(value.get("value")), *texts_of(value["aliases"])]
    elif isinstance(value, dict) and (name := answer_key(value, (str, list))):
        remedy = "the expected answer is one text; state further expectations in the suite"
        omissions.keys(value, {name, *_POSITIONS}, "expected output", remedy)
        outputs = outputs_of(value[name], omissions)
    else:
        outputs = [text_of(value, omissions)]
    return list(dict.fromkeys(output for output in outputs if output.strip()))


_POSITIONS = ("answer_start",)
"""Keys beside an answer that say where it stands in a document."""
