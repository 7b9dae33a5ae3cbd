"""Synonyms and antonyms: where WordNet is looked for, and what of the grammar is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.perturbations import _wordnet
from pytest_evalstudio.perturbations._synonyms import SYNONYMS
from pytest_evalstudio.perturbations._wordnet import find_wordnet, open_wordnet
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.texts import put_to
from support.tiny_wordnet import write_wordnet

REAL = find_wordnet()
with_wordnet = pytest.mark.skipif(not REAL, reason="there is no WordNet: apt-get install wordnet-base")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_wordnet(tmp_path_factory.mktemp("wordnet"))


def changed(spec, text, folder):
    options = {name: {"wordnet": str(folder)} for name in ("synonym", "antonym")}
    (chain,) = parse_perturbations(spec, Registry(), options)
    return put_to(chain, text, 1)


@pytest.mark.parametrize(
    ("spec", "text", "expected"),
    [
        ("synonym:high", "What does a child pay?", "What does a kid pay?"),
        ("synonym:high", "BIG", "LARGE"),
        ("synonym:high", "Children?", "Kids?"),
        ("synonym:high", "He answers quickly.", "He answers rapidly."),
        ("antonym:high", "Is it an unpaid bill?", "Is it a paid bill?"),
        ("antonym:high", "Is it a paid bill?", "Is it an unpaid bill?"),
        ("antonym:high", "The highest fee", "The lowest fee"),
        ("antonym:high", "Where can I open an account?", "Where can I close an account?"),
        ("antonym:high", "He opens it.", "He closes it."),
    ],
)
def test_another_word_in_the_same_form(tiny, spec, text, expected):
    assert changed(spec, text, tiny).text == expected


@pytest.mark.parametrize("text", ["Сколько стоит карта?", "Mr Price of CHILD Inc", "the of and"])
def test_names_other_languages_and_function_words_stay(tiny, text):
    assert changed("synonym:high", text, tiny).reason.startswith("WordNet knows no synonyms for its words")


def test_the_share_of_the_words_that_have_one(tiny):
    def edits(perturbator, text):
        return [changed(f"{perturbator}:{level}", text, tiny).edits for level in ("low", "medium", "high")]

    assert edits("synonym", " ".join(["the child"] * 10)) == [3, 5, 7]
    assert edits("antonym", " ".join(["high cost"] * 10)) == [5, 7, 9]


def test_without_wordnet_one_line_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(_wordnet, "_SYSTEM", ())
    monkeypatch.setattr(_wordnet, "_in_nltk", lambda: "")
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    with pytest.raises(ConfigurationError) as exc_info:
        parse_perturbations("synonym:low", Registry())
    assert str(exc_info.value).startswith(
        "perturbator synonym: there is no WordNet here: run `apt-get install wordnet-base` (Debian, Ubuntu),"
    )
    for command in ("`brew install wordnet` (macOS)", "`python -m nltk.downloader wordnet` (Windows and"):
        assert command in str(exc_info.value)
    assert "\n" not in str(exc_info.value)
    with pytest.raises(
        ConfigurationError, match=r"does not contain WordNet; the folder must contain data\.noun"
    ):
        parse_perturbations("antonym:low", Registry(), {"antonym": {"wordnet": str(tmp_path)}})


def test_where_it_is_looked_for(monkeypatch, tiny, tmp_path):
    monkeypatch.setattr(_wordnet, "_SYSTEM", ())
    monkeypatch.setenv("WNSEARCHDIR", str(tiny))
    assert find_wordnet() == str(tiny)
    monkeypatch.delenv("WNSEARCHDIR")
    import nltk.data

    write_wordnet(tmp_path / "corpora" / "wordnet")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    assert Path(find_wordnet()) == tmp_path / "corpora" / "wordnet"
    assert find_wordnet(str(tmp_path)) == str(tmp_path / "corpora" / "wordnet")


def test_an_archive_of_nltks_is_read(monkeypatch, tmp_path):
    import shutil

    import nltk.data

    write_wordnet(tmp_path / "plain" / "wordnet")
    (tmp_path / "corpora").mkdir()
    shutil.make_archive(str(tmp_path / "corpora" / "wordnet"), "zip", tmp_path / "plain", "wordnet")
    monkeypatch.setattr(_wordnet, "_SYSTEM", ())
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    assert open_wordnet(find_wordnet()).are_synonyms("cost", "price", "n")


def test_looking_at_the_perturbators_reads_no_wordnet():
    code = (
        "import sys; from pytest_evalstudio.core.plugins.registry import Registry;"
        " list(Registry().perturbators); assert 'nltk' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@with_wordnet
@pytest.mark.parametrize(
    "text",
    [
        "Which papers, statements and interests does the bank share?",  # no clear sense
        "Which one was chosen, and which began it?",  # irregular forms
        "May I try on the coat that I used to like?",  # verbs with particles
        "How nearly extinct is it, and does it require to pay?",
        "Is 'the wrong car' at 5 o'clock?",
    ],
)
def test_a_word_without_one_sense_or_regular_form_stays(text):
    change = changed("synonym:high", text, REAL)
    assert change.reason.startswith("WordNet knows no synonyms"), change.text


@with_wordnet
def test_every_pair_of_the_table_is_in_wordnet_and_inflects_regularly():
    wordnet = open_wordnet(REAL)
    for part, pairs in SYNONYMS.items():
        for word, synonym in pairs.items():
            assert wordnet.are_synonyms(word, synonym, part), (word, synonym)


@with_wordnet
@pytest.mark.parametrize(
    ("spec", "text", "expected"),
    [
        ("synonym:high", "How quickly is it refunded?", "How rapidly is it refunded?"),
        ("synonym:high", "Who is using it?", "Who is utilizing it?"),
        ("synonym:high", "What happens?", "What occurs?"),
        ("synonym:high", "Is it an inexpensive one?", "Is it a cheap one?"),
        ("antonym:high", "What is the highest fee?", "What is the lowest fee?"),
        ("antonym:high", "How fast are payments?", "How slow are nonpayments?"),
        ("antonym:high", "An important customer", "An unimportant customer"),
    ],
)
def test_words_of_the_real_one(spec, text, expected):
    assert changed(spec, text, REAL).text == expected
