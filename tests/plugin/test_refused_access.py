"""A key that the service refuses: one error, no further requests, and all later items are not run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.project import Project
from support.service import ANSWER, Response, Service, running


@pytest.fixture
def service() -> Iterator[Service]:
    with running(lambda request: Response({"answer": ANSWER})) as service:
        yield service


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester, with_app=False)


def configure(project: Project, service: Service, *, more: str = "", count: int = 12) -> None:
    project.write(
        "evalstudio.toml",
        f'evaluators = ["text_matching"]\n{more}\n[[model]]\nname = "app"\nhost = "http"\n'
        f'url = "{service.url}"\nretries = 0\nconcurrency = 2\n',
    )
    project.suite(*({"key": f"k{n}", "prompt": f"question {n}", "condition": '"5"'} for n in range(count)))


def refuse(service: Service, *, after: int, status: int = 401) -> None:
    answers = [Response({"answer": ANSWER})] * after
    service.faults = [*answers, *[Response({"error": "bad key"}, status=status)] * 1000]


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("after", [0, 5])
def test_one_error_and_all_later_items_are_not_run(
    project: Project, service: Service, after: int, status: int
) -> None:
    configure(project, service)
    refuse(service, after=after, status=status)
    result = project.run()
    requests = len(service.requests)
    assert after < requests <= after + 2, "at most as many as run at the same time"
    errors = requests - after
    result.assert_outcomes(passed=after, errors=errors, skipped=12 - requests)
    assert result.ret == 1
    lines = [line for line in result.outlines if line.startswith("not run: ")]
    assert len(lines) == 1
    assert lines[0].startswith(f"not run: {12 - requests} items of app, since model 'app' was not asked: ")
    assert f"HTTP {status}: " in lines[0]
    assert "check " in lines[0]


def test_items_that_are_not_run_have_a_code(project: Project, service: Service) -> None:
    configure(project, service, count=4)
    refuse(service, after=0)
    project.run()
    _, items = project.record()
    verdicts = [(item["verdict"], item.get("code", "")) for item in items.values()]
    assert set(verdicts) == {("error", ""), ("not_run", "access_refused")}
    summary = (project.folder / "evalstudio-report" / "summary.md").read_text()
    assert "not run: the service of a model refused access." in summary
    assert "budget" not in summary


def test_an_item_with_a_refused_repeat_is_an_error(project: Project, service: Service) -> None:
    configure(project, service, more="runs = 5", count=1)
    refuse(service, after=1)
    result = project.run()
    result.assert_outcomes(errors=1)
    assert result.ret == 1


@pytest.mark.slow
def test_each_worker_meets_it_once(project: Project, service: Service) -> None:
    configure(project, service)
    refuse(service, after=0)
    result = project.run("-n", "2")
    assert len(service.requests) <= 2, "workers share the concurrency"
    result.assert_outcomes(errors=len(service.requests), skipped=12 - len(service.requests))


def test_other_models_go_on(project: Project, service: Service) -> None:
    configure(project, service, count=3)
    refuse(service, after=0)
    toml = project.folder / "evalstudio.toml"
    toml.write_text(toml.read_text() + '[[model]]\nname = "other"\nhost = "scripted"\ndefault = "5"\n')
    project.run().assert_outcomes(passed=3, errors=len(service.requests), skipped=3 - len(service.requests))


def test_the_next_run_asks_only_what_is_missing(project: Project, service: Service) -> None:
    configure(project, service)
    refuse(service, after=5)
    project.run()
    requests = len(service.requests)
    service.faults = []
    project.run().assert_outcomes(passed=12)
    assert len(service.requests) - requests == 12 - 5
