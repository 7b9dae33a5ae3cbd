"""Stored answers of the cases of a protected revision: by key and model, and by the text of the question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from msgspec import Struct

from pytest_evalstudio.contrib.attestation.exchange import StoredAnswers
from pytest_evalstudio.record.schema import RecordRow


class CaseIdentity(Struct, frozen=True, kw_only=True):
    """Identity of a case of the protected revision.

    Attributes:
        row: the case as a record has it, without an answer.
        messages: of the user, in a conversation; () for a single question.
    """

    file: str
    key: str
    model: str
    is_perturbed: bool
    row: RecordRow
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Stored answers of a case.

    Attributes:
        is_same_question: whether they are answers to its question.
    """

    answers: StoredAnswers
    is_same_question: bool


class AnswerIndex:
    """Stored answers by key, model and question.

    Args:
        answers: of a record.
        cases: of the protected revision.
    """

    def __init__(self, answers: Sequence[StoredAnswers], cases: Collection[CaseIdentity]) -> None:
        self._models = _renamed(
            dict.fromkeys(case.model for case in cases), dict.fromkeys(each.model for each in answers)
        )
        self._files = {(case.file, case.key) for case in cases}
        self._keys = {case.key for case in cases}
        self._by_key: dict[tuple[str, str, bool], list[StoredAnswers]] = {}
        self._by_question: dict[tuple[str, str, bool], list[StoredAnswers]] = {}
        for each in answers:
            self._by_key.setdefault((each.key, each.model, each.is_perturbed), []).append(each)
            if each.rows and each.key not in self._keys:
                question = plain(each.rows[0].question)
                self._by_question.setdefault((question, each.model, each.is_perturbed), []).append(each)

    def match(self, case: CaseIdentity) -> Match | None:
        """Return the stored answers of a case, None where there are none."""
        model = self._models.get(case.model, case.model)
        named = self._by_key.get((case.key, model, case.is_perturbed), [])
        # Answers that belong to a case of the same key in another file are not those of this one.
        candidates = [each for each in named if each.file == case.file] or [
            each for each in named if (each.file, each.key) not in self._files
        ]
        for each in candidates:
            if not each.rows or is_same_question(case, each.rows[0]):
                return Match(answers=each, is_same_question=True)
        renamed = self._by_question.get((plain(case.row.question), model, case.is_perturbed), [])
        for each in renamed:
            if is_same_question(case, each.rows[0]):
                return Match(answers=each, is_same_question=True)
        return Match(answers=candidates[0], is_same_question=False) if candidates else None


def is_same_question(case: CaseIdentity, row: RecordRow) -> bool:
    """Return whether a stored row answers the question of a case; blanks do not matter."""
    first, second = case.row, row
    if [(turn.role, plain(turn.content)) for turn in first.conversation] != [
        (turn.role, plain(turn.content)) for turn in second.conversation
    ]:
        return False
    if [each.sha256 for each in first.attachments] != [each.sha256 for each in second.attachments]:
        return False
    if case.messages:
        # A conversation may have ended early; its messages are the first ones of the plan.
        prompts = tuple(plain(turn.prompt) for turn in row.answer.turns)
        planned = tuple(map(plain, case.messages))
        return prompts[: len(planned)] == planned[: len(prompts)] and bool(prompts)
    return plain(first.question) == plain(second.question)


def plain(text: str) -> str:
    """Return a text with single blanks.

    >>> plain(" What is  it? ")
    'What is it?'
    """
    return " ".join(text.split())


def _renamed(cases: dict[str, None], answers: dict[str, None]) -> dict[str, str]:
    """Return the new name of a model where a single one has another name."""
    gone = [model for model in cases if model not in answers]
    new = [model for model in answers if model not in cases]
    return {gone[0]: new[0]} if len(gone) == len(new) == 1 else {}
