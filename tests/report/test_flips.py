"""The section on robustness: its tables and its curves."""

from __future__ import annotations

import re

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.sensitivity import HEIGHT, WIDTH, charts
from support.records import RecordBuilder, flip, perturbed, score


def builder(models=("one", "two"), copies=True):
    record_builder = RecordBuilder(models=models)
    for name in models:
        for number in range(4):
            key = f"k{number}"
            record_builder.add(key, name, {"outcomes": {"quality": score(1.0)}})
            for level, flipped in (("LOW", number < 1), ("HIGH", number < 2)):
                add(record_builder, key, name, f"ocr:{level}", flipped)
            add(record_builder, key, name, "antonym:HIGH", True, meaning_kept=False)
            add(record_builder, key, name, "comma:LOW", False)
            if copies:
                add(record_builder, key, name, "copy", False)
    return record_builder


def add(record_builder, key, name, by, flipped, **more):
    flips = [flip(key, perturbators=[by], **more)] if flipped else []
    record_builder.add(
        f"{key}-{by}",
        name,
        {"outcomes": {"quality": score(0.0 if flipped else 1.0)}, **perturbed(key, by)},
        flips=flips,
    )


def test_a_curve_runs_from_the_low_to_the_high_intensity(tmp_path):
    (chart,) = charts(
        analyse(builder().write(tmp_path), {}).sensitivities
    )  # comma and antonym were run at one intensity each
    assert (chart.title, [name for _, name in chart.levels]) == ("ocr", ["low", "high"])
    first_curve, second_curve = chart.curves
    assert [mark.y for mark in first_curve.marks] == [
        HEIGHT * 0.75,
        HEIGHT * 0.5,
    ]  # 1 of 4, 2 of 4, on an axis to 100 %
    assert [mark.title for mark in first_curve.marks] == [
        "one, low: 1 of 4 flipped",
        "one, high: 2 of 4 flipped",
    ]
    assert first_curve.marks[0].x == WIDTH / 4 - 3
    assert second_curve.marks[0].x == WIDTH / 4 + 3
    assert all(0 <= mark.high < mark.y < mark.low <= HEIGHT for mark in first_curve.marks)
    assert chart.noise == HEIGHT


def test_only_so_many_models_are_drawn(tmp_path):
    (chart,) = charts(
        analyse(builder(models=tuple("abcdefgh"), copies=False).write(tmp_path), {}).sensitivities
    )
    assert (len(chart.curves), chart.left_out, chart.noise) == (6, 2, None)


@pytest.mark.parametrize("copies", [True, False])
def test_the_section_has_rates_noise_and_what_stands_apart(tmp_path, copies):
    report = build_report(builder(copies=copies).write(tmp_path), tmp_path / "out", {})
    html = re.sub(r"\s+", " ", report.page.read_text(encoding="utf-8"))
    section = html[html.index('id="flips"') :]
    assert "Where the meaning changed" in section
    assert (
        section.index("ocr:HIGH") < section.index("Where the meaning changed") < section.index("antonym:HIGH")
    )
    assert ('<th scope="col" class="n">Noise</th>' in section) is copies
    assert section.count("<polyline") == 2
