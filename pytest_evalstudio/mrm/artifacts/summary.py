"""The summary of a workflow: what was done, how good the model is, what is wrong with it and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pytest_evalstudio.core.outcomes import SEVERITIES
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.mrm.workflow.documents import relative
from pytest_evalstudio.mrm.workflow.entries import step_entry
from pytest_evalstudio.mrm.workflow.results import read_results
from pytest_evalstudio.mrm.workflow.run import WorkflowRun
from pytest_evalstudio.stats.intervals import wilson_interval

_VERDICTS = {"passed": True, "xpassed": True, "failed": False, "xfailed": False}


def summarise(run: WorkflowRun) -> dict[str, Any]:
    """All that is told of a workflow, JSON-ready; `steps` as records have them, each with the files it
    left.
    """
    steps = [
        {**msgspec.to_builtins(step_entry(run, spec.id)), "artifacts": _files(run, spec.id)}
        for spec in run.specs
    ]
    return {
        "version": 1,
        "workflow": run.title,
        "description": run.workflow.description,
        "file": run.path.name,
        "model": run.workflow.model,
        "documents": [relative(document, run.path.parent) for document in run.documents],
        "seed": run.workflow.seed,
        "completed": sum(step["standing"] == "completed" for step in steps),
        "quality": _quality(steps),
        "steps": steps,
        "problems": all_problems(steps),
    }


def all_problems(steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The problems of all steps that stand, the most severe first, each with the name of its step."""
    found = [
        {**problem, "step": step["name"]}
        for step in steps
        if step["standing"] == "completed"
        for problem in step["problems"]
    ]
    return sorted(found, key=lambda problem: SEVERITIES.index(problem["severity"]))


def markdown(summary: Mapping[str, Any], artifacts: Mapping[str, str]) -> str:
    """The summary for people.

    Args:
        artifacts: names of files to what they are.
    """
    return "\n".join(_lines(summary, artifacts)) + "\n"


def _files(run: WorkflowRun, id: str) -> list[str]:
    folder = run.folder_of(id)
    return (
        sorted(path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
        if folder.is_dir()
        else []
    )


def _quality(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the share of evaluated cases that pass; None where nothing was evaluated."""
    evaluations = (
        read_results(EVALUATION, step["figures"], EvaluationResults)
        for step in steps
        if step["step"] == EVALUATION and step["standing"] == "completed"
    )
    evaluation = next(evaluations, None)
    if evaluation is None:
        return None
    counts = evaluation.verdicts
    passed = sum(count for verdict, count in counts.items() if _VERDICTS.get(verdict) is True)
    judged = sum(count for verdict, count in counts.items() if verdict in _VERDICTS)
    if not judged:
        return None
    return {
        "passed": passed,
        "judged": judged,
        "share": passed / judged,
        "interval": wilson_interval(passed, judged),
        "verdicts": dict(counts),
    }


def _lines(summary: Mapping[str, Any], artifacts: Mapping[str, str]) -> Iterator[str]:
    yield f"# {_plain(summary['workflow'])}: summary of the validation"
    yield ""
    if summary["description"]:
        yield from (_plain(summary["description"]), "")
    yield (
        f"Model: {_plain(summary['model'] or 'the configured one')}. Documents:"
        f" {', '.join(map(_plain, summary['documents']))}."
    )
    yield f"{summary['completed']} of {len(summary['steps'])} steps are completed."
    yield ""
    yield "## Quality"
    yield ""
    yield _quality_told(summary["quality"])
    yield ""
    yield "## Steps"
    yield ""
    for step in summary["steps"]:
        said = (
            f"waits: {step['waits']}"
            if step["waits"]
            else f"needs {', '.join(step['lacks'])}"
            if step["lacks"]
            else step["summary"]
        )
        yield f"{step['number']}. **{_plain(step['name'])}** ({step['standing']})" + (
            f": {_plain(said)}" if said else ""
        )
        yield from (f"   - {_plain(note)}" for note in step["notes"])
    yield ""
    yield "## Problems and what to do"
    yield ""
    for problem in summary["problems"]:
        yield f"- **{problem['severity']}** ({_plain(problem['step'])}): {_plain(problem['description'])}"
        if problem["actions"]:
            yield f"  {_plain(problem['actions'])}"
    if not summary["problems"]:
        yield "None was found by the steps that are completed."
    if artifacts:
        yield from ("", "## Artifacts", "")
        yield from (f"- `{name}`: {what}" for name, what in artifacts.items())


def _quality_told(quality: Mapping[str, Any] | None) -> str:
    if quality is None:
        return "Nothing has been evaluated yet."
    low, high = quality["interval"]
    others = {verdict: count for verdict, count in quality["verdicts"].items() if verdict not in _VERDICTS}
    rest = (
        f" Besides: {', '.join(f'{count} {verdict}' for verdict, count in others.items())}." if others else ""
    )
    return (
        f"{quality['passed']} of {quality['judged']} test cases pass: {100 * quality['share']:.0f} %, "
        f"95 % interval {100 * low:.0f} to {100 * high:.0f} %.{rest}"
    )


def _plain(text: str) -> str:
    """Text on one line that is no markup."""
    return " ".join("".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in text).split())
