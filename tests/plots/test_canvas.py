"""What pictures are drawn on: valid XML whatever the texts, places as values say, texts that fit."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.plots.axes import Scale, axes, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import colour_between
from pytest_evalstudio.plots.text import fitted, text_width

SVG = "{http://www.w3.org/2000/svg}"


def drawing_of(canvas: Canvas) -> ElementTree.Element:
    return ElementTree.fromstring(canvas.finish().encode("utf-8"))


@given(st.text())
def test_any_text_is_a_text_and_nothing_else(text: str) -> None:
    canvas = Canvas(text, width=100, height=50, description=text)
    canvas.text(1, 2, text, title=text)
    canvas.circle(1, 2, 3, fill="#000", title=text)
    legend(canvas, 0, 20, [("#000", text)], width=60)
    kinds = [element.tag.removeprefix(SVG) for element in drawing_of(canvas).iter()]
    assert set(kinds) <= {"svg", "title", "desc", "style", "rect", "text", "circle"}


def test_a_scale_goes_up_where_pixels_go_down() -> None:
    scale = Scale(0, 10, 200, 100)
    assert [scale(value) for value in (0, 5, 10)] == [200, 150, 100]
    assert Scale(3, 3, 0, 100)(3) == 50


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_on_the_axis(low: float, length: float) -> None:
    high = low + length
    ticks = Scale(low, high, 0, 100).ticks()
    assert ticks == sorted(ticks)
    assert len(ticks) <= 7
    assert all(low - length * 1e-6 - 1e-9 <= tick <= high + length * 1e-6 + 1e-9 for tick in ticks)


def test_a_negative_axis_has_its_ticks() -> None:
    assert Scale(-1, 1, 0, 100).ticks() == [-1.0, -0.5, 0.0, 0.5, 1.0]


def test_axes_stand_at_the_frame() -> None:
    canvas = Canvas("A frame", width=300, height=200)
    axes(canvas, Scale(0, 1, 50, 290), Scale(0, 2, 150, 10), x_name="score", y_name="share")
    texts = [element.text for element in drawing_of(canvas).iter(f"{SVG}text")]
    assert texts == ["0", "0.2", "0.4", "0.6", "0.8", "1", "0", "0.5", "1", "1.5", "2", "score", "share"]


def test_a_legend_keeps_the_whole_of_what_it_shortens() -> None:
    canvas = Canvas("Topics", width=100, height=50)
    below = legend(
        canvas,
        0,
        20,
        [("#000000", "card, cash, machine, withdrawal, abroad"), ("#ffffff", "fees")],
        width=120,
    )
    assert below == 64
    long, short = drawing_of(canvas).findall(f"{SVG}text")
    title = long.find(f"{SVG}title")
    assert title is not None
    assert title.text == "card, cash, machine, withdrawal, abroad"
    assert (title.tail or "").endswith("…")
    assert short.text == "fees"


@given(st.text(), st.floats(10, 500))
def test_what_is_fitted_fits(text: str, width: float) -> None:
    assert text_width(fitted(text, width)) <= max(width, text_width("…"))


@pytest.mark.parametrize(
    ("share", "colour"), [(0.0, "#d55e00"), (1.0, "#009e73"), (-3.0, "#d55e00"), (7.0, "#009e73")]
)
def test_the_ends_of_the_colours(share: float, colour: str) -> None:
    assert colour_between(share) == colour


def test_pictures_of_one_page_share_no_ids() -> None:
    pictures = [Canvas(title, width=100, height=50, description="the same") for title in ("one", "two")]
    first, second = (
        {element.get("id") for element in drawing_of(canvas).iter()} - {None} for canvas in pictures
    )
    assert len(first) == len(second) == 2
    assert not first & second
    root = drawing_of(pictures[0])
    assert set(root.get("aria-labelledby", "").split()) == first
