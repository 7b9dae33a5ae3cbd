"""Images and files in suites, labs and data sets: place, fact and remedy of each fault."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.files import EvalFile, read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.suite import TestCase, TestSuite, complete_keys
from pytest_evalstudio.scoring.tasks import ModelInfo, tasks
from support import pictures


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    suites = tmp_path / "suites"
    (suites / "images").mkdir(parents=True)
    (suites / "images" / "chart.png").write_bytes(pictures.png())
    (suites / "terms.pdf").write_bytes(pictures.PDF)
    (suites / "empty.png").write_bytes(b"")
    (suites / "program.png").write_bytes(b"MZ\x90\x00")
    (suites / "drawing.svg").write_text("<svg/>", encoding="utf-8")
    (suites / ".env").write_text("API_KEY=1", encoding="utf-8")
    (suites / "seen.txt").symlink_to(".env")
    (suites / ".cache").mkdir()
    (suites / ".cache" / "chart.png").write_bytes(pictures.png())
    (tmp_path / "secret.png").write_bytes(pictures.png())
    return suites


def suite(folder: Path, **case: Any) -> EvalFile:
    path = folder / "fees_suite.json"
    case = {"prompt": "What is the fee?", **case} if "turns" not in case else case
    path.write_text(json.dumps({"tests": [{"test_cases": [case]}]}), encoding="utf-8")
    return read(read_source(path, "fees_suite.json"))


def collected(folder: Path, **case: Any) -> Any:
    [task] = tasks(suite(folder, **case), folder, [ModelInfo(key="m", label="m")])
    return task.case


def test_a_case_has_its_images_and_files_with_type_size_and_digest(folder: Path) -> None:
    case = collected(folder, images=["images/chart.png"], files="terms.pdf")
    chart, terms = case.attachments
    assert (chart.name, chart.media_type, chart.is_image) == ("images/chart.png", "image/png", True)
    assert (terms.name, terms.media_type, terms.is_image) == ("terms.pdf", "application/pdf", False)
    assert chart.read() == pictures.png()
    assert chart.location == str(folder / "images" / "chart.png")


def test_a_turn_has_its_own_images(folder: Path) -> None:
    turns = [{"prompt": "Look.", "images": ["images/chart.png"]}, {"prompt": "And?", "files": ["terms.pdf"]}]
    plan = collected(folder, turns=turns).plan
    assert [[each.name for each in turn.attachments] for turn in plan.turns] == [
        ["images/chart.png"],
        ["terms.pdf"],
    ]


def test_the_detail_of_an_image_and_its_pinned_digest_are_kept(folder: Path) -> None:
    digest = collected(folder, images=["images/chart.png"]).attachments[0].sha256
    image = {"path": "images/chart.png", "detail": "low", "sha256": digest}
    assert collected(folder, images=[image]).attachments[0].detail == "low"


@pytest.mark.parametrize(
    ("case", "place", "fact"),
    [
        ({"images": ["nowhere.png"]}, "images/0", "'nowhere.png' cannot be read: No such file"),
        ({"images": ["images"]}, "images/0", "cannot be read: Is a directory"),
        ({"images": ["empty.png"]}, "images/0", "'empty.png' is empty"),
        ({"images": ["program.png"]}, "images/0", "'program.png' is not a PNG, JPEG, GIF, WebP, PDF"),
        ({"images": ["drawing.svg"]}, "images/0", "contains text/plain, which `images` does not accept"),
        ({"images": ["terms.pdf"]}, "images/0", "move it to `files`"),
        ({"files": ["images/chart.png"]}, "files/0", "move it to `images`"),
        ({"images": ["../secret.png"]}, "images/0", "leads out of the folder"),
        ({"files": [".env"]}, "files/0", "is hidden"),
        ({"files": ["seen.txt"]}, "files/0", "is hidden"),
        ({"images": [".cache/chart.png"]}, "images/0", "is hidden"),
        ({"images": ["/etc/hosts"]}, "images/0", "leads out of the folder"),
        ({"images": ["C:\\chart.png"]}, "images/0", "leads out of the folder"),
        ({"images": ["a\x00b.png"]}, "images/0", "is not a path"),
        ({"images": ["x" * 5000]}, "images/0", "cannot be read: File name too long"),
        ({"images": ["https://a.example/chart.png"]}, "images/0", "download the file"),
        ({"images": ["data:image/png;base64,QUJD"]}, "images/0", "is a data URL; save it"),
        ({"images": [" "]}, "images/0", "the path is blank"),
        ({"images": [3]}, "images/0", "expected a path, or an object with `path`, found 3"),
        ({"images": [{"detail": "low"}]}, "images/0/path", "'path' is missing; add it"),
        ({"images": ["a\ud800.png"]}, "images/0", "cannot be read"),
        ({"images": [{"path": "a.png", "sha256": "zz"}]}, "images/0", "expected 64 hexadecimal digits"),
        ({"images": [{"path": "images/chart.png", "detial": "low"}]}, "images/0", "Did you mean 'detail'"),
        ({"images": [{"path": "images/chart.png", "detail": "big"}]}, "images/0/detail", '"low", "high"'),
        (
            {"images": [{"path": "images/chart.png", "sha256": "0" * 64}]},
            "images/0",
            "does not match its sha256",
        ),
        (
            {"images": [{"path": "gone.png", "sha256": "0" * 64, "media_type": "image/png"}]},
            "images/0",
            "is missing, or does not match its sha256",
        ),
        ({"images": ["images/chart.png"] * 60, "files": ["terms.pdf"] * 41}, "", "more than 100 images"),
        ({"turns": [{"prompt": "?", "images": ["nowhere.png"]}]}, "turns/0/images/0", "cannot be read"),
        ({"turns": [{"prompt": "?"}], "images": ["images/chart.png"]}, "", "move these into their turn"),
    ],
)
def test_each_fault_has_its_place(folder: Path, case: dict[str, Any], place: str, fact: str) -> None:
    [error] = suite(folder, **case).errors
    assert error.pointer == f"/tests/0/test_cases/0{'/' if place else ''}{place}"
    assert fact in error.message
    assert error.line == 1


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_a_link_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    [error] = suite(folder, images=["link.png"]).errors
    assert "through a symbolic link" in error.message


def test_a_faulty_image_leaves_the_other_cases_alone(folder: Path) -> None:
    path = folder / "two_suite.json"
    cases = [{"prompt": "a", "images": ["nowhere.png"]}, {"prompt": "b", "images": ["images/chart.png"]}]
    path.write_text(json.dumps({"tests": [{"test_cases": cases}]}), encoding="utf-8")
    file = read(read_source(path))
    assert len(file.errors) == 1
    assert [task.case.question for task in tasks(file, folder, [ModelInfo(key="m", label="m")])] == ["b"]


def test_a_suite_from_an_address_reads_no_local_file(folder: Path) -> None:
    file = suite(folder, images=["images/chart.png"])
    with pytest.raises(DataError, match="this suite has no folder"):
        tasks(file, "https://a.example/suites", [ModelInfo(key="m", label="m")])


@pytest.mark.parametrize("present", [True, False])
def test_a_row_with_a_recorded_image_needs_no_file(folder: Path, present: bool) -> None:
    chart = collected(folder, images=["images/chart.png"]).attachments[0]
    image = {"path": chart.name, "media_type": chart.media_type, "size": chart.size, "sha256": chart.sha256}
    rows = [{"input": "?", "actual_output": "red", "images": [image]}]
    path = folder / "answers.json"
    path.write_text(json.dumps({"inputs": rows}), encoding="utf-8")
    if not present:
        (folder / "images" / "chart.png").write_bytes(pictures.png((0, 0, 0)))
    file = read(read_source(path))
    assert not file.errors
    [task] = tasks(file, folder)
    assert task.case.attachments[0].sha256 == chart.sha256
    assert bool(task.case.attachments[0].location) == present


def test_a_table_keeps_the_images_of_its_rows(tmp_path: Path) -> None:
    image = {"path": "chart.png", "media_type": "image/png", "size": 9, "sha256": "a" * 64}
    dataset = LlmDataset()
    dataset.add_input("?", actual_output="red", images=[image])
    dataset.save(tmp_path / "rows.csv")
    [row] = LlmDataset.load(tmp_path / "rows.csv").inputs
    assert row.images[0].to_dict() == image
    (tmp_path / "plain.csv").write_text("input,actual_output,images\n?,red,chart.png\n", encoding="utf-8")
    (tmp_path / "chart.png").write_bytes(pictures.png())
    assert LlmDataset.load(tmp_path / "plain.csv").inputs[0].images[0].path == "chart.png"


def test_a_suite_is_written_back_with_its_images(tmp_path: Path) -> None:
    suite = TestSuite()
    suite.add_test().add_case("?", images=["chart.png"], key="k")
    suite.save(tmp_path / "s.json")
    (tmp_path / "chart.png").write_bytes(pictures.png())
    assert TestSuite.load(tmp_path / "s.json").tests[0].test_cases[0].images[0].path == "chart.png"
    assert "images" not in TestCase(prompt="?").to_dict()


def test_the_derived_key_of_a_case_follows_its_images() -> None:
    suites = []
    for images in ([], ["a.png"], ["b.png"]):
        suite = TestSuite()
        suite.add_test().add_case("?", images=images)
        complete_keys(suite)
        suites.append(suite)
    assert len({suite.tests[0].test_cases[0].key for suite in suites}) == 3


def test_python_code_follows_links_to_other_folders(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "a3f5").write_bytes(pictures.png())
    (folder / "linked.png").symlink_to(store / "a3f5")
    [image] = make_case("?", "red", images=folder / "linked.png").attachments
    assert (image.name, image.media_type, image.read()) == ("linked.png", "image/png", pictures.png())
    (folder / "loop.png").symlink_to("loop.png")
    with pytest.raises(ConfigurationError, match=r"loop\.png.* cannot be read"):
        make_case("?", "red", images=folder / "loop.png")


def test_python_code_names_images_by_any_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    case = make_case("?", "red", images="images/chart.png", files=[folder / "terms.pdf"])
    assert [each.name for each in case.attachments] == ["images/chart.png", "terms.pdf"]
    assert case.attachments[0].read() == pictures.png()
    assert case.key != make_case("?", "red").key
    for fields, fact in (
        ({"images": "nowhere.png"}, "images: nowhere.png: .*No such file"),
        ({"files": 3}, "files: expected paths, found 3"),
        ({"images": ["terms.pdf"]}, "move it to `files`"),
    ):
        with pytest.raises(ConfigurationError, match=fact):
            make_case("?", **fields)
