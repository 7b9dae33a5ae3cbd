"""The canary set: its texts, a perfect and a broken judge, noise, and drift between runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.judge_bench.canary import (
    canary_lines,
    check_comparable,
    compare_canaries,
    drift_lines,
    judge_canary,
)
from pytest_evalstudio.contrib.judge_bench.canary_file import CanaryRecord, canary_set
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from support.judging import reply_for

CONTENT, DIGEST = canary_set()
CASES = {case.key: case for case in CONTENT.cases()}
PLUGINS = Registry().evaluators


def key_of(prompt: str) -> str:
    """The canary that a prompt is about."""
    return next(key for key, case in CASES.items() if f"\n{case.actual_output}\n" in prompt)


def canary_record(
    judge: Callable[[str], bool], evaluator: str = "correctness_judge", **more: Any
) -> CanaryRecord:
    """The record of a judge by the key of an answer."""

    def target(prompt: str, reply_schema: Mapping[str, Any]) -> str:
        return json.dumps(reply_for(reply_schema, good=judge(key_of(prompt))))

    return judge_canary(
        evaluator, config=configuration({"judge": {"host": "python", "target": target}}), **more
    )


def test_the_set_is_frozen() -> None:
    """A change of any text makes records of earlier versions useless: change the version with it."""
    assert (CONTENT.version, DIGEST) == (1, "6a0c2ff040165f57")
    assert len(CASES) == 32


def test_every_property_has_answers_with_and_without_it() -> None:
    for name, ids in CONTENT.properties.items():
        assert set(ids) <= set(PLUGINS), name
        for id in ids:
            assert JUDGE in PLUGINS.spec(id).requires
            assert set(CONTENT.labels(id).values()) == {True, False}, name
    properties = {name for scenario in CONTENT.scenarios for name in scenario.fails}
    properties |= {
        name for scenario in CONTENT.scenarios for answer in scenario.answers for name in answer.fails
    }
    assert properties <= set(CONTENT.properties)
    assert CONTENT.labels("custom_judge") == {}


def test_a_perfect_judge_agrees_with_the_labels_and_does_not_drift() -> None:
    labels = CONTENT.labels("correctness_judge")
    first, second = canary_record(labels.__getitem__), canary_record(labels.__getitem__)
    assert "agreement with the set's labels: 32 of 32" in list(canary_lines(first))
    result = compare_canaries(first, second)
    assert (result.compared, result.changed, result.p, result.is_drift) == (32, (), 1.0, False)


def test_a_judge_without_verdicts_writes_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text("def judge(prompt):\n    return 'I think so.'\n")
    (tmp_path / "evalstudio.toml").write_text('[judge]\nhost = "python"\ntarget = "app:judge"\n')
    command = ["judge-check", "--canary", "c.json", "--evaluator", "correctness_judge", "--repeats", "0"]

    code = main(command)

    assert code == 2
    assert not (tmp_path / "c.json").exists()
    error = capsys.readouterr().err
    assert "canary set: the judge of correctness_judge gave no verdict on any answer" in error
    assert "it begins 'I think so.'" in error


def test_a_judge_that_lost_its_verdicts_is_a_drift_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text("def judge(prompt):\n    return 'I think so.'\n")
    (tmp_path / "evalstudio.toml").write_text('[judge]\nhost = "python"\ntarget = "app:judge"\n')
    record = canary_record(lambda key: True, repeats=0)
    record.save(tmp_path / "c.json")
    unjudged = record.model_copy(update={"verdicts": {key: [None] for key in record.verdicts}})
    unjudged.save(tmp_path / "empty.json")
    command = ["judge-check", "--evaluator", "correctness_judge", "--repeats", "0", "--canary"]

    assert main([*command, "c.json"]) == 1
    assert "without a verdict: the reply of judge 'python' could not be read" in capsys.readouterr().out
    assert main([*command, "empty.json"]) == 2
    assert "the earlier record has no verdict; replace it with --update" in capsys.readouterr().err


def test_a_broken_judge_disagrees_with_the_labels() -> None:
    lines = list(canary_lines(canary_record(lambda key: True)))
    right = sum(CONTENT.labels("correctness_judge").values())
    assert lines[1].startswith(f"agreement with the set's labels: {right} of 32; not on library-number,")


def test_a_judge_that_changed_its_mind_on_a_few_answers_drifts() -> None:
    labels = CONTENT.labels("correctness_judge")
    changed = {"library-implied", "tram-more", "bakery-partial", "garden-order"}
    result = compare_canaries(
        canary_record(labels.__getitem__), canary_record(lambda key: labels[key] != (key in changed))
    )
    assert {each.key for each in result.changed} == changed
    assert result.is_drift


def test_noise_is_no_drift() -> None:
    calls: dict[str, int] = {}
    labels = CONTENT.labels("correctness_judge")

    def noisy(key: str) -> bool:
        calls[key] = calls.get(key, 0) + 1
        return bool(calls[key] % 2) if key.endswith("good") else labels[key]

    record = canary_record(noisy)
    assert "noise: 7 answers pass in some rounds only" in list(canary_lines(record))[-1]
    assert not compare_canaries(record, canary_record(noisy)).is_drift


def test_a_judge_that_is_silent_now_is_a_drift(tmp_path: Path) -> None:
    labels = CONTENT.labels("correctness_judge")

    def silent(key: str) -> bool:
        raise ValueError("no route")

    result = compare_canaries(canary_record(labels.__getitem__), canary_record(silent))
    assert (result.compared, result.lost, result.is_drift) == (0, 32, True)


@pytest.mark.parametrize(
    ("rounds", "count", "is_drift"),
    [([None, None], 3, True), ([True, None], 8, True), ([True, None], 1, False), ([None, None], 1, False)],
)
def test_verdicts_that_are_lost_beyond_noise_are_a_drift(
    rounds: list[bool | None], count: int, is_drift: bool
) -> None:
    record = canary_record(lambda key: True)
    missing_verdicts = dict.fromkeys(list(record.verdicts)[:count], rounds)

    result = compare_canaries(
        record, record.model_copy(update={"verdicts": {**record.verdicts, **missing_verdicts}})
    )

    assert (result.changed, result.is_drift) == ((), is_drift)
    lines = list(drift_lines(result, "2026"))
    assert lines[0].startswith("drift:" if is_drift else "no drift beyond noise:")
    assert lines[1].startswith("without a verdict: 0 % of the rounds, now ")


def test_a_judge_that_loses_half_of_its_verdicts_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fading.py").write_text(FADING_FILE)
    Path("evalstudio.toml").write_text('[judge]\nhost = "python"\ntarget = "fading:judge"\n')
    command = ["judge-check", "--canary", "c.json", "--evaluator", "relevance_to_query_judge"]
    assert main([*command, "--repeats", "0"]) == 0
    Path("fades").touch()

    assert main([*command, "--repeats", "0"]) == 1
    assert "drift: 0 of" in capsys.readouterr().out


FADING_FILE = """
import json, pathlib

