"""The embedding cache, without any model."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pytest_evalstudio.models.vectors import FILE_NAME, VectorCache, key_of
from support.children import Children


def row(value: float) -> np.ndarray:
    return np.full(4, value, dtype=np.float32)


STORE = """
import sys
from pathlib import Path
import numpy as np
from pytest_evalstudio.models.vectors import VectorCache, key_of

cache, start = VectorCache(Path(sys.argv[1])), int(sys.argv[2])
for value in range(start, start + 50):
    cache.put({key_of("m", str(value)): np.full(4, value, dtype=np.float32)})
assert not cache.warnings
cache.close()
"""


def test_what_one_cache_stores_another_finds_bit_by_bit(tmp_path: Path) -> None:
    vector = np.array([0.1, -1e-38, 3e38, 1 / 3], dtype=np.float32)
    first = VectorCache(tmp_path)
    first.put({key_of("m", "a\ud800"): vector})
    first.close()
    result = VectorCache(tmp_path).get([key_of("m", "a\ud800"), key_of("m", "b")])
    assert list(result) == [key_of("m", "a\ud800")]
    assert result[key_of("m", "a\ud800")].tobytes() == vector.tobytes()


def test_no_file_is_made_before_it_is_needed(tmp_path: Path) -> None:
    VectorCache(tmp_path / "cache").close()
    assert not (tmp_path / "cache").exists()


def test_without_a_folder_vectors_are_kept_in_memory() -> None:
    cache = VectorCache(None)
    cache.put({b"k": row(1)})
    assert cache.get([b"k"])[b"k"].tolist() == [1, 1, 1, 1]


def test_many_keys_are_found_at_once(tmp_path: Path) -> None:
    VectorCache(tmp_path).put({key_of("m", str(place)): row(place) for place in range(1700)})
    result = VectorCache(tmp_path).get([key_of("m", str(place)) for place in range(1700)])
    assert [result[key_of("m", str(place))][0] for place in range(1700)] == list(range(1700))


def test_several_processes_write_at_the_same_time(tmp_path: Path, children: Children) -> None:
    command = [sys.executable, "-c", STORE, str(tmp_path)]
    workers = [children.start([*command, str(start)], tmp_path) for start in (0, 25, 50)]
    results = [worker.finish() for worker in workers]
    assert [each.returncode for each in results] == [0, 0, 0], results
    assert len(VectorCache(tmp_path).get([key_of("m", str(value)) for value in range(100)])) == 100


def test_a_corrupt_file_is_moved_aside_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database " * 500)
    cache = VectorCache(tmp_path)
    assert cache.get([b"k"]) == {}
    cache.put({b"k": row(2)})
    assert cache.get([b"k"])[b"k"][0] == 2
    assert "moved to" in cache.warnings[0]
    second_cache = VectorCache(tmp_path)
    second_cache.put({b"k": row(3)})
    assert not second_cache.warnings


def test_a_folder_that_cannot_be_made_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = VectorCache(tmp_path / "file")
    cache.put({b"k": row(1)})
    assert len(cache.get([b"k"])) == 1
    assert cache.warnings


def test_the_digest_of_a_file_is_of_its_present_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    cache = VectorCache(tmp_path / "cache")
    first = cache.digest(file)
    monkeypatch.setattr("pytest_evalstudio.models.vectors.file_sha256", lambda path: "read again")
    assert cache.digest(file) == first
    file.write_bytes(b"three")
    assert cache.digest(file) == "read again"
