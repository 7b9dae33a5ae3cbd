"""Drafts of questions for the quantities of an excerpt."""

from __future__ import annotations

from collections.abc import Container, Iterator

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.mrm.generators._amounts import amounts_asked
from pytest_evalstudio.mrm.generators._tables import cells_asked, text_before
from pytest_evalstudio.mrm.texts.quantities import Kind


def quantity_drafts(excerpt: Excerpt, corpus: Corpus, kinds: Container[Kind]) -> Iterator[Draft]:
    """Yield a draft for each quantity of some kinds that the sentences and tables of an excerpt state."""
    for sentence in excerpt.sentences:
        for asked in amounts_asked(sentence, corpus):
            if asked.quantity.kind in kinds:
                yield Draft(
                    question=asked.question,
                    answer=asked.answer,
                    condition=str(Regexp(asked.condition)),
                    evidence=sentence,
                )
        for cell in cells_asked(sentence, text_before(sentence, corpus)):
            if cell.kind in kinds:
                yield Draft(
                    question=cell.question,
                    answer=cell.answer,
                    condition=str(Regexp(cell.condition)),
                    evidence=sentence,
                )
