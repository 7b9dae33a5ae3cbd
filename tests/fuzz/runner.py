"""Runs the commands of users on broken files, and says which of them ended as they must not."""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.generator import LAB, Broken, broken_files, sound_files

LIMIT_S = 10.0
STARTING_S = 60.0
STATUSES = (0, 1, 2)
COLLECTING_STATUSES = (0, 1, 2, 4, 5)
BATCH = 25
MAX_ALONE = 10
PACKAGES = os.pathsep.join([str(Path(__file__).parent.parent), str(Path(__file__).parent.parent.parent)])


@dataclass(slots=True)
class Figures:
    """Findings of a run of the fuzz test.

    Attributes:
        files, commands: how many there were.
        statuses: how often a command ended with each exit status.
        slowest_s: seconds of the slowest command.
        faults: a sentence for each that ended as it must not.
    """

    files: int = 0
    commands: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    slowest_s: float = 0.0
    faults: list[str] = field(default_factory=list)


class Worker:
    """A process in which `evalstudio` commands run one after the other; it is killed when one hangs."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: Sequence[str], folder: Path) -> dict[str, object]:
        """Return status, output and traceback of a command; nothing if it hangs or takes the process with
        it.
        """
        if self._process is None:
            command = [sys.executable, "-m", "fuzz.runner"]
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join([PACKAGES, os.environ.get("PYTHONPATH", "")]),
            }
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                env=environment,
            )
            self.run(["evaluators"], folder)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([list(arguments), str(folder)]) + "\n")
        self._process.stdin.flush()
        patience = STARTING_S if arguments == ["evaluators"] else 2 * LIMIT_S
        ready, _, _ = select.select([self._process.stdout], [], [], patience)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self.close()
            return {}
        return dict(json.loads(line))

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def serve() -> None:
    """Run the commands that standard input names."""
    from pytest_evalstudio.cli import main

    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for request in sys.stdin:
        arguments, folder = json.loads(request)
        os.chdir(folder)
        output = io.TextIOWrapper(
            io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True
        )
        fault = ""
        status = 0
        start = time.monotonic()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                status = _collected(arguments[1:]) if arguments[0] == "pytest" else main(arguments)
            except SystemExit as exc:
                status = exc.code if isinstance(exc.code, int) else 1
            except BaseException:
                fault = traceback.format_exc()[-3000:]
        text = output.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
        reply = {
            "status": status,
            "output": text[:20_000],
            "fault": fault,
            "seconds": time.monotonic() - start,
        }
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _collected(arguments: Sequence[str]) -> int:
    """Run pytest in this process."""
    import pytest

    plugins = ["no:cacheprovider", "no:randomly", "no:xdist"]
    options = ["-q", "-s", "--rootdir", ".", "-c", os.devnull]
    return int(pytest.main([*(word for name in plugins for word in ("-p", name)), *options, *arguments]))


def base_files(folder: Path) -> dict[str, tuple[str, str]]:
    """Return sound files of every kind; a record and a calibration are made by running the commands."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {**LAB["dataset"]["inputs"][0], "key": f"k{n}", "actual_output": f"It is {n % 9}."} for n in range(40)
    ]  # type: ignore[index]
    (folder / "x_lab.json").write_text(json.dumps({**LAB, "dataset": {"inputs": rows}}), encoding="utf-8")
    (folder / "evalstudio.toml").write_text(
        'evaluators = ["text_matching", "lexical_groundedness"]\n', encoding="utf-8"
    )
    # Answers with the numbers of the question are good, but for two: a calibration without any error, or
    # against the score, is refused.
    labels = "key,model_key,label\n" + "".join(
        f"k{n},m,{int((n % 9 in (0, 2)) is not (n in (1, 9)))}\n" for n in range(40)
    )
    (folder / "labels.csv").write_text(labels, encoding="utf-8")
    _pytest(folder, ["x_lab.json"])
    record = folder / "evalstudio-report" / "record.jsonl"
    worker = Worker()
    metric = "lexical_groundedness.supported_words"
    worker.run(["calibrate", str(record), "labels.csv", "--metric", metric, "-o", "calibration.json"], folder)
    worker.close()
    lines = record.read_text(encoding="utf-8").splitlines(keepends=True)[:8]
    calibration = folder / "calibration.json"
    text = calibration.read_text(encoding="utf-8")
    return sound_files("".join(lines), labels, text)


def _pytest(folder: Path, arguments: Sequence[str], limit_s: float = 120.0) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGES, os.environ.get("PYTHONPATH", "")])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-q",
        "--rootdir",
        ".",
        *arguments,
    ]
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=limit_s, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, ""
    return run.returncode, (run.stdout + run.stderr).decode("utf-8", "replace")


