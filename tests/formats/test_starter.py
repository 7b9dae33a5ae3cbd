from __future__ import annotations

import pytest

from pytest_evalstudio.analysis.gates import parse_gate
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import load_configuration
from pytest_evalstudio.formats.starter import write_starter
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.scoring.plan import Plan


def test_the_starter_is_a_sound_suite_with_its_document_and_configuration(tmp_path):
    suite_path, config_path, document = write_starter(tmp_path / "new")
    suite = TestSuite.load(suite_path)
    suite.save(tmp_path / "canonical.json")
    assert suite_path.read_text(encoding="utf-8") == (tmp_path / "canonical.json").read_text(encoding="utf-8")
    config = load_configuration(config_path)
    assert [case.key for _, case in suite.cases()] == ["opening-hours", "holidays"]
    assert [suite_path.parent / name for test in suite.tests for name in test.documents] == [document]
    assert document.read_text(encoding="utf-8").startswith("# Opening hours")
    assert [selected.id for selected in Plan(Registry(), config).selected] == [
        "text_matching",
        "lexical_groundedness",
        "pii_leakage",
    ]
    assert [parse_gate(gate).evaluator for gate in config.gate] == ["text_matching"]
    assert [model.host for model in config.model] == ["extractive"]


@pytest.mark.parametrize("name", ["starter_suite.json", "evalstudio.toml", "documents/opening_hours.md"])
def test_nothing_is_written_where_one_of_the_files_is_there(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="already exists; move it away, or give another folder"):
        write_starter(tmp_path)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]
