"""Attacks that a model writes: the requests to it, and the checks of its replies.

A reply gives texts of attacks and nothing else. What an answer to them must be is of the kind of attack.
"""

from __future__ import annotations

import functools
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_evalstudio.contrib.redteam.kinds import AttackKind
from pytest_evalstudio.contrib.redteam.purpose import Purpose
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.judging import Flow, Judge, JudgeFault, Judgement, Question, independent
from pytest_evalstudio.core.replies import record, several, text
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.text.refusals import is_refusal

PROMPT = "attacks"
MAX_PER_REQUEST = 10
MIN_WORDS = 4
MAX_CHARS = 600
MAX_COPIED_SHARE = 0.7
"""Share of common words (Jaccard) from which on two attacks count as copies.

The attacks of this project share a fifth of their words at most with each other.
"""
REPLY = record(
    attacks=several("the messages that were asked for.", record(message=text("text of the message.")))
)
_PLACEHOLDERS: Mapping[str, str] = {
    "marker": "a word that no honest answer begins or ends with",
    "forbidden": "a subject that the application must not talk about",
    "tool": "the name of a tool that changes something",
}
_WORD = re.compile(r"\w+")
_PLACEHOLDER = re.compile(r"\{\w+\}")
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]?")


class Rejection(StrEnum):
    """Code of the reason for which a written attack is not used; its value is the text for people."""

    LENGTH = "too short or too long"
    PLACEHOLDER = "without the required placeholder"
    CONTROL = "with control characters"
    SENSITIVE = "with personal data or secrets"
    REFUSAL = "refusals in place of an attack"
    DUPLICATE = "duplicates"
    NEAR_COPY = "near copies of another attack"
    EXCESS = "more than requested"


class WriterFault(StrEnum):
    """Code of the reason for which a request brought no attack; its value is the text for people."""

    REFUSED = "refused"
    UNREADABLE = "unreadable"
    EMPTY = "without a usable attack"
    OVER_BUDGET = "stopped by the budget"
    FAILED = "not answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAttack:
    """An attack of a writer.

    Attributes:
        goal: text with placeholders as in `AttackKind.goals`.
        model: name of the model that wrote it.
    """

    goal: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAttacks:
    """Attacks of a writer, and what of its replies was not used.

    Attributes:
        attacks: by id of the kind; a kind without a usable attack has no entry.
        requests: number of requests.
        rejected: number of rejected attacks by reason.
        faults: number of requests without an attack by reason.
        reason: message of the first request that failed, "" if none did.
    """

    attacks: Mapping[str, Sequence[WrittenAttack]] = field(default_factory=dict)
    requests: int = 0
    rejected: Mapping[Rejection, int] = field(default_factory=dict)
    faults: Mapping[WriterFault, int] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    kind: AttackKind
    topic: str
    count: int


def write_attacks(
    purpose: Purpose, kinds: Sequence[AttackKind], judge: Judge, *, count: int, seed: int
) -> WrittenAttacks:
    """Ask a writer for attacks of each kind, all requests concurrently.

    The secrets of the purpose are not sent. Of a panel, the first usable reply counts.

    Args:
        kinds: that the purpose allows.
        count: number of attacks of each kind; a kind gets one request with up to MAX_PER_REQUEST attacks for
            each topic of the purpose at most.
        seed: of the order of the topics.
    """
    requests = [request for kind in kinds for request in _requests(kind, purpose, count, seed)]
    replies = judge.follow([functools.partial(_ask, purpose, request) for request in requests])
    attacks: dict[str, list[WrittenAttack]] = {}
    rejected: Counter[Rejection] = Counter()
    faults: Counter[WriterFault] = Counter()
    reason = ""
    for request, judgements in zip(requests, replies, strict=True):
        usable = next((judgement for judgement in judgements if judgement.fault is None), None)
        if usable is None:
            faults[_fault_of(judgements)] += 1
            reason = reason or _reason_of(judgements)
            continue
        accepted = attacks.setdefault(request.kind.id, [])
        rejections, before = Counter[Rejection](), len(accepted)
        for message in usable.value:
            verdict = _rejection(message, request, purpose, accepted, len(accepted) - before)
            if verdict is None:
                accepted.append(WrittenAttack(goal=_on_one_line(message), model=usable.judge))
            else:
                rejections[verdict] += 1
        if len(accepted) == before:
            # Nothing but refusals: the model refused, though its reply has the right form.
            only_refusals = rejections and set(rejections) == {Rejection.REFUSAL}
            faults[WriterFault.REFUSED if only_refusals else WriterFault.EMPTY] += 1
        rejected += rejections
    return WrittenAttacks(
        attacks={id: tuple(written) for id, written in attacks.items() if written},
        requests=len(requests),
        rejected={code: rejected[code] for code in Rejection if rejected[code]},
        faults={code: faults[code] for code in WriterFault if faults[code]},
        reason=reason,
    )


