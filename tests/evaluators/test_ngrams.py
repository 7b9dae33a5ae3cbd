"""ROUGE against the rouge-score package and by hand; BLEU of short answers."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.ngrams import Bleu, Rouge
from pytest_evalstudio.metrics.overlap import RougeTokenizer, rouge_agreement
from support.project import Project

Make = Callable[..., Case]
SCORER = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)

texts = st.lists(
    st.sampled_from(
        [
            "The",
            "cats",
            "cat",
            "running",
            "ran",
            "runs,",
            "quickly!",
            "Banks'",
            "bank-rate",
            "5.25%",
            "naïve",
            "a",
            ".",
            "\n",
        ]
    ),
    max_size=12,
).map(" ".join)


def test_rouge_by_hand(case: Make, tools: Tools) -> None:
    # "police killed the gunman" and "police kill the gunman": one stem; LCS of the second pair is "the
    # gunman" or "kill police", 2 of 4
    pairs = [
        ("police killed the gunman", "police kill the gunman"),
        ("police killed the gunman", "the gunman kill police"),
    ]
    first, second = Rouge().score(
        [case(answer, expected_output=expected) for expected, answer in pairs], tools
    )
    assert dict(first.scores) == {"rouge_1": 1.0, "rouge_2": 1.0, "rouge_l": 1.0}
    assert dict(second.scores) == {"rouge_1": 1.0, "rouge_2": pytest.approx(1 / 3), "rouge_l": 0.5}


@given(
    st.lists(
        st.tuples(
            texts.filter(lambda text: any(char.isascii() and char.isalnum() for char in text)),
            texts.filter(str.strip),
        ),
        max_size=5,
    )
)
def test_it_is_the_package_to_the_last_digit(pairs: list[tuple[str, str]]) -> None:
    tools = Tools(split_sentences=lambda text: [(0, len(text))])
    outcomes = Rouge().score(
        [
            Case(key="c", question="q", expected_output=expected, answer=Answer(text=answer))
            for expected, answer in pairs
        ],
        tools,
    )
    for (expected, answer), outcome in zip(pairs, outcomes, strict=True):
        reference = SCORER.score(expected, answer)
        assert [outcome.scores[key] for key in ("rouge_1", "rouge_2", "rouge_l")] == pytest.approx(
            [reference[key].fmeasure for key in ("rouge1", "rouge2", "rougeL")], abs=1e-12
        )


IDENTICAL = {
    "Chinese": "你必须卖掉房子。",
    "Japanese": "アカウントは無料です。",
    "Thai": "คุณต้องขายบ้าน",
    "Hindi": "शुल्क पाँच डॉलर है।",
    "Arabic": "الرسوم خمسة دولارات.",
    "Russian": "Комиссия составляет пять долларов.",
    "Korean": "수수료는 5달러입니다.",
    "Vietnamese": "Phí là năm đô la.",
    "emoji": "👍",
    "emojis": "❤️🚀✅",
    "flag": "🇩🇪",
    "punctuation": "?!",
    "signs": "∞",
}


@pytest.mark.parametrize("text", IDENTICAL.values(), ids=IDENTICAL)
@pytest.mark.parametrize("evaluator", [Rouge(), Bleu()], ids=["rouge", "bleu"])
def test_identical_answers_score_the_maximum_in_every_script(
    evaluator: Rouge | Bleu, text: str, case: Make, tools: Tools
) -> None:
    (outcome,) = evaluator.score([case(text, expected_output=text)], tools)
    assert outcome.status == "score"
    assert {value for value in outcome.scores.values() if value is not None} == {1.0}
    other = evaluator.score([case("Nothing of it, 7 %", expected_output=text)], tools)[0]
    assert set(other.scores.values()) <= {0.0, None}


@pytest.mark.parametrize(
    ("answer", "expected", "rouge_1"),
    [
        ("你不能卖 5 元的房子", "费用 5 元", 4 / 13),
        ("今天天气很好 5", "费用是五百 5", 2 / 13),
        ("bệp", "bếp", 0.5),
        ("élève", "èlève", 0.5),
        ("👍", "👎", 0.0),
        ("Great 👍", "👍", 2 / 3),
        ("किताब", "कलम", 0.0),
        ("🇩🇪", "🇪🇩", 0.0),
        ("Комиссия пять", "Комиссия семь", 0.5),
    ],
)
def test_other_scripts_are_compared_word_by_word(
    answer: str, expected: str, rouge_1: float, case: Make, tools: Tools
) -> None:
    (outcome,) = Rouge().score([case(answer, expected_output=expected)], tools)
    assert outcome.scores["rouge_1"] == pytest.approx(rouge_1)


@pytest.mark.parametrize("answer", ["!?", "yes", "👍"])
def test_a_reference_without_words_is_not_applicable_to_others(answer: str, case: Make, tools: Tools) -> None:
    (outcome,) = Rouge().score([case(answer, expected_output="?!")], tools)
    assert outcome.status == "not_applicable"


def test_answers_of_signs_agree_by_their_signs() -> None:
    tokenize = RougeTokenizer()
    assert rouge_agreement("?!", "?\u200b!", tokenize) == (1.0, 1.0)
    assert rouge_agreement("?!", "...", tokenize) == (0.0, 0.0)
    assert rouge_agreement("?!", "?", tokenize)[0] == pytest.approx(2 / 3)


def test_chinese_is_compared_by_bleu_letter_by_letter(case: Make, tools: Tools) -> None:
    (outcome,) = Bleu().score([case("你不必卖掉房子。", expected_output="你必须卖掉房子。")], tools)
    assert outcome.scores["bleu_1"] == pytest.approx(7 / 8)
    assert outcome.scores["bleu_2"] == pytest.approx(4 / 7)


@pytest.mark.parametrize("name", ["13a", "intl", "zh", "char"])
def test_tokens_of_sacrebleu(name: str, case: Make, tools: Tools) -> None:
    metrics = pytest.importorskip("sacrebleu.metrics", exc_type=ImportError)
    pairs = [
        ("你不必卖掉 iPhone 15。", "你必须卖掉 iPhone 15。"),
        ("It costs $5, not $7.", "It costs $7, not $5."),
    ]
    outcomes = Bleu(tokenize=name).score(  # type: ignore[arg-type]
        [case(answer, expected_output=expected) for answer, expected in pairs], tools
    )
    for (answer, expected), outcome in zip(pairs, outcomes, strict=True):
        reference = metrics.BLEU(tokenize=name, effective_order=True).sentence_score(answer, [expected])
        for n in (1, 2, 3, 4):
            share = (outcome.scores[f"bleu_{n}"] or 0.0) / reference.bp
            assert share * reference.totals[n - 1] == pytest.approx(reference.counts[n - 1])


def test_a_session_without_sacrebleu_names_its_extra(pytester: pytest.Pytester) -> None:
    if find_spec("sacrebleu"):
        pytest.skip("sacrebleu is installed")
    project = Project(pytester)
    project.write("evalstudio.toml", 'evaluators = ["bleu"]\n[evaluator.bleu]\ntokenize = "zh"\n')
    project.lab({"key": "k", "input": "q", "actual_output": "房子", "expected_output": "房子"})
    result = project.run()
    assert 'pip install "pytest-evalstudio[bleu]"' in result.stdout.str()
    assert result.parseoutcomes().get("passed", 0) == 0


def test_an_answer_shorter_than_n_words_has_no_bleu_n(case: Make, tools: Tools) -> None:
    (outcome,) = Bleu().score([case("yes", expected_output="yes")], tools)
    assert dict(outcome.scores) == {"bleu_1": 1.0, "bleu_2": None, "bleu_3": None, "bleu_4": None}


def test_texts_too_long_for_rouge_l_are_an_error_and_no_wait(case: Callable[..., Case], tools: Tools) -> None:
    words = " ".join(str(number) for number in range(40_000))

    (outcome,) = Rouge().score([case(words, expected_output=words)], tools)

    assert (outcome.status, outcome.code) == ("error", "text_too_long")
    assert "40,000 and 40,000 words are too long" in outcome.reason
