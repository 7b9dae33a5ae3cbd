"""Artifacts of a workflow: summary, page, corpus patch, prompt rules, guardrails, and an archive of them."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from pytest_evalstudio.contrib.validation.artifacts.accepted import accepted_answers
from pytest_evalstudio.contrib.validation.artifacts.chain import SignOff, encoded_links, link, read_links
from pytest_evalstudio.contrib.validation.artifacts.corpus_patch import corpus_patch
from pytest_evalstudio.contrib.validation.artifacts.evidence import (
    REPORT,
    archive_files,
    evidence_of,
    report_files,
)
from pytest_evalstudio.contrib.validation.artifacts.guardrails import guardrails
from pytest_evalstudio.contrib.validation.artifacts.model_card import model_card
from pytest_evalstudio.contrib.validation.artifacts.model_card_text import card_markdown
from pytest_evalstudio.contrib.validation.artifacts.prompt_extension import choose_rules, prompt_extension
from pytest_evalstudio.contrib.validation.artifacts.signature import sign_head
from pytest_evalstudio.contrib.validation.artifacts.summary import StepSummary, markdown, summarise
from pytest_evalstudio.contrib.validation.methods.typed_results import json_ready
from pytest_evalstudio.contrib.validation.pages import render_annex, render_card, render_workflow
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.workflow.calibration import (
    calibrated_thresholds,
    calibration_outcome,
)
from pytest_evalstudio.contrib.validation.workflow.masking import masked_content
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow.states import (
    ANNEX,
    ARCHIVE,
    ARTIFACTS,
    CARD,
    CARD_DATA,
    CARD_PAGE,
    EXTENSION,
    GUARDRAILS,
    PAGE,
    PATCH,
    REFERENCE_GUARDRAILS,
    SIGN_OFFS,
    SIGNATURE,
    SUMMARY,
    SUMMARY_DATA,
)
from pytest_evalstudio.core.guide_names import EVALUATOR_CLASSES
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.fields import encoded, write_json
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.report.folders import Archive

__all__ = ["PAGE", "write_signed_artifacts", "write_workflow_artifacts"]

_WHAT = {
    SUMMARY: "the summary, to read",
    CARD: "the model card: inventory, data, metrics, results, findings, monitoring, evidence for guidance",
    CARD_DATA: "the model card for machines",
    CARD_PAGE: "the model card as a page to print, or to save as PDF",
    SUMMARY_DATA: (
        "the same for machines, with the problems that each rule of the system prompt extension answers"
    ),
    ANNEX: "technical documentation by Annex IV of the EU AI Act: what the validation gives for each point",
    PATCH: "hard questions with accepted answers, for the corpus",
    EXTENSION: "rules for the end of the system prompt, against the problems found",
    GUARDRAILS: "evaluators and thresholds that check answers at run time",
    REFERENCE_GUARDRAILS: "the same with the evaluator ids of the reference engine",
}


def write_workflow_artifacts(run: WorkflowRun) -> Path:
    """Write a workflow's artifacts into its folder and replace earlier ones.

    Artifacts without content are not written.

    The page is deleted first and put in place last, so that an interrupted call leaves none.

    Returns:
        The page.

    Raises:
        DataError: if the folder holds files in our places that no workflow wrote, or another run is at work
            in it.
    """
    run.claim()
    with run.locked():
        return _write_artifacts(run)


def write_signed_artifacts(run: WorkflowRun, sign_off: SignOff, key: Path | None = None) -> str:
    """Write a workflow's artifacts with a new sign-off, which covers all of them.

    Args:
        run: of the workflow.
        sign_off: of this moment.
        key: private key for a detached signature.

    Returns:
        The head of the chain.

    Raises:
        ConfigurationError: if the external command does not sign.
        DataError: as `write_workflow_artifacts`.
    """
    run.claim()
    with run.locked():
        _write_artifacts(run, sign_off, key)
        return read_links(run.folder / SIGN_OFFS)[-1].head


def _write_artifacts(run: WorkflowRun, sign_off: SignOff | None = None, key: Path | None = None) -> Path:
    for name in (PAGE, *ARTIFACTS):
        (run.folder / name).unlink(missing_ok=True)
    summary = summarise(run, sign_off)
    rules = choose_rules(summary.problems)
    entries = accepted_answers(run)
    if entries:
        _write_text(run.folder / PATCH, corpus_patch(summary.workflow, entries))
    if rules:
        _write_text(run.folder / EXTENSION, prompt_extension(rules))
    _write_guardrails(run)
    artifacts = {
        name: what
        for name, what in _WHAT.items()
        # These are written below in any case; the others only with content.
        if name in (SUMMARY, SUMMARY_DATA, CARD, CARD_DATA, CARD_PAGE)
        or (name == ANNEX and run.guidance.annex_iv)
        or (run.folder / name).is_file()
    }
    machine_readable = {
        **json_ready(summary),
        "steps": [_without_pictures(step) for step in summary.steps],
        "rules": [{"title": choice.rule.title, "problems": list(choice.problems)} for choice in rules],
        "artifacts": artifacts,
    }
    write_json(run.folder / SUMMARY_DATA, machine_readable)
    card = model_card(run, summary)
    write_json(run.folder / CARD_DATA, json_ready(card))
    _write_text(run.folder / CARD, card_markdown(card))
    _write_text(run.folder / CARD_PAGE, render_card(card))
    if run.guidance.annex_iv:
        _write_text(run.folder / ANNEX, render_annex(card, run.guidance))
    _write_text(run.folder / SUMMARY, markdown(summary, artifacts))
    draft = run.folder / f".{PAGE}.new"
    _write_text(draft, render_workflow(summary, artifacts, card))
    # Before the archive is packed, which holds the sign-offs.
    if sign_off is not None:
        _append_link(run, sign_off, draft, key)
    _pack(run, draft)
    os.replace(draft, run.folder / PAGE)
    return run.folder / PAGE


def _write_guardrails(run: WorkflowRun) -> None:
    if not run.is_completed(EVALUATION):
        return
    configuration = guardrails(
        read_run(run.folder_of(EVALUATION) / FILE).evaluators,
        calibrated_thresholds(run),
        calibration_outcome(run).guardrail,
    )
    if configuration.evaluator_ids:
        configuration.save(run.folder / GUARDRAILS)
    if any(id in EVALUATOR_CLASSES for id in configuration.evaluator_ids):
        configuration.save(run.folder / REFERENCE_GUARDRAILS, reference_ids=True)


def _without_pictures(step: StepSummary) -> dict[str, object]:
    """Return a step for JSON with the names of its pictures; their files are among the artifacts."""
    return {**msgspec.to_builtins(step), "pictures": list(step.pictures)}


def _append_link(run: WorkflowRun, sign_off: SignOff, page: Path, key: Path | None) -> None:
    """Store a sign-off whose link covers the evidence and the report that shows it."""
    links = read_links(run.folder / SIGN_OFFS)
    report = {name: file_sha256(path) for name, path in (report_files(run) | {PAGE: page}).items()}
    digests = {**evidence_of(run).digests, REPORT: report}
    new = link(links[-1].head if links else "", sign_off, digests)
    # Signed first: a key that does not sign must leave no link behind.
    if key is not None:
        signature = sign_head(new.head, key)
        write_whole(run.folder / SIGNATURE.format(number=len(links) + 1), signature)
    write_whole(run.folder / SIGN_OFFS, encoded_links([*links, new]))


def _pack(run: WorkflowRun, page: Path) -> None:
    """Pack the masked file of the workflow, its artifacts, sign-offs and the files of the steps."""
    copy = run.folder / f".masked_{run.path.name}"
    copy.write_bytes(masked_content(run.path))
    names = [SIGN_OFFS, *(path.name for path in sorted(run.folder.glob(SIGNATURE.format(number="*"))))]
    signed = {name: run.folder / name for name in names if (run.folder / name).is_file()}
    files = {run.path.name: copy, **report_files(run), PAGE: page, **signed, **archive_files(run)}
    try:
        with Archive(run.folder / ARCHIVE) as archive:
            for name, path in files.items():
                archive.add(path, name)
    finally:
        copy.unlink()


def _write_text(path: Path, text: str) -> None:
    write_whole(path, encoded(text))
