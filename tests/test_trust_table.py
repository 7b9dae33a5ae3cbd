"""Modules that open files are in the table of docs/explanation/security.md, or read none of strangers."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

import pytest_evalstudio
from pytest_evalstudio.importers.kinds import KINDS
from support.pages import DOCS, read

PACKAGE = Path(pytest_evalstudio.__file__).parent
PAGE = DOCS / "explanation" / "security.md"

SUITES, LABS, WORKFLOWS, ARTIFACTS = (
    "Suites",
    "Labs and data sets",
    "Workflow files",
    "Artifacts of a workflow",
)
POLICIES = "Policies and guidance"
LABELS, BATTLES, GUARDRAILS, GATES = "Labels", "Battles of an arena", "Guardrail files", "Files with gates"
MEASURES, SCORED, SOURCES = "Calibrations", "Scored tables", "Tables for `evalstudio score`"
RECORDS, ARCHIVES, TOOLS = "Records", "Archives of a report", "Files of other tools"
PROMPTFOO, LIBRARY, DOCUMENTS = "Configurations of promptfoo", "Index of a library", "Documents"
SCHEMAS, MARKS, CACHES = "JSON schemas", "Marks of unfinished runs", "Caches"
OF_TOOLS = "Recordings and pins of tools"
HIDDEN = "Folders of a hidden half"
ATTESTATIONS = "Attestations of runs"

LOADERS: dict[str, tuple[str, ...]] = {
    "contrib/attestation/signing.py": (ATTESTATIONS,),
    "contrib/attestation/statement.py": (ATTESTATIONS,),
    "contrib/attestation/verifying.py": (RECORDS,),
    "contrib/holdout/folder.py": (HIDDEN,),
    "contrib/holdout/ledger.py": (HIDDEN,),
    "contrib/tables/input/delta.py": (SOURCES,),
    "contrib/tables/input/readers.py": (SOURCES,),
    "contrib/tables/input/sources.py": (SOURCES,),
    "contrib/tables/table/storage.py": (SCORED, SOURCES, GATES),
    "contrib/tables/table/worst.py": (SCORED,),
    "contrib/tables/table/reader.py": (SCORED,),
    "scoring/calibration/attachment.py": (MEASURES,),
    "scoring/calibration/file.py": (MEASURES,),
    "analysis/comparison/baseline.py": (RECORDS, ARCHIVES),
    "core/attachments.py": (SUITES, LABS),
    "core/store.py": (CACHES,),
    "asking/answers.py": (DOCUMENTS,),
    "asking/downloads.py": (SUITES, CACHES),
    "asking/runs.py": (MARKS,),
    "contrib/judge_bench/bench.py": (LABS,),
    "asking/library.py": (LIBRARY, SUITES),
    "record/outputs.py": (MARKS, RECORDS),
    "scoring/run_header.py": (DOCUMENTS,),
    "scoring/judge_checks.py": (MEASURES,),
    "evaluators/_artifacts.py": (LABS,),
    "formats/agent_evaluation.py": (TOOLS,),
    "contrib/arena/battle_files.py": (BATTLES,),
    "formats/kinds.py": (SUITES, LABS, WORKFLOWS),
    "api/updating.py": (SUITES, RECORDS),
    "plugin/suite_parameters.py": (SUITES, LABS),
    "cli/update.py": (SUITES, RECORDS),
    "formats/guardrails.py": (GUARDRAILS,),
    "formats/marked_files.py": (MEASURES,),
    "formats/judge_examples.py": (MEASURES,),
    "formats/labels.py": (LABELS,),
    "formats/recognition.py": (SUITES, LABS, WORKFLOWS, GATES),
    "contrib/tables/scores_file.py": (GATES,),
    "formats/sheets.py": (LABELS, BATTLES),
    "formats/source.py": (SUITES, LABS, WORKFLOWS, TOOLS),
    "formats/yaml_text.py": (SUITES,),
    "hosts/_corpora.py": (DOCUMENTS,),
    "hosts/_documents.py": (DOCUMENTS,),
    "hosts/h2ogpte.py": (DOCUMENTS,),
    "importers/beir.py": (TOOLS,),
    "formats/imported/records.py": (TOOLS,),
    "formats/imported/parquet.py": (TOOLS,),
    "formats/imported/workbook.py": (TOOLS,),
    "importers/inspect_archive.py": (TOOLS,),
    "importers/kinds.py": (TOOLS, PROMPTFOO),
    "importers/promptfoo.py": (PROMPTFOO,),
    "metrics/json_schema.py": (SCHEMAS,),
    "metrics/tool_definitions.py": (SCHEMAS,),
    "contrib/validation/artifacts/chain.py": (ARTIFACTS,),
    "contrib/validation/artifacts/evidence.py": (ARTIFACTS, WORKFLOWS),
    "contrib/validation/artifacts/register.py": (ARTIFACTS,),
    "contrib/validation/artifacts/signature.py": (ARTIFACTS,),
    "contrib/validation/artifacts/verification.py": (ARTIFACTS,),
    "analysis/stored_scores.py": (RECORDS,),
    "contrib/validation/methods/controls/results.py": (ARTIFACTS,),
    "contrib/validation/steps/topic_modeling/files.py": (ARTIFACTS,),
    "contrib/validation/workflow/collection_copies.py": (WORKFLOWS, DOCUMENTS),
    "contrib/cause/chunks.py": (DOCUMENTS,),
    "contrib/agent_loop/server.py": (RECORDS,),
    "contrib/agent_loop/workspace.py": (RECORDS,),
    "contrib/tool_proxy/pins.py": (OF_TOOLS,),
    "contrib/tool_proxy/recording.py": (OF_TOOLS,),
    "contrib/validation/workflow/documents.py": (DOCUMENTS,),
    "contrib/validation/workflow/entries.py": (ARTIFACTS,),
    "contrib/validation/workflow/masking.py": (ARTIFACTS,),
    "contrib/validation/workflow/patches.py": (DOCUMENTS,),
    "contrib/validation/workflow/guidance.py": (POLICIES,),
    "contrib/validation/workflow/policy.py": (POLICIES,),
    "contrib/validation/workflow/states.py": (ARTIFACTS,),
    "plugin/fixtures.py": (SUITES, LABS),
    "plugin/collecting.py": (SUITES, LABS, WORKFLOWS),
    "record/reader.py": (RECORDS,),
    "traces/files.py": (TOOLS,),
    "contrib/mutation/subjects.py": (SUITES, LABS, RECORDS),
    "report/data/pictures.py": (RECORDS,),
    "contrib/validation/artifact_files.py": (WORKFLOWS,),
    **dict.fromkeys(("contrib/arena/commands/arena.py", "cli/common.py", "cli/validate.py"), (SUITES, LABS)),
    "cli/importing.py": (SUITES, LABS),
    "contrib/validation/commands/mrm_clone.py": (WORKFLOWS,),
    "cli/standard_input.py": (TOOLS, SUITES, LABS),
    "contrib/validation/commands/workflow_files.py": (WORKFLOWS,),
    "contrib/calibration/commands/review.py": (LABELS,),
    "contrib/validation/workflow_sample.py": (WORKFLOWS,),
}
"""Modules that read files of strangers, with the rows of the table that describe them."""
OF_NO_STRANGER = {
    "contrib/tool_proxy/commands/mcp_proxy.py": "standard input, from the agent that starts the proxy",
    "contrib/attestation/exchange.py": "messages between processes that the command has started",
    "contrib/attestation/processes.py": "output of these processes",
    "contrib/attestation/revisions.py": "files of the user's repository, which are copied and read as text",
    "cli/starter/applications.py": "reads the lab that the user names, by the readers of `formats`",
    "cli/starter/files.py": "reads templates of this package, and adds lines to a `.gitignore`",
    "core/locking.py": "opens lock files, whose content is not read",
    "core/program_checks.py": "reads modules of the user's that have been imported",
    "core/reading.py": "reads for the other modules",
    "formats/config.py": "the configuration is trusted like code",
    "formats/json_schemas.py": "reads a file of this package",
    "formats/unused_tables.py": "looks for names of evaluators, within limits; shows nothing of the files",
    "asking/tool_snapshots.py": "reads the file that the command names",
    "contrib/redteam/owasp.py": "reads a file of this package",
    "contrib/redteam/purpose.py": "reads the file that the command names",
    "formats/prompt_files.py": "reads templates that the configuration names",
    "contrib/judge_bench/canary_file.py": "reads a file of this package",
    "contrib/holdout/split.py": "the configuration is trusted like code",
    "contrib/agent_loop/runs.py": "reads what the run that it started has written",
    "contrib/guard/watching.py": "takes the digest of a file that formats/guardrails.py reads",
    "judges/prompts.py": "reads templates of this package, and those that the configuration names",
    "metrics/entailment.py": "reads weights that the configuration names",
    "metrics/groundedness/weights.py": "reads a file of this package",
    "models/token_matcher.py": "reads a model that the configuration names",
    "models/vectors.py": "reads the digest of a model that the configuration names",
    "models/weights.py": "reads models that the configuration names",
    "perturbations/_typos.py": "reads a file of this package",
    "contrib/questions/words.py": "reads files of this package",
    "plugin/ci_output.py": "appends to the file that the CI runner names",
    "record/writer.py": "reads back the record that this run writes",
    "report/assets.py": "reads a file of this package",
    "report/folders.py": "packs the files that this run has written",
    "contrib/calibration/review/server.py": "reads a file of this package",
    "contrib/calibration/review/store.py": "opens a folder, so that the system writes it to the disk",
}
CALLS = {
    *(
        "open_file",
        "check_file",
        "read_bytes",
        "read_text",
        "read_utf8",
        "file_sha256",
        "read_sheet",
        "read_source",
    ),
    *(
        "ZipFile",
        "TarFile",
        "is_zipfile",
        "url_to_fs",
        "cat_file",
        "ParquetFile",
        "read_table",
        "open_csv",
        "dataset",
    ),
    *(
        "read_parquet",
        "read_csv_file",
        "iterparse",
        "fromfile",
        "memmap",
        "safe_load",
        "load_workbook",
        "PdfReader",
    ),
}
QUALIFIED = {
    "sqlite3.connect",
    "yaml.load",
    "json.load",
    "tomllib.load",
    "np.load",
    "torch.load",
    "os.open",
    "pickle.load",
}
TEXTS = dict.fromkeys(
    ("evaluators/lexical_groundedness.py", "metrics/rag_stages.py"), "its `read_source` takes texts"
)


def opens_files(text: str) -> bool:
    """Return whether code calls a reader of files, or `open` otherwise than for writing."""
    return any(_is_reader(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


def _is_reader(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name.rpartition(".")[2] in CALLS or name in QUALIFIED:
        return True
    if name.rpartition(".")[2] != "open":
        return False
    modes = [
        node.value
        for node in (*call.args, *(word.value for word in call.keywords))
        if isinstance(node, ast.Constant)
    ]
    modes = [mode for mode in modes if isinstance(mode, str) and re.fullmatch(r"[rwxab+t]{1,3}", mode)]
    if name == "open":
        return not modes or "r" in modes[0] or "+" in modes[0]
    return any("r" in mode for mode in modes)


@functools.cache
def modules() -> frozenset[str]:
    names = ((path, path.relative_to(PACKAGE).as_posix()) for path in PACKAGE.rglob("*.py"))
    return frozenset(
        name for path, name in names if name not in TEXTS and opens_files(path.read_text(encoding="utf-8"))
    )


def kinds() -> list[str]:
    """Return the first column of the table of kinds."""
    section = read(PAGE).partition("## Kinds of files\n")[2].partition("\n## ")[0]
    return [row.split(" | ")[0].removeprefix("| ") for row in section.splitlines() if row.startswith("| ")][
        2:
    ]


@pytest.mark.parametrize(
    "code",
    [
        "open(path)",
        'open(path, "rb")',
        'path.open("rb")',
        "path.read_text()",
        "zipfile.ZipFile(x)",
        "read_bytes(p)",
    ],
)
def test_the_walk_sees_what_reads_a_file(code: str) -> None:
    assert opens_files(code)


@pytest.mark.parametrize(
    "code", ['open(path, "wb")', "host.open(tools)", "json.loads(text)", "path.write_bytes(b)"]
)
def test_the_walk_passes_what_reads_none(code: str) -> None:
    assert not opens_files(code)


def test_each_module_that_opens_files_is_decided() -> None:
    undecided = modules() - LOADERS.keys() - OF_NO_STRANGER.keys()

    assert not undecided, (
        "these modules read files: add each to LOADERS with its row of the table in"
        " docs/explanation/security.md, or to OF_NO_STRANGER with the reason"
    )


def test_each_decision_is_about_a_module_that_opens_files() -> None:
    assert not (LOADERS.keys() | OF_NO_STRANGER.keys()) - modules()
    assert not LOADERS.keys() & OF_NO_STRANGER.keys()


def test_each_kind_has_one_row_and_each_row_a_loader() -> None:
    rows = kinds()
    described = {row for names in LOADERS.values() for row in names}

    assert {name: sum(row.startswith(name) for row in rows) for name in described} == dict.fromkeys(
        described, 1
    )
    assert [row for row in rows if not any(row.startswith(name) for name in described)] == []


def test_each_format_of_another_tool_is_in_a_row() -> None:
    text = " ".join(row for row in kinds() if row.startswith((TOOLS, PROMPTFOO)))

    assert [kind for kind in KINDS if kind not in text] == []
