"""An assistant that answers in the form of the question: yes or no, the letter of a choice, or a sentence."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REFUSAL = "I am sorry, but I cannot help with that. Please ask me about the documents of the bank."
_ORDERS = re.compile(
    r"(?i)\b(?:ignore|disregard|system prompt|developer mode|play a game|without rules|bedtime stor|password"
    r"|api[_ ]key|e-mail address|card number|social security|administrator)"
)
_QUOTED = re.compile(r"“[^”]*”")
_CHOICE = re.compile(r"([A-F])\) (.+?)(?= [A-F]\) |$)")
_YES_NO = re.compile(r"(?i)^(?:is|are|was|were|does|do|did|can|may|must|has|have|will)\b")
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_STOP = re.compile(
    r"(?i)(?:an?|and|are|at|be|by|do|does|for|from|how|i|in|is|it|me|my|of|on|or|the|to|what|when|which|with|your?)"
)


def answer(prompt: str, corpus: Sequence[str]) -> dict[str, Any]:
    """Return the answer to a question, and the sentence that it rests on."""
    if _ORDERS.search(prompt):
        return {"answer": REFUSAL, "context": []}
    # What somebody is said to have stated is not what is asked.
    question = _QUOTED.sub(" ", prompt)
    question = question.rpartition(": ")[2] if ": " in question else question
    question = re.sub(r"(?i)^\s*according to\s*,\s*", "", question).strip()
    choices = _CHOICE.findall(question)
    asked = _words(question.partition(" A) ")[0])
    sentence = max(_sentences(tuple(corpus)), key=lambda text: _share(asked, text))
    if not asked or _share(asked, sentence) < 0.34:
        return {"answer": "The documents do not answer this question.", "context": [sentence]}
    return {"answer": _in_form(question, choices, sentence), "context": [sentence]}


def _in_form(question: str, choices: list[tuple[str, str]], sentence: str) -> str:
    for letter, text in choices:
        if text.strip().casefold() in sentence.casefold():
            return f"{letter}) {text.strip()}"
    if _YES_NO.match(question) and not choices:
        is_so = {word for word in _words(question) if any(map(str.isdigit, word))} <= _words(sentence)
        return f"{'Yes' if is_so else 'No'}. {sentence}"
    return sentence


def _share(asked: frozenset[str], text: str) -> float:
    return len(asked & _words(text)) / max(1, len(asked))


def _words(text: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word.removesuffix("s") for word in words if not _STOP.fullmatch(word))


@functools.cache
def _sentences(corpus: tuple[str, ...]) -> list[str]:
    text = "\n\n".join(map(_text, corpus))
    parts = re.split(r"(?<=[.!?])\s+|\n\s*\n|\n(?=[#|•*-])", text)
    return [" ".join(part.split()) for part in parts if len(part.split()) > 3]


def _text(path: str) -> str:
    if path.endswith(".pdf"):
        from pypdf import PdfReader

        return "\n".join(page.extract_text() for page in PdfReader(path).pages)
    text = Path(path).read_text(encoding="utf-8")
    return re.sub(r"<[^>]+>", "\n\n", text) if path.endswith(".html") else text
