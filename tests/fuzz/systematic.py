"""Applies every damage to every kind of file at two sizes, and runs the commands that read the file."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.damage import Damage, damages, remove
from fuzz.generator import WORKFLOW
from fuzz.kinds import BASE, ROWS, FileKind, enlarged, file_kinds
from fuzz.runner import COLLECTING_STATUSES, STATUSES, Worker, base_files, unsafe_character
from pytest_evalstudio.contrib.validation.workflow.states import State, write_state

LIMIT_S = 10.0
COMMANDS_PER_PROCESS = 400
"""Commands after which a new process is started: each run of pytest keeps some memory."""
SOUND = json.dumps({"tests": [{"test_cases": [{"prompt": "q", "condition": '"a"'}]}]})
SIZES = ("small", "large")


@dataclass(slots=True)
class Figures:
    """Observations of a run of the fuzz test.

    Attributes:
        kinds: pairs of a kind of file and a damage.
        cases: files; each pair is tried at both sizes.
        commands: commands that were run.
        statuses: how often a command ended with each exit status.
        tracebacks, hangs, others: sentences about commands that ended as they must not.
    """

    kinds: int = 0
    cases: int = 0
    commands: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    slowest_s: float = 0.0
    slowest: str = ""
    tracebacks: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        return [*self.hangs, *self.tracebacks, *self.others]


def pairs(base: Path) -> Iterator[tuple[FileKind, Damage]]:
    """Yield each kind of file with each damage that suits it."""
    for kind in file_kinds(base):
        for damage in damages(kind.content, kind.form):
            yield kind, damage


def fuzz_systematically(
    folder: Path, *, stride: int = 1, seconds: float = float("inf"), names: Collection[str] = ()
) -> Figures:
    """Run the commands of users on damaged files of all kinds.

    Args:
        folder: an empty folder.
        stride: every how manieth pair is tried.
        seconds: no pair is begun after that.
        names: of the damages; () for all.
    """
    base = folder / "base"
    _prepare(base)
    figures = Figures()
    worker = Worker()
    end = time.monotonic() + seconds
    selected = [pair for pair in pairs(base) if not names or pair[1].name in names]
    for number, (kind, damage) in enumerate(selected[::stride]):
        if time.monotonic() > end:
            break
        figures.kinds += 1
        for size in SIZES:
            case = folder / f"f{number}{size[0]}"
            target = _write(kind, damage, size, case)
            figures.cases += 1
            for command in kind.commands:
                words = _words(command, kind, base)
                figures.commands += 1
                if figures.commands % COMMANDS_PER_PROCESS == 0:
                    worker.close()
                reply = worker.run(words, case)
                _note(figures, f"{kind.name} ({size}), {damage.name}: {' '.join(words)}", words[0], reply)
            remove(target)
            shutil.rmtree(case)
    worker.close()
    return figures


def _prepare(base: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    base_files(base)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), base / "x.parquet")
    large = [{**ROWS[0], "context": random.Random(n).randbytes(200).hex()} for n in range(900)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(large), base / "large.parquet")
    worker = Worker()
    options = ["-e", "rouge,looping_detection", "--workers", "1"]
    reply = worker.run(["score", "-o", "scored.parquet", *options, "x.parquet"], base)
    worker.close()
    assert (base / "scored.parquet" / "manifest.json").is_file(), reply
    step = base / "x_workflow_artifacts" / "1_topic_modeling"
    step.mkdir(parents=True)
    start, end = "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:09+00:00"
    state = {"status": "completed", "parameters": {}, "key": "k", "started": start, "finished": end}
    fields = {name: value for name, value in state.items() if name in State.__dataclass_fields__}
    required = {
        name: ""
        for name, entry in State.__dataclass_fields__.items()
        if name not in fields and _is_required(entry)
    }
    write_state(step, State(**{**required, **fields, "seconds": 9.0}))  # type: ignore[arg-type]
    (base / "x_workflow.json").write_text(json.dumps(WORKFLOW), encoding="utf-8")


def _is_required(entry: object) -> bool:
    import dataclasses

    assert isinstance(entry, dataclasses.Field)
    return entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING


def _write(kind: FileKind, damage: Damage, size: str, case: Path) -> Path:
    """Write the folder of a case, and return the damaged file."""
    case.mkdir()
    others = {"fees.md": b"Transfers cost 2 EUR. Cards are free.", "evalstudio.toml": BASE.encode()}
    others |= {"sound_suite.json": SOUND.encode(), **kind.others}
    for name, content in others.items():
        if name != kind.path:
            (case / name).parent.mkdir(parents=True, exist_ok=True)
            (case / name).write_bytes(content)
    target = case / kind.path
    target.parent.mkdir(parents=True, exist_ok=True)
    damage.write(target, kind.large or enlarged(kind.content, kind.form) if size == "large" else kind.content)
    return target


def _words(command: tuple[str, ...], kind: FileKind, base: Path) -> list[str]:
    values = {
        "{base}": str(base / "evalstudio-report" / "record.jsonl"),
        "{folder}": kind.path.partition("/")[0],
        "{file}": kind.path,
    }
    words = [values.get(word, word) for word in command if word != "{drop}"]
    is_named = any(word in ("{folder}", "{file}", "{drop}") for word in command)
    return words if is_named else [*words, kind.path]


def _note(figures: Figures, what: str, program: str, reply: dict[str, object]) -> None:
    if not reply:
        figures.hangs.append(f"{what}: hangs for more than {2 * LIMIT_S:g} s, or ends its process")
        return
    status, output, seconds = int(str(reply["status"])), str(reply["output"]), float(str(reply["seconds"]))
    figures.statuses[status] += 1
    if seconds > figures.slowest_s:
        figures.slowest_s, figures.slowest = seconds, what
    documented = COLLECTING_STATUSES if program == "pytest" else STATUSES
    if reply["fault"]:
        figures.tracebacks.append(f"{what}: {str(reply['fault'])[-1500:]}")
    elif "INTERNALERROR" in output or "Traceback (most recent" in output:
        figures.tracebacks.append(f"{what}: {output[-1500:]}")
    elif status not in documented:
        figures.others.append(f"{what}: exit status {status}: {output[-500:]}")
    elif seconds > LIMIT_S:
        figures.hangs.append(f"{what}: takes {seconds:.1f} s")
    elif char := unsafe_character(output):
        figures.others.append(f"{what}: prints {char!r}: {output[:300]!r}")
