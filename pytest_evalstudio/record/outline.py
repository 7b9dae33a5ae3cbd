"""Items of a record without outcomes and marks, for readers that compare runs.

Decoding an outline takes a part of the time and memory of decoding the item.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from pytest_evalstudio.record.items import Item, Link, Message, RecordedAttachment, VerdictWord


class CallOutline(Struct, frozen=True, kw_only=True, gc=False):
    """A call of a tool without its result; see `core.tool_calls.ToolCall`."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    arguments_text: str = ""


class AnswerOutline(Struct, frozen=True, kw_only=True, gc=False):
    """The text of an answer in a conversation; see `items.RecordedAnswer`."""

    actual_output: str


class TurnOutline(Struct, frozen=True, kw_only=True, gc=False):
    """A turn of a conversation; see `items.RecordedTurn`."""

    prompt: str
    answer: AnswerOutline
    attachments: tuple[RecordedAttachment, ...] = ()


class RowOutline(Struct, frozen=True, kw_only=True, gc=False):
    """A row without its outcomes; see `items.Row`.

    Attributes:
        context: the array as it is in the line, which takes less time than its chunks.
    """

    input: str
    corpus: tuple[str, ...]
    context: msgspec.Raw
    relationships: tuple[Link, ...]
    expected_output: str
    output_condition: str
    actual_output: str
    actual_duration: float
    cost: float | None
    usage: dict[str, int]
    error: str
    accepted_outputs: tuple[str, ...] = ()
    condition_on: str = ""
    expects: str = ""
    conversation: tuple[Message, ...] = ()
    attachments: tuple[RecordedAttachment, ...] = ()
    expected_facts: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    expected_documents: tuple[str, ...] = ()
    expected_chunks: tuple[str, ...] = ()
    expected_tool_calls: msgspec.Raw | None = None
    expected_state: msgspec.Raw = msgspec.Raw(b"{}")
    plan: str = ""
    categories: tuple[str, ...] = ()
    tool_calls: tuple[CallOutline, ...] = ()
    turns: tuple[TurnOutline, ...] = ()


class VerdictOutline(Struct, frozen=True, kw_only=True, gc=False):
    """The numbers of a verdict; see `items.ItemVerdict`."""

    passed: bool | None = None
    scores: dict[str, float | None] = {}
    pass_k: float | None = None
    repeats: tuple[bool | None, ...] = ()


class ConfirmationOutline(Struct, frozen=True, kw_only=True, gc=False):
    """The end of a confirmation; see `items.Confirmation`."""

    code: str
    evaluators: tuple[str, ...] = ()


class PerturbedOutline(Struct, frozen=True, kw_only=True, gc=False):
    """Perturbation of a case, as far as a comparison needs it; see `items.Perturbation`."""

    meaning_kept: bool


class ItemOutline(Struct, frozen=True, kw_only=True, gc=False, tag_field="kind", tag="item"):
    """An item in outline; see `items.Item`.

    Attributes:
        digest: the object as it is in the line, which is decoded only where it differs from another one.
    """

    nodeid: str
    verdict: VerdictWord
    part: int = 0
    file: str
    key: str
    model_key: str
    code: str = ""
    reason: str
    rows: tuple[RowOutline, ...]
    verdicts: dict[str, VerdictOutline]
    flaky: bool = False
    confirmation: ConfirmationOutline | None = None
    perturbed: PerturbedOutline | None = None
    segments: dict[str, tuple[str, ...]] = {}
    digest: msgspec.Raw = msgspec.Raw(b"")


AnyItem = Item | ItemOutline
_DECODER: msgspec.json.Decoder[ItemOutline] = msgspec.json.Decoder(ItemOutline, strict=False)


def decode_outlines(lines: bytes) -> list[ItemOutline] | None:
    """Return the outlines of some lines, None if one is not an item as this version writes it."""
    try:
        return _DECODER.decode_lines(lines)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
