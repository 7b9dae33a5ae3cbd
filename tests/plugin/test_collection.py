from __future__ import annotations

import json

import pytest

from support.project import Project

FOUR = {"key": "four", "prompt": "2+2?", "condition": '"4"'}
SIX = {"key": "six", "prompt": "3+3?", "condition": '"6"'}


def test_a_case_is_an_item_per_model_and_reads_well(project: Project) -> None:
    project.write(
        "evalstudio.toml",
        '[[model]]\nname = "a b"\nhost = "python"\ntarget = "app:ask"\n[[model]]\nname = "c"\nhost ='
        ' "python"\ntarget = "app:ask"\n',
    )
    project.suite(FOUR, {**SIX, "key": "x::y/z [1]"})

    result = project.run("sums_suite.json", "--collect-only", "-q")

    result.stdout.fnmatch_lines(
        [
            "sums_suite.json::four[[]a_b]",
            "sums_suite.json::x_y_z__1_[[]a_b]",
            "sums_suite.json::four[[]c]",
            "sums_suite.json::x_y_z__1_[[]c]",
        ]
    )
    assert not (project.folder / "evalstudio-report").exists()


def test_lab_rows_are_items_of_their_models_and_no_host_is_called(project: Project) -> None:
    project.lab(
        {"key": "q", "input": "2+2?", "output_condition": '"4"', "actual_output": "4"},
        {"key": "q", "input": "2+2?", "output_condition": '"4"', "actual_output": "5", "model_key": "n"},
    )

    result = project.run("-v", "answers_lab.json", "-rA")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["PASSED answers_lab.json::q[[]m]*", "FAILED answers_lab.json::q[[]n] - text_matching: *"]
    )


def test_a_csv_data_set_and_a_yaml_suite_run_like_their_json_forms(project: Project) -> None:
    project.write(
        "d_dataset.csv",
        'key,input,actual_output,output_condition,context\nq,2+2?,4,"""4""","[""4 it is"", ""c2""]"\n',
    )
    project.write(
        "y_suite.yaml",
        "name: Y\ntests:\n  - test_cases:\n      - key: four\n        prompt: 2+2?\n        condition:"
        " '\"4\"'\n",
    )

    project.run().assert_outcomes(passed=2)

    _, items = project.record()
    assert items["q[dataset]"]["rows"][0]["answer"]["context"] == ["4 it is", "c2"]


@pytest.mark.parametrize(
    "content", [FOUR, {"documents": [], "test_cases": [FOUR, SIX]}], ids=["case", "test"]
)
def test_a_single_test_or_test_case_runs_like_a_suite(project: Project, content: dict[str, object]) -> None:
    project.write("single.json", json.dumps(content))
    count = len(content.get("test_cases", [FOUR]))

    result = project.run("single.json", "-rA")

    result.assert_outcomes(passed=count)
    result.stdout.fnmatch_lines(["PASSED single.json::four*"])
    project.run().assert_outcomes()


def test_a_walked_test_is_collected_by_its_name_and_its_fault_is_located_in_the_file(
    project: Project,
) -> None:
    project.write(
        "fees_suite.json",
        json.dumps({"documents": [], "test_cases": [FOUR, {**SIX, "condition": '"6" AND'}]}, indent=1),
    )

    result = project.run()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["fees_suite.json:12:17 /test_cases/1/condition: expected a text*"])


def test_repeats_of_a_row_are_one_item_that_asserts_the_mean(project: Project) -> None:
    rows = [
        {"key": "q", "input": "2+2?", "output_condition": '"4"', "actual_output": answer, "run": run}
        for run, answer in enumerate("4445", 1)
    ]
    project.lab(*rows)

    project.run("answers_lab.json", "--evalstudio-threshold", "text_matching=0.75").assert_outcomes(passed=1)
    _, items = project.record()
    verdict = items["q[m]"]["verdicts"]["text_matching"]
    assert (verdict["scores"]["model_passes"], verdict["min"]["model_passes"], verdict["pass_k"]) == (
        0.75,
        0.0,
        0.0,
    )

    project.run("answers_lab.json", "--evalstudio-threshold", "text_matching=0.76").assert_outcomes(failed=1)


