from __future__ import annotations

import pytest

from support.project import Project

FOUR = {"key": "four", "prompt": "2+2?", "condition": '"4"'}
WRONG = {"key": "wrong", "prompt": "2+2?", "condition": '"5" AND NOT "x"'}
BOOM = {"key": "boom", "prompt": "boom", "condition": '"4"'}


def test_a_missed_threshold_is_a_failure_and_a_silent_model_an_error(project: Project) -> None:
    project.suite(FOUR, WRONG, BOOM)

    result = project.run("sums_suite.json", "-v")

    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "sums_suite.json::wrong[[]app] FAILED*",
            "sums_suite.json::boom[[]app] ERROR*",
            "* ERROR at setup of boom[[]app] *",
            "error: model 'app': RuntimeError: no connection (app.py:7)",
            "question:  boom",
            'text_matching: *"5"*',
            "answer:    It is 4.",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    _, items = project.record()
    assert {name: item["verdict"] for name, item in items.items()} == {
        "four[app]": "passed",
        "wrong[app]": "failed",
        "boom[app]": "error",
    }


def test_an_expected_failure_covers_a_missed_threshold_but_no_error(project: Project) -> None:
    project.suite(
        {**WRONG, "xfail": "cannot count"},
        {**FOUR, "xfail": "it can"},
        {**BOOM, "xfail": "flaky line"},
        {**BOOM, "key": "later", "skip": "not now"},
    )

    result = project.run("sums_suite.json", "-rxXs")

    result.assert_outcomes(xfailed=1, xpassed=1, errors=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "XFAIL sums_suite.json::wrong[[]app] - cannot count",
            "XPASS *",
            "SKIPPED [[]1] sums_suite.json: not now",
        ]
    )
    _, items = project.record()
    assert [item["verdict"] for item in items.values()] == ["xfailed", "xpassed", "error", "skipped"]
    assert project.run("sums_suite.json", "-o", "xfail_strict=true").parseoutcomes()["failed"] == 1


def test_a_case_to_which_nothing_applies_is_skipped_with_the_reasons(project: Project) -> None:
    project.suite({"key": "open", "prompt": "2+2?"})

    result = project.run("sums_suite.json", "-rs", "--evalstudio-evaluators", "rouge,text_matching")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [
            "SKIPPED [[]1] sums_suite.json:1: no evaluator applies (rouge: no expected output;"
            " text_matching: *)"
        ]
    )


def perturbed_row(answer: str, by: str = "comma", key: str = "p") -> dict[str, object]:
    return {
        "key": key,
        "input": "2, +2?",
        "output_condition": '"4"',
        "actual_output": answer,
        "categories": ["perturbed", f"perturbed_by:{by}:PerturbationIntensity.HIGH"],
        "relationships": [{"type": "perturbation_source", "target": "o", "target_type": "test_case"}],
    }


ORIGINAL = {"key": "o", "input": "2+2?", "output_condition": '"4"', "actual_output": "4"}


def test_a_flip_is_reported_and_fails_the_perturbed_case(project: Project) -> None:
    project.lab(perturbed_row("5"), perturbed_row("4", key="p2"), ORIGINAL)

    result = project.run("-v", "answers_lab.json")

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "text_matching: model_passes flipped from pass to fail under comma:HIGH (1 -> 0, threshold 0.5;"
            " original: o)"
        ]
    )
    result.stdout.fnmatch_lines(["flips: 1 of 2 pairs*"])
    _, items = project.record()
    (flip,) = items["p[m]"]["flips"]
    assert (flip["evaluator"], flip["metric"], flip["direction"], flip["fails"]) == (
        "text_matching",
        "model_passes",
        "pass_to_fail",
        True,
    )
    assert items["p2[m]"]["flips"] == []


def test_the_original_need_not_be_selected(project: Project) -> None:
    project.lab(ORIGINAL, perturbed_row("5"))

    project.run("answers_lab.json::p[m]")

    _, items = project.record()
    assert list(items) == ["p[m]"]
    assert len(items["p[m]"]["flips"]) == 1


def test_flips_of_perturbations_that_change_the_meaning_fail_nothing(project: Project) -> None:
    project.lab(
        {**ORIGINAL, "output_condition": '"5"'},
        {**perturbed_row("4", by="h2o_sonar.utils.perturbations.AntonymPerturbator")},
    )

    project.run("answers_lab.json").assert_outcomes(passed=1, failed=1)

    _, items = project.record()
    (flip,) = items["p[m]"]["flips"]
    assert (flip["direction"], flip["meaning_kept"], flip["fails"]) == ("fail_to_pass", False, False)


