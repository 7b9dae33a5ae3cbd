"""Images of cases in the page: small, by their digest, below the root, and within the budget."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.data import pictures as module
from pytest_evalstudio.report.data.pictures import MAX_PICTURE_BYTES
from support import pictures
from support.records import RecordBuilder


def entry(name: str, content: bytes, media_type: str = "image/png") -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    return {"name": name, "media_type": media_type, "size": len(content), "sha256": digest}


def page_of(folder: Path, *entries: dict[str, Any], root: Path | None = None, models: int = 1) -> str:
    names = tuple(f"m{number}" for number in range(models))
    builder = RecordBuilder(models=names)
    for number, each in enumerate(entries):
        for name in names:
            builder.add(f"k{number}", name, {"attachments": [each]})
    return build_report(builder.write(folder), folder / "report", {}, root=root).page.read_text(
        encoding="utf-8"
    )


def is_shown(page: str, content: bytes) -> bool:
    return f">{base64.b64encode(content).decode()}</script>" in page


def write(folder: Path, name: str, content: bytes) -> bytes:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return content


def test_an_image_is_in_the_page_once_for_all_models(tmp_path: Path) -> None:
    content = write(tmp_path, "chart.png", pictures.png())
    page = page_of(tmp_path, entry("chart.png", content), root=tmp_path, models=3)
    assert page.count(base64.b64encode(content).decode()) == 1
    assert f'<script type="image/png;base64" id="data-picture-{hashlib.sha256(content).hexdigest()}">' in page


def test_without_a_root_no_file_is_read(tmp_path: Path) -> None:
    content = write(tmp_path, "chart.png", pictures.png())
    assert not is_shown(page_of(tmp_path, entry("chart.png", content)), content)


@pytest.mark.parametrize("size", [MAX_PICTURE_BYTES, MAX_PICTURE_BYTES + 1])
def test_the_limit_of_one_image_is_exact(tmp_path: Path, size: int) -> None:
    content = write(tmp_path, "chart.png", pictures.png().ljust(size, b"\1"))
    page = page_of(tmp_path, entry("chart.png", content), root=tmp_path)
    assert is_shown(page, content) == (size == MAX_PICTURE_BYTES)


def test_a_record_that_lies_about_the_size_shows_no_large_image(tmp_path: Path) -> None:
    content = write(tmp_path, "chart.png", pictures.png().ljust(MAX_PICTURE_BYTES + 1, b"\1"))
    page = page_of(tmp_path, {**entry("chart.png", content), "size": 10}, root=tmp_path)
    assert not is_shown(page, content)


def test_all_images_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = [write(tmp_path, f"{number}.png", pictures.png((number, 0, 0))) for number in range(4)]
    monkeypatch.setattr(module, "MAX_PICTURES_BYTES", sum(map(len, contents[:2])))
    entries = [entry(f"{number}.png", content) for number, content in enumerate(contents)]
    page = page_of(tmp_path, *entries, root=tmp_path)
    assert [is_shown(page, content) for content in contents] == [True, True, False, False]


@pytest.mark.parametrize("name", ["../outside.png", "link.png", "sub"])
def test_nothing_outside_of_the_root_is_shown(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    content = write(tmp_path, "outside.png", pictures.png())
    if hasattr(os, "symlink"):
        (root / "link.png").symlink_to(tmp_path / "outside.png")
    assert not is_shown(page_of(tmp_path, entry(name, content), root=root), content)


@pytest.mark.parametrize(
    ("content", "media_type"),
    [(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"), (b"<svg/>", "image/png")],
)
def test_a_drawing_with_scripts_is_never_shown(tmp_path: Path, content: bytes, media_type: str) -> None:
    write(tmp_path, "chart.png", content)
    page = page_of(tmp_path, entry("chart.png", content, media_type), root=tmp_path)
    assert "data-picture-" not in page.replace("`data-picture-", "")


def test_an_image_with_another_content_is_not_shown(tmp_path: Path) -> None:
    content = write(tmp_path, "chart.png", pictures.png((1, 1, 1)))
    page = page_of(tmp_path, entry("chart.png", pictures.png((2, 2, 2))), root=tmp_path)
    assert not is_shown(page, content)
