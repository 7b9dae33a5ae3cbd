"""Fixture `eval_perturb`: the perturbed cases of a question in a test in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.plugin.display import usage_error
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.masking import shown
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.tasks import perturbed_cases
from pytest_evalstudio.scoring.perturbing.texts import Perturber

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.late_fixtures import FixtureFunction


class EvalPerturb(Protocol):
    """Type of the fixture `eval_perturb`: returns the perturbed cases of a question, without answers.

    Args:
        question: a text, or a case, whose fields its perturbations share.
        perturbations: as in the configuration, e.g. "keyboard_typos:high", "comma,word_swap+qwerty".
        seed: a different seed gives different texts; None for the configuration's.
    """

    def __call__(
        self, question: str | Case, /, *perturbations: str, seed: int | None = None
    ) -> list[Case]: ...


def perturb_fixture(project: Project, services: Services) -> FixtureFunction:
    """Return the function of the fixture."""

    def eval_perturb(request: pytest.FixtureRequest) -> Iterator[EvalPerturb]:
        """Return the perturbed cases of a question, for the model and `check_flip` of an evaluator.

        Example: eval_perturb("What is the fee?", "keyboard_typos", "comma:high").
        """

        def perturb(question: str | Case, /, *perturbations: str, seed: int | None = None) -> list[Case]:
            try:
                perturber = _perturber(project, services, request, perturbations, seed)
            except ConfigurationError as exc:
                raise usage_error(exc) from None
            case = question if isinstance(question, Case) else make_case(question)
            if any(link.type == SOURCE for link in case.relationships):
                pytest.fail(
                    shown(f"eval_perturb: case {case.key!r} is perturbed already; perturb its original"),
                    pytrace=False,
                )
            perturber.prepare([case.question] if case.plan is None else case.plan.messages)
            cases = perturbed_cases(case, perturber, Numbered([case.key]))
            notes = perturber.notes.lines()
            if not cases:
                # A loop over no cases would pass without having checked anything.
                pytest.fail(shown("\n".join(f"eval_perturb: {note}" for note in notes)), pytrace=False)
            for note in notes:
                project.warn(f"{request.node.nodeid}: eval_perturb: {note}", request.path)
            return cases

        yield perturb

    return eval_perturb


def _perturber(
    project: Project,
    services: Services,
    request: pytest.FixtureRequest,
    perturbations: tuple[str, ...],
    seed: int | None,
) -> Perturber:
    """Return the maker of perturbed cases.

    Raises:
        ConfigurationError: if a perturbation is malformed or not available, or none is named.
    """
    config = project.configuration(request.path.parent)
    chains = parse_perturbations(
        ",".join(perturbations),
        project.registry,
        config.perturbator,
        folder=config.folder,
        judge=lambda: services.provider.judges.open(config),
    )
    return Perturber(chains, seed=config.perturbations.seed if seed is None else seed)
