"""A run compared with a baseline: messages, exit status, record, summary and page."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from support.command import evalstudio
from support.project import PreparedProjects, Project
from support.workers import WORKERS

BETTER = """
ANSWERS = {"2+2?": "It is 4.", "3+3?": "It is 6.", "4+4?": "It is 9."}


def ask(prompt):
    return ANSWERS[prompt]
"""
WORSE = BETTER.replace("It is 6.", "It is about 7.")


def case(key: str, prompt: str, condition: str, **more: object) -> dict[str, object]:
    return {"key": key, "prompt": prompt, "condition": condition, **more}


def save_baseline(project: Project) -> None:
    project.write("app.py", BETTER)
    project.suite(case("four", "2+2?", '"4"'), case("six", "3+3?", '"6"'), case("eight", "4+4?", '"8"'))
    project.run()
    assert evalstudio("baseline", "save", folder=project.folder).returncode == 0
    project.write("app.py", WORSE)


@pytest.fixture
def baseline(project: Project, project_store: PreparedProjects) -> Project:
    """A project whose application became worse after a baseline was saved."""
    return project_store.fill(project, save_baseline)


def run_with_baseline(project: Project, *arguments: str) -> pytest.RunResult:
    return project.run("-v", "--evalstudio-baseline", "evalstudio-baseline.jsonl", *arguments)


def results(project: Project) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (project.folder / "evalstudio-report" / "comparison.json").read_text(encoding="utf-8")
    )
    return content


def test_the_failure_of_a_regressed_item_begins_with_what_has_changed(baseline: Project) -> None:
    result = run_with_baseline(baseline)

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*regressed since baseline run ???? (20*): text_matching: passed -> failed",
            "*change: *It is *-6-*+about 7+*",
            "*= comparison with the baseline =*",
            "compared with run ???? (20*)",
            "1 of 3 cases regressed. 3 cases are too few to tell whether other questions got worse*",
            "items: 1 regressed, 1 still failing, 1 still passing",
            "  regressed: 3+3? (app, six): text_matching: passed -> failed",
            "verdict: inconclusive",
        ]
    )


def test_summary_page_and_archive_hold_the_comparison(baseline: Project) -> None:
    run_with_baseline(baseline)

    report = baseline.folder / "evalstudio-report"
    summary = (report / "summary.md").read_text(encoding="utf-8")
    page = (report / "interpretation.html").read_text(encoding="utf-8")
    sentences = "1 of 3 cases regressed. 3 cases are too few to tell whether other questions got worse"
    assert "<summary>Comparison with the baseline</summary>" in summary
    assert sentences in summary.replace("\\", "")
    assert sentences in page
    assert "**regressed** 3+3? (app, six)" in summary
    assert "**about 7**" in summary
    assert "Comparison with the baseline" in page
    assert results(baseline)["items"] == {
        "regressed": 1,
        "fixed": 0,
        "still_failing": 1,
        "still_passing": 1,
        "new": 0,
        "gone": 0,
        "error_now": 0,
        "error_then": 0,
        "still_error": 0,
        "test_changed": 0,
    }


@pytest.mark.slow
def test_with_two_workers_the_comparison_is_the_same(baseline: Project) -> None:
    run_with_baseline(baseline)
    single_process = results(baseline)
    result = run_with_baseline(baseline, "-n", "2")
    shared = results(baseline)

    result.assert_outcomes(passed=1, failed=2)
    assert {**shared, "new": None, "operations": None} == {**single_process, "new": None, "operations": None}
    result.stdout.fnmatch_lines(["*regressed since baseline*"])


@pytest.mark.parametrize("workers", WORKERS)
def test_a_junit_file_has_the_values_that_are_compared(baseline: Project, workers: tuple[str, ...]) -> None:
    baseline.suite(
        case("four", "2+2?", '"4"'),
        case("six", "3+3?", '"6"'),
        case("eight", "4+4?", '"8"'),
        case("more", "2+2?", '"4"'),
    )

    run_with_baseline(baseline, "--junitxml=junit.xml", *workers).assert_outcomes(passed=2, failed=2)

    entries = {}
    for entry in ElementTree.parse(baseline.folder / "junit.xml").iter("testcase"):
        values = {each.get("name"): each.get("value") for each in entry.iter("property")}
        score = "evalstudio.text_matching.model_passes"
        entries[entry.get("name")] = tuple(
            values.get(name)
            for name in ("evalstudio.baseline.class", f"{score}.baseline", score, f"{score}.difference")
        )
    assert entries == {
        "four[app]": ("still_passing", "1.0", "1.0", "0.0"),
        "six[app]": ("regressed", "1.0", "0.0", "-1.0"),
        "eight[app]": ("still_failing", "0.0", "0.0", "0.0"),
        "more[app]": ("new", None, "1.0", None),
    }


def test_known_failures_can_be_expected(baseline: Project) -> None:
    baseline.write("app.py", BETTER)

    result = run_with_baseline(baseline, "-o", "evalstudio_known_failures=xfail", "-rx")

    result.assert_outcomes(passed=2, xfailed=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["XFAIL*eight*fails in the baseline too*"])


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [("case", 1), ("mean,case", 1), ("mean", 0), ("gone", 1), ("mean, gone", 1), ("none", 0)],
)
def test_a_regressed_item_that_is_expected_to_fail_fails_the_session_where_asked(
    baseline: Project, fail_on: str, status: int
) -> None:
    baseline.suite(case("four", "2+2?", '"4"'), case("six", "3+3?", '"6"', xfail="The new model rounds."))

    result = run_with_baseline(baseline, "--evalstudio-fail-on", fail_on)

    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == status


def test_a_mean_that_is_worse_fails_the_session_although_each_item_passes(project: Project) -> None:
    project.write(
        "evalstudio.toml",
        project.folder.joinpath("evalstudio.toml").read_text().replace("text_matching", "rouge"),
    )
    answers = {f"q{number}": "the fee is five euros a month" for number in range(8)}
    project.write("app.py", f"ANSWERS = {answers!r}\n\n\ndef ask(prompt):\n    return ANSWERS[prompt]\n")
    cases = [
        {"key": key, "prompt": key, "expected_output": text, "evaluators": {"rouge": {"threshold": 0.1}}}
        for key, text in answers.items()
    ]
    project.suite(*cases)
    project.run("-v").assert_outcomes(passed=8)
    evalstudio("baseline", "save", folder=project.folder)
    project.write("app.py", "def ask(prompt):\n    return 'the fee is five'\n")

    by_case = run_with_baseline(project)
    by_mean = run_with_baseline(project, "--evalstudio-fail-on", "mean")

    by_case.assert_outcomes(passed=8)
    assert (by_case.ret, by_mean.ret) == (0, 1)
    by_case.stdout.fnmatch_lines(["result: PASSED – 8 of 8 tests"])
    by_mean.stdout.fnmatch_lines(["result: FAILED – 1 metric worse than in the baseline"])
    by_mean.stdout.fnmatch_lines(
        [
            "compared with run ????*",
            "none of 8 cases regressed. The drop is more than chance: rouge.rouge_l of app by 0.*",
            "*worse: rouge.rouge_l of app: 1 -> 0.*",
        ]
    )


def test_an_inconclusive_comparison_fails_only_where_asked(baseline: Project) -> None:
    baseline.write("app.py", WORSE.replace('"about 7."', '"7."'))
    baseline.suite(case("six", "3+3?", '"6"', xfail="known"))

    plain = run_with_baseline(baseline, "--evalstudio-fail-on", "none")
    strict = run_with_baseline(
        baseline, "--evalstudio-fail-on", "none", "-o", "evalstudio_fail_on_inconclusive=true"
    )

    assert (plain.ret, strict.ret) == (0, 1)


def test_dropped_evaluators_and_moved_thresholds_are_named_at_the_end(project: Project) -> None:
    settings = (project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    strict = settings.replace('["text_matching"]', '["text_matching", "rouge", "bleu"]')
    assert strict != settings
    project.write("evalstudio.toml", f"{strict}\n[evaluator.rouge]\nthreshold = 0.75\n")
    project.suite(case("four", "2+2?", '"4"', expected_output="4"))
    project.run()
    evalstudio("baseline", "save", folder=project.folder)
    unchanged = project.run("--evalstudio-baseline", "evalstudio-baseline.jsonl")
    lenient = strict.replace(', "bleu"', "")
    project.write("evalstudio.toml", f"{lenient}\n[evaluator.rouge]\nthreshold = 0.2\n")

    result = project.run("--evalstudio-baseline", "evalstudio-baseline.jsonl")

    result.stdout.fnmatch_lines(
        [
            "since run*no case was compared; 1 changed test left out (threshold of rouge.rouge_l 0.75 -> *",
            "other rules than the baseline: without bleu",
        ]
    )
    unchanged.stdout.no_fnmatch_line("other rules*")


def test_the_configuration_names_the_baseline(baseline: Project) -> None:
    baseline.write(
        "evalstudio.toml",
        'baseline = "evalstudio-baseline.jsonl"\n' + (baseline.folder / "evalstudio.toml").read_text(),
    )

    baseline.run("-v").stdout.fnmatch_lines(["items: 1 regressed*"])


def test_a_configured_baseline_that_does_not_exist_yet_is_a_warning(project: Project) -> None:
    project.write(
        "evalstudio.toml", 'baseline = "later.jsonl"\n' + (project.folder / "evalstudio.toml").read_text()
    )
    project.suite(case("four", "2+2?", '"4"'))

    result = project.run()

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        ["*there is no baseline yet; run the suite without it once, then *baseline save -o later.jsonl`*"]
    )


@pytest.mark.parametrize(
    ("baseline_file", "message"),
    [
        ("nowhere.jsonl", "*nowhere.jsonl: there is no baseline yet; run the suite without it once*"),
        ("evalstudio-report", "*this run would overwrite the baseline*evalstudio baseline save*"),
        ("cut.jsonl", "*is not a line of a record*"),
        ("other.jsonl", "*has none of the 3 collected items*"),
    ],
)
@pytest.mark.parametrize("workers", WORKERS)
def test_a_baseline_that_cannot_be_used_is_a_usage_error(
    baseline: Project, baseline_file: str, message: str, workers: tuple[str, ...]
) -> None:
    saved = (baseline.folder / "evalstudio-baseline.jsonl").read_text(encoding="utf-8")
    baseline.write("cut.jsonl", saved[:-30])
    baseline.write("other.jsonl", saved.replace("sums_suite.json", "others_suite.json").replace('?"', '!"'))

    result = baseline.run("--evalstudio-baseline", baseline_file, *workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_changed_document_is_named_with_the_cases_that_use_it(project: Project) -> None:
    project.write("fees.md", "The fee is 5 EUR.\n")
    project.write("terms.md", "Terms.\n")
    tests = [
        {"key": "a", "documents": ["fees.md"], "test_cases": [case("four", "2+2?", '"4"')]},
        {"key": "b", "documents": ["terms.md"], "test_cases": [case("six", "3+3?", '"6"')]},
    ]
    project.write("sums_suite.json", json.dumps({"name": "Sums", "tests": tests}))
    project.run("-v")
    evalstudio("baseline", "save", folder=project.folder)
    project.write("fees.md", "The fee is 6 EUR.\n")

    result = run_with_baseline(project)

    result.stdout.fnmatch_lines(["changed: documents", "  documents: fees.md", "  cases that use them: four"])


def test_the_record_names_the_commit(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567")
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    project.suite(case("four", "2+2?", '"4"'))

    project.run()

    header, _ = project.record()
    assert (header["commit"][:7], header["branch"]) == ("0123456", "main")


@pytest.mark.parametrize("workers", WORKERS)
def test_cases_that_are_gone_fail_the_session_where_asked_and_deselected_ones_do_not(
    baseline: Project, workers: tuple[str, ...]
) -> None:
    fail_option = ("--evalstudio-fail-on", "gone", *workers)

    selected = run_with_baseline(baseline, "-k", "four", *fail_option)
    counts = results(baseline)["items"]
    baseline.suite(case("four", "2+2?", '"4"'))
    removed, ignored = run_with_baseline(baseline, *fail_option), run_with_baseline(baseline, *workers)

    assert (selected.ret, removed.ret, ignored.ret) == (0, 1, 0)
    assert isinstance(counts, dict)
    assert counts["gone"] == 0
    removed.stdout.fnmatch_lines(["items: 1 still passing, 2 gone", "since run * no case changed; 2 gone*"])


SELECTIONS = {
    "deselected, with a renamed model": ("-o", "evalstudio_baseline_model='app=app two'", "-k", "four"),
    "not reached": ("-x", "-k", "not four", "-o", "evalstudio_baseline_model='app=app two'"),
    "a node id": ("sums_suite.json::four", "-o", "evalstudio_baseline_model='app=app two'"),
    "another model": ("--evalstudio-model", "app two", "-o", "evalstudio_baseline_model='app=app two'"),
}


@pytest.mark.parametrize("arguments", SELECTIONS.values(), ids=SELECTIONS)
@pytest.mark.parametrize("workers", WORKERS)
def test_cases_that_a_run_leaves_out_are_not_gone(
    baseline: Project, arguments: tuple[str, ...], workers: tuple[str, ...]
) -> None:
    config = (baseline.folder / "evalstudio.toml").read_text()
    second = '[[model]]\nname = "second"\nhost = "python"\ntarget = "app:ask"\n'
    baseline.write("evalstudio.toml", config + second)
    baseline.run()
    evalstudio("baseline", "save", "-o", "two.jsonl", folder=baseline.folder)
    baseline.write("evalstudio.toml", config.replace('"app"', '"app two"') + second)

    baseline.run("--evalstudio-baseline", "two.jsonl", *arguments, *workers)

    assert results(baseline)["items"]["gone"] == 0


def test_cases_that_passed_last_time_are_not_gone_in_a_rerun_of_the_failures(project: Project) -> None:
    project.write("app.py", BETTER)
    project.write("suites/sums_suite.json", project.suite(case("four", "2+2?", '"4"')).read_bytes())
    project.suite(case("six", "3+3?", '"6"'), case("eight", "4+4?", '"9"'), name="suites/more_suite.json")
    project.run("suites")
    evalstudio("baseline", "save", folder=project.folder)
    options = ("suites", "--evalstudio-baseline", "evalstudio-baseline.jsonl")
    project.write("app.py", WORSE)
    project.run_with_cache(*options).assert_outcomes(passed=2, failed=1)
    project.write("app.py", BETTER)

    result = project.run_with_cache(*options, "--lf", "--evalstudio-fail-on", "gone")

    result.assert_outcomes(passed=1)
    assert result.ret == 0
    assert results(project)["items"]["gone"] == 0


def test_a_rerun_without_earlier_failures_misses_the_gone_cases(baseline: Project) -> None:
    baseline.suite(case("four", "2+2?", '"4"'))
    options = ("--evalstudio-baseline", "evalstudio-baseline.jsonl", "--evalstudio-fail-on", "gone")

    first = baseline.run_with_cache(*options)
    rerun = baseline.run_with_cache(*options, "--lf")

    assert (first.ret, rerun.ret) == (1, 1)
    assert "rerun: " not in first.stdout.str()
    rerun.stdout.fnmatch_lines(["result: FAILED – 2 cases of the baseline gone"])


def test_cases_of_a_moved_suite_that_are_deselected_are_not_gone(baseline: Project) -> None:
    (baseline.folder / "sums_suite.json").rename(baseline.folder / "moved_suite.json")

    result = run_with_baseline(baseline, "-k", "four", "--evalstudio-fail-on", "gone")

    assert result.ret == 0
    assert results(baseline)["items"]["gone"] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "cases",
            "*--evalstudio-fail-on cases: *is not known; give one or more of case, mean, gone, unchecked, n*",
        ),
        (
            "none,case",
            "*--evalstudio-fail-on none,case: give one or more of case, mean, gone, unchecked, or none *",
        ),
        ("", "*--evalstudio-fail-on : give one or more of*"),
    ],
)
def test_what_fails_a_session_is_checked(project: Project, text: str, message: str) -> None:
    project.suite(case("four", "2+2?", '"4"'))

    result = project.run("--evalstudio-fail-on", text)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


@pytest.mark.parametrize(
    ("options", "headline"),
    [
        (("--evalstudio-fail-on", "case"), "FAILED – 1 regressed case"),
        (("--evalstudio-fail-on", "gone"), "FAILED – 1 case of the baseline gone"),
        (
            ("--evalstudio-fail-on", "gone", "-o", "evalstudio_fail_on_inconclusive=true"),
            "FAILED – 1 case of the baseline gone, comparison with the baseline inconclusive",
        ),
        (("--evalstudio-fail-on", "mean"), "PASSED – 1 of 2 tests, 1 expected failure"),
    ],
)
@pytest.mark.parametrize("workers", WORKERS)
def test_the_headline_says_why_a_comparison_fails_the_session(
    baseline: Project, options: tuple[str, ...], headline: str, workers: tuple[str, ...]
) -> None:
    baseline.suite(case("four", "2+2?", '"4"'), case("six", "3+3?", '"6"', xfail="The new model rounds."))

    result = run_with_baseline(baseline, *options, *workers)

    report = baseline.folder / "evalstudio-report"
    assert result.ret == (1 if headline.startswith("FAILED") else 0)
    result.stdout.fnmatch_lines([f"result: {headline}"])
    assert headline in (report / "summary.md").read_text(encoding="utf-8").splitlines()[0]
    assert headline in (report / "interpretation.html").read_text(encoding="utf-8")


def test_the_configuration_names_several_reasons(baseline: Project) -> None:
    config = (baseline.folder / "evalstudio.toml").read_text()
    baseline.suite(case("four", "2+2?", '"4"'))
    codes = []
    for reasons in ('"case"', '["mean", "gone"]', '"case, gone"', '"none"'):
        baseline.write("evalstudio.toml", f"comparison.fail_on = {reasons}\n{config}")
        codes.append(run_with_baseline(baseline).ret)
    baseline.write("evalstudio.toml", f'comparison.fail_on = ["none", "gone"]\n{config}')

    refused = run_with_baseline(baseline)

    assert codes == [0, 1, 1, 0]
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*comparison.fail_on: *or none alone*"])


BROKEN = BETTER.replace(
    "    return", '    if prompt == "4+4?":\n        raise RuntimeError("down")\n    return'
)


@pytest.mark.parametrize("workers", WORKERS)
def test_an_error_of_both_runs_is_still_an_error_and_can_be_expected(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.write("app.py", BROKEN)
    project.suite(case("four", "2+2?", '"4"'), case("six", "3+3?", '"6"'), case("eight", "4+4?", '"8"'))
    project.run("-v")
    evalstudio("baseline", "save", "--allow-errors", folder=project.folder)

    plain = run_with_baseline(project, *workers)
    expected = run_with_baseline(project, "-o", "evalstudio_known_failures=xfail", "-rx", *workers)

    plain.assert_outcomes(passed=2, errors=1)
    plain.stdout.fnmatch_lines(["items: 2 still passing, 1 still error"])
    expected.assert_outcomes(passed=2, xfailed=1)
    assert expected.ret == pytest.ExitCode.OK
    expected.stdout.fnmatch_lines(
        ["items: 2 still passing, 1 still error", "XFAIL*eight*is an error in the baseline too*"]
    )
    assert results(project)["items"]["error_now"] == 0  # type: ignore[index]


def test_an_error_of_a_case_that_failed_is_not_expected(baseline: Project) -> None:
    baseline.write("app.py", BROKEN)

    result = run_with_baseline(baseline, "-o", "evalstudio_known_failures=xfail")

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["items: 2 still passing, 1 error now"])


def test_an_absolute_path_after_a_blank_is_no_other_root(
    baseline: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other_baseline = tmp_path_factory.mktemp("elsewhere") / "base.jsonl"
    other_baseline.write_bytes((baseline.folder / "evalstudio-baseline.jsonl").read_bytes())

    result = baseline.run("-v", "sums_suite.json", "--evalstudio-baseline", str(other_baseline))

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*regressed since baseline*", "items: 1 regressed, 1 still failing, 1 still passing"]
    )
    assert results(baseline)["renamed_files"] == {}


@pytest.mark.parametrize("workers", WORKERS)
def test_cases_of_a_renamed_file_are_compared(baseline: Project, workers: tuple[str, ...]) -> None:
    (baseline.folder / "sums_suite.json").rename(baseline.folder / "addition_suite.json")

    result = run_with_baseline(baseline, "-o", "evalstudio_known_failures=xfail", *workers)

    result.assert_outcomes(passed=1, failed=1, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "*regressed since baseline run ???? (20*): text_matching: passed -> failed",
            "items: 1 regressed, 1 still failing, 1 still passing",
            "  file sums_suite.json is now addition_suite.json; its cases are matched",
        ]
    )


@pytest.mark.parametrize("workers", WORKERS)
def test_the_junit_file_has_the_two_sentences(baseline: Project, workers: tuple[str, ...]) -> None:
    run_with_baseline(baseline, "--junitxml=junit.xml", *workers)

    suite = ElementTree.parse(baseline.folder / "junit.xml").find("testsuite")
    assert suite is not None
    values = {each.get("name"): each.get("value") for each in suite.findall("properties/property")}
    assert values.pop("evalstudio.result") == "FAILED – 2 of 3 tests"
    assert values == {
        "evalstudio.causes": "2 × Condition not met",
        "evalstudio.coverage": "all 3 asked, answered and checked",
        "evalstudio.comparison": "1 of 3 cases regressed. 3 cases are too few to tell whether other"
        " questions got worse (p 0.5).",
    }


def test_changed_answers_of_passing_cases_are_listed(baseline: Project) -> None:
    baseline.write("app.py", BETTER.replace("It is 4.", "4, of course."))

    result = run_with_baseline(baseline, "-o", "evalstudio_known_failures=xfail")

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "no case changed its result, although 1 of 3 answers differ. With 3 cases, a real drop of*",
            "changed: answer",
            "  answers: 1 of 3 (four)",
        ]
    )
    page = (baseline.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "although 1 of 3 answers differ" in page
    assert "answers: 1 of 3 (four)" in page


SECOND_EVALUATOR = """
evaluators = ["text_matching", "bleu"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
"""


@pytest.mark.parametrize("workers", WORKERS)
def test_a_failure_by_one_evaluator_does_not_hide_a_regression_by_another(
    project: Project, workers: tuple[str, ...]
) -> None:
    reference = "The sum of these two numbers is known to everybody."
    project.write("evalstudio.toml", SECOND_EVALUATOR)
    project.write("app.py", BETTER)
    project.suite(
        case("four", "2+2?", '"4"', expected_output=reference),
        case("six", "3+3?", '"6"', expected_output=reference),
    )
    project.run().assert_outcomes(failed=2)
    evalstudio("baseline", "save", folder=project.folder)

    rerun = run_with_baseline(project, "-o", "evalstudio_known_failures=xfail", *workers)
    assert rerun.ret == pytest.ExitCode.OK
    rerun.assert_outcomes(xfailed=2)
    assert results(project)["items"]["still_failing"] == 2

    project.write("app.py", WORSE)
    worse = run_with_baseline(project, "-o", "evalstudio_known_failures=xfail", *workers)
    worse.assert_outcomes(failed=1, xfailed=1)
    worse.stdout.fnmatch_lines(
        [
            "*regressed since baseline*text_matching: passed -> failed*",
            "*change: *It is *-6-*+about 7+*",
            "1 of 2 cases regressed.*",
            "items: 1 regressed, 1 still failing",
        ]
    )
    assert (
        evalstudio(
            "compare", "evalstudio-baseline.jsonl", "evalstudio-report", folder=project.folder
        ).returncode
        == 1
    )


def test_annotations_of_regressed_cases_come_first(baseline: Project) -> None:
    failing = [case(f"a{number}", "4+4?", '"8"') for number in range(3)]
    baseline.suite(*failing, case("six", "3+3?", '"6"'))

    result = run_with_baseline(baseline, "-o", "evalstudio_github=yes")

    annotations = [line for line in result.outlines if line.startswith("::error ")]
    assert len(annotations) == 4
    assert "six" in annotations[0]


def test_half_a_surrogate_pair_ends_no_run(project: Project) -> None:
    project.write(
        "app.py",
        """
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.tool_calls import ToolCall

HALF = "half \\ud83d a pair"


def ask(prompt):
    calls = [ToolCall(name="find", arguments={"id": HALF})]
    return Answer(text="right " + HALF, context=(HALF, "other"), tool_calls=calls)
""",
    )
    project.suite(
        {
            "key": "plain",
            "prompt": "half \ud83d a pair",
            "condition": '"right"',
            "expected_tool_calls": [{"name": "find"}],
        },
        {
            "key": "talk",
            "turns": [{"prompt": "half \ud83d a pair", "condition": '"right"'}, {"prompt": "And?"}],
        },
    )
    project.run("-q")
    assert evalstudio("baseline", "save", "--allow-errors", folder=project.folder).returncode == 0

    result = project.run("-v", "--evalstudio-baseline", "evalstudio-baseline.jsonl")

    result.stdout.fnmatch_lines(["since run*", "report: *"])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


def test_a_comparison_without_a_case_fails_the_session(project: Project) -> None:
    """A changed threshold changes all tests; none of them could regress."""
    project.suite(case("four", "2+2?", '"4"'), case("six", "3+3?", '"6"'))
    project.run()
    evalstudio("baseline", "save", folder=project.folder)
    settings = (project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    project.write("evalstudio.toml", f"{settings}\n[evaluator.text_matching]\nthreshold = 0.4\n")

    selected = run_with_baseline(project, "-k", "four")
    without_reason = run_with_baseline(project, "--evalstudio-fail-on", "none")
    shards = [run_with_baseline(project, "--evalstudio-shard", part).ret for part in ("1/2", "2/2")]
    compared = run_with_baseline(project)
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    command = evalstudio("compare", "evalstudio-baseline.jsonl", "evalstudio-report", folder=project.folder)
    evalstudio("baseline", "accept", "--changed", folder=project.folder)
    accepted = run_with_baseline(project)

    compared.stdout.fnmatch_lines(
        [
            "result: FAILED – no case compared with the baseline, since every test changed",
            "next: `evalstudio baseline accept --changed`, if the tests were to change",
        ]
    )
    assert compared.ret == 1
    assert "<code>evalstudio baseline accept --changed</code>, if the tests were to change" in page
    assert [result.ret for result in (selected, without_reason, accepted)] == [0, 0, 0]
    assert 0 in shards  # the other one may have no test
    assert 1 not in shards
    assert command.returncode == 1
