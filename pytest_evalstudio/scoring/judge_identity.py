"""Identity of a judge: a measurement of it holds for the same models, prompts, options and threshold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from pytest_evalstudio.record.judge_checks import JudgeCheckEntry, ShareEntry
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.stats.clustered import ClusteredShare
from pytest_evalstudio.stats.rogan_gladen import judge_errors


class JudgeIdentity(Struct, frozen=True, kw_only=True):
    """The judge of an evaluator.

    Attributes:
        evaluator: id in the configuration.
        type: id of its kind.
        judge: models, vote and versions of the prompts, as records describe them.
        parameters: options of the evaluator, JSON-ready.
        threshold: from which on an answer passes.
    """

    evaluator: str
    type: str
    judge: Mapping[str, Any]
    parameters: Mapping[str, Any]
    threshold: float

    @classmethod
    def of(cls, selected: ConfiguredEvaluator) -> JudgeIdentity:
        """Return the identity of an evaluator's judge."""
        return cls(
            evaluator=selected.id,
            type=selected.spec.id,
            judge=dict(selected.judge),
            # As a saved check has them, where a tuple has become a list.
            parameters=json.loads(json.dumps(dict(selected.parameters), default=str)),
            threshold=selected.thresholds[selected.spec.primary.key],
        )

    def differences(self, other: JudgeIdentity) -> list[str]:
        """Return what is different in another one, in words; the id of the evaluator may be."""
        return list(_differences(self, other))


def judge_check_entry(selected: ConfiguredEvaluator) -> JudgeCheckEntry | None:
    """Return the measured errors of an evaluator's judge for the record's header; None without."""
    if selected.check is None:
        return None
    check = selected.check.check
    questions = check.questions
    errors = judge_errors(
        [question.good for question in questions],
        [question.good_passed for question in questions],
        [question.bad for question in questions],
        [question.bad_passed for question in questions],
    )
    measured = JudgeIdentity(
        evaluator=check.evaluator,
        type=check.type,
        judge=check.judge,
        parameters=check.parameters,
        threshold=check.threshold,
    )
    return JudgeCheckEntry(
        file=selected.check.file,
        sha256=selected.check.sha256,
        created=check.created,
        threshold=check.threshold,
        sensitivity=_share(errors.sensitivity),
        specificity=_share(errors.specificity),
        covariance=errors.covariance,
        agreement=check.agreement,
        kappa=check.kappa,
        differences=tuple(measured.differences(JudgeIdentity.of(selected))),
    )


def _share(share: ClusteredShare) -> ShareEntry:
    return ShareEntry(
        successes=share.successes, total=share.total, clusters=share.clusters, effective=share.effective
    )


def _differences(first: JudgeIdentity, second: JudgeIdentity) -> Iterator[str]:
    if first.type != second.type:
        yield f"evaluator {first.type}, now {second.type}"
    if _models(first.judge) != _models(second.judge):
        yield f"judge {_models(first.judge)}, now {_models(second.judge)}"
    if first.judge.get("vote") != second.judge.get("vote"):
        yield f"vote {first.judge.get('vote')}, now {second.judge.get('vote')}"
    before, after = first.judge.get("prompts", {}), second.judge.get("prompts", {})
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield f"prompt {name} of version {before.get(name)}, now {after.get(name)}"
    if first.judge.get("examples") != second.judge.get("examples"):
        yield f"examples {first.judge.get('examples')}, now {second.judge.get('examples')}"
    for name in sorted({*first.parameters, *second.parameters}):
        if first.parameters.get(name) != second.parameters.get(name):
            yield f"another {name}"
    if first.threshold != second.threshold:
        yield f"threshold {first.threshold:g}, now {second.threshold:g}"


def _models(judge: Mapping[str, Any]) -> str:
    models = judge.get("models", ())
    return ", ".join(" ".join(str(value) for value in model.values()) for model in models)
