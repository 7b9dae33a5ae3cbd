"""Dot plots with a threshold, and pictures for notebooks and files."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from pytest_evalstudio.plots.dots import Dot, dot_plot
from pytest_evalstudio.plots.pictures import Pictures
from pytest_evalstudio.text.figures import figure


def positions(svg: str, element: str, *names: str) -> list[tuple[float, ...]]:
    root = ElementTree.fromstring(svg)
    return [
        tuple(float(node.attrib[name]) for name in names)
        for node in root.iter()
        if node.tag.endswith(element) and set(names) <= node.attrib.keys()
    ]


def test_dots_and_threshold_are_on_one_scale() -> None:
    dots = [Dot("one", 0.25, 0.0, 0.5), Dot("two", 0.75, 0.5, 1.0)]

    svg = dot_plot("Title", dots, threshold=0.5, shown=figure)

    (first,), (second,) = positions(svg, "circle", "cx")
    dashed = [line for line in re.findall(r"<line [^>]*>", svg) if "dasharray" in line]
    assert len(dashed) == 1
    threshold = float(re.search(r'x1="([\d.]+)"', dashed[0])[1])  # type: ignore[index]
    assert abs(threshold - (first + second) / 2) < 0.2
    assert "one: 0.25 (0 to 0.5)" in svg
    assert "dasharray" not in dot_plot("Title", dots)


def test_a_threshold_outside_of_the_values_is_in_the_picture() -> None:
    svg = dot_plot("Title", [Dot("one", 0.25, 0.2, 0.3)], threshold=5.0, shown=figure)
    dashed = next(line for line in re.findall(r"<line [^>]*>", svg) if "dasharray" in line)
    [(width,)] = [tuple(map(float, re.findall(r'width="(\d+)"', svg)[:1]))]
    assert 0 < float(re.search(r'x1="([\d.]+)"', dashed)[1]) < width  # type: ignore[index]


def test_pictures_are_shown_and_saved(tmp_path: Path) -> None:
    pictures = Pictures({"a/../b": "<svg>1</svg>", "c": "<svg>2</svg>"})

    paths = pictures.save(tmp_path / "out")

    assert pictures._repr_html_() == "<div><svg>1</svg></div><div><svg>2</svg></div>"
    assert [(path.name, path.read_text()) for path in paths] == [
        ("a____b.svg", "<svg>1</svg>"),
        ("c.svg", "<svg>2</svg>"),
    ]