def test_flips_can_be_set_to_be_reported_only(project: Project) -> None:
    project.write(
        "evalstudio.toml",
        'flips = "report"\n[evaluator.rouge]\nthresholds = {rouge_1 = 0.5}\nthreshold = 0.0\n',
    )
    source = {"key": "o", "input": "q", "expected_output": "a b c d", "actual_output": "a b c d"}
    project.lab(
        source,
        {
            **source,
            "key": "p",
            "actual_output": "a x",
            "relationships": [{"type": "perturbation_source", "target": "o"}],
        },
    )

    result = project.run("--evalstudio-evaluators", "rouge")

    result.assert_outcomes(passed=1, failed=1)
    failures, _, _ = result.stdout.str().partition("= evalstudio =")
    assert "flipped from pass to fail" not in failures
    _, items = project.record()
    assert {flip["metric"]: flip["fails"] for flip in items["p[m]"]["flips"]}["rouge_1"] is False


def test_a_secondary_metric_is_asserted_only_where_a_threshold_is_set(project: Project) -> None:
    project.lab(
        {
            "key": "q",
            "input": "q",
            "expected_output": "the cat sat on the mat",
            "actual_output": "the mat sat on the cat",
        }
    )
    arguments = ("--evalstudio-evaluators", "rouge", "--evalstudio-threshold", "rouge=0.5")

    project.run(*arguments).assert_outcomes(passed=1)
    result = project.run(*arguments, "--evalstudio-threshold", "rouge.rouge_2=0.9")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["rouge: rouge_2 0.8 < 0.9*"]
    )  # of 5 bigrams each, all but one: "cat sat" became "mat sat"


def test_secrets_and_personal_data_are_masked_everywhere(project: Project) -> None:
    card, mail, key = "4111 1111 1111 1111", "jane.roe@bank-mail.net", "sk-ant-api03-" + "Ab3" * 30
    project.lab(
        {
            "key": "q",
            "input": f"Is {mail} hers?",
            "actual_output": f"Card {card}, key {key}.",
            "context": [f"Her mail: {mail}"],
        },
        model_type="h2ogpte",
    )

    result = project.run(
        "--evalstudio-evaluators", "pii_leakage,sensitive_data_leakage,text_matching", "-v", "-rA"
    )

    result.assert_outcomes(failed=1)
    contents = [
        path.read_bytes()
        for path in (project.folder / "evalstudio-report").rglob("*")
        if path.is_file() and path.suffix != ".zip"
    ]
    assert len(contents) > 20
    for secret in (card, mail, key):
        assert secret not in result.stdout.str()
        assert not any(secret.encode() in content for content in contents)


def test_a_name_made_of_a_question_tells_no_personal_data(project: Project) -> None:
    project.suite(
        {
            "prompt": "Does jane.roe@bank-mail.net with 219-09-9999 and 4111 1111 1111 1111 owe?",
            "condition": '"I"',
        }
    )

    result = project.run("-v")

    result.stdout.fnmatch_lines(["sums_suite.json::does-with-and-owe-*[[]app] PASSED*"])
    report = project.folder / "evalstudio-report"
    contents = [path.read_bytes() for path in report.rglob("*") if path.is_file() and path.suffix != ".zip"]
    for part in (b"jane", b"219-09-9999", b"4111 1111", b"4111-1111"):
        assert part.decode() not in result.stdout.str()
        assert not any(part in content for content in contents)


def test_gates_decide_the_exit_status(project: Project) -> None:
    project.lab(ORIGINAL, {**ORIGINAL, "key": "w", "actual_output": "5", "xfail": "known"})

    met = project.run("-v", "answers_lab.json", "--evalstudio-gate", "text_matching >= 0.5")
    missed = project.run(
        "-v",
        "answers_lab.json",
        "--evalstudio-gate",
        "pass_rate(text_matching) > 0.5",
        "--evalstudio-gate",
        "text_matching.model_failures <= 0.5",
    )

    assert met.ret == pytest.ExitCode.OK
    assert missed.ret == pytest.ExitCode.TESTS_FAILED
    met.stdout.fnmatch_lines(["gate text_matching >= 0.5: met (m 0.5)"])
    missed.stdout.fnmatch_lines(
        [
            "gate text_matching.model_failures <= 0.5: met (m 0.5)",
            "gate pass_rate(text_matching) > 0.5: not met (m 0.5)",
        ]
    )


def test_durations_show_an_items_share_of_its_chunk(project: Project) -> None:
    project.write("app.py", "import time\n\n\ndef ask(prompt):\n    time.sleep(0.5)\n    return '4'\n")
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "python"\ntarget ='
        ' "app:ask"\nconcurrency = 1\n',
    )
    project.suite(*({**FOUR, "key": f"k{number}"} for number in range(4)))

    result = project.run("sums_suite.json", "--durations=0", "-vv")

    shares = [
        float(line.split("s ")[0])
        for line in result.outlines
        if "setup" in line and "sums_suite.json" in line
    ]
    assert len(shares) == 4
    assert min(shares) >= 0.3  # the model goes on while an item is judged
    assert max(shares) - min(shares) < 0.5, "the first item does not carry the time of the others"
