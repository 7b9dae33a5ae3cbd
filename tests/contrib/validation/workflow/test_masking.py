"""No file of a workflow shows personal data or secrets of documents, answers, labels and names."""

from __future__ import annotations

import base64
import csv
import json
import re
import zipfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from pytest_evalstudio.contrib.validation.artifact_files import write_workflow_artifacts
from pytest_evalstudio.contrib.validation.workflow.masking import mask_artifacts
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.scoring.model_provider import ModelProvider

PLANTED = {
    "e-mail": "jane.doe@northfold-cards.com",
    "phone": "+44 20 7946 0958",
    "card": "4111 1111 1111 1111",
    "IBAN": "DE89 3704 0044 0532 0130 00",
    "API key": "sk-proj-Qm3vT9xLr2Wb8YzKd5Np7HsCf4Gj6AeU1iOqXtRw",
    "rater": "head.of.audit@northfold-cards.com",
    "author": "author.of.workflow@northfold-cards.com",
}
SUBJECTS = ("card", "loan", "account", "transfer", "deposit", "mortgage", "branch", "cheque")


def document(subject: str) -> str:
    """A text about one subject, with planted identifiers among facts that questions can be made from."""
    return "\n\n".join(
        [
            f"The monthly {subject} fee is £{len(subject)}.50 for each customer.",
            f"A lost {subject} is reported to {PLANTED['e-mail']} within two working days.",
            f"The {subject} hotline is {PLANTED['phone']} on weekdays, and it costs £1.20 a minute.",
            f"A test {subject} has the number {PLANTED['card']} and expires in five years.",
            f"The {subject} collection account is {PLANTED['IBAN']} in the London office.",
            f"The {subject} service takes three working days to answer a written complaint.",
            f"The {subject} interface uses the key {PLANTED['API key']} for all requests.",
            f"A new {subject} contract lasts {len(subject) + 10} months.",
            f"A printed {subject} statement costs £{len(subject)}.25.",
        ]
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> WorkflowRun:
    """A workflow whose nine steps are completed, with its report and artifacts."""
    folder = tmp_path_factory.mktemp("workflow")
    names = []
    for subject in SUBJECTS:
        names.append(f"{subject}.txt")
        (folder / names[-1]).write_text(document(subject), encoding="utf-8")
    tf_idf = {"vectors": "tf-idf"}
    content = {
        "name": f"Bank of {PLANTED['author']}",
        "description": f"Written by {PLANTED['author']}, key {PLANTED['API key']}.",
        "documents": names,
        "steps": {
            "topic_modeling": {**tf_idf, "chunk_chars": 200, "reduction": "pca"},
            "test_generation": {"count": 30},
            "test_validation": {**tf_idf, "metrics": ["cosine", "support", "condition"]},
            "human_calibration": {"metric": "rouge.rouge_l", "sample_size": 30, "rounds": 1},
            "failure_clustering": {**tf_idf, "min_failures": 6, "clusters": 1},
            "robustness_input_variations": {"cases": 4, "perturbators": ["qwerty:high"], "copies": 1},
            "robustness_adversarial": {"count": 8},
        },
    }
    path = folder / "bank_workflow.json"
    path.write_text(json.dumps({"evalstudio_workflow": content}), encoding="utf-8")
    config = configuration({"evaluators": ["text_matching", "rouge", "pii_leakage"]}, folder=folder)
    registry = Registry()
    workflow_run = WorkflowRun(read_workflow(read_source(path)), path, config, registry)
    provider = ModelProvider(registry=registry)
    for spec in workflow_run.specs:
        workflow_run.run(
            spec.id, provider=provider, cache=folder / "cache", progress=lambda count, total, what: None
        )
        if spec.id == "automated_evaluation":
            label_all(workflow_run)
    build_report(
        workflow_run.folder_of("automated_evaluation") / "record.jsonl", workflow_run.folder / "report"
    )
    write_workflow_artifacts(workflow_run)
    return workflow_run


def label_all(run: WorkflowRun) -> None:
    rows = TestLab.load(run.folder_of("automated_evaluation") / "answers_lab.json").dataset.inputs
    with open(run.folder / "labels.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "model_key", "label", "rater"])
        writer.writerows(
            [row.key, row.model_key, number % 2, PLANTED["rater"]] for number, row in enumerate(rows)
        )


def contents(folder: Path) -> Iterator[tuple[str, str]]:
    """All files of a folder, and those in archives, as texts; pictures in pages are decoded."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    yield f"{path.name}/{name}", readable(archive.read(name))
        elif path.is_file():
            yield path.relative_to(folder).as_posix(), readable(path.read_bytes())


def readable(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    embedded = re.findall(r"data:[\w/+.-]+;base64,([A-Za-z0-9+/=]+)", text)
    decoded = [base64.b64decode(part).decode("utf-8", "replace") for part in embedded]
    return "\n".join([text, unescape(text), unquote(text), *decoded])


def test_all_nine_steps_are_completed(run: WorkflowRun) -> None:
    statuses = {step.spec.id: step.status for step in run.statuses()}
    assert set(statuses.values()) == {"completed"}, statuses


@pytest.mark.parametrize("kind", PLANTED)
def test_no_file_shows_a_planted_identifier(run: WorkflowRun, kind: str) -> None:
    text = PLANTED[kind]
    forms = {text, text.replace(" ", ""), base64.b64encode(text.encode()).decode().rstrip("=")}
    leaks = [
        name
        for name, content in contents(run.folder)
        if name != "labels.csv" and any(form in content for form in forms)
    ]
    assert leaks == []


def test_a_masked_answer_names_its_masked_fields(run: WorkflowRun) -> None:
    fields = {field for row in lab_rows(run) for field in (row.model_extra or {}).get("masked", ())}
    assert "context" in fields


def lab_rows(run: WorkflowRun) -> list[Row]:
    return TestLab.load(run.folder_of("automated_evaluation") / "answers_lab.json").dataset.inputs


def test_questions_are_made_of_sentences_without_personal_data(run: WorkflowRun) -> None:
    suite = json.loads((run.folder_of("test_generation") / "tests_suite.json").read_text(encoding="utf-8"))
    cases = [case for test in suite["tests"] for case in test["test_cases"]]
    assert len(cases) >= 20
    assert not any("**" in case["prompt"] + case["expected_output"] + case["evidence"] for case in cases)
    assert any("****" in case["source_text"] for case in cases)


def test_the_step_says_how_many_sentences_are_not_used(run: WorkflowRun) -> None:
    state = run.status("topic_modeling").state
    assert state is not None
    assert (
        f"{5 * len(SUBJECTS)} sentences are masked, since personal data or secrets are in them"
        in "; ".join(state.notes)
    )


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param("a.json", '{"text": "jane@bank.com"}', '"****@****.***"', id="JSON"),
        pytest.param(
            "a.jsonl", '{"text": "jane@bank.com"}\n{"n": 1}\n', '{"text":"****@****.***"', id="JSONL"
        ),
        pytest.param("a.md", "Ask jane@bank.com.\n", "Ask ****@****.***.\n", id="Markdown"),
        pytest.param("a.csv", "key,who\r\nk1,jane@bank.com\r\n", "k1,****@****.***\r\n", id="CSV"),
        pytest.param(
            "a.svg",
            '<svg><circle r="4111111111111111"/><title>A &amp; jane@bank.com</title></svg>',
            '<circle r="4111111111111111"/><title>A &amp; ****@****.***</title>',
            id="SVG",
        ),
    ],
)
def test_files_of_any_step_are_masked(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    mask_artifacts(tmp_path)
    assert expected in (tmp_path / name).read_bytes().decode()
    assert "jane" not in (tmp_path / name).read_bytes().decode()


@pytest.mark.parametrize("suffix", ["svg", "html", "txt", "csv", "md"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_files_of_any_encoding_are_masked_and_keep_it(tmp_path: Path, suffix: str, encoding: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes("<p>Gebühr: jane@bank.com</p>".encode(encoding))
    mask_artifacts(tmp_path)
    assert path.read_bytes().decode(encoding) == "<p>Gebühr: ****@****.***</p>"


@pytest.mark.parametrize("suffix", ["svg", "html", "txt", "csv", "md", "json", "jsonl"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n<svg>\xff\x00</svg>",
        b"\xff\xfe",
        b"\xff\xfea",
        b"\xff\xfe\x00\xd8",
        b"\xfe\xff\xdc\x00a\0",
    ],
)
def test_files_that_are_no_text_stay(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    mask_artifacts(tmp_path)
    assert path.read_bytes() == content


def test_tags_comments_and_scripts_are_masked_and_data_urls_stay(tmp_path: Path) -> None:
    image = "data:image/png;base64,AKIAIOSFODNN7EXAMPLE"
    path = tmp_path / "a.svg"
    path.write_text(
        f'<svg aria-label="jane@bank.com" viewBox="0 0 4111111111111111 219"><!-- jane@bank.com -->'
        f'<image href="{image}"/><style><![CDATA[jane@bank.com]]></style>'
        '<script>x="jane@bank.com"</script></svg>'
    )
    mask_artifacts(tmp_path)
    content = path.read_text()
    assert "jane" not in content
    assert content.count("****@****.***") == 4
    assert image in content
    assert 'viewBox="0 0 4111111111111111 219"' in content


def test_keys_and_paths_that_other_files_refer_to_stay(tmp_path: Path) -> None:
    content = {
        "key": "fees-2024",
        "answer_id": "4111111111111111",
        "documents": ["../mail/jane@bank.com.txt"],
        "categories": ["topic:2_card"],
        "score": 4111111111111111,
    }
    (tmp_path / "a.json").write_text(json.dumps(content), encoding="utf-8")
    before = (tmp_path / "a.json").read_bytes()
    mask_artifacts(tmp_path)
    assert (tmp_path / "a.json").read_bytes() == before
