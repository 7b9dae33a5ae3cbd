"""Labels that people gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.labels import read_labels


def labels(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "labels.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_labels_are_read_by_key_and_model_and_rows_without_one_are_left_out(tmp_path: Path) -> None:
    path = labels(tmp_path, "label,key,note,model_key\n1,a,fine,m\n,b,unsure,m\n0,a,,n\n")
    assert read_labels(path) == {("a", "m"): 1, ("a", "n"): 0}


def test_levels_are_whole_numbers(tmp_path: Path) -> None:
    assert read_labels(labels(tmp_path, "key,model_key,label\na,m,-1\nb,m, 5 \n"), levels=True) == {("a", "m"): -1, ("b", "m"): 5}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("key,label\na,1\n", r":1: there is no column 'model_key'", id="no column"),
        pytest.param("", r":1: there is no column 'key', 'model_key', 'label'", id="an empty file"),
        pytest.param("key,model_key,label\na,m,yes\n", r":2: label 'yes' is neither 1", id="another label"),
        pytest.param("key,model_key,label\na,m,2\n", r":2: label '2' is neither 1", id="a level where there are two"),
        pytest.param("key,model_key,label\na,m,1\na,m,0\n", r":3: 'a' of model 'm' has another label", id="two labels"),
        pytest.param("key,model_key,label\na,m,\n", "there are no labels", id="none"),
        pytest.param(b"key,model_key,label\n\xff,m,1\n", "is not UTF-8", id="another encoding"),
        pytest.param("key,model_key,label\n" + "x" * 200_000 + ",m,1\n", "is not CSV: field larger than", id="an endless field"),
    ],
)
def test_wrong_labels_are_told_with_their_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_labels(labels(tmp_path, content))


@pytest.mark.parametrize("level", ["1.5", "nan", "inf", "1e3", "good", "99999999999"])
def test_a_level_that_is_no_whole_number_is_told(tmp_path: Path, level: str) -> None:
    with pytest.raises(DataError, match=r":2: label .* is no whole number"):
        read_labels(labels(tmp_path, f"key,model_key,label\na,m,{level}\n"), levels=True)
