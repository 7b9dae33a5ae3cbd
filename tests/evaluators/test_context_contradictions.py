"""Contradictions of the context by rules: perfect, broken and polite answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.context_contradictions import ContextContradictions
from pytest_evalstudio.metrics.groundedness.contradictions import contradictions
from pytest_evalstudio.text.paraphrases import paraphrase
from pytest_evalstudio.text.sentences import split_sentences

Make = Callable[..., Case]
CONTEXT = (
    "The Gold card costs 90 USD a year, and the Silver card costs 30 USD a year."
    " Some branches open on Saturdays.",
    "Lost cards must be reported within 24 hours. You are not liable for payments after your report.",
)
DOCUMENTS = Path(__file__).parents[1] / "data" / "documents" / "independent_seventh"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("The Gold card costs 30 USD a year.", "value"),
        ("The Gold card costs 90 EUR a year.", "value"),
        ("The Gold card costs $90 per year.", ""),
        ("The Silver card costs thirty dollars a year.", ""),
        ("All branches open on Saturdays.", "scope"),
        ("Some branches open on Saturdays.", ""),
        ("Lost cards must be reported within a day.", ""),
        ("Lost cards must be reported within 24 days.", "value"),
        ("You are liable for payments after your report.", "negation"),
        ("You aren't liable for payments after your report.", ""),
        ("The sun rises at 6 a.m. in Lisbon.", ""),
        ("I am sorry, but I do not know.", ""),
    ],
)
def test_what_contradicts_the_context(answer: str, kind: str, case: Make, tools: Tools) -> None:
    (outcome,) = ContextContradictions().score([case(answer, context=CONTEXT)], tools)
    assert [each.kind for each in contradictions(answer, CONTEXT)] == ([kind] if kind else [])
    assert outcome.scores == {"agrees": float(not kind)}
    assert [answer[each.start : each.end] for each in outcome.fragments] == ([answer] if kind else [])


def test_the_reason_quotes_both_and_hides_personal_data(case: Make, tools: Tools) -> None:
    answer, source = (f"Ask jane@bank.com about the Gold card for {fee} USD." for fee in (30, 90))
    (outcome,) = ContextContradictions().score([case(answer, context=(source,))], tools)
    assert "about the Gold card for 90 USD" in outcome.reason
    assert "jane@bank.com" not in outcome.reason


def test_sentences_of_documents_and_their_paraphrases_agree_with_them() -> None:
    contrary = []
    tested = 0
    for path in sorted(DOCUMENTS.iterdir())[:8]:
        paragraphs = [" ".join(part.split()) for part in path.read_text(encoding="utf-8").split("\n\n")]
        for index, paragraph in enumerate(paragraphs):
            context = paragraphs[max(0, index - 1) : index + 2]
            for start, end in split_sentences(paragraph):
                sentence = paragraph[start:end]
                changed = paraphrase(sentence)
                for text in (sentence, changed.text if changed else sentence):
                    tested += 1
                    contrary += [(text, each) for each in contradictions(text, context)]
    assert tested > 400
    assert len(contrary) <= 0.01 * tested, contrary