def commands_of(broken: Broken, base: Path) -> list[list[str]]:
    """Return the commands that read a file of its kind."""
    record = str(base / "evalstudio-report" / "record.jsonl")
    name = broken.name
    return {
        "labels": [["calibrate", record, name, "--metric", "lexical_groundedness.supported_words"]],
        "record": [
            ["report", name, "-o", "out"],
            ["calibrate", name, str(base / "labels.csv"), "--metric", "lexical_groundedness.supported_words"],
        ],
        "calibration": [["validate", "evalstudio.toml"]],
        "configuration": [["validate", name], ["validate", "sound_suite.json"]],
        "workflow": [["validate", name], ["mrm", "status", name]],
        "suite": [
            ["validate", name],
            ["perturb", name, "-p", "comma:low", "-o", "out.json"],
            ["resolve", name, "-o", "lab.json", "--cache", "c"],
        ],
        "lab": [["validate", name], ["perturb", name, "-p", "qwerty", "-o", "out.json"]],
    }.get(broken.kind, [["validate", name]])


def _write_file(broken: Broken, folder: Path) -> None:
    folder.mkdir()
    (folder / "fees.md").write_text("Transfers cost 2 EUR. Cards are free.", encoding="utf-8")
    table = (
        '[evaluator.lexical_groundedness]\ncalibration = "calibration.json"\n'
        if broken.kind == "calibration"
        else ""
    )
    model = '[[model]]\nname = "quote"\nhost = "extractive"\n'
    (folder / "evalstudio.toml").write_text(
        f'evaluators = ["text_matching", "lexical_groundedness"]\n{model}{table}', encoding="utf-8"
    )
    (folder / "sound_suite.json").write_text(
        '{"tests": [{"test_cases": [{"prompt": "q", "condition": "\\"a\\""}]}]}', encoding="utf-8"
    )
    (folder / broken.name).write_bytes(broken.content)


def unsafe_character(text: str) -> str:
    """The first character of an output that could steer a terminal, "" for none."""
    return next(
        (
            char
            for char in text
            if (ord(char) < 32 and char not in "\n\t\r") or 127 <= ord(char) < 160 or char == "\u202e"
        ),
        "",
    )


def fuzz(
    count: int, folder: Path, *, seed: int = 1, collect: bool = True, seconds: float = float("inf")
) -> Figures:
    """Break that many files and run the commands of users on them.

    Args:
        folder: where they are written, each in a folder of its own.
        collect: whether pytest collects them, too.
        seconds: no file is begun after that.
    """
    base = folder / "base"
    sound = base_files(base)
    figures = Figures()
    worker = Worker()
    end = time.monotonic() + seconds
    entries: list[tuple[Broken, Path]] = []
    for number, broken in enumerate(broken_files(sound, count, seed)):
        if time.monotonic() > end:
            break
        place = folder / f"f{number}"
        _write_file(broken, place)
        entries.append((broken, place))
        figures.files += 1
        for command in commands_of(broken, base):
            reply = worker.run(command, place)
            figures.commands += 1
            _note(figures, f"{broken.change}: evalstudio {' '.join(command)}", reply)
    worker.close()
    for batch in _batches(entries) if collect else ():
        status, output = _pytest(
            folder, ["--collect-only", "--continue-on-collection-errors", *(place.name for _, place in batch)]
        )
        figures.commands += 1
        _note_collection(
            figures, f"pytest --collect-only on {batch[0][1].name} to {batch[-1][1].name}", status, output
        )
    return figures


def _batches(entries: list[tuple[Broken, Path]]) -> Iterator[list[tuple[Broken, Path]]]:
    """Files that one pytest process collects; a configuration that is wrong ends its process, so a few stand
    alone.
    """
    single_files = [entry for entry in entries if entry[0].kind in ("configuration", "calibration")]
    batch_files = [
        entry
        for entry in entries
        if entry[0].kind not in ("configuration", "calibration", "record", "labels")
    ]
    yield from ([entry] for entry in single_files[:: max(1, len(single_files) // MAX_ALONE)])
    for start in range(0, len(batch_files), BATCH):
        yield batch_files[start : start + BATCH]


def _note(figures: Figures, what: str, reply: dict[str, object]) -> None:
    if not reply:
        figures.faults.append(f"{what}: hangs for more than {2 * LIMIT_S:g} s, or ends its process")
        return
    status, output, seconds = int(str(reply["status"])), str(reply["output"]), float(str(reply["seconds"]))
    figures.statuses[status] += 1
    figures.slowest_s = max(figures.slowest_s, seconds)
    if reply["fault"]:
        figures.faults.append(f"{what}: {reply['fault']}")
    elif status not in STATUSES or "Traceback (most recent" in output:
        figures.faults.append(f"{what}: exit status {status}: {output[-1000:]}")
    elif seconds > LIMIT_S:
        figures.faults.append(f"{what}: takes {seconds:.1f} s")
    elif char := unsafe_character(output):
        figures.faults.append(f"{what}: prints {char!r}: {output[:300]!r}")


def _note_collection(figures: Figures, what: str, status: int, output: str) -> None:
    figures.statuses[status] += 1
    if status not in COLLECTING_STATUSES or "INTERNALERROR" in output or "Traceback (most recent" in output:
        figures.faults.append(f"{what}: exit status {status}: {output[-2000:]}")
    elif char := unsafe_character(output):
        at = output.index(char)
        figures.faults.append(f"{what}: prints {char!r}: {output[max(0, at - 200) : at + 50]!r}")


if __name__ == "__main__":
    serve()
