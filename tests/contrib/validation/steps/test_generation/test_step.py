"""Generated suites: shares of topics, no doubles, relevant questions, the same in every run."""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.steps.test_generation.generating import UnknownLanguage
from pytest_evalstudio.contrib.validation.steps.test_generation.step import TestGeneration
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.stats.strata import allocate
from support.workbench import NOUNS, Bench


def bench(folder: Path, sizes: dict[str, int], seed: int = 0) -> Bench:
    """A bench with chunks of topics; each chunk has sentences of its own that all kinds of question can be
    made of.
    """
    workspace = Bench(folder, {"text.txt": "Some text."}, seed=seed)
    chunks: list[dict[str, Any]] = []
    for topic, size in sizes.items():
        for number in range(size):
            at = len(chunks)
            noun, other = NOUNS[at % 12], NOUNS[(at * 5 + 3) % 12]
            sentences = [
                f"The {noun} clause {'abcdefghij'[number % 10]} of {other} costs £{at + 3}.50.",
                f"An {other} office for {noun} takes {at + 13} working days.",
                f"A {other} counter is a desk for owners of paper.",
            ]
            line = {
                "id": f"c{at + 1}",
                "text": " ".join(sentences),
                "sentences": sentences,
                "document": "../../text.txt",
                "page": 0,
                "topic": topic,
            }
            chunks.append(line)
    topics = [
        {
            "id": id,
            "words": [f"word{id}", "more"],
            "size": size,
            "chunks": [line["id"] for line in chunks if line["topic"] == id],
        }
        for id, size in sizes.items()
    ]
    workspace.of("topic_modeling").mkdir(parents=True)
    (workspace.of("topic_modeling") / "topics.json").write_text(
        json.dumps({"version": 1, "topics": topics, "chunks": chunks}), encoding="utf-8"
    )
    return workspace


def generated(workspace: Bench, **parameters: Any) -> tuple[Any, TestSuite]:
    result = TestGeneration(**parameters).run(workspace.work("test_generation", "topic_modeling"))
    return result, TestSuite.load(workspace.of("test_generation") / "tests_suite.json")


def by_topic(suite: TestSuite) -> Counter[str]:
    return Counter(
        category for _, case in suite.cases() for category in case.categories if category.startswith("topic:")
    )


def test_topics_have_cases_in_proportion_to_their_chunks(tmp_path: Path) -> None:
    result, suite = generated(bench(tmp_path, {"1": 12, "2": 6, "3": 2}), count=10)
    assert by_topic(suite) == {"topic:1_word1_more": 6, "topic:2_word2_more": 3, "topic:3_word3_more": 1}
    assert result.figures.by_topic == {"1": 6, "2": 3, "3": 1}
    assert result.figures.cases == 10


def test_weights_change_the_proportions(tmp_path: Path) -> None:
    _, suite = generated(bench(tmp_path, {"1": 8, "2": 4}), count=12, weights={"2": 4})
    assert by_topic(suite) == {"topic:1_word1_more": 4, "topic:2_word2_more": 8}


def test_topics_are_chosen(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 4, "2": 4, "3": 4})
    assert set(by_topic(generated(workspace, topics_included=["1", "3"], topics_excluded=["3"])[1])) == {
        "topic:1_word1_more"
    }


def test_generators_take_turns(tmp_path: Path) -> None:
    result, _ = generated(
        bench(tmp_path, {"1": 10}),
        count=9,
        generators=["numerical_reasoning", "temporal_reasoning", "simple_factual"],
    )
    assert result.figures.by_generator == {
        "numerical_reasoning": 3,
        "temporal_reasoning": 3,
        "simple_factual": 3,
    }


def test_cases_come_of_many_chunks(tmp_path: Path) -> None:
    _, suite = generated(bench(tmp_path, {"1": 10}), count=10, generators=["numerical_reasoning"])
    assert len({case.model_extra["source_chunk"] for _, case in suite.cases()}) == 10


def test_attacks_are_not_among_them(tmp_path: Path) -> None:
    result, _ = generated(bench(tmp_path, {"1": 10}))
    assert set(result.figures.by_generator) == {
        *("multiple_choice", "numerical_reasoning", "out_of_scope"),
        *("simple_factual", "temporal_reasoning", "yes_or_no"),
    }


def test_a_case_says_where_it_comes_from(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 2})
    _, suite = generated(workspace, generators=["numerical_reasoning"], count=1)
    ((test, case),) = suite.cases()
    assert (workspace.of("test_generation") / test.documents[0]).resolve() == tmp_path / "text.txt"
    extra = case.model_extra
    assert extra["evidence"] in extra["source_text"]
    assert case.expected_output in extra["evidence"]
    assert case.condition_text()
    assert case.categories == ["topic:1_word1_more", "generator:numerical_reasoning"]


