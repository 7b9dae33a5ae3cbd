from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from pytest_evalstudio.asking.answers import FILE_NAME, AnswerCache, digest_of
from pytest_evalstudio.core.cases import Answer, Prompt, Turn

FULL = Answer(
    text="zwei €",
    context=("a", "b"),
    context_sources=("x", "y"),
    duration_s=0.5,
    cost_usd=0.25,
    usage={"input_tokens": 3},
    retries=1,
)


@pytest.fixture
def cache(tmp_path):
    with AnswerCache(tmp_path / "cache") as answer_cache:
        yield answer_cache


def answer_of(cache, key):
    stored = cache.get(key)
    return stored and stored.answer


@pytest.mark.parametrize(
    "answer",
    [FULL, Answer(text=""), Answer(text="� half a character")],
    ids=["everything", "empty", "replaced"],
)
def test_an_answer_comes_back_as_it_was(cache, answer):
    cache.put("k", answer, run="r")
    assert answer_of(cache, "k") == answer


def test_an_answer_outlives_the_session(tmp_path):
    for session in range(2):
        with AnswerCache(tmp_path) as cache:
            assert answer_of(cache, "k") == (FULL if session else None)
            cache.put("k", FULL, run="r")


def test_an_error_is_not_stored(cache):
    cache.put("k", Answer(error="down"), run="r")
    assert cache.get("k") is None


def test_a_newer_answer_takes_the_place_of_the_older(cache):
    cache.put("k", FULL, run="r")
    cache.put("k", Answer(text="newer"), run="r")
    assert answer_of(cache, "k") == Answer(text="newer")


def document(folder, content):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "fees.txt"
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_the_address_depends_on_content_alone(cache, tmp_path):
    original, copy, other = (
        document(tmp_path / name, text) for name, text in (("1", "free"), ("2", "free"), ("3", "dear"))
    )
    key = cache.key("h", {"a": 1, "b": {"c": 2}}, Prompt(text="q", corpus=(original,)))
    assert key == cache.key("h", {"b": {"c": 2}, "a": 1}, Prompt(text="q", corpus=(copy,)))
    different = [
        cache.key("g", {"a": 1, "b": {"c": 2}}, Prompt(text="q", corpus=(original,))),
        cache.key("h", {"a": 1, "b": {"c": 3}}, Prompt(text="q", corpus=(original,))),
        cache.key("h", {"a": 1, "b": {"c": 2}}, Prompt(text="r", corpus=(original,))),
        cache.key("h", {"a": 1, "b": {"c": 2}}, Prompt(text="q", corpus=(other,))),
        cache.key("h", {"a": 1, "b": {"c": 2}}, Prompt(text="q", corpus=(original, other))),
        cache.key("h", {"a": 1, "b": {"c": 2}}, Prompt(text="q", corpus=(original,), run=2)),
    ]
    assert len({key, *different}) == 7


def test_a_document_that_changes_changes_the_address(cache, tmp_path):
    prompt = Prompt(text="q", corpus=(document(tmp_path, "free"),))
    before = cache.key("h", {}, prompt)
    document(tmp_path, "no longer free")
    assert cache.key("h", {}, prompt) != before


def test_a_corrupt_file_is_moved_aside_with_a_warning(tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b"this is no database" * 100)
    with AnswerCache(tmp_path) as cache:
        cache.put("k", FULL, run="r")
        assert answer_of(cache, "k") == FULL
        assert len(cache.warnings) == 1
    assert (
        "is corrupt (file is not a database); it was moved to answers-1.sqlite.corrupt-" in cache.warnings[0]
    )
    assert len(list(tmp_path.glob("*.corrupt-*"))) == 1


def test_a_file_that_breaks_while_it_is_used_is_moved_aside_too(tmp_path):
    with AnswerCache(tmp_path) as cache:
        for number in range(200):
            cache.put(f"k{number}", FULL, run="r")
    content = bytearray((tmp_path / FILE_NAME).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)  # the header and the schema stay
    (tmp_path / FILE_NAME).write_bytes(content)
    with AnswerCache(tmp_path) as cache:
        assert cache.get("k7") is None
        cache.put("k7", FULL, run="r")
        assert answer_of(cache, "k7") == FULL
        assert len(cache.warnings) == 1
        assert "moved to" in cache.warnings[0]


@pytest.mark.parametrize("row", ['{"text": 1', '{"usage": ' + "[" * 100_000 + "]" * 100_000 + "}"])
def test_a_row_that_cannot_be_read_is_asked_for_again(cache, row):
    cache.put("k", FULL, run="r")
    with closing(sqlite3.connect(cache.path)) as other, other:
        other.execute("UPDATE answers SET answer = ?", (row,))
    assert cache.get("k") is None
    assert "is asked for again" in cache.warnings[0]