def judge(prompt, reply_schema):
    if pathlib.Path("fades").exists() and any(word in prompt.lower() for word in ("tram", "library")):
        return "I think so."
    return json.dumps({"rationale": "so", "rating": "yes"})
"""


def test_records_of_other_evaluators_and_sets_are_refused() -> None:
    record = canary_record(lambda key: True, repeats=0)
    with pytest.raises(ConfigurationError, match="is of evaluator 'correctness_judge', not 'sexism'"):
        check_comparable(record, "sexism")
    other = record.model_copy(update={"set": "0" * 16})
    with pytest.raises(ConfigurationError, match=r"another canary set .* --update"):
        check_comparable(other, "correctness_judge")
    with pytest.raises(ConfigurationError, match="from 0 to 9"):
        canary_record(lambda key: True, repeats=10)


JUDGE_FILE = """
import json, pathlib

def judge(prompt, reply_schema):
    rule = pathlib.Path("rule.txt").read_text()
    return json.dumps({"rationale": "so", "rating": "yes" if eval(rule) else "no"})
"""


def test_the_command_writes_compares_and_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("strict.py").write_text(JUDGE_FILE)
    config = Path("evalstudio.toml")
    config.write_text('[judge]\nhost = "python"\ntarget = "strict:judge"\ncache = true\n')
    rule = Path("rule.txt")
    rule.write_text("'23:10' in prompt")
    command = ["judge-check", "--canary", "canary.json", "--evaluator", "relevance_to_query_judge"]
    assert main(command) == 0
    assert "wrote canary.json" in capsys.readouterr().out
    assert main(command) == 0
    assert "no drift: 0 of 32 verdicts changed since 20" in capsys.readouterr().out

    rule.write_text("True")
    assert main(command) == 1
    output = capsys.readouterr().out
    assert "drift: 30 of 32 verdicts changed since 20" in output
    assert "30 to pass, 0 to fail (p < 0.001)" in output

    with config.open("a") as file:
        file.write("[evaluator.relevance_to_query_judge]\nthreshold = 0.9\n")
    assert main([*command, "--json"]) == 1
    result = json.loads(capsys.readouterr().out)["drift"]
    assert result["differences"] == ["threshold 0.5, now 0.9"]
    assert main([*command, "--update"]) == 0
    capsys.readouterr()
    assert main(command) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--evaluator", "sexism"], "give LABELS and --lab, or --canary FILE"),
        (["labels.csv", "--evaluator", "sexism"], "give LABELS and --lab, or --canary FILE"),
        (["labels.csv", "--canary", "c.json", "--evaluator", "sexism"], "leave out LABELS and --lab"),
    ],
)
def test_arguments_that_do_not_fit_are_usage_errors(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["judge-check", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_no_record_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "canary.json"
    for content, message in (("{}", "is no record of the canary set"), ("no", "cannot be read")):
        file.write_text(content)
        assert main(["judge-check", "--canary", str(file), "--evaluator", "sexism"]) == 2
        assert message in capsys.readouterr().err
