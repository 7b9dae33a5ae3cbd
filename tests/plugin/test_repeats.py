"""Repeats of a question:  policies of the verdict, flaky cases, and sequential stopping."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.cli import main
from support.project import Project
from support.repeated import CASES, FOUR, MODEL, SPRT, configured, question_count


@pytest.mark.parametrize(
    ("policy", "outcome"),
    [("all", "failed"), ("any", "passed"), ("2/3", "passed"), ("8/10", "failed"), ("mean", "failed")],
)
def test_a_policy_decides_from_the_repeats(project: Project, policy: str, outcome: str) -> None:
    configured(project, "runs = 3")
    project.suite(FOUR)
    result = project.run("-o", f"evalstudio_pass={policy}", "--evalstudio-threshold", "text_matching=0.7")
    assert result.parseoutcomes() == {outcome: 1}


def test_the_policy_of_a_case_wins_over_that_of_suite_and_run(project: Project) -> None:
    configured(project, 'runs = 3\npass = "any"')
    project.suite({**FOUR, "key": "own", "pass": "any"}, FOUR, **{"pass": "all"})
    result = project.run("-rA")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['*text_matching: 2 of 3 repeats pass (pass = "all"; model_passes mean *'])
    _, items = project.record()
    verdicts = {name: item["verdicts"]["text_matching"] for name, item in items.items()}
    assert {name: (verdict["policy"], verdict["passed"]) for name, verdict in verdicts.items()} == {
        "own[app]": ("any", True),
        "four[app]": ("all", False),
    }


def test_the_ini_file_gives_a_policy(project: Project) -> None:
    configured(project, "runs = 3")
    project.write("pytest.ini", "[pytest]\nevalstudio_pass = any\n")
    project.suite(FOUR)
    project.run("--evalstudio-threshold", "text_matching=0.7").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('pass = "most"', '*pass: a policy of repeats is "all", "any"*'),
        ('pass = "9/8"', "*not '9/8'*"),
        ('runs = {max = 2, stop = "sprt"}', "*evalstudio.toml: runs: max = 2 allows no decision*"),
        ('runs = {max = 20, stop = "sprt", p0 = 0.5}', "*p1 < p0*"),
        ('runs = {max = 20, stop = "coin"}', "*runs: stop: *'sprt'*"),
        ('runs = {max = 20, stop = "sprt", gamma = 1}', "*runs: gamma: unknown key; known keys: max, stop*"),
    ],
)
def test_a_wrong_configuration_is_refused(project: Project, text: str, message: str) -> None:
    configured(project, text)
    project.suite(FOUR)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    assert question_count(project) == 0


def test_a_wrong_policy_of_a_case_is_an_error_of_that_case(project: Project) -> None:
    configured(project, "runs = 3")
    project.suite({**FOUR, "key": "wrong", "pass": "some"}, {**FOUR, "pass": "any"})
    result = project.run()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*/tests/0/test_cases/0/pass: a policy of repeats is *, not 'some'*"])


def test_flaky_cases_and_reliability_are_reported_everywhere(project: Project) -> None:
    configured(project, 'runs = 3\npass = "any"')
    project.suite(FOUR, CASES[0])
    result = project.run("-v")
    result.stdout.fnmatch_lines(
        [
            "repeats: text_matching, app: 3 repeats, mean 0.8333 *, min 0.5 *",
            "  pass@1 0.8333 *, pass^1 0.8333 *",
            "  pass@3 1 *, pass^3 0.5 *",
            "flaky: 1 test case passed in some repeats and failed in others",
            "  sums_suite.json::four[[]app]: 1 of 3 repeats failed (33.3 %)",
        ]
    )
    report = project.folder / "evalstudio-report"
    summary = (report / "summary.md").read_text()
    assert "## Repeats" in summary
    assert "| 1 of 3 repeats | 33.3 % |" in summary
    data = json.loads((report / "interpretation.json").read_text())["repeats"]
    assert [(case["key"], case["failed"], case["total"]) for case in data["flaky"]] == [("four", 1, 3)]
    [figures] = data["figures"]
    assert [(entry["k"], entry["all_pass"]["value"]) for entry in figures["passes"]][-1] == (3, 0.5)
    assert "pass^k" in (report / "interpretation.html").read_text()


def test_asking_stops_when_the_verdict_is_decided(project: Project) -> None:
    configured(project, SPRT)
    project.suite(*CASES)
    result = project.run("-v")
    result.assert_outcomes(passed=1, failed=2)
    _, items = project.record()
    ends = {
        name: (len(item["rows"]), item["verdicts"]["text_matching"]["stopped"])
        for name, item in items.items()
    }
    assert ends == {"good[app]": (9, "pass"), "bad[app]": (3, "fail"), "coin[app]": (8, "fail")}
    assert question_count(project) == 20
    result.stdout.fnmatch_lines(
        [
            "*text_matching: 0 of 3 repeats pass (sequential test; *",
            "sequential test of app: at most 20 repeats, p0 0.9, p1 0.7, alpha 0.05, beta 0.1",
            "  exact error rates: a case of pass rate 0.9 fails with probability 0.02* (undecided 0.2489,*",
            "  1 item decided to pass, 2 to fail, 0 inconclusive; 20 repeats, 40 saved",
        ]
    )


def test_an_undecided_item_falls_back_to_the_policy(project: Project) -> None:
    configured(project, 'runs = {max = 7, stop = "sprt"}\npass = "any"')
    project.suite(CASES[2])
    project.run().assert_outcomes(passed=1)
    _, items = project.record()
    verdict = items["coin[app]"]["verdicts"]["text_matching"]
    assert (verdict["stopped"], len(verdict["repeats"])) == ("inconclusive", 7)


@pytest.mark.slow
def test_workers_stop_at_the_same_repeats(project: Project) -> None:
    configured(project, SPRT)
    project.suite(*CASES)
    project.run("-n", "2").assert_outcomes(passed=1, failed=2)
    _, items = project.record()
    assert {name: len(item["rows"]) for name, item in items.items()} == {
        "good[app]": 9,
        "bad[app]": 3,
        "coin[app]": 8,
    }


def test_stored_answers_stop_at_the_same_repeat_and_refresh_asks_again(project: Project) -> None:
    configured(project, SPRT, more="cache = true\n")
    project.suite(*CASES[:2])
    project.run().assert_outcomes(passed=1, failed=1)
    assert question_count(project) == 12
    project.run().assert_outcomes(passed=1, failed=1)
    assert question_count(project) == 12
    project.run("--evalstudio-refresh").assert_outcomes(passed=1, failed=1)
    assert question_count(project) == 24


def test_resolve_refuses_runs_that_end_by_verdicts(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(project, SPRT)
    suite = project.suite(CASES[0], **{"pass": "all"})
    monkeypatch.chdir(project.folder)
    assert main(["resolve", str(suite), "-o", "lab.json"]) != 0
    assert "model 'app': runs with `stop` needs the verdicts of a pytest run" in capsys.readouterr().err
    assert main(["resolve", str(suite), "-o", "lab.json", "--runs", "2"]) == 0
    rows = json.loads((project.folder / "lab.json").read_text())["dataset"]["inputs"]
    assert [(row.get("run", 1), row["pass"]) for row in rows] == [(1, "all"), (2, "all")]


def test_evaluators_that_compare_repeats_are_scored_at_the_end(project: Project) -> None:
    configured(project, SPRT)
    project.write(
        "evalstudio.toml",
        f'evaluators = ["text_matching", "self_consistency"]\n{SPRT}\n{MODEL}',
    )
    project.suite(CASES[0])
    project.run().assert_outcomes(passed=1)
    _, items = project.record()
    [item] = items.values()
    verdicts = item["verdicts"]
    assert len(item["rows"]) == 9
    assert all(len(row["outcomes"]) == 2 for row in item["rows"])
    assert verdicts["text_matching"]["stopped"] == "pass"
    assert "stopped" not in verdicts["self_consistency"]


def test_perturbed_cases_stop_on_their_own_and_flip_by_the_decision(project: Project) -> None:
    perturbed = {
        "key": "good-again",
        "prompt": "bad?",
        "condition": '"4"',
        "relationships": [{"type": "perturbation_source", "target": "good", "target_type": "test_case"}],
    }
    configured(project, SPRT, more="cache = true\n")
    project.suite(CASES[0], perturbed)
    project.run().assert_outcomes(passed=1, failed=1)
    _, items = project.record()
    assert [len(item["rows"]) for item in items.values()] == [9, 3]
    flips = items["good-again[app]"]["flips"]
    assert [(flip["metric"], flip["direction"]) for flip in flips] == [("model_passes", "pass_to_fail")]
    before = question_count(project)

    project.run("-k", "again").assert_outcomes(failed=1, deselected=1)

    [single_item] = project.record()[1].values()
    assert single_item["flips"] == flips
    assert question_count(project) == before


def test_growing_steps_and_reruns_stop_at_the_same_repeats(project: Project) -> None:
    configured(project, SPRT)
    project.suite(*CASES)
    project.run("--maxfail", "5").assert_outcomes(passed=1, failed=2)
    assert question_count(project) == 20


def test_pass_at_k_of_stopped_items_takes_the_repeats_that_are_always_asked(project: Project) -> None:
    """coin? gives 4 5 4 5 …: of its first three repeats two pass; of the eight that are asked, half."""
    configured(project, SPRT)
    project.suite(CASES[2])
    project.run()
    data = json.loads((project.folder / "evalstudio-report" / "interpretation.json").read_text())
    [figures] = data["repeats"]["figures"]
    assert [entry["k"] for entry in figures["passes"]] == [1, 2, 3]
    assert figures["passes"][0]["any_pass"]["value"] == pytest.approx(2 / 3)
    [stopping] = data["repeats"]["stopping"]
    assert (stopping["asked"], stopping["saved"], stopping["items"]["fail"]) == (8, 12, 1)
