"""What holds for every perturbator, on texts of many scripts: same seed same text, no exception, a change or
a reason, more edits for more.
"""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.scoring.perturbing.specs import PerturbationStep

PLUGINS = Registry().perturbators
OWN = list(PLUGINS)
CHARACTERS = (
    "random_replacement",
    "random_insert",
    "random_delete",
    "keyboard_typos",
    "ocr",
    "random_character",
)
SCRIPTS = {
    "English": "What does a replacement card cost when the young man has lost his own twice in one lazy year",
    "accents": "Où est l'été à la façade naïve ¿Cuánto cuesta la niña Ärger Öl Übung straße łódź čas",
    "decomposed accents": unicodedata.normalize("NFD", "Où été façade naïve niña Ärger Öl Übung"),
    "Cyrillic": "Сколько стоит перевыпуск карты если клиент потерял её дважды за год",
    "Greek": "Πόσο κοστίζει η αντικατάσταση της κάρτας",
    "Arabic": "كم تكلفة استبدال البطاقة المفقودة ١٢٣",
    "Hebrew": "כמה עולה החלפת כרטיס שאבד",
    "Devanagari": "खोए हुए कार्ड को बदलने में कितना खर्च आता है",
    "Thai": "เปลี่ยนบัตรที่หายมีค่าใช้จ่ายเท่าไร",
    "Chinese": "补办 丢失 的 银行卡 需要 多少 钱 ？",
    "Japanese": "紛失した カードの 再発行には いくら かかりますか。",
    "Korean": "분실한 카드를 재발급하려면 비용이 얼마나 드나요",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 😀 👍🏽 ok 1️⃣",
    "oddities": "\u202eevil\u202c \x00 \ud800 {text} %s \\ <b> ' \" a-b_c 3.14 1,000.00 EUR-x",
}
WORDS = {name: text.split() for name, text in SCRIPTS.items()}
TEXTS = st.one_of(
    *(st.lists(st.sampled_from(words), max_size=30).map(" ".join) for words in WORDS.values()),
    st.lists(st.sampled_from([word for words in WORDS.values() for word in words]), max_size=20).map(
        "  \n".join
    ),
    st.text(max_size=60),
)


def needs(id):
    missing = PLUGINS.spec(id).missing_of(PLUGINS.get(id)())
    return pytest.param(id, marks=pytest.mark.skipif(bool(missing), reason=missing))


@pytest.mark.parametrize("id", [needs(id) for id in OWN])
def test_a_perturbator_keeps_its_promises(id):
    spec = PLUGINS.spec(id)
    steps = [
        PerturbationStep(spec=spec, perturbator=PLUGINS.get(id)(), intensity=level)
        for level in spec.intensities or ("MEDIUM",)
    ]

    @given(TEXTS, st.integers(0, 2**64 - 1))
    def holds(text, seed):
        edits = []
        for step in steps:
            change = step.edit(text, seed)
            assert change == step.edit(text, seed)
            assert not change.reason.startswith("the perturbator failed")
            if change.reason:
                assert (change.text, change.edits) == ("", 0)
            elif spec.identical:
                assert (change.text, change.edits) == (text, 0)
            else:
                assert change.text != text
                assert change.edits > 0
            if id in CHARACTERS and not change.reason:
                assert other_characters(change.text) == other_characters(text)
            edits.append(change.edits)
        assert edits == sorted(edits)

    holds()


def other_characters(text):
    """Return the spaces, punctuation and symbols of a text, which no change of characters touches."""
    return [
        char
        for char in text
        if not char.isalnum() and unicodedata.category(char)[0] != "M" and char != "%" and char != "("
    ]


@pytest.mark.parametrize("id", [needs(id) for id in OWN if PLUGINS.spec(id).intensities])
@pytest.mark.parametrize("script", ["English", "accents", "Cyrillic"])
def test_edits_grow_strictly_on_a_text_of_some_length(id, script):
    spec = PLUGINS.spec(id)
    text = " ".join([SCRIPTS[script]] * 3)
    edits = [PLUGINS.get(id)().perturb(text, level, 7).edits for level in spec.intensities]
    if edits[-1]:  # qwerty, synonyms and keyboards have nothing to do in Cyrillic
        assert len(set(edits)) == len(edits)
        assert edits == sorted(edits)


@pytest.mark.parametrize("id", CHARACTERS)
def test_the_share_is_that_of_the_table(id):
    text = "abcdefghij" * 100
    shares = [PLUGINS.get(id)().perturb(text, level, 3).edits / 1000 for level in INTENSITIES[1:]]
    assert shares == pytest.approx([0.04, 0.1, 0.27, 0.5, 0.75, 0.95], abs=0.001)


@pytest.mark.parametrize("script", ["decomposed accents", "Devanagari", "Thai", "Arabic"])
@pytest.mark.parametrize("id", ["random_replacement", "random_insert", "keyboard_typos", "ocr"])
def test_no_accent_is_lost(id, script):
    change = PLUGINS.get(id)().perturb(SCRIPTS[script], "HIGH", 5)
    assert change.reason or marks(change.text) == marks(SCRIPTS[script])


@pytest.mark.parametrize("script", ["decomposed accents", "Devanagari", "Thai", "Arabic", "emoji"])
def test_a_letter_is_deleted_with_its_accents(script):
    change = PLUGINS.get("random_delete")().perturb(SCRIPTS[script], "EXTREME", 5)
    starts = [
        place
        for place, char in enumerate(change.text)
        if unicodedata.category(char) == "Mn" and char != "\ufe0f"
    ]
    assert all(place and not change.text[place - 1].isspace() for place in starts)


def marks(text):
    return [char for char in text if unicodedata.category(char)[0] == "M"]
