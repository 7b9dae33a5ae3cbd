"""Properties of every generator, on the bank's documents and those of other registers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.questions.corpus import corpus_chunks
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.problems import AVID, PROBLEM_TYPES
from pytest_evalstudio.formats.condition import parse_condition
from support.pipelines import PIPELINE, needs_pipeline

pytestmark = pytest.mark.filterwarnings("default")

GENERATORS = Registry().generators
ROOT = Path(__file__).parents[3]
FOLDERS = (
    ROOT / "example_suites" / "bank" / "documents",
    ROOT / "tests" / "data" / "documents" / "development",
)
DOCUMENTS = [str(path) for folder in FOLDERS for path in sorted(folder.iterdir())]


FEW = 1
"""Questions of a generator without a pipeline; these documents have few tables and short sentences."""


@pytest.fixture(scope="module", params=["", pytest.param(PIPELINE, marks=needs_pipeline)])
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    chunks = corpus_chunks(
        DOCUMENTS, cache=tmp_path_factory.mktemp("cache"), chunk_chars=500, overlap_chars=0
    )
    return Corpus(
        tuple(
            Excerpt(id=f"c{number}", sentences=tuple(chunk.sentences), topic="1")
            for number, chunk in enumerate(chunks)
        ),
        request.param,
    )


def drafts_of(id: str, corpus: Corpus) -> list[tuple[Excerpt, Draft]]:
    generator = GENERATORS.get(id)()
    return [
        (excerpt, draft)
        for excerpt in corpus.excerpts
        for draft in generator.drafts(excerpt, corpus, random.Random(f"1/{excerpt.id}"))
    ]


@pytest.mark.parametrize("id", [id for id in GENERATORS if GENERATORS.spec(id).drafts])
def test_drafts_are_of_the_chunk_and_their_answers_pass(id: str, corpus: Corpus) -> None:
    drafts = drafts_of(id, corpus)
    is_rare = id == "out_of_scope" or not corpus.pipeline
    assert len(drafts) >= (FEW if is_rare else 10) or (id == "yes_or_no" and not corpus.pipeline)
    assert drafts == drafts_of(id, corpus), "the same random numbers give the same drafts"
    for excerpt, draft in drafts:
        condition = parse_condition(draft.condition)
        is_attack = GENERATORS.spec(id).purpose == "adversarial"
        has_evidence = is_attack and not GENERATORS.spec(id).unanswerable
        assert draft.question.strip()
        assert draft.evidence in (*excerpt.sentences, "")
        assert condition.check(draft.evidence if has_evidence else draft.answer)
        assert not condition.check("")
        assert bool(draft.plain) == bool(draft.kind) == is_attack
        assert draft.kind in (*GENERATORS, "")


@pytest.mark.parametrize("id", list(GENERATORS))
def test_declarations_are_whole(id: str) -> None:
    spec = GENERATORS.spec(id)
    assert spec.description.endswith(".")
    assert spec.problem_type in PROBLEM_TYPES
    assert spec.avid in AVID
    assert spec.excerpts >= 1
    assert spec.drafts or spec.instruction, "it makes questions by itself, or a judge is told how"


def test_installed_packages_declare_generators_in_the_published_group() -> None:
    assert GENERATORS.group == "pytest_evalstudio.generators"
