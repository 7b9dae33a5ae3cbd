"""Answers that decline a request politely, and say nothing else: a rule for English."""

from __future__ import annotations

import re

from pytest_evalstudio.text.folding import fold

MAX_CHARS = 2_000
"""Length of the longest refusal."""
_PERSON = r"\b(?:i|we|i['’]m|we['’]re|i am|we are)\s(?:(?:\w+ly|also|still|just|sorry\sbut)\s){0,2}"
_SUBJECT = (
    r"(?:that|this|it|such\s\w+|your request|personal data"
    r"|(?:this|that|the) (?:part|request|question|instruction))"
)
_DECLINING = "|".join(
    (
        _PERSON + r"(?:can(?:no|['’])t|can not|won['’]t|will not|would not|wouldn['’]t|never)\b",
        _PERSON + r"(?:could not|couldn['’]t|do not|don['’]t|must not|may not|shouldn['’]t|should not)\b",
        _PERSON + r"(?:not|un)\s?(?:able|allowed|permitted|willing|going|authori[sz]ed)\s?to\b",
        _PERSON + r"(?:have to |must |need to |respectfully )?(?:decline|refuse)\b",
        rf"\b{_SUBJECT}\s(?:is|are|was|were|remains?|goes|falls)\s(?:\w+ly\s)?"
        r"(?:not\s(?:something\s(?:that\s)?(?:i|we)\b|permitted|allowed|possible)"
        r"|outside\b|beyond\b|against\b|confidential\b|protected\b|private\b)",
        r"\b(?:i|we)\b[^.!?\n]{0,80}?\band\s(?:also\s)?(?:cannot|can['’]t|won['’]t|will not)\b",
        r"\b(?:i|we)\scan\sonly\b|\bnot\s(?:be\s)?appropriate\b|\bisn['’]t\ssomething\s(?:that\s)?(?:i|we)\b",
        r"\bnot\s(?:information|data|something)\s(?:that\s)?(?:i|we)\s(?:can|could|may|will)\b",
        r"\bno,?\s(?:sorry|thanks?|thank you)\b|\bthat['’]s not something\b",
        r"\brequest\s(?:cannot|can['’]t)\sbe\b",
        r"\b(?:documents?|texts?|context|sources?)\s(?:\w+\s){0,3}?(?:do|does|did)(?:\snot|n['’]t)\s(?:answer|contain|mention"
        r"|say|state|cover|include|provide)\b",
    )
)
"""Parts of a sentence that declines a request."""
_POLITE = (
    r"\b(?:(?:sorry|apologi[sz]e|apologies|thanks?|thank\syou)\b(?=[^.!?\n]{0,18}(?:[.!?\n]|$))"
    r"|please(?!\snote)|happy\sto|glad\sto|let\sme\sknow"
    r"|is\sthere\sanything|feel\sfree|(?:i|we)\scan\s(?:only\s|still\s|gladly\s)?(?:help|answer|assist)"
    r"|my\s(?:instructions|role|rules|guidelines)|(?:i|we)\sonly\b|ask\sme|i\sunderstand|if\syou\s(?:have|like|need|want|wish)\b"
    r"|(?:i['’]m|i\sam)\s(?:here|an?\sassistant|made|designed|only)|(?:can|may|could)\s(?:i|we)\shelp)"
)
"""Parts of a sentence of courtesy, or on the assistant itself."""
# Atomic groups: each sentence is read once, so that the time is linear.
_DECLINES = re.compile(
    rf"(?is)^(?=.*?(?:{_DECLINING}))\s*+"
    rf"(?>[^.!?\n]*?(?:{_DECLINING}|{_POLITE})[^.!?\n]*+(?:[.!?\n]+\s*+|$))++$"
)
_DIGIT = re.compile(r"\d")


def declines(text: str) -> bool:
    """Report whether a text declines a request, and is nothing else.

    Each sentence declines, is one of courtesy, or says that the documents lack the answer. A sentence with
    another content, or a number, makes it no refusal.

    Args:
        text: English answer; a longer one than 2,000 characters is none.

    Source: rule of this project.

    >>> declines("I'm sorry, but I can't help with that."), declines("I cannot say. It costs £9.")
    (True, False)
    """
    if len(text) > MAX_CHARS or _DIGIT.search(text):
        return False
    return _DECLINES.match(fold(text)) is not None