@pytest.mark.parametrize("name", ["run", "tool_calls", "steps", "context_scores", "artifacts", "state"])
def test_an_answer_without_a_field_is_asked_for_again(cache, name):
    cache.put("k", FULL, run="r")
    with closing(sqlite3.connect(cache.path)) as other, other:
        other.execute("UPDATE answers SET answer = json_remove(answer, ?)", (f"$.{name}",))
    assert cache.get("k") is None
    assert "is asked for again" in cache.warnings[0]


def test_a_folder_that_cannot_be_made_means_no_cache_and_a_warning(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with AnswerCache(tmp_path / "file") as cache:
        cache.put("k", FULL, run="r")
        assert cache.get("k") is None
    assert "does not use the answers cache" in cache.warnings[0]
    assert "-o evalstudio_cache=DIR" in cache.warnings[0]


def test_threads_share_a_cache(cache):
    def write(part):
        for number in range(50):
            cache.put(f"{part}-{number}", Answer(text=f"{part}-{number}"), run="r")

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(cache.get(f"{part}-{number}") for part in range(4) for number in range(50))
    assert cache.warnings == []


WRITER = """
import sys
from pathlib import Path
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.asking.answers import AnswerCache
with AnswerCache(Path(sys.argv[1])) as cache:
    for number in range(200):
        cache.put(f"{sys.argv[2]}-{number}", Answer(text=str(number)), run="r")
        cache.put(f"shared-{number}", Answer(text=sys.argv[2]), run="r")
    print(cache.warnings)
"""


@pytest.mark.parametrize("corrupt", [False, True], ids=["new", "corrupt"])
def test_processes_write_one_cache_at_the_same_time(tmp_path, children, corrupt):
    if corrupt:
        (tmp_path / FILE_NAME).write_bytes(b"this is no database" * 100)
    writers = [
        children.start([sys.executable, "-c", WRITER, str(tmp_path), name], Path.cwd()) for name in "abc"
    ]
    results = [writer.finish() for writer in writers]
    assert [each.returncode for each in results] == [0, 0, 0], results
    assert sum(each.out.strip() != "[]" for each in results) == (1 if corrupt else 0)
    with AnswerCache(tmp_path) as cache:
        assert all(cache.get(f"{name}-{number}") for name in "abc" for number in range(200))
        assert all(cache.get(f"shared-{number}") for number in range(200))


def test_earlier_turns_are_a_part_of_the_address_where_there_are_any(cache):
    keys = {
        cache.key("h", {}, Prompt(text="q", conversation=turns))
        for turns in (
            (),
            (Turn(role="user", content="a"),),
            (Turn(role="assistant", content="a"),),
            (Turn(role="user", content="b"),),
        )
    }
    assert len(keys) == 4
    assert cache.key("h", {}, Prompt(text="q")) == digest_of(
        ["h", {}, "q", [], 1]
    )  # stored before there were conversations


@pytest.fixture
def frozen(tmp_path):
    """Makes a folder read-only, for root too, and writable again at the end."""
    folders = []

    def freeze(folder):
        folders.append(folder)
        for path in (*folder.iterdir(), folder):
            path.chmod(path.stat().st_mode & ~0o222)
        if os.access(folder, os.W_OK):
            result = (
                subprocess.run(["chattr", "-R", "+i", str(folder)], capture_output=True, check=False)
                if shutil.which("chattr")
                else None
            )
            if result is None or result.returncode:
                pytest.skip("this user may write everywhere")

    yield freeze
    for folder in folders:
        if shutil.which("chattr"):
            subprocess.run(["chattr", "-R", "-i", str(folder)], capture_output=True, check=False)
        folder.chmod(0o755)


def test_a_read_only_cache_is_read_and_one_warning_says_that_nothing_is_stored(tmp_path, frozen):
    folder = tmp_path / "cache"
    with AnswerCache(folder) as cache:
        cache.put("known", Answer(text="4"), run="r")
    frozen(folder)

    with AnswerCache(folder) as cache:
        cache.put("new", Answer(text="5"), run="r")
        cache.put("newer", Answer(text="6"), run="r")
        cache.drop("known")
        assert answer_of(cache, "known") == Answer(text="4")
        assert cache.get("new") is None

    (warning,) = cache.warnings
    assert warning.endswith("is read-only: its answers are used, new ones are not stored")
