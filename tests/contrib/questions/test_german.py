"""Questions in German by the table of its labels and words, with parses built by hand.

No German pipeline is on the package index, so that its own parses are not tested.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_evalstudio.contrib.questions.parsing.frames import frames
from pytest_evalstudio.contrib.questions.parsing.language import language
from pytest_evalstudio.contrib.questions.rules.amounts import amount_questions
from pytest_evalstudio.contrib.questions.rules.slots import slots

pytestmark = pytest.mark.filterwarnings("default")
spacy = pytest.importorskip("spacy", exc_type=ImportError)

# Word, index of its head, label, coarse and fine tag.
Row = tuple[str, int, str, str, str]
TICKET: tuple[Row, ...] = (
    ("Ein", 1, "nk", "DET", "ART"),
    ("Tagesticket", 2, "sb", "NOUN", "NN"),
    ("kostet", 2, "ROOT", "VERB", "VVFIN"),
    ("9", 4, "nk", "NUM", "CARD"),
    ("Euro", 2, "oa", "NOUN", "NN"),
    (".", 2, "punct", "PUNCT", "$."),
)
APPLICATION: tuple[Row, ...] = (
    ("Der", 1, "nk", "DET", "ART"),
    ("Antrag", 2, "sb", "NOUN", "NN"),
    ("muss", 2, "ROOT", "AUX", "VMFIN"),
    ("innerhalb", 7, "mo", "ADP", "APPR"),
    ("von", 6, "ac", "ADP", "APPR"),
    ("14", 6, "nk", "NUM", "CARD"),
    ("Tagen", 3, "nk", "NOUN", "NN"),
    ("gestellt", 8, "oc", "VERB", "VVPP"),
    ("werden", 2, "oc", "AUX", "VAINF"),
    (".", 2, "punct", "PUNCT", "$."),
)
GARBLED: tuple[Row, ...] = (
    ("kostet", 0, "ROOT", "VERB", "VVFIN"),
    ("kostet", 0, "oc", "VERB", "VVFIN"),
    ("9", 3, "nk", "NUM", "CARD"),
    ("Euro", 0, "oa", "NOUN", "NN"),
    (".", 0, "punct", "PUNCT", "$."),
)


def questions(rows: tuple[Row, ...]) -> list[tuple[str, str]]:
    from spacy.tokens import Doc

    words = [row[0] for row in rows]
    spaces = [following != "." for following in (*words[1:], ".")]
    doc = Doc(
        spacy.blank("de").vocab,
        words=words,
        spaces=spaces,
        heads=[row[1] for row in rows],
        deps=[row[2] for row in rows],
        pos=[row[3] for row in rows],
        tags=[row[4] for row in rows],
        lemmas=[row[0].lower() for row in rows],
        sent_starts=[number == 0 for number in range(len(rows))],
    )
    table = language("de")
    assert table is not None
    first = {0: rows[0][0].lower()}
    return [
        (item.question, item.answer)
        for frame in frames(doc, table)
        for item in amount_questions(
            replace(frame, overrides=first), slots(doc.text), [token.idx for token in doc]
        )
    ]


def test_a_price_is_asked_for_without_another_verb() -> None:
    assert questions(TICKET) == [("Wie viel kostet ein Tagesticket?", "9 Euro")]


def test_a_limit_is_asked_for_with_its_preposition_and_the_verbs_at_the_end() -> None:
    expected = "Innerhalb von wie vielen Tagen muss der Antrag gestellt werden?"
    assert questions(APPLICATION) == [(expected, "14 Tagen")]


def test_a_sentence_with_two_finite_verbs_gives_none() -> None:
    assert questions(GARBLED) == []
