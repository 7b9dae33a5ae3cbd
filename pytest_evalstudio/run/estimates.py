"""`--evalstudio-estimate`: what a run would ask, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.judging import Judges
from pytest_evalstudio.run.planning import PlannedItem
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.estimate import JudgeFactory, PlannedTask, estimate, lines_of
from pytest_evalstudio.scoring.expectations import unchecked_line


def estimate_lines(
    project: Project, services: Services, items: Sequence[PlannedItem], others: int
) -> list[str]:
    """Return the estimate of a run; neither models nor judges are asked.

    Args:
        services: open the models, which know their prices and stored answers.
        items: test cases of the run.
        others: number of other items that may ask models.

    Raises:
        ConfigurationError: if a model or judge is not available.
    """

    def judges(member: JudgeFactory) -> Judges:
        settings = project.settings
        cache = AnswerCache(settings.cache(), read_only=True)
        return Judges(project.registry, cache=cache, refresh=settings.refresh, member=member)

    planned = list(_planned(services, items))
    lines = lines_of(estimate(planned, judges))
    cases = ((plan.task.case, plan.evaluators) for plan in planned)
    if line := unchecked_line(cases, project.registry.evaluators):
        lines.append(line)
    if (confirmation := services.confirmation(items)) is not None:
        lines += confirmation.estimate()
    if calls := project.settings.shrink_calls:
        lines.append(f"not included: at most {calls:,} calls that shrink flips")
    for follow_up in services.follow_ups:
        lines += follow_up.estimate(items)
    if others:
        lines.append(
            f"not included: {others} tests in Python, pairs of an arena or steps of workflows that may ask"
            " models"
        )
    return lines


def _planned(services: Services, items: Sequence[PlannedItem]) -> Iterator[PlannedTask]:
    for item in items:
        task = item.task
        if task.skip:
            continue
        yield PlannedTask(
            task=task,
            session=None if task.answered else services.models.session_of(task.model),
            evaluators=item.file.plan.for_case(task.choice, task.case.plan),
            config=item.file.config,
        )
