from __future__ import annotations

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import (
    Configuration,
    configuration,
    load_configuration,
)
from pytest_evalstudio.formats.recognition import find_configuration


def write(folder, text, name="evalstudio.toml"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_without_a_file_the_defaults_hold():
    assert configuration({}).model_dump() == Configuration().model_dump()
    assert (
        Configuration().evaluators,
        Configuration().runs,
        Configuration().flips,
        Configuration().max_text_chars,
    ) == (None, 1, "fail", 1_000_000)


def test_both_files_have_the_same_keys(tmp_path):
    text = 'evaluators = ["rouge"]\nflips = "report"\n'
    plugin_config = load_configuration(write(tmp_path, text))
    shared = load_configuration(write(tmp_path, f"[tool.evalstudio]\n{text}", "pyproject.toml"))
    assert plugin_config.model_dump() == shared.model_dump()
    assert (plugin_config.folder, plugin_config.file) == (tmp_path, str(tmp_path / "evalstudio.toml"))


def test_names_may_be_a_list_or_a_text_with_commas():
    assert configuration({"evaluators": " rouge, bleu,"}).evaluators == ["rouge", "bleu"]
    assert configuration({"gate": "bleu >= 0.1"}).gate == ["bleu >= 0.1"]


def test_the_keys_of_a_model_that_are_not_ours_are_its_hosts():
    [table] = configuration(
        {"model": [{"name": "m", "host": "python", "runs": 3, "target": "app:ask", "timeout_s": 5}]}
    ).model
    assert (table.name, table.runs, table.settings) == (
        "m",
        3,
        {"host": "python", "target": "app:ask", "timeout_s": 5},
    )


def test_the_nearest_file_counts_and_our_own_before_the_shared_one(tmp_path):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    outer = write(tmp_path, "")
    assert find_configuration(deep, tmp_path) == outer
    shared = write(tmp_path / "a", "[tool.evalstudio]\n", "pyproject.toml")
    assert find_configuration(deep, tmp_path) == shared
    plugin_file = write(tmp_path / "a", "")
    assert find_configuration(deep, tmp_path) == plugin_file


def test_beyond_the_last_folder_nothing_is_read(tmp_path):
    write(tmp_path, "")
    (tmp_path / "a").mkdir()
    assert find_configuration(tmp_path / "a", tmp_path / "a") is None


def test_a_shared_file_without_our_table_is_not_ours(tmp_path):
    write(tmp_path / "a", "# not [tool.evalstudio]\n[tool.other]\n", "pyproject.toml")
    outer = write(tmp_path, "")
    assert find_configuration(tmp_path / "a", tmp_path) == outer
    assert load_configuration(tmp_path / "a" / "pyproject.toml").evaluators is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("evalautors = []", "evalautors: unknown key. Did you mean 'evaluators'?"),
        ("xyz = 1", "xyz: unknown key. Known keys: evaluators, evaluator, model, gate"),
        ("file = 'x'", "file: unknown key; remove it"),
        ("folder = 'x'", "folder: unknown key; remove it"),
        ("[latency]\nmax_ms = 5", "latency.max_ms: unknown key. Did you mean 'max_s'?"),
        ("[storage]\nmax_mb = 0", "storage.max_mb: input should be greater than 0"),
        ("runs = 0", "runs: input should be greater than or equal to 1"),
        ("runs = 1.5", "runs: expected a whole number, found 1.5"),
        ("runs = 'many'", 'runs: expected a whole number, found the string "many"'),
        ("runs = {max = 5}", "runs: stop: 'stop' is missing; add it"),
        ("runs = {max = 5, stop = 'sprt', p0 = 2}", "runs: p0: input should be less than 1"),
        ("policy = 'all'", "policy: unknown key. "),
        ("pass = 'most'", "pass: a policy of repeats is"),
        ("[[model]]\nname = 'm'\nhost = 'h'\nbudget = {}", "model.0.budget: give cost_usd, calls or tokens"),
        ("max_cost = nan", "max_cost: input should be greater than or equal to 0"),
        ("flips = 'ignore'", "flips: input should be 'fail' or 'report'"),
        ("evaluators = [1]", "evaluators.0: expected a string, found 1"),
        ("evaluators = 5", "evaluators: expected a list, found 5"),
        ("evaluator = 5", "evaluator: expected an object, found 5"),
        ("evaluator.rouge = 5", "evaluator.rouge: expected an object, found 5"),
        ("output = 2026-11-20", 'output: expected a string, found "2026-11-20"'),
        (f"output = 0x{'f' * 6000}", "output: expected a string, found a very large number"),
        ("[[model]]\nhost = 'x'", "model.0.name: 'name' is missing; add it"),
        ("[[model]]\nname = 'x'", "model.0.host: 'host' is missing; add it"),
        ("[model]\nname = 'x'", "model: expected a list, found an object"),
        (
            "[[model]]\nname = 'x'\nhost = 'h'\n[[model]]\nname = 'x'\nhost = 'i'",
            "model.1.name: 'x' is already used by model.0; names must be unique",
        ),
        ("runs = ", "is not TOML: Invalid value (at end of document)"),
        (f"runs = {'9' * 5000}", "is not TOML: Exceeds the limit"),
        ("a = " + "[" * 5000, "is nested too deeply to be read"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(tmp_path, text, fault):
    path = write(tmp_path, text)
    with pytest.raises(ConfigurationError) as exc_info:
        load_configuration(path)
    assert str(exc_info.value).startswith(f"{path}: {fault}")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tool = 1", "tool: expected a table, found 1"),
        ("tool.evalstudio = []", "evalstudio: expected a table, found a list"),
    ],
)
def test_a_table_of_the_shared_file_that_is_none_is_told(tmp_path, text, fault):
    path = write(tmp_path, text, "pyproject.toml")
    with pytest.raises(ConfigurationError) as exc_info:
        load_configuration(path)
    assert str(exc_info.value) == f"{path}: {fault}"


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read: No such file or directory"):
        load_configuration(tmp_path / "evalstudio.toml")
    (tmp_path / "evalstudio.toml").write_bytes(b'output = "\xff"')
    with pytest.raises(ConfigurationError, match="byte 0xff is not UTF-8; save the file as UTF-8"):
        load_configuration(tmp_path / "evalstudio.toml")


def test_a_table_is_written_without_a_warning():
    config = configuration({"comparison": {"fail_on": "case, gone"}})
    assert config.model_dump(mode="json")["comparison"]["fail_on"] == ["case", "gone"]
