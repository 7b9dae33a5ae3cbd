"""A case and judges that answer with ratings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

USEFUL = {"definition": "The text names a price.", "assessment_type": "RETRIEVAL"}
ROW: Mapping[str, Any] = {
    "input": "What does the card cost?",
    "actual_output": "It costs 30 USD.",
    "expected_output": "30 USD a year.",
    "context": ["The yearly fee of the card is 30 USD."],
    "guidelines": ["The answer names a currency."],
}


class Says:
    """A judge that says the same of everything, and remembers what it was asked.

    A no has a statement in each list.
    """

    def __init__(self, rating: str = "yes", rationale: str = "so it is") -> None:
        self.reply = {"rationale": rationale, "rating": rating}
        self.prompts: list[str] = []

    def __call__(self, prompt: str, reply_schema: Mapping[str, Any]) -> str:
        self.prompts.append(prompt)
        entries = [] if self.reply["rating"] == "yes" else ["It is so."]
        lists = {
            name: entries for name, part in reply_schema["properties"].items() if part["type"] == "array"
        }
        return json.dumps({**lists, **self.reply})


def by_chunk(**replies: str | Exception) -> Callable[[str], str]:
    """A judge that goes by a word of the chunk: a rating, a reply as it is, or a fault."""

    def judge(prompt: str) -> str:
        for word, reply in replies.items():
            if word in prompt:
                if isinstance(reply, Exception):
                    raise reply
                return (
                    json.dumps({"rationale": f"about {word}", "rating": reply})
                    if reply in ("yes", "no")
                    else reply
                )
        raise AssertionError(prompt)

    return judge
