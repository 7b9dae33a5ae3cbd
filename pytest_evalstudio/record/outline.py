"""Items of a record without outcomes and marks, for readers that compare runs.

Decoding an outline takes a part of the time and memory of decoding the item.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import CaseData
from pytest_evalstudio.record.items import CaseDigest, Item, ItemHead


class CallOutline(Struct, frozen=True, kw_only=True, gc=False):
    """A call of a tool without its result; see `core.tool_calls.ToolCall`."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    arguments_text: str = ""


class TurnOutline(Struct, frozen=True, kw_only=True, gc=False):
    """A turn of a conversation; see `core.cases.Exchange`."""

    prompt: str
    answer: TextOutline
    attachments: tuple[Attachment, ...] = ()


class TextOutline(Struct, frozen=True, kw_only=True, gc=False):
    """The text of an answer in a conversation."""

    text: str = field(default="", name="actual_output")


class AnswerOutline(Struct, frozen=True, kw_only=True, gc=False):
    """An answer, as far as comparisons need it; see `core.cases.Answer`.

    Attributes:
        context: the array as it is in the line, which takes less time than its chunks.
    """

    text: str = field(default="", name="actual_output")
    context: msgspec.Raw = msgspec.Raw(b"[]")
    duration_s: float = field(default=0.0, name="actual_duration")
    cost_usd: float | None = field(default=None, name="cost")
    usage: dict[str, int] = {}
    error: str = ""
    tool_calls: tuple[CallOutline, ...] = ()
    turns: tuple[TurnOutline, ...] = ()


class RowOutline(CaseData, frozen=True, kw_only=True, gc=False):
    """A row without its outcomes; see `items.RecordRow`."""

    answer: AnswerOutline = AnswerOutline()
    plan: str = ""


class VerdictOutline(Struct, frozen=True, kw_only=True, gc=False):
    """The numbers of a verdict; see `core.outcomes.Verdict`."""

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


class ItemOutline(ItemHead, frozen=True, kw_only=True, gc=False, tag_field="kind", tag="item"):
    """An item in outline; see `items.Item`.

    Attributes:
        digest: the object as it is in the line, which is used only where it differs from another one.
    """

    rows: tuple[RowOutline, ...]
    verdicts: dict[str, VerdictOutline] = field(default_factory=dict)
    flaky: bool = False
    confirmation: ConfirmationOutline | None = None
    perturbed: PerturbedOutline | None = None
    segments: dict[str, tuple[str, ...]] = field(default_factory=dict)
    digest: msgspec.Raw = msgspec.Raw(b"")


AnyItem = Item | ItemOutline
_DECODER: msgspec.json.Decoder[ItemOutline] = msgspec.json.Decoder(ItemOutline, strict=False)

_DIGEST_DECODER: msgspec.json.Decoder[CaseDigest | None] = msgspec.json.Decoder(CaseDigest | None)


def decode_outlines(lines: bytes) -> list[ItemOutline] | None:
    """Return the outlines of some lines, None if one is not an item as this version writes it."""
    try:
        outlines = _DECODER.decode_lines(lines)
        for outline in outlines:
            # Checked here, where the reader knows the line, and kept as bytes, which take less memory.
            if outline.digest:
                _DIGEST_DECODER.decode(outline.digest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return outlines
