"""Whole runs that tempt a report to contradict itself: each must say one thing, everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.report.failed_items import OF_EACH_CAUSE
from support.project import Project

APP = """
import os


def number(prompt):
    return int("".join(char for char in prompt if char.isdigit()))


def upto(limit):
    def ask(prompt):
        item = number(prompt)
        return f"The fee is {item} dollars." if item < limit else "It is not on my list."
    return ask


alpha, beta = upto(120), upto(105)


def broken(prompt):
    if number(prompt) != 7:
        raise RuntimeError("HTTP 503: overloaded")
    return "The fee is 7 dollars."


def mixed(prompt):
    item = number(prompt)
    if item < 6:
        return "It costs nothing."
    if item < 16:
        raise RuntimeError("HTTP 503: overloaded")
    if item < 20:
        return "I'm sorry, but I can't help with that."
    return f"The fee is {item} dollars."


def fragile(prompt):
    return "It is not on my list." if "PLEASE" in prompt else f"The fee is {number(prompt)} dollars."


def leaking(prompt):
    item = number(prompt)
    card = " Card 4111 1111 1111 1111." if item < 4 else ""
    phone = " Call +1 202 555 0143." if 2 < item < 12 else ""
    context = [f"Item {item} costs {item} dollars.{phone}"]
    return {"answer": f"The fee is {item} dollars.{card}", "context": context}


def calling(prompt):
    item = number(prompt)
    calls = [{"name": "look_up", "arguments": {"item": item if item % 2 else 0}}]
    calls += [{"name": "delete", "arguments": {}}] if item < 3 else []
    return {"answer": f"The fee is {item} dollars.", "tool_calls": calls}


def changed(prompt):
    return "It is not on my list." if "NEW_PROMPT" in os.environ else f"The fee is {number(prompt)} dollars."


def silent(prompt):
    item = number(prompt)
    return "" if item == 0 else "It is not on my list."
