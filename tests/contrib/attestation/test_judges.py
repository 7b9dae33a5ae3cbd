"""Judges that cost money: stored verdicts count if the judge is the same, and some are asked anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from contrib.attestation.material.project_runs import PROJECT, apply, copy_project, replaced, run_pytest
from contrib.attestation.repositories import IGNORED, git
from contrib.attestation.test_verify_run import codes
from support.openai_server import OpenAIServer, Reply, serve

pytestmark = pytest.mark.slow
CONFIG = "evalstudio.toml"
LOCAL = 'host = "python"\ntarget = "judge:decide"'


def _service(rating: str) -> Iterator[OpenAIServer]:
    with serve() as service:
        service.default = Reply(json.dumps({"rationale": f"It is {rating}.", "rating": rating}))
        yield service


@pytest.fixture(scope="module")
def yes() -> Iterator[OpenAIServer]:
    """Service of a judge that says yes."""
    yield from _service("yes")


def table(service: OpenAIServer) -> str:
    return f'host = "openai_compatible"\nurl = "{service.url}"\nllm_model_name = "m"'


@pytest.fixture(scope="module")
def judged(yes: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repository whose judge is a service, with the record of a good run."""
    folder = tmp_path_factory.mktemp("desk") / "judged"
    copy_project(folder, source=PROJECT)
    apply(folder, {CONFIG: replaced((LOCAL, table(yes)))})
    (folder / ".gitignore").write_text(IGNORED)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Protected revision")
    run = run_pytest(folder, ())
    assert run.returncode == 0, run.stdout
    return folder


def test_stored_verdicts_of_the_same_judge_are_taken_on_trust(judged: Path, yes: OpenAIServer) -> None:
    before = len(yes.requests)
    assert codes(judged, status=0) == {"trust": {"answers", "judge_verdicts"}}
    assert len(yes.requests) == before


def test_a_sample_is_asked_anew(judged: Path, yes: OpenAIServer) -> None:
    before, default = len(yes.requests), yes.default
    assert "judge_verdicts" in codes(judged, "--ask-judges", "3", status=0)["trust"]
    assert len(yes.requests) == before + 3
    yes.default = Reply(json.dumps({"rationale": "It is wrong.", "rating": "no"}))
    try:
        finding_codes = codes(judged, "--ask-judges", "100", status=1)
    finally:
        yes.default = default
    assert finding_codes == {"failure": {"case_fails"}, "trust": {"answers"}}


def test_another_judge_behind_the_same_name_is_a_weakness(judged: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, source=judged)
    for service in _service("yes"):
        text = (judged / CONFIG).read_text()
        url = text.split('url = "')[1].split('"')[0]
        apply(folder, {CONFIG: replaced((url, service.url))})
        assert run_pytest(folder, ()).returncode == 0
        assert codes(folder, status=1)["weakness"] == {"judge"}


def test_a_stored_verdict_that_fails_counts(judged: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, source=judged)
    record = folder / "evalstudio-report" / "record.jsonl"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    lines[1]["verdicts"]["custom_judge"]["passed"] = False
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert codes(folder, status=1)["failure"] == {"case_fails"}
    del lines[1]["verdicts"]["custom_judge"]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert codes(folder, status=1)["failure"] == {"case_not_run"}
