from __future__ import annotations

import fnmatch
import json

import pytest

from support.project import Project

GOOD = {"key": "good", "input": "2+2?", "output_condition": '"4"', "actual_output": "4"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param(
            "x_suite.json",
            '{"tests": [',
            "x_suite.json:1:12: is not JSON: expecting value",
            id="malformed JSON",
        ),
        pytest.param(
            "x_suite.json",
            '{"tests": {}}',
            "x_suite.json:1:11 /tests: expected a list of tests",
            id="wrong type",
        ),
        pytest.param(
            "x.json",
            '{"a": 1}',
            "x.json: has no supported format: a test suite has `tests`*",
            id="another JSON file, named",
        ),
        pytest.param(
            "x_suite.json",
            b'{"tests": "\xff"}',
            "x_suite.json:1:12: byte 0xff is not UTF-8; save the file as UTF-8",
            id="invalid UTF-8",
        ),
        pytest.param(
            "x_dataset.json",
            '{"inputs": [{"cost": NaN}]}',
            "x_dataset.json:1:22: NaN is not a JSON number*",
            id="NaN",
        ),
        pytest.param(
            "x_suite.json",
            '{"tests": [], "tests": []}',
            "x_suite.json:1:15: the name 'tests' is duplicated*",
            id="a name twice",
        ),
        pytest.param(
            "x_suite.json", "[" * 100_000, "x_suite.json: is nested too deeply to be read", id="too deep"
        ),
        pytest.param("x_suite.yaml", "tests: [\n", "x_suite.yaml:2:1: is not YAML: *", id="malformed YAML"),
        pytest.param(
            "x_dataset.csv",
            "a,b\n1,2\n",
            "x_dataset.csv:1:1: has no column `input`*",
            id="another CSV file, named",
        ),
        pytest.param(
            "x_dataset.csv",
            "input,actual_output\n1,2,3\n",
            "x_dataset.csv:2:1: has more cells than the header has columns",
            id="a cell too many",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_a_collection_error_with_its_place(
    project: Project, name: str, content: str | bytes, message: str
) -> None:
    project.write(name, content)
    project.lab(GOOD)

    result = project.run(name, "answers_lab.json", "--continue-on-collection-errors")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_an_empty_suite_is_a_warning_and_nothing_else(project: Project) -> None:
    project.write("x_suite.json", '{"tests": []}')

    result = project.run("x_suite.json")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*PytestWarning: x_suite.json: there is no test case in it"])


def test_a_repair_is_a_warning_and_a_misspelt_key_of_a_case_is_an_error(project: Project) -> None:
    project.write(
        "x_suite.json",
        '{"tests": [{"test_cases": [{"key": "k", "prompt": "2+2?", "condtion": "\\"5\\"",},'
        '{"key": "l", "prompt": "2+2?", "condition": "\\"4\\"", "x-conditon": 1,'
        ' "metadata": {"promt": 2}}]}]}',
    )

    result = project.run("x_suite.json")

    result.assert_outcomes(passed=1, errors=1, warnings=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "x_suite.json:1:*/tests/0/test_cases/0/condtion: 'condtion' is not a key of a test case; did you"
            " mean 'condition'?*",
            "*trailing commas are not JSON; they were ignored",
        ]
    )


def test_a_pattern_that_explodes_is_an_error_of_its_case(project: Project) -> None:
    project.lab(
        GOOD,
        {
            "key": "slow",
            "input": "q",
            "output_condition": 'regexp("(a|aa)+$")',
            "actual_output": "a" * 60 + "b",
        },
    )

    result = project.run("answers_lab.json")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["error: text_matching: *took longer than*"])


@pytest.mark.slow
def test_an_answer_of_5_megabytes_is_an_error_that_names_the_option(project: Project) -> None:
    project.lab(GOOD, {**GOOD, "key": "huge", "actual_output": "4 " * 2_500_000})

    result = project.run("answers_lab.json")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["error: text_matching: a text of 5,000,000 characters is longer than max_text_chars = 1,000,000*"]
    )
    assert max(len(line) for line in result.outlines) < 2_000


def test_missing_documents_and_dead_hosts_are_errors_of_their_cases(project: Project) -> None:
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "quote"\nhost = "extractive"\n[[model]]\nname ='
        ' "gone"\nhost = "openai_compatible"\nurl = "http://127.0.0.1:9/v1"\nllm_model_name = "m"\napi_key ='
        ' "none"\nretries = 0\ntimeout_s = 2\n',
    )
    project.suite(
        tests=[{"documents": ["none.md"], "test_cases": [{"key": "k", "prompt": "2+2?", "condition": '"4"'}]}]
    )
    project.lab(GOOD)

    result = project.run()

    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "error: model 'quote': *none.md: there is no such document*",
            "error: model 'gone': *",
        ]
    )


