"""Cases as evaluators compare them: texts in Unicode's composed form, without invisible characters.

The record, the page and judges have the texts as they are. Places in a compared text are mapped back.
"""

from __future__ import annotations

import itertools
import re

from msgspec import Struct, structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Fragment, Outcome
from pytest_evalstudio.text.comparable import ComparableText, comparable_text, may_differ
from pytest_evalstudio.text.folding import ZERO_WIDTH

_ASKS_FOR_INVISIBLE = re.compile(rf'["(][{ZERO_WIDTH}]+[")]')


class ComparableCase(Struct, frozen=True):
    """A case as it is compared.

    Attributes:
        case: with compared texts.
        answer: the compared answer.
        context: the compared chunks.
    """

    case: Case
    answer: ComparableText
    context: tuple[ComparableText, ...]

    def original(self, outcome: Outcome) -> Outcome:
        """Return an outcome whose fragments are places in the original texts."""
        if self.answer.starts is None and all(chunk.starts is None for chunk in self.context):
            return outcome
        return structs.replace(outcome, fragments=tuple(map(self._fragment, outcome.fragments)))

    def _fragment(self, fragment: Fragment) -> Fragment:
        kind, _, number = fragment.part.partition(":")
        text = self.answer
        if kind == "context":
            if not (number.isdecimal() and int(number) < len(self.context)):
                return fragment
            text = self.context[int(number)]
        start, end = text.span(fragment.start, fragment.end)
        return structs.replace(fragment, start=start, end=end)


def comparable_case(case: Case) -> ComparableCase:
    """Return a case as evaluators compare it.

    Invisible characters stay where a term of the condition consists of them: it asks for them.
    """
    texts = (case.question, case.actual_output, case.expected_output, case.condition)
    lists = (case.context, case.accepted_outputs, case.expected_facts, case.guidelines)
    if case.counterpart is None and not any(map(may_differ, itertools.chain(texts, *lists))):
        return ComparableCase(case, ComparableText(case.actual_output), ())
    keeps = _ASKS_FOR_INVISIBLE.search(case.condition) is not None
    answer = comparable_text(case.actual_output, keeps_invisible=keeps)
    context = tuple(comparable_text(chunk, keeps_invisible=keeps) for chunk in case.context)

    def compared(text: str) -> str:
        return comparable_text(text, keeps_invisible=keeps).text

    comparable = structs.replace(
        case,
        answer=structs.replace(case.answer, text=answer.text, context=tuple(chunk.text for chunk in context)),
        question=compared(case.question),
        expected_output=compared(case.expected_output),
        accepted_outputs=tuple(map(compared, case.accepted_outputs)),
        condition=compared(case.condition),
        expected_facts=tuple(map(compared, case.expected_facts)),
        guidelines=tuple(map(compared, case.guidelines)),
        counterpart=None if case.counterpart is None else comparable_case(case.counterpart).case,
    )
    return ComparableCase(case if comparable == case else comparable, answer, context)
