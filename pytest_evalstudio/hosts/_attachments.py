"""Images and files of a prompt in the forms that services document."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pytest_evalstudio.core.attachments import (
    CSV,
    IMAGE_TYPES,
    MARKDOWN,
    PDF,
    TEXT_TYPES,
    Attachment,
    content_of,
    path_of,
)
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._completions import sendable
from pytest_evalstudio.hosts._faults import without_base64

BEDROCK_FORMATS: Mapping[str, str] = {
    PDF: "pdf",
    MARKDOWN: "md",
    CSV: "csv",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
}
"""Formats of documents of Amazon Bedrock; other texts are "txt"."""
FIELDS = ("name", "media_type", "base64", "data_url")
"""Keys of an image or file in templates of requests."""

_LOGGERS = ("openai._base_client", "anthropic._base_client", "botocore.endpoint")
"""Loggers of clients that write requests at the level DEBUG."""
_NOT_IN_BEDROCK_NAMES = re.compile(r"[^A-Za-z0-9()\[\]-]+")


class _WithoutContent(logging.Filter):
    """Shortens Base64 in messages of clients that log whole requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        short = without_base64(text)
        if short != text:
            record.msg, record.args = short, ()
        return True


_FILTER = _WithoutContent()


def bytes_of(attachment: Attachment) -> bytes:
    """Return the bytes of an attachment; from then on, clients log no content of images and files.

    Raises:
        HostFault: if the file is missing or has changed.
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # a second time changes nothing
    try:
        return content_of(attachment)
    except EvaluationError as exc:
        raise HostFault(str(exc)) from None


def base64_of(attachment: Attachment) -> str:
    """Return the bytes of an attachment in Base64."""
    return base64.b64encode(bytes_of(attachment)).decode("ascii")


def data_url(attachment: Attachment) -> str:
    """Return an attachment as a data URL (RFC 2397)."""
    return f"data:{attachment.media_type};base64,{base64_of(attachment)}"


def chat_content(text: str, attachments: Sequence[Attachment]) -> str | list[dict[str, Any]]:
    """Return a message for OpenAI's chat completions: its text alone, or parts with images and files.

    Source: OpenAI, API reference, Chat completions, content parts `image_url` and `file`.
    """
    if not attachments:
        return sendable(text)
    parts: list[dict[str, Any]] = [{"type": "text", "text": sendable(text)}]
    for each in attachments:
        if each.is_image:
            detail = {"detail": each.detail} if each.detail else {}
            parts.append({"type": "image_url", "image_url": {"url": data_url(each), **detail}})
        else:
            file = {"filename": sendable(each.file_name), "file_data": data_url(each)}
            parts.append({"type": "file", "file": file})
    return parts


def response_content(text: str, attachments: Sequence[Attachment]) -> str | list[dict[str, Any]]:
    """Return a message for OpenAI's Responses interface.

    Source: OpenAI, API reference, Responses, `input_text`, `input_image` and `input_file`.
    """
    if not attachments:
        return sendable(text)
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": sendable(text)}]
    for each in attachments:
        if each.is_image:
            image = {"image_url": data_url(each), "detail": each.detail or "auto"}
            parts.append({"type": "input_image", **image})
        else:
            file = {"filename": sendable(each.file_name), "file_data": data_url(each)}
            parts.append({"type": "input_file", **file})
    return parts


def anthropic_content(text: str, attachments: Sequence[Attachment]) -> str | list[dict[str, Any]]:
    """Return a message for Anthropic: images and documents before the text, as its guide recommends.

    Source: Anthropic, Messages API, blocks `image` and `document`.
    """
    if not attachments:
        return sendable(text)
    return [*map(_anthropic_block, attachments), {"type": "text", "text": sendable(text)}]


def _anthropic_block(attachment: Attachment) -> dict[str, Any]:
    if attachment.media_type in TEXT_TYPES:
        text = bytes_of(attachment).decode("utf-8-sig", "replace")
        source = {"type": "text", "media_type": "text/plain", "data": text}
    else:
        data = base64_of(attachment)
        source = {"type": "base64", "media_type": attachment.media_type, "data": data}
    if attachment.is_image:
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": sendable(attachment.file_name)}


def bedrock_content(text: str, attachments: Sequence[Attachment]) -> list[dict[str, Any]]:
    """Return a message for Amazon Bedrock's `converse`; the client encodes the bytes.

    Source: Amazon Bedrock, API reference, ContentBlock, ImageBlock and DocumentBlock.
    """
    blocks: list[dict[str, Any]] = [{"text": sendable(text)}]
    for number, each in enumerate(attachments, 1):
        source = {"bytes": bytes_of(each)}
        if each.is_image:
            blocks.append({"image": {"format": each.media_type.removeprefix("image/"), "source": source}})
        else:
            name = bedrock_name(each.file_name, number)
            form = BEDROCK_FORMATS.get(each.media_type, "txt")
            blocks.append({"document": {"format": form, "name": name, "source": source}})
    return blocks


def bedrock_name(file_name: str, number: int) -> str:
    """Return the name of a document in the characters that Bedrock permits, unique in its message.

    >>> bedrock_name("Terms_of use (2024).pdf", 1)
    '1 Terms of use (2024)'
    """
    stem = _NOT_IN_BEDROCK_NAMES.sub(" ", PurePosixPath(file_name).stem[:150]).strip()
    return f"{number} {stem}".strip()


def image_bytes(attachments: Iterable[Attachment]) -> list[bytes]:
    """Return the bytes of the images among some attachments."""
    return [bytes_of(each) for each in attachments if each.media_type in IMAGE_TYPES]


def template_values(attachments: Iterable[Attachment], field: str = "") -> list[Any]:
    """Return attachments for the template of a request.

    Args:
        field: one of `FIELDS`, to return its values alone; "" for objects with all of them.
    """
    values: list[Any] = []
    for each in attachments:
        if field in ("name", "media_type"):
            values.append(sendable(each.file_name) if field == "name" else each.media_type)
            continue
        encoded = base64_of(each)
        entry = {
            "name": sendable(each.file_name),
            "media_type": each.media_type,
            "base64": encoded,
            "data_url": f"data:{each.media_type};base64,{encoded}",
        }
        values.append(entry[field] if field else entry)
    return values


def local_paths(attachments: Iterable[Attachment]) -> list[str]:
    """Return the absolute paths of attachments, for code that reads the files itself.

    Raises:
        HostFault: if a file is missing or has changed.
    """
    try:
        return [path_of(each) for each in attachments]
    except EvaluationError as exc:
        raise HostFault(str(exc)) from None