"""
Summary = Mapping[str, Any]


def cases(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "key": f"q{item}",
            "prompt": f"What is the fee of item {item}?",
            "condition": f'"{item} dollars"',
            **more,
        }
        for item in range(count)
    ]


def configured(
    project: Project, models: Mapping[str, str], evaluators: Iterable[str], more: str = ""
) -> None:
    tables = [
        f'[[model]]\nname = "{name}"\nhost = "python"\ntarget = "app:{target}"\n'
        for name, target in models.items()
    ]
    project.write("app.py", APP)
    project.write(
        "evalstudio.toml", f"evaluators = {json.dumps(list(evaluators))}\n{more}\n" + "\n".join(tables)
    )


def run(project: Project, *arguments: str) -> tuple[pytest.RunResult, Summary]:
    result = project.run("sums_suite.json", *arguments)
    return result, read(project)["summary"]


def read(project: Project) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        (project.folder / "evalstudio-report" / "interpretation.json").read_text()
    )
    return data


def page(project: Project) -> str:
    return (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")


def markdown(project: Project) -> str:
    return (project.folder / "evalstudio-report" / "summary.md").read_text(encoding="utf-8")


def causes(summary: Summary) -> dict[str, int]:
    return {cause["title"]: cause["total"] for cause in summary["causes"]}


def test_models_are_ranked_by_the_paired_test_and_not_by_intervals(project: Project) -> None:
    configured(project, {"alpha": "alpha", "beta": "beta"}, ["text_matching"])
    project.suite(*cases(150))
    result, summary = run(project)
    sentence = (
        "Best model: alpha, which passes 80 % of 150 test cases; alpha passes 15 questions that beta fails,"
        " none the other way (p < 0.001)."
    )
    assert summary["ranking"] == [sentence]
    assert summary["pairs"][0]["p"] == pytest.approx(2 * 0.5**15)
    first, second = summary["models"]
    assert first["interval"][0] < second["interval"][1]
    result.stdout.fnmatch_lines([sentence])
    assert sentence.replace("<", "&lt;") in page(project)
    assert sentence.replace("<", "&lt;") in markdown(project) or sentence in markdown(project)
    compared = project.run_command("compare", "evalstudio-report", "--models", "alpha", "beta")
    compared.stdout.fnmatch_lines(["*worse*"])


def test_questions_without_an_answer_stay_in_the_denominator(project: Project) -> None:
    configured(project, {"desk": "broken"}, ["text_matching"])
    project.suite(*cases(40))
    result, summary = run(project)
    [model] = summary["models"]
    assert (model["passed"], model["asked"], model["conformity"]) == (1, 40, "not assessed")
    coverage = summary["coverage"]
    assert (coverage["asked"], coverage["answered"], coverage["checked"], coverage["errors"]) == (
        40,
        1,
        1,
        39,
    )
    result.stdout.fnmatch_lines(["result: ERROR – 39 errors in 40 tests"])
    text = page(project)
    assert "Passed of 40 asked" in text
    assert "fit with limits" not in text
    assert list(causes(summary).values()) == [39]


def test_failures_refusals_and_errors_are_told_apart(project: Project) -> None:
    configured(project, {"desk": "mixed"}, ["text_matching"])
    project.suite(*cases(40))
    result, summary = run(project)
    assert [(cause["code"], cause["total"]) for cause in summary["causes"]] == [
        ("not_answered", 10),
        ("condition", 6),
        ("refused", 4),
    ]
    assert summary["verdict"]["headline"] == "FAILED – 10 of 40 tests, 10 errors"
    assert "<title>✗ 10 failed, 10 errors – " in page(project)
    result.stdout.fnmatch_lines(
        ["*10  Not answered*", "*6  Condition not met*", "*4  Refused: the answer declines the question*"]
    )
    assert "did not answer" not in re.sub(
        "Refused: the answer declines the question", "", " ".join(causes(summary))
    )


def test_models_of_like_names_have_one_label_everywhere(project: Project) -> None:
    kinds = ("gpt-4-1106-preview", "gpt-4", "gpt-4-1106-preview-long-context", "gpt-4-turbo")
    names = [f"RAG model h2oai/{kinds[place % 4]} (reverse) #{place}" for place in range(16)]
    configured(project, dict.fromkeys(names, "alpha"), ["text_matching"])
    project.suite(*cases(125)[115:])
    _, summary = run(project)
    labels = {model["name"]: model["label"] for model in summary["models"]}
    assert len(set(labels.values())) == 16
    for name, label in labels.items():
        assert label.rpartition("#")[2] == name.rpartition("#")[2]
        assert label.startswith(name.removeprefix("RAG model h2oai/")[:5])
        assert len(label) <= 24
    text = page(project)
    for label in labels.values():
        assert f"<bdi>{label}</bdi>" in text  # heatmap and print


def test_the_flip_rate_is_over_pairs_whatever_else_is_evaluated(project: Project) -> None:
    tests = []
    for case in cases(5):
        tests.append(case)
        tests.append(
            {
                **case,
                "key": f"{case['key']}-p",
                "prompt": f"{case['prompt']} PLEASE",
                "categories": ["perturbed_by:comma:MEDIUM"],
                "relationships": [
                    {"type": "perturbation_source", "target": case["key"], "target_type": "test_case"}
                ],
            }
        )
    project.suite(*tests)
    for evaluators in (["text_matching"], ["text_matching", "pii_leakage", "sensitive_data_leakage"]):
        configured(project, {"desk": "fragile"}, evaluators)
        run(project)
        (every,) = [rate for rate in read(project)["flips"]["rates"] if rate["group"] == "all"]
        assert (every["compared"], every["pass_to_fail"], every["rate"]) == (5, 5, 1.0)
        assert causes(read(project)["summary"]) == {"Passes as asked originally, fails when perturbed": 5}


def test_a_passed_run_has_no_finding_of_a_metric_that_decides_nothing(project: Project) -> None:
    configured(
        project,
        {"desk": "alpha"},
        ["text_matching", "rouge"],
        "[evaluator.rouge]\nthresholds = {rouge_l = -inf}\n",
    )
    project.suite(*cases(8, expected_output="We charge it at the counter once a year."))
    result, summary = run(project)
    assert result.ret == 0
    assert summary["findings"] == []
    assert summary["causes"] == []
    assert summary["coverage"]["checked"] == 8


def test_a_leak_in_the_context_is_not_a_leak_in_the_answer(project: Project) -> None:
    configured(project, {"desk": "leaking"}, ["text_matching", "pii_leakage"])
    project.suite(*cases(20))
    _, summary = run(project)
    assert causes(summary) == {"PII leakage: leak in the context": 8, "PII leakage: leak in the answer": 4}
    assert sum(causes(summary).values()) == 12


def test_wrong_and_forbidden_calls_are_causes_of_their_own(project: Project) -> None:
    more = '[evaluator.tool_rules]\nrules = [{tool = "delete", never = true}]\n'
    configured(project, {"desk": "calling"}, ["tool_rules", "tool_calls"], more)
    project.suite(
        *(
            {**case, "expected_tool_calls": [{"name": "look_up", "arguments": {"item": item}}]}
            for item, case in enumerate(cases(12))
        )
    )
    _, summary = run(project)
    totals = {cause["code"]: cause["total"] for cause in summary["causes"]}
    assert set(totals) <= {"forbidden_call", "wrong_call", "condition"}
    assert totals["forbidden_call"] == 3
    assert sum(totals.values()) == read(project)["run"]["verdicts"]["failed"]


def test_one_empty_answer_does_not_head_many_failures(project: Project) -> None:
    configured(project, {"desk": "silent"}, ["text_matching"])
    project.suite(*cases(30))
    result, summary = run(project)
    assert [(cause["code"], cause["total"]) for cause in summary["causes"]] == [
        ("condition", 29),
        ("empty", 1),
    ]
    first = markdown(project).splitlines()[2]
    assert first.endswith("Why: 29 × Condition not met; 1 × Empty answer")
    assert "No answer" not in first
    result.stdout.fnmatch_lines(["*29  Condition not met*", "*1  Empty answer*"])


def test_each_cause_is_written_out_however_large_the_others_are(project: Project) -> None:
    configured(project, {"desk": "silent"}, ["text_matching"])
    project.suite(*reversed(cases(200)))
    run(project)
    failures = page(project).partition('id="failures"')[2].partition("</section>")[0]
    groups = failures.split('class="failure-group"')[1:]
    counts = [group.count('class="failed-item"') for group in groups]
    assert counts[1] == 1
    assert counts[0] >= 50
    assert OF_EACH_CAUSE > 1


def test_forty_failures_of_one_cause_fit_on_a_screen(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    configured(project, {"desk": "changed"}, ["text_matching"])
    project.suite(*cases(40))
    project.run("sums_suite.json", "--evalstudio-output", "base")
    monkeypatch.setenv("NEW_PROMPT", "yes")
    result = project.run("-q", "sums_suite.json", "--evalstudio-baseline", "base/record.jsonl")
    assert result.ret == 1
    lines = "\n".join(result.outlines)
    assert "40 of 40 cases regressed" in lines
    assert len(result.outlines) <= 25, lines


def test_every_output_tells_the_same_causes(project: Project, tmp_path: Path) -> None:
    configured(project, {"desk": "mixed"}, ["text_matching"])
    project.suite(*cases(40))
    result, summary = run(project)
    output = "\n".join(result.outlines)
    for title, total in causes(summary).items():
        short = title.partition(":")[0]
        assert f"{total}  {short}" in output
        assert re.search(rf'class="cause-count">{total}</span> <span dir="auto">{short}', page(project))
        assert f"{total} × {short}" in markdown(project)