def test_hostile_keys_and_texts_do_no_harm(project: Project) -> None:
    hostile = [
        "../../x",
        "a\x00b",
        "\u202egnp",
        "\ud800",
        "k" * 3_000,
        "<script>alert(1)</script>",
        "${HOME}",
        "{{ 7*7 }}",
        "%s%n",
    ]
    project.lab(*({**GOOD, "key": key, "actual_output": f"4 {key}", "context": [key]} for key in hostile))

    result = project.run("answers_lab.json", "-q")

    assert result.parseoutcomes() == {"passed": len(hostile)}
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text()
    assert "<script>alert" not in page
    rows = json.loads(
        next(
            (project.folder / "evalstudio-report").glob(
                "explainer_*/global_llm_eval_results/application_json/explanation.json"
            )
        ).read_text()
    )["results"]
    assert len(rows) == len(hostile)


def test_a_report_that_cannot_be_written_is_said_and_fails_the_run(project: Project) -> None:
    project.lab(GOOD)
    project.write("taken", "a file")

    result = project.run("answers_lab.json", "--evalstudio-output", "taken")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*taken: the folder cannot be written to *; choose another folder*--evalstudio-output*"]
    )
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            'output = "a\\u0000b"\n',
            "*output: the path 'a\\x00b' has a NUL character; remove it*",
            id="NUL in a path",
        ),
        pytest.param(
            'cache = "a\\u0000b"\n', "*cache: the path * has a NUL character*", id="NUL in another path"
        ),
        pytest.param(
            b'output = "\xff"\n', "*byte 0xff is not UTF-8; save the file as UTF-8*", id="invalid UTF-8"
        ),
    ],
)
def test_a_configuration_that_no_system_can_follow_is_told(
    project: Project, content: str | bytes, message: str
) -> None:
    project.write("evalstudio.toml", content)
    project.lab(GOOD)

    result = project.run("answers_lab.json")

    assert result.ret in (
        pytest.ExitCode.USAGE_ERROR,
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.TESTS_FAILED,
    )
    output = result.stdout.str() + result.stderr.str()
    assert fnmatch.filter(output.splitlines(), message), output
    assert "Traceback" not in output
    assert "INTERNALERROR" not in output


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["http://[/x"], id="a URL without a host"),
        pytest.param(["http://127.0.0.1:9/" + "x" * 300 + ".json"], id="a URL with a long name"),
        pytest.param(["--evalstudio-config", "c" * 300], id="a configuration of a long name"),
        pytest.param(["x" * 300 + ".json"], id="a file of a long name"),
        pytest.param(["answers_lab.json", "--evalstudio-output", "c" * 300], id="an output of a long name"),
    ],
)
def test_an_argument_that_no_system_can_follow_is_told(project: Project, arguments: list[str]) -> None:
    project.lab(GOOD)

    result = project.run(*arguments)

    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.TESTS_FAILED)
    output = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in output
    assert "INTERNALERROR" not in output


def test_files_are_utf_8_whatever_the_locale_says(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    monkeypatch.setenv("LC_ALL", "C")
    project.write(
        "evalstudio.toml",
        '# Gebühr\nevaluators = ["text_matching"]\n[[model]]\nname = "quote"\nhost = "extractive"\n',
    )
    project.write("fees.md", "Die Gebühr kostet 5 €.")
    case = '{"key": "k", "prompt": "Was kostet die Gebühr?", "condition": "\\"5 €\\""}'
    project.write("g_suite.json", f'{{"tests": [{{"documents": ["fees.md"], "test_cases": [{case}]}}]}}')

    project.run("g_suite.json").assert_outcomes(passed=1)


def test_a_link_to_a_row_that_is_not_there_is_a_warning_of_one_line(project: Project) -> None:
    link = {"type": "perturbation_source", "target": "gone", "target_type": "test_case"}
    project.lab(
        {
            "key": "q",
            "input": "2+2?",
            "output_condition": '"4"',
            "actual_output": "4",
            "relationships": [link],
            "x-note": "TEXT OF THE LINE",
        }
    )

    result = project.run()

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*answers_lab.json*'gone'*"])
    assert "TEXT OF THE LINE" not in result.stdout.str()
