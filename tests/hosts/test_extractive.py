from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.hosts.extractive import bm25, grouped

FEES = """Domestic transfers are free of charge. International transfers cost 15 EUR each. Express transfers arrive the same day.

A lost card is blocked by calling the hotline. A replacement card costs 8 EUR. It is sent by mail.

Savings accounts earn 2.1 percent interest. Interest is paid on December 31. Withdrawals are possible at any time.
"""  # noqa: E501
LOANS = (
    "Mortgages run up to 30 years. Consumer loans run up to 7 years. Mr. Smith of the loan desk answers"
    " questions about loans."
)


@pytest.fixture
def ask(model, tmp_path):
    """Asks the embedded RAG about the two documents."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "fees.txt").write_text(FEES, encoding="utf-8")
    (tmp_path / "docs" / "loans.md").write_text(LOANS, encoding="utf-8")
    corpus = (str(tmp_path / "docs" / "fees.txt"), str(tmp_path / "docs" / "loans.md"))

    def answer(question, corpus=corpus, **settings):
        return model("extractive", **settings).ask([Prompt(text=question, corpus=corpus)])[0]

    return answer


@pytest.mark.parametrize(
    ("question", "text"),
    [
        pytest.param(
            "How much does an international transfer cost?",
            "International transfers cost 15 EUR each.",
            id="singular finds plural",
        ),
        pytest.param(
            "What does a replacement card cost?", "A replacement card costs 8 EUR.", id="the right paragraph"
        ),
        pytest.param("How long do mortgages run?", "Mortgages run up to 30 years.", id="the other document"),
        pytest.param(
            "Who answers questions about loans?",
            "Mr. Smith of the loan desk answers questions about loans.",
            id="an abbreviation ends no sentence",
        ),
    ],
)
def test_the_answer_is_the_best_sentence(ask, question, text):
    assert ask(question, answer_sentences=1).text == text


def test_the_context_is_the_best_chunks_and_their_sources(ask):
    answer = ask("How much does an international transfer cost?", chunk_chars=100, overlap_chars=0, top_k=2)
    assert (
        answer.context[0]
        == "Domestic transfers are free of charge. International transfers cost 15 EUR each."
    )
    assert answer.context_sources == ("docs/fees.txt", "docs/fees.txt")
    assert answer.cost_usd == 0.0


def test_sentences_stand_in_the_order_of_the_documents(ask):
    answer = ask("When is interest paid and what do savings accounts earn?", answer_sentences=2)
    assert answer.text == "Savings accounts earn 2.1 percent interest. Interest is paid on December 31."


def test_settings_change_the_quality(ask):
    question = "Do transfers cost anything, and when does interest come?"
    generous = ask(question, top_k=4, answer_sentences=3, chunk_chars=120, overlap_chars=40)
    stingy = ask(question, top_k=1, answer_sentences=1, chunk_chars=60, overlap_chars=0)
    assert len(generous.context) > len(stingy.context) == 1
    assert len(generous.text) > len(stingy.text)


def test_stemming_is_a_choice(ask):
    assert ask("mortgage", stem=False).context == ()
    assert ask("mortgage", stem=True).context != ()


def test_a_question_that_shares_no_word_is_told_so_with_no_context(ask):
    answer = ask("Who won the football championship?")
    assert (answer.text, answer.context, answer.error) == (
        "The documents do not answer this question.",
        (),
        "",
    )


def test_the_same_question_has_the_same_answer(ask):
    first, second = ask("card cost interest"), ask("card cost interest")
    assert (first.text, first.context, first.context_sources) == (
        second.text,
        second.context,
        second.context_sources,
    )


def test_a_question_without_documents_is_an_error(ask):
    assert "no documents in this test's corpus" in ask("What?", corpus=()).error


def test_a_missing_document_is_an_error_of_the_cases_that_need_it(model, tmp_path):
    (tmp_path / "here.txt").write_text("Cards are free.", encoding="utf-8")
    local_path, missing_path = str(tmp_path / "here.txt"), str(tmp_path / "gone.txt")
    fine, *broken = model("extractive").ask(
        [Prompt(text="cards", corpus=(place,)) for place in (local_path, missing_path, missing_path)]
    )
    assert fine.text == "Cards are free."
    assert all("gone.txt: there is no such document" in answer.error for answer in broken)


def test_a_document_outside_the_folder_is_cited_by_name_only(model, tmp_path_factory):
    far_file = tmp_path_factory.mktemp("elsewhere") / "far.txt"
    far_file.write_text("Cards are free.", encoding="utf-8")
    assert model("extractive").ask([Prompt(text="cards", corpus=(str(far_file),))])[0].context_sources == (
        "far.txt",
    )


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"top_k": 0}, "top_k = 0: must be 1 or more"),
        (
            {"chunk_chars": 100, "overlap_chars": 100},
            "overlap_chars = 100: must be less than chunk_chars = 100",
        ),
        ({"topk": 1}, "host extractive.topk: unknown option. Did you mean 'top_k'?"),
    ],
)
def test_parameters_that_make_no_sense_are_told(model, settings, fault):
    with pytest.raises(ConfigurationError) as exc_info:
        model("extractive", **settings)
    assert fault in str(exc_info.value)


@pytest.mark.parametrize(
    ("sentences", "most", "overlap", "groups"),
    [
        pytest.param([], 10, 2, [], id="nothing"),
        pytest.param(["a" * 50], 10, 2, [["a" * 50]], id="a long sentence is a chunk of its own"),
        pytest.param(["aa", "bb", "cc"], 5, 0, [["aa", "bb"], ["cc"]], id="no overlap"),
        pytest.param(["aa", "bb", "cc"], 5, 2, [["aa", "bb"], ["bb", "cc"]], id="an overlap of one"),
        pytest.param(
            ["aa", "bb", "c" * 9],
            5,
            2,
            [["aa", "bb"], ["c" * 9]],
            id="an overlap never makes a chunk too long",
        ),
    ],
)
def test_chunks_are_whole_sentences(sentences, most, overlap, groups):
    assert grouped(sentences, most, overlap) == groups


WORDS = st.lists(
    st.sampled_from(["fee", "rate", "bank", "card", "loan", "open", "close", "desk"]), max_size=12
)


@given(st.lists(WORDS, min_size=1, max_size=8).filter(any), WORDS)
def test_ranking_is_that_of_bm25s(texts: list[list[str]], query: list[str]) -> None:
    bm25s = pytest.importorskip("bm25s")
    reference = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    reference.index(texts, show_progress=False)
    known_words = [word for word in query if word in reference.vocab_dict]
    expected = reference.get_scores(known_words).tolist() if known_words else [0.0] * len(texts)

    assert bm25(texts)(query) == pytest.approx(expected, abs=1e-5)