def test_two_runs_write_the_same_bytes_and_another_seed_other_ones(tmp_path: Path) -> None:
    workspaces = [
        bench(tmp_path / str(number), {"1": 8, "2": 5}, seed=seed) for number, seed in enumerate((1, 1, 2))
    ]
    first, repeat, other = (
        (generated(each, count=10), each.files("test_generation"))[1] for each in workspaces
    )
    assert first == repeat
    assert first != other


def test_questions_that_are_near_an_earlier_one_are_left_out(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 3})
    path = workspace.of("topic_modeling") / "topics.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    for line in result["chunks"]:
        line["sentences"] = ["The ledger clause costs £3.50."]
        line["text"] = line["sentences"][0]
    path.write_text(json.dumps(result), encoding="utf-8")
    step_result, suite = generated(workspace, generators=["numerical_reasoning"])
    assert len(suite.cases()) == 1
    assert step_result.figures.duplicates == 2
    assert "1 test cases of 30: these chunks give no more" in step_result.summary


def test_shares_by_hand() -> None:
    assert allocate(7, {"a": 5, "b": 3, "c": 2}, {"a": 9, "b": 9, "c": 9}) == {
        "a": 4,
        "b": 2,
        "c": 1,
    }  # 3.5, 2.1, 1.4
    assert allocate(5, {"a": 1, "b": 1, "c": 0}, {"a": 1, "b": 2, "c": 9}) == {"a": 1, "b": 2, "c": 0}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param({"generators": ["multi_hopp"]}, "no generator named 'multi_hopp'", id="a generator"),
        pytest.param(
            {"generators": ["jailbreak"]},
            "makes adversarial questions; name it in the step robustness_adversarial",
            id="an attack",
        ),
        pytest.param({"topics_included": ["9"]}, "no topic named '9'.*Topics: 1, 2", id="a topic"),
        pytest.param({"weights": {"9": 1}}, "no topic named '9'", id="a weight"),
        pytest.param({"topics_excluded": ["1", "2"]}, "no topic is left", id="nothing left"),
    ],
)
def test_names_that_nobody_knows(tmp_path: Path, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        generated(bench(tmp_path, {"1": 2, "2": 2}), **parameters)


def test_chunks_without_a_sentence_make_no_suite(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 1})
    path = workspace.of("topic_modeling") / "topics.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    result["chunks"][0]["sentences"] = ["Fees"]
    path.write_text(json.dumps(result), encoding="utf-8")
    with pytest.raises(DataError, match="the rules found no reliable question"):
        generated(workspace, generators=["simple_factual"])


GERMAN = [
    "Die Gebühr für die Karte beträgt 5 Euro und wird am Ende des Monats von dem Konto abgebucht.",
    "Der Vertrag endet mit dem Ablauf des Jahres, und die Kündigung ist bis zu diesem Tag nicht möglich.",
]


def in_german(workspace: Bench, *numbers: int) -> None:
    """Replace the sentences of chunks by German ones of another document."""
    path = workspace.of("topic_modeling") / "topics.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for number in numbers:
        line = content["chunks"][number]
        line.update(sentences=GERMAN, text=" ".join(GERMAN), document="../../german.txt")
    path.write_text(json.dumps(content), encoding="utf-8")


def test_no_english_question_is_made_from_a_german_document(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 4})
    in_german(workspace, 0, 1)
    result, suite = generated(workspace, count=20)
    assert {case.model_extra["source_chunk"] for _, case in suite.cases()} == {"c3", "c4"}
    assert result.figures.other_languages == {"../../german.txt": "de"}
    assert result.notes[-2:-1] == (
        "no questions are made from documents that are not in English: ../../german.txt is in German",
    )


@pytest.mark.skipif(find_spec("en_core_web_sm") is not None, reason="the default pipeline is installed")
def test_a_step_without_the_pipeline_says_so_with_the_remedy(tmp_path: Path) -> None:
    result, _ = generated(bench(tmp_path, {"1": 2}))
    assert result.notes[0].startswith(
        "questions are made from tables, lists and patterns of quantities only: "
    )
    assert "python -m spacy download en_core_web_sm" in result.notes[0]
    assert not any(
        "patterns" in note for note in generated(bench(tmp_path / "b", {"1": 2}), pipeline="")[0].notes
    )


def test_a_pipeline_that_is_not_installed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="python -m spacy download de_core_news_sm"):
        generated(bench(tmp_path, {"1": 2}), pipeline="de_core_news_sm")


