from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.lab import Model, TestLab, check_models, labels
from pytest_evalstudio.formats.source import parse

EVERYTHING = {
    "name": "Lab",
    "description": "of everything",
    "raw_dataset": {"inputs": [{"key": "k", "input": "q", "model_key": "m"}], "note": 1},
    "dataset": {
        "inputs": [{"key": "k", "input": "q", "actual_output": "a", "model_key": "m", "more": [1]}],
        "stamp": "x",
    },
    "models": [
        {
            "connection": "c",
            "model_type": "h2ogpte",
            "name": "RAG",
            "collection_id": "1",
            "collection_name": "docs",
            "llm_model_name": "llm",
            "documents": ["a.md"],
            "key": "m",
            "model_cfg": {"temperature": 0, "nested": {"a": [None]}},
            "llm_model_meta": {"success_count": 1, "duration_stats": {"n": 1, "sum": 0.5}},
            "region": "eu",
        }
    ],
    "llm_model_names": ["llm"],
    "docs_cache": {"a.md": "/store/a.md"},
    "$schema": "lab.schema.json",
    "made_by": "us",
}


def lab_of(rows, *models, **keys):
    return json.dumps({"dataset": {"inputs": rows}, "models": [{"key": "m"}, *models], **keys})


def read_lab(text):
    file = read(parse(text, "l.json"))
    return file.content, [str(error) for error in file.errors], file.warnings


def contained(small, large):
    """Return whether one value has all data of the other."""
    if isinstance(small, dict):
        return all(name in large and contained(value, large[name]) for name, value in small.items())
    if isinstance(small, list):
        return len(small) == len(large) and all(map(contained, small, large))
    return small == large


def test_load_save_load_loses_nothing_and_the_form_is_stable(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(EVERYTHING), encoding="utf-8")
    first = TestLab.load(tmp_path / "a.json")
    first.save(tmp_path / "b.json")
    TestLab.load(tmp_path / "b.json").save(tmp_path / "c.json")
    assert TestLab.load(tmp_path / "b.json") == first
    assert contained(EVERYTHING, json.loads((tmp_path / "b.json").read_text(encoding="utf-8")))
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "c.json").read_bytes()


def test_a_row_of_an_unknown_model_is_told_at_its_place_in_the_file():
    rows = '{"input": 5, "model_key": "m"},\n{"key": "a", "model_key": "n"},\n{"key": "b", "model_key": "m"}'
    text = f'{{"models": [{{"key": "m"}}], "dataset": {{"inputs": [\n{rows}]}}}}'
    lab, errors, _ = read_lab(text)
    assert errors == [
        "l.json:2:11 /dataset/inputs/0/input: expected a string, found 5",
        (
            "l.json:3:27 /dataset/inputs/1/model_key: no model of this lab has the key 'n'; correct it or add"
            " the model to /models"
        ),
    ]
    assert [row.key for row in lab.dataset.inputs] == ["b"]


def test_a_key_of_a_model_may_be_a_number():
    lab, errors, _ = read_lab(
        json.dumps({"dataset": {"inputs": [{"key": 1, "model_key": 7}]}, "models": [{"key": 7}]})
    )
    assert errors == []
    assert (lab.models[0].key, lab.dataset.inputs[0].model_key) == ("7", "7")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            lab_of([], {"key": "m"}),
            "/models/1/key: 'm' is already used by /models/0; keys of models must be unique",
        ),
        (lab_of([], {"name": "x"}), "/models/1: the model has no key; rows name their model by it"),
        (lab_of([], 5), "/models/1: expected an object, found 5"),
        ('{"dataset": {"inputs": []}, "models": {}}', "/models: expected a list of models"),
        ('{"dataset": [], "models": []}', "/dataset: expected an object with inputs"),
        ('{"dataset": {"inputs": 1}, "models": []}', "/dataset/inputs: expected a list of rows"),
        (lab_of([], raw_dataset=5), "/raw_dataset: expected an object with inputs"),
        (lab_of([], docs_cache=[]), "/docs_cache: expected an object, found a list"),
    ],
)
def test_a_file_that_is_no_lab_is_refused_as_a_whole(text, fault):
    with pytest.raises(DataError) as exc_info:
        read_lab(text)
    assert str(exc_info.value).partition(" ")[2] == fault


def test_faults_of_unanswered_rows_are_warnings_only():
    lab, errors, warnings = read_lab(
        lab_of([{"key": "k", "model_key": "m"}], raw_dataset={"inputs": [{"input": 5}, {"key": "k"}]})
    )
    assert errors == []
    assert [row.key for row in lab.raw_dataset.inputs] == ["k"]
    [warning] = warnings
    assert warning.endswith(
        "/raw_dataset/inputs/0/input: expected a string, found 5 (not needed to evaluate; left out)"
    )


@pytest.mark.parametrize(
    ("models", "screen_names"),
    [
        pytest.param(
            [("a", "n1", "gpt"), ("b", "n2", "llama")],
            ["gpt", "llama"],
            id="the LLM's name where it is unique",
        ),
        pytest.param(
            [("a", "cold", "gpt"), ("b", "warm", "gpt")], ["cold", "warm"], id="else the model's name"
        ),
        pytest.param([("a", "n", "gpt"), ("b", "n", "gpt")], ["a", "b"], id="else the key"),
        pytest.param([("a", "", ""), ("b", "", "")], ["a", "b"], id="empty names name nothing"),
        pytest.param([("x", "n", "gpt"), ("gpt", "n", "")], ["gpt", "gpt-2"], id="a collision gets a number"),
    ],
)
def test_what_a_model_is_called_on_screen(models, screen_names):
    entries = [Model(key=key, name=name, llm_model_name=llm) for key, name, llm in models]
    assert list(labels(entries).values()) == screen_names


def test_one_llm_in_two_configurations_is_two_models():
    text = lab_of(
        [{"key": "k", "model_key": key} for key in ("m", "n")],
        {"key": "n", "llm_model_name": "gpt", "model_cfg": {"temperature": 1}},
    )
    lab, errors, _ = read_lab(text)
    assert errors == []
    assert [model.key for model in lab.models] == ["m", "n"]


def test_a_lab_by_hand_is_checked_for_its_models():
    lab = TestLab(models=[Model(key="m")])
    lab.dataset.add_input("q", model_key="m")
    check_models(lab)
    lab.dataset.add_input("q", model_key="n")
    with pytest.raises(DataError) as exc_info:
        check_models(lab)
    assert (
        str(exc_info.value)
        == "/dataset/inputs/1/model_key: no model of this lab has the key 'n'; correct it or add the model to"
        " /models"
    )
