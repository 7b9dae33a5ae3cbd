"""Ask the model, evaluate its answers and write the record; shared by the steps that ask questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from pytest_evalstudio.analysis.aggregates import aggregates_of
from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.api.completing import missing_rows
from pytest_evalstudio.api.evaluate import Results, evaluate_lab
from pytest_evalstudio.api.labs import LabBuilder
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import LAB
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.masking import masked_json
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.plan import Plan

CONFIGURED = (
    *(
        "model",
        "runs",
        "evaluators",
        "evaluator",
        "guardrails",
        "embeddings",
        "cross_encoder",
        "nli",
        "judge",
    ),
    *("hallucination_model", "toxicity_model", "bias_model", "sentiment_model", "language_model"),
    *("max_text_chars", "min_test_cases", "latency", "max_cost"),
)
"""Keys of the configuration that a step uses that asks the model."""
MAX_PROBLEMS = 50
MAX_UNANSWERED = 0.1
"""Share of questions without an answer that a step puts up with."""


def model_table(context: StepContext) -> dict[str, Any]:
    """Return the `[[model]]` that the workflow names, else the only configured one, else the embedded one.

    Raises:
        ConfigurationError: if it is not configured, or several are and none is named.
    """
    return named_model(context.workflow, context.config)


def named_model(workflow: Workflow, config: Configuration) -> dict[str, Any]:
    """Return the same model for a workflow that is not run."""
    models = {
        table.name: {
            "name": table.name,
            "runs": table.runs or config.runs,
            "budget": table.budget,
            **table.settings,
        }
        for table in config.model
    }
    model = workflow.model
    if model and model not in models and not (model == "extractive" and not models):
        raise unknown_name("model", model, models, "A workflow's `model` is the name of a [[model]].")
    if model in models:
        return models[model]
    if len(models) > 1:
        raise ConfigurationError(
            "several models are configured, and the workflow names none of them in `model`:"
            f" {', '.join(models)}"
        )
    return next(iter(models.values()), {"name": "extractive", "host": "extractive", "runs": 1})


def chosen_configuration(context: StepContext, evaluators: Sequence[str] = ()) -> Configuration:
    """Return the configuration with a step's evaluators, else the workflow's, else its own."""
    names = list(evaluators) or context.workflow.evaluators
    return context.config.model_copy(update={"evaluators": names}) if names else context.config


def ask_and_evaluate(
    context: StepContext,
    suite: TestSuite,
    home: Path,
    evaluators: Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
) -> Results:
    """Ask the model and evaluate its answers; write the lab of answers and the record.

    Args:
        context: of the step.
        suite: questions to ask.
        home: folder of the suite's file, where its documents start.
        evaluators: ids; the workflow's, else the configuration's, where not given.
        thresholds: `ID` or `ID.METRIC` to threshold, in place of the configuration's.

    Raises:
        ConfigurationError: if the model or an evaluator cannot be had.
    """
    config = chosen_configuration(context, evaluators)
    Plan(
        context.registry, config, thresholds=thresholds, told_as="thresholds:"
    )  # what is misspelt is said before anybody is asked
    with LabBuilder(
        suite,
        [model_table(context)],
        folder=context.config.folder,
        documents=home,
        cache=context.cache,
        registry=context.registry,
        run=context.run,
        allow_private_hosts=context.config.allow_private_hosts,
    ) as builder:
        lab = builder.complete_dataset(lambda done, total: context.progress(done, total, "answers"))
    # The file is masked; the evaluators read the answers as they are.
    write_json(context.folder / LAB, masked_json(lab.to_dict()))
    results = evaluate_lab(
        lab,
        config,
        registry=context.registry,
        provider=context.provider,
        folder=context.folder,
        thresholds=thresholds,
    )
    results.write_record(context.folder)
    return results


def unanswered(results: Results, most: float = MAX_UNANSWERED) -> str:
    """Return the reason to wait if too many questions have no answer, "" otherwise.

    Args:
        results: of the evaluation.
        most: the share that the step puts up with: some may never get one, since services refuse questions.
    """
    lab = results.source.content
    rows = lab.dataset.inputs if isinstance(lab, TestLab) else []
    errors = [row.error for row in rows if row.error]
    if isinstance(lab, TestLab):
        errors += ["the budget of the model was used up"] * len(missing_rows(lab))
    questions = sum(not row.error for row in rows) + len(errors)
    if len(errors) <= most * questions:
        return ""
    # Masked before it is cut: a part of a secret is not recognised as one.
    reason = excerpt(masked(errors[0]))
    return f"{len(errors)} of {questions} questions have no answer ({reason}); the next run asks them again"


def problems_of(context: StepContext, step: str) -> tuple[Problem, ...]:
    """Return up to 50 problems that the analysis of the step's record finds, the most severe first."""
    record = context.folder / FILE
    problems = analyse(record, aggregates_of(read_run(record), context.registry)).problems
    return tuple(
        structs.replace(problem, attributes={"kind": "evaluation", "step": step, **problem.attributes})
        for problem in problems[:MAX_PROBLEMS]
    )
