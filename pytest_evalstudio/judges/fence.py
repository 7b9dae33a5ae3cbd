"""Fences that keep judged texts apart from the judge's instructions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_BLANKS = " \t"


def fence_mark(texts: Iterable[str], purpose: str = "", *, others: Iterable[str] = ()) -> str:
    """A mark that no text among those to be fenced can contain: the digest of all of them.

    Whoever writes one of the texts would have to write their own digest into it, which nobody can, whether
    they know the prompt or not. Being a digest it is the same in every run, so that verdicts can be stored.

    Args:
        purpose: what the prompt is for; two prompts about the same texts have different marks.
        others: texts of the same prompt with another mark, which must not contain this one either.

    Returns:
        32 hexadecimal digits.
    """
    parts = list(texts)
    avoided = [*parts, *others]
    for attempt in range(100):
        digest = hashlib.sha256(f"{purpose}\x00{attempt}".encode("utf-8", "surrogatepass"))
        for part in parts:
            encoded = part.encode("utf-8", "surrogatepass")
            # The length distinguishes texts that are equal when joined, such as "ab", "c" and "a", "bc".
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
        mark = digest.hexdigest()[:32]
        if not any(mark in part.lower() for part in avoided):
            return mark
    raise AssertionError("a text contains its own digest")


def fenced(name: str, text: str, mark: str) -> str:
    """A text between its fences.

    >>> print(fenced("answer", "It is Paris.", "c0ffee"))
    <<<c0ffee answer
    It is Paris.
    c0ffee>>>
    """
    return f"<<<{mark} {name}\n{text}\n{mark}>>>"


def on_lines_of_their_own(prompt: str, mark: str) -> str:
    """Return a prompt with each fence on lines of its own, wherever a template has put it.

    >>> print(on_lines_of_their_own(f"Is {fenced('answer', 'Paris', 'c0ffee')} right?", "c0ffee"))
    Is
    <<<c0ffee answer
    Paris
    c0ffee>>>
    right?
    """
    before, *fences = prompt.split(f"<<<{mark} ")
    pieces = [before]
    for fence in fences:
        pieces[-1] = pieces[-1].rstrip(_BLANKS)
        if pieces[-1] and not pieces[-1].endswith("\n"):
            pieces.append("\n")
        pieces += f"<<<{mark} ", fence
    inside, *behind = "".join(pieces).split(f"\n{mark}>>>")
    pieces = [inside]
    for after in behind:
        rest = after.lstrip(_BLANKS)
        pieces += f"\n{mark}>>>", "\n" if rest and not rest.startswith("\n") else "", rest
    return "".join(pieces)
