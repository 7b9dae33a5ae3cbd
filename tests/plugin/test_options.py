"""Few options of the command line, and keys of the ini file with clear faults."""

from __future__ import annotations

import pytest

from pytest_evalstudio.plugin.options import INI_KEYS, OPTIONS, ini_settings
from pytest_evalstudio.run.settings import IniSettings
from support.project import Project


def test_the_command_line_has_at_most_sixteen_options() -> None:
    assert len(OPTIONS) <= 16


def test_a_key_that_is_not_set_has_the_default() -> None:
    assert ini_settings(lambda name: None) == IniSettings()


@pytest.mark.parametrize(
    ("key", "text", "field", "value"),
    [
        ("pass", "any", "policy", "any"),
        ("confirm", "0", "confirm", 0),
        ("allow_partial", "yes", "allow_partial", True),
        ("trust_lab", "false", "trust_lab", False),
        ("unchecked", "fail", "unchecked", "fail"),
        ("baseline_model", ["a=b", "c=d e"], "baseline_model", ("a=b", "c=d e")),
    ],
)
def test_a_value_has_its_type(key: str, text: object, field: str, value: object) -> None:
    settings = ini_settings(lambda name: text if name == f"evalstudio_{key}" else None)
    assert getattr(settings, field) == value


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("confirm=often", "evalstudio_confirm = often: must be a whole number of 0 or more"),
        ("trust_lab=perhaps", "evalstudio_trust_lab = perhaps: must be true or false"),
        ("unchecked=warn", "evalstudio_unchecked = warn: must be one of skip, fail, note"),
    ],
)
def test_a_wrong_value_is_a_usage_error(project: Project, setting: str, message: str) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})
    result = project.run("-o", f"evalstudio_{setting}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}*"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_a_misspelt_key_of_an_option_is_a_usage_error_with_the_nearest_name(project: Project) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})
    result = project.run("-o", "evalstudio_unchekced=fail")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'evalstudio_unchekced'. Did you mean 'evalstudio_unchecked'?*"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_a_misspelt_key_of_the_file_is_named_by_pytest(project: Project) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})
    project.write("pytest.ini", "[pytest]\nevalstudio_unchekced = fail\n")
    project.run().stdout.fnmatch_lines(["*evalstudio_unchekced*"])


def test_each_key_of_the_ini_file_has_a_field() -> None:
    fields = set(IniSettings.__dataclass_fields__)
    assert {"policy" if key == "pass" else key for key in INI_KEYS} == fields


def test_a_wrong_value_in_the_file_is_a_usage_error_too(project: Project) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})
    project.write("pytest.ini", "[pytest]\nevalstudio_confirm = often\n")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*evalstudio_confirm = often: must be a whole number of 0 or more*"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