def test_documents_that_are_all_german_are_refused(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 2})
    in_german(workspace, 0, 1)
    with pytest.raises(UnknownLanguage, match=r"german\.txt is in German: .* name a `writer`"):
        generated(workspace)


def test_a_question_about_the_past_names_its_document_if_there_are_several(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 2})
    path = workspace.of("topic_modeling") / "topics.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for number, line in enumerate(content["chunks"]):
        noun = ("Revenue", "Turnover")[number]
        line["sentences"] = [f"Report {number + 1}", f"{noun} rose by {number + 3}% in the first quarter."]
        line["document"] = f"../../{number}.txt"
    path.write_text(json.dumps(content), encoding="utf-8")
    _, suite = generated(workspace, generators=["numerical_reasoning"])
    assert {case.prompt for _, case in suite.cases()} == {
        "According to “Report 1”, by what percentage did revenue rise in the first quarter?",
        "According to “Report 2”, by what percentage did turnover rise in the first quarter?",
    }


def sources(suite: TestSuite) -> set[str]:
    return {str(case.model_extra["source_chunk"]) for _, case in suite.cases()}


def test_chunks_are_left_out(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 3, "2": 3})
    assert sources(generated(workspace, count=18)[1]) == {"c1", "c2", "c3", "c4", "c5", "c6"}
    _, suite = generated(workspace, count=18, chunks_excluded=["c2", "c5"])
    assert sources(suite) == {"c1", "c3", "c4", "c6"}


def test_chunks_are_chosen_within_their_topic(tmp_path: Path) -> None:
    _, suite = generated(bench(tmp_path, {"1": 3, "2": 3}), count=12, chunks_included=["c2"])
    assert sources(suite) == {"c2", "c4", "c5", "c6"}


def test_shares_of_topics_follow_the_chunks_that_are_left(tmp_path: Path) -> None:
    excluded = [f"c{number}" for number in range(3, 9)]
    _, suite = generated(bench(tmp_path, {"1": 8, "2": 4}), count=9, chunks_excluded=excluded)
    assert by_topic(suite) == {"topic:1_word1_more": 3, "topic:2_word2_more": 6}


def test_a_topic_without_chunks_is_left_out(tmp_path: Path) -> None:
    workspace = bench(tmp_path, {"1": 2, "2": 2})
    assert sources(generated(workspace, chunks_excluded=["c1", "c2"])[1]) == {"c3", "c4"}
    with pytest.raises(ConfigurationError, match="no topic is left; include more topics or chunks"):
        generated(workspace, topics_included=["1"], chunks_excluded=["c1", "c2"])
    with pytest.raises(ConfigurationError, match=r"no chunk named 'c9'\. .*topics\.json"):
        generated(workspace, chunks_excluded=["c9"])


def test_generators_are_read_by_the_names_of_the_guides_client(tmp_path: Path) -> None:
    result, suite = generated(bench(tmp_path, {"1": 4}), generators=["simple_factual_questions"])
    assert result.figures.by_generator == {"simple_factual": len(suite.cases())}
    assert "names of H2O Eval Studio are read: 'simple_factual_questions' as 'simple_factual'" in result.notes
    with pytest.raises(ConfigurationError, match="no generator named 'simple_fact_questions'"):
        generated(bench(tmp_path / "b", {"1": 4}), generators=["simple_fact_questions"])


def _with_table(workspace: Bench, *, text: bool) -> Bench:
    """Add a table of fees to the first chunk, or put it in the place of all text."""
    path = workspace.of("topic_modeling") / "topics.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    rows = " ".join(f"| {noun.title()} card | £{at + 31}.25 |" for at, noun in enumerate(NOUNS[:8]))
    table = f"| Card | Yearly fee | |---|---| {rows}"
    for number, chunk in enumerate(content["chunks"]):
        chunk["sentences"] = [*(chunk["sentences"] if text else []), *([table] if number == 0 else [])]
        chunk["text"] = " ".join(chunk["sentences"]) or "Nothing."
    path.write_text(json.dumps(content), encoding="utf-8")
    return workspace


def _cells(suite: TestSuite) -> int:
    return sum(str(case.model_extra["evidence"]).startswith("|") for _, case in suite.cases())


def test_each_row_of_a_table_has_a_case(tmp_path: Path) -> None:
    workspace = _with_table(bench(tmp_path, {"1": 3}), text=True)
    _, suite = generated(workspace, count=50)
    assert _cells(suite) == 8


def test_a_document_of_tables_alone_keeps_their_cases(tmp_path: Path) -> None:
    _, suite = generated(_with_table(bench(tmp_path, {"1": 1}), text=False), count=50)
    assert _cells(suite) == sum(1 for _ in suite.cases()) == 8
