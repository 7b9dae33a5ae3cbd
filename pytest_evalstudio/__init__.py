"""pytest-evalstudio: regression tests for LLM and RAG systems in pytest.

The names below are loaded when they are first used: pytest imports this package in every session.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_evalstudio.api.asked_models import AskedModel, eval_model
    from pytest_evalstudio.api.builders import make_case
    from pytest_evalstudio.api.evaluate import Results, evaluate
    from pytest_evalstudio.api.labs import LabBuilder
    from pytest_evalstudio.asking.configured_hosts import (
        ConfiguredHost,
        base_models,
        configured_hosts,
        host_defaults,
    )
    from pytest_evalstudio.contrib.guard.fixtures import EvalGuard
    from pytest_evalstudio.contrib.tables.score import score_table
    from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
    from pytest_evalstudio.contrib.validation.generate import Generated, generate_test_cases
    from pytest_evalstudio.core.attachments import Attachment
    from pytest_evalstudio.core.cases import Answer, Case, Prompt, Relationship, Turn
    from pytest_evalstudio.core.errors import (
        ConfigurationError,
        DataError,
        EvalStudioError,
        EvaluationError,
        ThresholdMissed,
    )
    from pytest_evalstudio.core.flips import Flip
    from pytest_evalstudio.core.outcomes import Finding, Fragment, Metric, Outcome
    from pytest_evalstudio.core.plugins.evaluator import ModelScore, ScoredRow, evaluator
    from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
    from pytest_evalstudio.core.plugins.host import CollectionDocument, HostFault, host
    from pytest_evalstudio.core.plugins.perturbator import Change, perturbator
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.core.plugins.section import section
    from pytest_evalstudio.core.plugins.step import StepResult, step
    from pytest_evalstudio.core.problems import Problem
    from pytest_evalstudio.core.recorded_tools import recorded_tool
    from pytest_evalstudio.core.steps import Step
    from pytest_evalstudio.core.tool_calls import ToolCall
    from pytest_evalstudio.core.tools import Tools
    from pytest_evalstudio.formats.dataset import LlmDataset, Row
    from pytest_evalstudio.formats.lab import Model, TestLab
    from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
    from pytest_evalstudio.plugin.fixtures import Check, EvalCase, EvalModel, EvalSuite
    from pytest_evalstudio.plugin.perturbed_cases import EvalPerturb
    from pytest_evalstudio.plugin.suite_parameters import eval_suite
    from pytest_evalstudio.report.build import Report, build_report
    from pytest_evalstudio.scoring.perturbing.cases import perturb

_HOMES = {
    "contrib.tables.score": ("score_table",),
    "contrib.tables.table.reader": ("ScoredTable",),
    "contrib.guard.fixtures": ("EvalGuard",),
    "core.attachments": ("Attachment",),
    "core.cases": ("Answer", "Case", "Prompt", "Relationship", "Turn"),
    "core.steps": ("Step",),
    "core.tool_calls": ("ToolCall",),
    "core.tools": ("Tools",),
    "core.plugins.evaluator": ("ModelScore", "ScoredRow", "evaluator"),
    "core.plugins.host": ("CollectionDocument", "HostFault", "host"),
    "core.plugins.section": ("section",),
    "core.errors": (
        "ConfigurationError",
        "DataError",
        "EvalStudioError",
        "EvaluationError",
        "ThresholdMissed",
    ),
    "core.plugins.generator": ("Corpus", "Draft", "Excerpt", "generator"),
    "core.outcomes": ("Finding", "Fragment", "Metric", "Outcome"),
    "core.plugins.perturbator": ("Change", "perturbator"),
    "core.problems": ("Problem",),
    "core.recorded_tools": ("recorded_tool",),
    "core.plugins.registry": ("Registry",),
    "core.plugins.step": ("StepResult", "step"),
    "api.asked_models": ("AskedModel", "eval_model"),
    "api.builders": ("make_case",),
    "asking.configured_hosts": ("ConfiguredHost", "base_models", "configured_hosts", "host_defaults"),
    "api.evaluate": ("Results", "evaluate"),
    "api.labs": ("LabBuilder",),
    "scoring.perturbing.cases": ("perturb",),
    "core.flips": ("Flip",),
    "formats.dataset": ("LlmDataset", "Row"),
    "formats.lab": ("Model", "TestLab"),
    "formats.suite": ("Test", "TestCase", "TestSuite"),
    "contrib.validation.generate": ("Generated", "generate_test_cases"),
    "plugin.fixtures": ("Check", "EvalCase", "EvalModel", "EvalSuite"),
    "plugin.perturbed_cases": ("EvalPerturb",),
    "plugin.suite_parameters": ("eval_suite",),
    "report.build": ("Report", "build_report"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "AskedModel",
    "Attachment",
    "Case",
    "Change",
    "Check",
    "CollectionDocument",
    "ConfigurationError",
    "ConfiguredHost",
    "Corpus",
    "DataError",
    "Draft",
    "EvalCase",
    "EvalGuard",
    "EvalModel",
    "EvalPerturb",
    "EvalStudioError",
    "EvalSuite",
    "EvaluationError",
    "Excerpt",
    "Finding",
    "Flip",
    "Fragment",
    "Generated",
    "HostFault",
    "LabBuilder",
    "LlmDataset",
    "Metric",
    "Model",
    "ModelScore",
    "Outcome",
    "Problem",
    "Prompt",
    "Registry",
    "Relationship",
    "Report",
    "Results",
    "Row",
    "ScoredRow",
    "ScoredTable",
    "Step",
    "StepResult",
    "Test",
    "TestCase",
    "TestLab",
    "TestSuite",
    "ThresholdMissed",
    "ToolCall",
    "Tools",
    "Turn",
    "base_models",
    "build_report",
    "configured_hosts",
    "eval_model",
    "eval_suite",
    "evaluate",
    "evaluator",
    "generate_test_cases",
    "generator",
    "host",
    "host_defaults",
    "make_case",
    "perturb",
    "perturbator",
    "recorded_tool",
    "score_table",
    "section",
    "step",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
