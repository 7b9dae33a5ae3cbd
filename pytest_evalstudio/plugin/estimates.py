"""`--evalstudio-estimate`: what a run would ask, printed in place of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.engine.asking.answers import AnswerCache
from pytest_evalstudio.engine.asking.judging import Judges
from pytest_evalstudio.engine.estimate import JudgeFactory, PlannedTask, estimate, lines_of

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession


def estimate_lines(evals: EvalSession, items: Sequence[EvalItem], others: int) -> list[str]:
    """Return the estimate of a session's items in words; neither models nor judges are asked.

    Args:
        evals: the session.
        items: test cases.
        others: tests in Python and steps of workflows that may ask models, which cannot be estimated.

    Raises:
        ConfigurationError: if a model or a judge is not available.
    """

    def judges(member: JudgeFactory) -> Judges:
        return Judges(
            evals.registry,
            cache=AnswerCache(evals.settings.cache(), read_only=True),
            refresh=evals.settings.refresh,
            member=member,
        )

    lines = lines_of(estimate(_planned(evals, items), judges))
    if others:
        lines.append(f"not included: {others} tests in Python or steps of workflows that may ask models")
    return lines


def _planned(evals: EvalSession, items: Sequence[EvalItem]) -> Iterator[PlannedTask]:
    for item in items:
        if item.task.skip:
            continue
        config = evals.configuration(item.path.parent)
        yield PlannedTask(
            task=item.task,
            session=None if item.task.answered else evals.models.session_of(item.task.model),
            evaluators=evals.plan(config).for_case(item.task.choice),
            config=config,
        )
