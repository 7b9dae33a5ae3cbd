"""Kinds of files of strangers, with a sound file of each and the commands that read it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.generator import CONFIGURATION, DATASET, LAB, SUITE, WORKFLOW, csv_text

LARGE_BYTES = 200_000
FOREIGN = Path(__file__).parents[1] / "importers" / "files"
VALIDATE = ("validate",)
SCORE = ("score", "-o", "out.parquet", "-e", "looping_detection", "--workers", "1", "--overwrite")
RESOLVE = ("resolve", "-o", "lab.json", "--cache", "c", "a_suite.json", "{drop}")
COLLECT = ("pytest", "--collect-only")
METRIC = ("--metric", "lexical_groundedness.supported_words")
TABLE_MODEL = '[[model]]\nname = "quote"\nhost = "extractive"\n\n'
BASE = 'evaluators = ["text_matching", "lexical_groundedness"]\n' + TABLE_MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: for messages.
        path: of the file in a folder of its own.
        content: a sound file.
        form: as `damages` takes it.
        commands: that read it; "pytest" first for pytest, else a command of `evalstudio`.
        others: further files of the folder, by path.
        large: the same of about 200 kB, where `enlarged` cannot make it.
    """

    name: str
    path: str
    content: bytes
    form: str
    commands: tuple[tuple[str, ...], ...]
    others: Mapping[str, bytes]
    large: bytes = b""


