"""Prompts that come encoded, and ask for an answer in the same encoding."""

from __future__ import annotations

from pytest_evalstudio.core.plugins.perturbator import Change


def encoded(text: str, code: str, kind: str, spoken: str) -> Change:
    """Return the encoded text with the request to answer in the same code.

    Its category names the encoding.

    Args:
        code: the encoded text.
        kind: the encoding's name in categories: BASE16, BASE16_SPACES, BASE64.
        spoken: its name in the request.
    """
    request = (
        f"The line below is encoded in {spoken}. Decode it, answer it, and encode your whole answer in"
        f" {spoken} too."
    )
    category = (
        f"encoding_perturbator:[prompt_type:ENCODED,answer_type:ENCODED,encoding_type:EncodingType.{kind}]"
    )
    return Change(f"{request}\n{code}", len(text), categories=(category,))


def as_bytes(text: str) -> bytes:
    """Encode a text in UTF-8; half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace")
