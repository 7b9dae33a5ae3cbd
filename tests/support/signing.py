"""Workflows of which four steps are completed, to sign."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.scoring.model_provider import ModelProvider

STEPS = ("topic_modeling", "test_generation", "test_validation", "automated_evaluation")
OPEN = ("human_calibration", "failure_clustering", "weakness_detection", "robustness_input_variations")
EXCEPTIONS = [f"--except={step}=pilot" for step in (*OPEN, "robustness_adversarial")]
CONFIG = 'evaluators = ["text_matching", "lexical_groundedness"]\n'


def run_step(path: Path, step: str) -> None:
    config = configuration({"evaluators": ["text_matching", "lexical_groundedness"]}, folder=path.parent)
    run = WorkflowRun(read_workflow(read_source(path)), path, config, Registry())
    run.run(
        step,
        provider=ModelProvider(registry=run.registry),
        cache=path.parent / "cache",
        progress=lambda count, total, what: None,
    )


def home(workflow: Path) -> Path:
    return workflow.with_name("bank_workflow_artifacts")


def sign(workflow: Path, *arguments: str) -> int:
    """Sign with the open steps as exceptions, by default as validator; return the exit status."""
    role = [] if "--role" in arguments else ["--role", "validator"]
    return main(["mrm", "sign-off", str(workflow), *EXCEPTIONS, *role, *arguments])


def override(workflow: Path, *arguments: str, accept: Sequence[str]) -> int:
    """Sign as the owner, with a reason for what is accepted; return the exit status."""
    reasons = [f"--accept={id}=known and bounded" for id in accept]
    return sign(workflow, "--role", "owner", *reasons, *arguments)