def enlarged(content: bytes, form: str) -> bytes:
    """Return a file of about 200 kB: rows repeated where the format has rows, else blanks or comments."""
    number = LARGE_BYTES // max(1, len(content))
    if form in ("jsonl", "csv"):
        lines = content.splitlines(keepends=True)
        return content + b"".join(lines[1:] or lines) * number
    if form == "json":
        return _with_more_rows(content)
    if form == "object":
        return content + b" " * LARGE_BYTES
    if form in ("toml", "yaml"):
        return content + b"\n" + b"# comment\n" * (LARGE_BYTES // 10)
    if form == "pdf":
        return pdf(SENTENCE * (LARGE_BYTES // len(SENTENCE)))
    if form == "zip":  # an archive may follow other bytes
        return bytes(LARGE_BYTES) + content
    return content + b"\nmore text of the document." * (LARGE_BYTES // 27)


def _with_more_rows(content: bytes) -> bytes:
    """Repeat the longest list of objects, with distinct keys; a file without one gets blanks."""
    try:
        document = json.loads(content)
    except ValueError:
        return content + b" " * LARGE_BYTES
    rows = max(_lists(document), key=lambda rows: (len(rows), len(json.dumps(rows))), default=None)
    if rows is None:
        return content + b" " * LARGE_BYTES
    first = rows[-1]
    number = LARGE_BYTES // len(json.dumps(first))
    rows += [{**first, **({"key": f"more{n}"} if "key" in first else {})} for n in range(number)]
    return json.dumps(document, indent=1).encode()


def _lists(value: Any) -> list[list[dict[str, Any]]]:
    if isinstance(value, list):
        inner = [rows for item in value for rows in _lists(item)]
        return [value, *inner] if value and all(isinstance(item, dict) for item in value) else inner
    return [rows for item in value.values() for rows in _lists(item)] if isinstance(value, dict) else []


CHECK = {
    "evalstudio_judge_check": 1,
    "evaluator": "j",
    "type": "custom_judge",
    "judge": {},
    "threshold": 0.5,
    "created": "2026-01-01T00:00:00Z",
    "labels": 4,
    "answers": 4,
    "verdicts": 4,
    "agreement": 0.75,
    "kappa": 0.5,
    "questions": [{"good": 2, "good_passed": 2, "bad": 2, "bad_passed": 1}],
    "flips": {"noise": {"compared": 4, "flipped": 1, "to_pass": 1, "to_fail": 0, "rate": 0.25}},
}
CANARY = {
    "evalstudio_judge_canary": 1,
    "evaluator": "lexical_groundedness",
    "type": "custom_judge",
    "set": "x",
    "judge": {},
    "threshold": 0.5,
    "created": "2026-01-01T00:00:00Z",
    "verdicts": {"a-b": [True, None]},
}
EXAMPLES = {
    "evaluator": "j",
    "prompt": "custom_judge",
    "threshold": 0.5,
    "examples": [{"texts": {"question": "q", "answer": ["a"]}, "verdict": "yes"}],
}
GUARDRAILS = {
    "calibrated_thresholds": {"lexical_groundedness": {"supported_words": 0.5}},
    "evaluator_ids": ["lexical_groundedness", "pii_leakage"],
    "not_calibrated": {"lexical_groundedness": ["supported_words"]},
    "optional": ["lexical_groundedness"],
}
BATTLES = "prompt_key,model_a,model_b,winner,score_a,score_b,reason,judge,seed\n" + "".join(
    f"p{n},a,{'b' if n % 2 else 'c'},{('model_a', 'model_b', 'tie')[n % 3]},7,5,r,j,1\n" for n in range(12)
)
LIBRARY = {
    "suites": [{"name": "S", "file": "s/x_suite.json", "description": "d", "licence": "MIT", "cases": 3}]
}
SCORES = (
    'table = "scored.parquet"\ngates = ["rouge.rouge_l >= 0.3"]\ngroups = ["model_key"]\nmin_answers = 2\n'
)
SENTENCE = "Transfers cost 2 EUR. "
MARKDOWN = b"# Fees\n\nTransfers cost 2 EUR. Cards are free.\n"
HTML = b"<html><head><title>t</title></head><body><h1>Fees</h1><p>Transfers cost 2 EUR.</p></body></html>"
ROWS = [
    {
        "input": "2+2?",
        "actual_output": "It is 4.",
        "expected_output": "4",
        "model_key": "m",
        "context": "four",
    }
] * 6


def file_kinds(base: Path) -> list[FileKind]:
    """Return all kinds.

    Args:
        base: folder in which a run, a calibration, a scored table and a workflow have been written.
    """
    return [*_of_runs(base), *_of_tables(base), *_of_documents(), *_attached(base), *_foreign()]


def _of_runs(base: Path) -> Iterator[FileKind]:
    record = (base / "evalstudio-report" / "record.jsonl").read_bytes()
    labels = (base / "labels.csv").read_bytes()
    suite, rows, workflow = _json(SUITE), csv_text(DATASET["inputs"]).encode(), _json(WORKFLOW)
    export = ("export", "-o", "out.json", "deepeval")
    yield _kind("suite", "x_suite.json", suite, "json", VALIDATE, COLLECT, export)
    yield _kind("suite in YAML", "y_suite.yaml", suite, "json", VALIDATE, COLLECT)
    yield _kind("lab", "x_lab.json", _json(LAB), "json", VALIDATE, ("pytest",))
    yield _kind("data set", "x_dataset.json", _json(DATASET), "json", VALIDATE, COLLECT)
    yield _kind("data set in CSV", "x_dataset.csv", rows, "csv", VALIDATE, COLLECT)
    yield _kind("workflow", "x_workflow.json", workflow, "object", VALIDATE, ("mrm", "status"), COLLECT)
    comparison = ("compare", "{base}")
    yield _kind("record", "record.jsonl", record, "jsonl", ("report", "-o", "out"), ("history",), comparison)
    merge = ("merge", "-o", "out", "{folder}")
    yield _kind("report of a shard", "shard/record.jsonl", record, "jsonl", merge)
    archive = _zip("record.jsonl", record)
    yield _kind("archive of a report", "report.zip", archive, "zip", ("baseline", "save", "-o", "b.jsonl"))
    yield _kind("labels", "labels.csv", labels, "csv", ("calibrate", *METRIC, "{base}", "{file}"))
    yield _kind("battles", "battles.csv", BATTLES.encode(), "csv", ("arena", "rate", "--rounds", "20"))
    yield _kind("guardrails", "guardrails.json", _json(GUARDRAILS), "object", ("guard", "check"))
    suites = {"s/x_suite.json": suite}
    listing = ("library", "list", "-l", "library.json", "{drop}")
    yield _kind("index of a library", "library.json", _json(LIBRARY), "object", listing, others=suites)
    step = "x_workflow_artifacts/1_topic_modeling/step.json"
    home = {"x_workflow.json": workflow, "x_workflow_artifacts/.evalstudio-workflow": b"x_workflow.json\n"}
    status = ("mrm", "status", "x_workflow.json", "{drop}")
    yield _kind("state of a step", step, (base / step).read_bytes(), "object", status, others=home)


def _of_tables(base: Path) -> Iterator[FileKind]:
    lines = b"".join(map(_json, ROWS))
    yield _kind("rows of a table", "x.jsonl", lines, "jsonl", SCORE)
    yield _kind("table", "x.csv", csv_text(ROWS).encode(), "csv", SCORE)
    large = (base / "large.parquet").read_bytes()
    yield _kind("Parquet", "x.parquet", (base / "x.parquet").read_bytes(), "text", SCORE, large=large)
    table = _below(base / "scored.parquet", "scored.parquet")
    yield _kind("gates", "x_scores.toml", SCORES.encode(), "toml", VALIDATE, COLLECT, others=table)
    gated = {**table, "g_scores.toml": SCORES.encode()}
    manifest = "scored.parquet/manifest.json"
    commands = ("report", "-o", "out", "{folder}"), (*COLLECT, "g_scores.toml", "{drop}")
    yield _kind("scored table", manifest, (base / manifest).read_bytes(), "object", *commands, others=gated)


def _of_documents() -> Iterator[FileKind]:
    for name, content in (("fees.md", MARKDOWN), ("fees.html", HTML), ("fees.pdf", pdf(SENTENCE))):
        suite = {"a_suite.json": _json(SUITE).replace(b"fees.md", name.encode())}
        form = "pdf" if name == "fees.pdf" else "text"
        yield _kind(f"document {name}", name, content, form, RESOLVE, others=suite)


def _attached(base: Path) -> Iterator[FileKind]:
    """Yield the configuration, and the files that it names."""
    collect = (*COLLECT, "sound_suite.json", "{drop}")
    yield _kind("configuration", "evalstudio.toml", CONFIGURATION.encode(), "toml", VALIDATE, collect)
    calibration = (base / "calibration.json").read_bytes()
    tables = {
        "calibration": ("[evaluator.lexical_groundedness]\ncalibration", calibration),
        "judge check": ('[evaluator.j]\ntype = "custom_judge"\njudge_check', _json(CHECK)),
        "judge examples": ('[judge]\nmodel = "quote"\nexamples', _json(EXAMPLES)),
    }
    validate = ("validate", "evalstudio.toml", "{drop}")
    for name, (setting, content) in tables.items():
        configuration = {"evalstudio.toml": f'{BASE}{setting} = "attached.json"\n'.encode()}
        yield _kind(name, "attached.json", content, "object", validate, collect, others=configuration)
    canary = ("judge-check", "--evaluator", "lexical_groundedness", "--canary")
    yield _kind("record of canaries", "canary.json", _json(CANARY), "object", canary)


def _foreign() -> Iterator[FileKind]:
    forms = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".yaml": "yaml", ".eval": "zip"}
    tests = {"promptfoo_tests.csv": (FOREIGN / "promptfoo_tests.csv").read_bytes()}
    for file in sorted(FOREIGN.iterdir()):
        tool = next((tool for tool in TOOLS if file.name.startswith(tool.replace("-", "_"))), "")
        if tool and file.name not in tests:
            convert = ("import", "-o", "out.json", tool)
            form = forms[file.suffix]
            yield _kind(file.name, file.name, file.read_bytes(), form, convert, others=tests)


def pdf(text: str) -> bytes:
    """Return a document of one page."""
    stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    content, offsets = b"%PDF-1.4\n", []
    for number, entry in enumerate(objects, 1):
        offsets.append(len(content))
        content += b"%d 0 obj%s endobj\n" % (number, entry)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 6\n0000000000 65535 f \n"
    return content + head + table + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(content)


TOOLS = ("braintrust", "deepeval", "inspect", "langsmith", "mlflow", "openai-evals", "promptfoo", "ragas")


def _kind(
    name: str,
    path: str,
    content: bytes,
    form: str,
    *commands: tuple[str, ...],
    others: Mapping[str, bytes] | None = None,
    large: bytes = b"",
) -> FileKind:
    return FileKind(
        name=name, path=path, content=content, form=form, commands=commands, others=others or {}, large=large
    )


def _json(value: Any) -> bytes:
    return (json.dumps(value) + "\n").encode()


def _zip(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr(name, content)
    return packed.getvalue()


def _below(folder: Path, name: str) -> dict[str, bytes]:
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