def test_ordinary_json_files_and_tests_are_left_alone(project: Project) -> None:
    project.write("package.json", '{"name": "web"}')
    project.write("settings_suite.json", '{"theme": "dark"}')
    project.write("eslint-suite.json", "{ not json")
    project.write("test_plain.py", "def test_one():\n    pass\n")

    result = project.run()

    result.assert_outcomes(passed=1)
    assert "evalstudio:" not in result.stdout.str()
    assert not (project.folder / "evalstudio-report").exists()


def test_a_walked_file_is_ours_by_name_and_root_key_a_named_one_by_its_name(project: Project) -> None:
    project.suite(FOUR, name="questions.json")

    project.run().assert_outcomes()
    project.run("questions.json").assert_outcomes(passed=1)
    project.run("-o", "evalstudio_files=questions*").assert_outcomes(passed=1)


def test_one_bad_case_is_one_collection_error_and_the_others_run(project: Project) -> None:
    project.suite(FOUR, {"key": "bad", "prompt": "x", "condition": '"4" AND'}, SIX)

    result = project.run("sums_suite.json")

    result.assert_outcomes(passed=2, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            (
                'sums_suite.json:1:* /tests/0/test_cases/1/condition: expected a text in double quotes, or a term such as word("…") or number(…) after'  # noqa: E501
                " AND*"
            ),
            '  "4" AND',
            "   *^",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_categories_and_domains_are_markers(project: Project) -> None:
    project.suite({**FOUR, "categories": ["Sums up", "skip"]}, SIX)

    assert project.run("-m", "sums_up", "--strict-markers").parseoutcomes() == {"passed": 1, "deselected": 1}
    assert project.run("-m", "generation and evalstudio").parseoutcomes() == {"passed": 2}
    assert project.run("-m", "privacy").parseoutcomes() == {"deselected": 2}
    assert project.run("-m", "privacy", "--evalstudio-evaluators", "pii_leakage").parseoutcomes() == {
        "passed": 2
    }


def test_suites_without_a_model_say_how_to_configure_one(project: Project) -> None:
    project.write("evalstudio.toml", "")
    project.suite(FOUR)

    result = project.run("sums_suite.json")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: sums_suite.json: no model is configured to answer it. Add a [[[][[]model]] *"]
    )


def test_suites_with_documents_and_no_model_are_answered_by_the_embedded_one(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]')
    project.write("fees.md", "A transfer abroad costs 12 euros. Transfers at home are free.")
    project.suite(
        tests=[
            {
                "documents": ["fees.md"],
                "test_cases": [
                    {"key": "fee", "prompt": "What does a transfer abroad cost?", "condition": '"12"'}
                ],
            }
        ]
    )

    project.run().assert_outcomes(passed=1)

    header, items = project.record()
    assert [model["host"] for model in header["models"].values()] == ["extractive"]
    assert items["fee[extractive]"]["rows"][0]["answer"]["context_sources"] == ["fees.md"]


def test_the_nearest_configuration_wins(project: Project) -> None:
    project.suite(FOUR, name="one/a_suite.json")
    project.suite(FOUR, name="two/b_suite.json")
    project.write(
        "two/evalstudio.toml",
        'evaluators = ["looping_detection"]\n[[model]]\nname = "other"\nhost = "scripted"\nanswers = {"2+2?"'
        ' = "four"}\n',
    )

    project.run().assert_outcomes(passed=2)

    _, items = project.record()
    assert {name: list(item["verdicts"]) for name, item in items.items()} == {
        "four[app]": ["text_matching"],
        "four[other]": ["looping_detection"],
    }


def test_a_case_chooses_its_own_evaluators_and_thresholds(project: Project) -> None:
    project.suite(
        {
            **FOUR,
            "expected_output": "four",
            "evaluators": {"rouge": {"threshold": 0.0}, "looping_detection": {}},
        },
        SIX,
    )

    project.run("sums_suite.json").assert_outcomes(passed=2)

    _, items = project.record()
    assert set(items["four[app]"]["verdicts"]) == {"rouge", "looping_detection"}
    assert set(items["six[app]"]["verdicts"]) == {"text_matching"}


def test_keyless_cases_have_the_same_names_in_every_run(project: Project) -> None:
    case = {"prompt": "2+2?", "condition": '"4"'}
    project.suite(case, case)

    first = project.run("--collect-only", "-q").stdout.str()

    assert first.count("sums_suite.json::2-2-") == 2
    assert "-2[app]" in first
    assert project.run("--collect-only", "-q").stdout.str().split()[:2] == first.split()[:2]


def test_a_suite_at_a_url_is_fetched_once_and_runs(project: Project, httpserver_folder: str) -> None:
    suite = {"name": "Far", "tests": [{"test_cases": [FOUR]}]}
    project.write("served/far_suite.json", json.dumps(suite))

    first = project.run(f"{httpserver_folder}/served/far_suite.json", "-v")
    (project.folder / "served/far_suite.json").unlink()
    second = project.run(f"{httpserver_folder}/served/far_suite.json::four[app]")

    first.assert_outcomes(passed=1)
    second.assert_outcomes(passed=1)
    missing = project.run(f"{httpserver_folder}/served/other_suite.json")
    assert missing.ret == pytest.ExitCode.USAGE_ERROR
    missing.stderr.fnmatch_lines(
        ["ERROR: http://127.0.0.1:*/served/other_suite.json: cannot be fetched: *404*"]
    )


EXTRACTIVE = 'evaluators = ["text_matching"]\n[[model]]\nname = "quote"\nhost = "extractive"\nretries = 0\n'


def fee_suite(document: str) -> str:
    case = {"key": "fee", "prompt": "What do transfers cost?", "condition": '"2 EUR"'}
    return json.dumps({"tests": [{"documents": [document], "test_cases": [case]}]})


def test_documents_of_a_suite_at_a_url_may_stand_at_the_host_that_the_user_named(
    project: Project, httpserver_folder: str
) -> None:
    project.write("evalstudio.toml", EXTRACTIVE)
    project.write("served/fees.md", "Transfers cost 2 EUR.")
    project.write("served/far_suite.json", fee_suite(f"{httpserver_folder}/served/fees.md"))

    project.run(f"{httpserver_folder}/served/far_suite.json").assert_outcomes(passed=1)


def test_documents_at_private_addresses_need_the_users_word(project: Project, httpserver_folder: str) -> None:
    project.write("evalstudio.toml", EXTRACTIVE)
    project.write("served/fees.md", "Transfers cost 2 EUR.")
    project.write("near_suite.json", fee_suite(f"{httpserver_folder}/served/fees.md"))

    result = project.run("near_suite.json")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*127.0.0.1 is the private address 127.0.0.1; set allow_private_hosts = true in the configuration"
            " to allow it*"
        ]
    )


def test_beside_a_configuration_the_name_of_a_suite_is_as_good_as_naming_the_file(project: Project) -> None:
    project.write("evalstudio.toml", '[[model]]\nname = "m"\nhost = "python"\ntarget = "app:ask"\n')
    project.write("a_suite.json", json.dumps({"name": "Sums", "test_cases": [FOUR]}))
    project.write("b_suite.json", json.dumps(SIX))

    result = project.run("--collect-only", "-q")

    result.stdout.fnmatch_lines(["a_suite.json::four[[]m]", "b_suite.json::six[[]m]"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(
            json.dumps({"testcases": [FOUR]}), "its name is that of a suite, but *", id="misspelt key"
        ),
        pytest.param(json.dumps([FOUR]), "its name is that of a suite, but *", id="list"),
        pytest.param("", "it cannot be parsed", id="empty"),
    ],
)
def test_a_suite_by_name_alone_is_warned_of_beside_a_configuration(
    project: Project, content: str, reason: str
) -> None:
    project.write("sums_suite.json", content)
    project.run().assert_outcomes()

    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n')
    result = project.run()

    result.assert_outcomes(warnings=1)
    result.stdout.fnmatch_lines([f"*sums_suite.json: not collected: {reason}"])
