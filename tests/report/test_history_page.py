"""Page of a history: its figures, its escapes, and the command that writes and opens it."""

from __future__ import annotations

import json
import re
import webbrowser
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.flipping import flipping_cases
from pytest_evalstudio.analysis.comparison.history import history_lines, history_of
from pytest_evalstudio.analysis.comparison.sides import Side, read_side
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.report import assets
from pytest_evalstudio.report.history_page import MAX_FLIPPING, SHOWN_RUNS, history_page
from support.records import RecordBuilder, evaluator, score

SIGNS = {"p": 1.0, "f": 0.0}
HOSTILE = '<script>alert(1)</script> & "quoted" {{ 7 * 7 }}'


def builder_of(day: int, outcomes: dict[str, str], **header: Any) -> RecordBuilder:
    """Return the record of a run: key to "p" (passed), "f" (failed) or "-" (not in the run)."""
    builder = RecordBuilder(
        evaluator("quality"),
        run_id=f"{day:08}-0000-4000-8000-000000000000",
        created=f"2026-{1 + day // 28:02}-{1 + day % 28:02}T10:00:00+00:00",
        **{"commit": f"{day:02}abcdef0", **header},
    )
    for key, sign in outcomes.items():
        if sign in SIGNS:
            row = {"outcomes": {"quality": score(SIGNS[sign])}, "cost": 0.25, "actual_duration": 2.0}
            builder.add(key, "one", row)
    return builder


def sides_of(rows: dict[str, str], **header: Any) -> list[Side]:
    """Return the runs of cases: key to a letter for each run."""
    builders = [
        builder_of(day, {key: row[day] for key, row in rows.items()}, **header)
        for day in range(len(next(iter(rows.values()))))
    ]
    return [read_side(builder.run, builder.typed_items) for builder in builders]


def page_of(rows: dict[str, str], **header: Any) -> str:
    return history_page(history_of(sides_of(rows, **header)))