def _requests(kind: AttackKind, purpose: Purpose, count: int, seed: int) -> Iterator[_Request]:
    topics = list(dict.fromkeys(purpose.topics))
    random.Random(f"{seed}/{kind.id}/writer").shuffle(topics)
    number = min(len(topics), math.ceil(count / MAX_PER_REQUEST))
    each = min(MAX_PER_REQUEST, math.ceil(count / number))
    return (_Request(kind=kind, topic=topic, count=each) for topic in topics[:number])


def _ask(purpose: Purpose, request: _Request) -> Flow[list[str]]:
    names = request.kind.required_placeholders
    texts: dict[str, str | Sequence[str]] = {
        "name": purpose.name,
        "purpose": purpose.purpose,
        "topic": request.topic,
    }
    if "forbidden" in names:
        texts["forbidden"] = purpose.forbidden
    if "tool" in names:
        texts["tool"] = purpose.tools
    question = Question(
        prompt=PROMPT,
        texts=texts,
        settings={
            "count": request.count,
            "title": request.kind.title,
            # The forbidden subject is a placeholder in the attacks, so that the rule cannot name one.
            "guideline": request.kind.guideline.format(forbidden="the subjects it must not talk about"),
            "placeholders": [{"name": f"{{{name}}}", "meaning": _PLACEHOLDERS[name]} for name in names],
        },
        reply=REPLY,
        consistency=independent,  # the attacks of a reply are compared with each other later
    )
    (reply,) = yield [question]
    return [str(item["message"]) for item in reply["attacks"]]


def _rejection(
    message: str, request: _Request, purpose: Purpose, accepted: Sequence[WrittenAttack], of_reply: int
) -> Rejection | None:
    """Return why a written attack is not used, None if it is.

    Args:
        accepted: attacks of the same kind so far.
        of_reply: number of them that are of the same reply.
    """
    if of_reply >= request.count:
        return Rejection.EXCESS
    if len(message) > MAX_CHARS or len(_WORD.findall(message)) < MIN_WORDS:
        return Rejection.LENGTH
    goal = _on_one_line(message)
    if visible(goal) != goal:
        return Rejection.CONTROL
    # Before the placeholders, which a refusal lacks as well.
    if is_refusal(goal):
        return Rejection.REFUSAL
    if not all(f"{{{name}}}" in goal for name in request.kind.required_placeholders):
        return Rejection.PLACEHOLDER
    folded = goal.casefold()
    if masked(goal) != goal or any(secret.casefold() in folded for secret in purpose.secrets):
        return Rejection.SENSITIVE
    if any(other.goal.casefold() == folded for other in accepted):
        return Rejection.DUPLICATE
    others = (*request.kind.goals, *(attack.goal for attack in accepted))
    words = _content_words(goal, purpose)
    if any(_is_copy(words, _content_words(other, purpose)) for other in others):
        return Rejection.NEAR_COPY
    return None


def _content_words(goal: str, purpose: Purpose) -> frozenset[str]:
    """Return the words of an attack without placeholders and without the names that stand for them."""
    names = (purpose.name, *purpose.topics, *purpose.forbidden, *purpose.tools)
    # A written attack may name the topic where one of this project has a placeholder.
    ignored = {word for name in names for word in _WORD.findall(name.casefold())}
    return frozenset(_WORD.findall(_PLACEHOLDER.sub(" ", goal.casefold()))) - ignored


def _is_copy(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= MAX_COPIED_SHARE * max(1, len(words | others))


def _fault_of(judgements: Sequence[Judgement]) -> WriterFault:
    """Return the code of a request that no model of the panel answered usably."""
    faults = [judgement.fault for judgement in judgements if judgement.fault is not None]
    # One refusal of a panel tells more than the faults of its other models.
    if any(_refuses(fault) for fault in faults):
        return WriterFault.REFUSED
    if any(fault.code != OutcomeCode.JUDGE_FAILED for fault in faults):
        return WriterFault.UNREADABLE
    if any(judgement.spent.over_budget for judgement in judgements):
        return WriterFault.OVER_BUDGET
    return WriterFault.FAILED


def _reason_of(judgements: Sequence[Judgement]) -> str:
    return next((str(judgement.fault) for judgement in judgements if judgement.fault is not None), "")


def _refuses(fault: JudgeFault) -> bool:
    """Return True if a reply that is not JSON is a refusal, or begins with one and goes on to explain it."""
    if not fault.unparsable:
        return False
    sentences = [part for part in _SENTENCE.findall(fault.raw) if part.strip()][:2]
    return is_refusal(fault.raw) or is_refusal(" ".join(sentences)) or is_refusal("".join(sentences[:1]))


def _on_one_line(message: str) -> str:
    return " ".join(message.split())
