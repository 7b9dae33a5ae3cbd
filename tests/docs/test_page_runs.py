"""A page that does not do what it says is a fault, and its outputs are refreshed from a real run."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_runs import PageFault, Reader, ShownOutput, blocks_of, normalized, rewritten, unmarked

FENCE = "```"


def page_of(tmp_path: Path, *blocks: str) -> Path:
    """Write a page of blocks: each is the line that opens it, and its content."""
    page = tmp_path / "page.md"
    page.write_text("\n\n".join(f"{FENCE}{block}\n{FENCE}" for block in blocks) + "\n", encoding="utf-8")
    return page


def outputs_of(page: Path) -> list[ShownOutput]:
    folder = page.parent / "empty"
    folder.mkdir()
    reader = Reader(folder)
    try:
        return list(reader.enter(page))
    finally:
        reader.close()


def test_an_output_is_what_the_commands_print(tmp_path: Path) -> None:
    page = page_of(tmp_path, 'text title="a.txt"\nfive', "sh\ncat a.txt", "text\nfour")
    [output] = outputs_of(page)
    assert (output.block.body, output.text) == ("four\n", "five\n")
    assert blocks_of(page)[-1].line == 9


def test_a_page_is_rewritten_where_its_output_differs(tmp_path: Path) -> None:
    page = page_of(tmp_path, "sh\necho new", "text\nold")
    text = page.read_text(encoding="utf-8")
    assert rewritten(page, outputs_of(page)) == text.replace("old", "new")


def test_seconds_and_dates_are_no_difference(tmp_path: Path) -> None:
    page = page_of(tmp_path, "sh\necho 2 passed in 3.21s, 2026-11-29", "text\n2 passed in 0.10s, 2026-11-28")
    assert rewritten(page, outputs_of(page)) == page.read_text(encoding="utf-8")
    assert normalized("2 passed in 0.10s") != normalized("3 passed in 0.10s")


def test_the_indentation_of_a_tab_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        f"    {FENCE}sh\n    echo new\n    {FENCE}\n\n    {FENCE}text\n    {FENCE}\n", encoding="utf-8"
    )
    assert f"    {FENCE}text\n    new\n    {FENCE}" in rewritten(page, outputs_of(page))


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (["sh\nfalse"], "exit status 1, not 0"),
        (['sh exit="1"\ntrue'], "exit status 0, not 1"),
        (["sh\nfalse\ntrue"], "exit status 1, not 0"),
        (['text title="a"\n1', 'text title="a"\n2'], "another content"),
        (['text title="a" replace="yes"\n1'], "no a to replace"),
        (['text title="a"\n1', 'diff title="a"\n-2\n+3'], "0 times, not once"),
        (['sh background="ready"\necho no'], "not printed: ready"),
    ],
)
def test_a_block_that_does_something_else_is_a_fault(tmp_path: Path, blocks: list[str], message: str) -> None:
    with pytest.raises(PageFault, match=message):
        outputs_of(page_of(tmp_path, *blocks))


def test_a_change_and_the_current_folder_last(tmp_path: Path) -> None:
    blocks = [
        "sh\nmkdir sub\ncd sub",
        'text title="a"\n1\n2\n3',
        'diff title="a"\n 1\n-2\n+4',
        "sh\ncat a",
        "text\n",
    ]
    page = page_of(tmp_path, *blocks)
    [output] = outputs_of(page)
    assert output.text == "1\n4\n3\n"


def test_examples_of_a_page_do_not_see_each_other(tmp_path: Path) -> None:
    page = page_of(tmp_path, 'text title="a"\n1', 'sh folder="other"\nls', 'text folder="other"\n')
    [output] = outputs_of(page)
    assert output.text.strip() == ""


def test_a_part_of_an_output_is_shown(tmp_path: Path) -> None:
    page = page_of(
        tmp_path, "sh\nprintf 'a\\nb\\nc\\nd\\n'", 'text first="b" last="c"\n', 'text lines="a|d"\n'
    )
    assert [output.text for output in outputs_of(page)] == ["b\nc\n", "a\nd\n"]


def test_a_block_without_a_mark_is_found(tmp_path: Path) -> None:
    page = page_of(
        tmp_path, "toml\na = 1", 'toml not_run="asks a service"\na = 1', 'toml configuration="x"\na = 1'
    )
    assert [block.line for block in unmarked(page)] == [1]


@pytest.mark.parametrize("mark", ['first="b"', 'last="b"', 'lines="^b"'])
def test_a_part_that_is_not_printed_is_a_fault_of_this_block_alone(tmp_path: Path, mark: str) -> None:
    page = page_of(tmp_path, "sh\necho a", f"text {mark}\nold", "text\nold")
    faulty, good = outputs_of(page)
    assert faulty.fault.startswith(f"page.md:5: no line has {mark}")
    assert not good.fault
    assert rewritten(page, [faulty, good]).count("old") == 1