class Texts(HTMLParser):
    """Texts and tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def test_flips_are_counted_between_runs_that_have_the_case() -> None:
    rows = {
        "steady": "pppp",
        "once": "ppff",
        "noisy": "pfpf",
        "gone": "p-fp",
        "always": "ffff",
        "new": "---p",
    }

    trends = {trend.key: trend for trend in flipping_cases(sides_of(rows))}

    assert {key: trend.flips for key, trend in trends.items()} == {"noisy": 3, "gone": 2, "once": 1}
    assert list(trends) == ["noisy", "gone", "once"]
    assert trends["gone"].outcomes == ("passed", "", "failed", "passed")


def test_a_changed_test_is_no_flip() -> None:
    sides = sides_of({"k": "pfp"})
    first, second, third = (next(iter(side.items.values())) for side in sides)
    for side, item, digest in ((sides[0], first, "a1"), (sides[1], second, "b2"), (sides[2], third, "b2")):
        (identity,) = side.items
        parts = f'{{"parts":{{"condition":"{digest}"}},"thresholds":{{}},"options":{{}}}}'
        side.items[identity] = type(item)(
            **{name: getattr(item, name) for name in item.__struct_fields__} | {"digest": parts.encode()}
        )

    (trend,) = flipping_cases(sides)

    assert (trend.flips, trend.changed) == (1, (2,))


def test_the_terminal_and_the_json_list_the_flips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for day, (noisy, steady) in enumerate(("pp", "fp")):
        (tmp_path / f"run{day}").mkdir()
        builder_of(day, {"noisy": noisy, "steady": steady}).write(tmp_path / f"run{day}")

    assert main(["history", "run0", "run1"]) == 0
    assert "::noisy of one: ✓✗ 1 flip\n" in capsys.readouterr().out

    assert main(["history", "run0", "run1", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [(trend["key"], trend["flips"]) for trend in content["flipping"]] == [("noisy", 1)]
    assert [(run["passed"], run["failed"], run["cost_usd"]) for run in content["runs"]] == [
        (2, 0, 0.5),
        (1, 1, 0.5),
    ]


def test_the_terminal_lists_ten_cases() -> None:
    lines = [*history_lines(history_of(sides_of({f"k{number}": "pf" for number in range(12)})))]

    assert sum("1 flip" in line for line in lines) == 10
    assert lines[-1] == "2 more cases that flip: --json lists all"


def test_the_page_has_the_figures_of_each_run() -> None:
    page = Texts(page_of({"a": "pf", "b": "pp"}, branch="main"))

    assert "Last run: 1 of 2 tests passed, 1 failed." in page.text
    assert "one : pass rate 50 %, -50.0 percentage points since the run before." in page.text
    # Run, date, commit, branch, tests, passed, failed, errors, changed tests, cost, seconds; newest first.
    last = "2 2026-01-02 10:00:00 UTC 00000001 01abcde main 2 1 1 0 0 0.5 4"
    first = "1 2026-01-01 10:00:00 UTC 00000000 00abcde main 2 2 0 0 0 0.5 4"
    assert f"{last} {first}" in page.text
    labels = [attributes["aria-label"] for tag, attributes in page.tags if attributes.get("role") == "img"]
    assert labels == ["passed in 1 run, failed in 1 run"]
    captions = [attributes["alt"] for tag, attributes in page.tags if tag == "img"]
    assert captions == ["Pass rate", "Cost per answer, USD", "Seconds per answer", "quality.score"]


def test_one_run_and_runs_without_flips_say_so() -> None:
    assert "There is one run; flips need two." in Texts(page_of({"a": "p"})).text
    assert "No case changed between passing and failing in these runs." in Texts(page_of({"a": "pp"})).text


def test_the_page_is_cut_where_it_would_be_too_long() -> None:
    runs = SHOWN_RUNS + 20
    page = page_of({f"k{number}": "pf" * (runs // 2) for number in range(MAX_FLIPPING + 3)})

    assert page.count('role="img"') == MAX_FLIPPING
    assert page.count('class="outcome passed"') == MAX_FLIPPING * SHOWN_RUNS // 2 + 1  # and the key
    text = Texts(page).text
    assert "3 more cases flip; evalstudio history --json lists all." in text
    assert f"Outcomes of the last {SHOWN_RUNS} runs, the oldest first" in text


def test_texts_of_records_are_no_markup() -> None:
    page = page_of({HOSTILE: "pf"}, branch=HOSTILE, commit=HOSTILE)

    parsed = Texts(page)
    assert "alert(1)" in parsed.text
    assert {tag for tag, _ in parsed.tags}.isdisjoint({"script", "link", "iframe", "object", "form"})
    assert "49" not in re.findall(r"\{\{.*?\}\}|49", page)


def test_the_policy_allows_nothing_but_the_style_and_pictures() -> None:
    page = Texts(page_of({"a": "pf"}))

    (policy,) = [attributes["content"] for tag, attributes in page.tags if attributes.get("http-equiv")]
    assert policy == assets.policy(scripts=False, css=assets.history_style())
    assert policy is not None
    assert "script-src" not in policy
    for _, attributes in page.tags:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/svg+xml;base64,"))


@pytest.fixture
def opened_addresses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Addresses that the browser is asked to open, in a folder with two runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalstudio-history").mkdir()
    for day, sign in enumerate("pf"):
        folder = tmp_path / f"run{day}"
        folder.mkdir()
        builder_of(day, {"a": sign}).write(folder)
        (folder / "record.jsonl").rename(tmp_path / "evalstudio-history" / f"{day}.jsonl")
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: addresses.append(url) is None)
    return addresses


def test_the_page_is_written_without_a_browser(opened_addresses: list[str], tmp_path: Path) -> None:
    assert main(["history", "-o", "pages/history.html"]) == 0

    assert "History of 2 runs" in (tmp_path / "pages" / "history.html").read_text(encoding="utf-8")
    assert opened_addresses == []
    assert not (tmp_path / ".evalstudio").exists()


def test_the_page_is_opened_on_request(
    opened_addresses: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", "--open"]) == 0

    page = tmp_path / ".evalstudio" / "history.html"
    assert opened_addresses == [page.as_uri()]
    assert page.is_file()
    assert capsys.readouterr().err == f"wrote {Path('.evalstudio', 'history.html')}\n"


def test_a_machine_without_a_browser(
    opened_addresses: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: False)

    assert main(["history", "--open", "-o", "h.html"]) == 0

    assert capsys.readouterr().err == "wrote h.html\nno browser can be started here; open h.html yourself\n"


def test_no_page_is_written_of_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalstudio-history").mkdir()

    assert main(["history", "-o", "h.html"]) == 2
    assert not (tmp_path / "h.html").exists()
