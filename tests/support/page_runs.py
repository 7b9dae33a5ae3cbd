"""Runs of the pages: files and commands as a reader enters them, from an empty folder.

The line that opens a fenced block has its marks behind the language:

* `title="PATH"`: a file with this content. `append="yes"` adds it to the file, `replace="yes"` replaces it.
  In the language `diff` the block is a change of the file: lines to remove, lines to add, lines between them.
* `sh` without a title: commands, run one after the other. `exit="1"` is their exit status, else 0.
  `background="TEXT"`: the command keeps running; the next block waits until it has printed the text.
* `text` without a title: what the commands before it print. `first="TEXT"` and `last="TEXT"` are in the
  first and the last line that is shown, `lines="PATTERN"` is in each of them. `output_of="COMMAND"` is run
  in place of the commands before it, e.g. without their installations.
* `folder="NAME"`: an example of its own, in another empty folder.
* `port="8765"` on the first block of a folder: a free port is used in place of this one.
* `configuration="NAME"`: a part of a configuration, which a test reads.
* `tested="NAME"`: a block that the test file of this name runs.
* `not_run="REASON"`: a block that cannot be run here.

`clone="yes"` on the first block of a folder: the folder has the examples of the repository.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from support.pages import DOCS, PAGES, ROOT, name_of, read
from support.real_servers import free_port

COMMAND_LANGUAGES = ("sh", "bash", "console")
MARKS_OF_OTHER_TESTS = frozenset({"adapter", "local_judge", "recipe", "configuration", "tested"})
"""Marks of blocks that another test runs or checks."""
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?P<marks>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')
_VARYING = (
    (r"\bin \d+(?:\.\d+)?s(?: \(\d+:\d+:\d+\))?", "in 1.00s"),
    (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\+00:00| UTC)?)?", "2026-01-01"),
    (r"\brun [0-9a-f]{4}\b", "run 0000"),
    (r"\bcommit [0-9a-f]{7}\b", "commit 0000000"),
    (r"\b\d+(?:\.\d+)? m?s\b", "1 s"),
    (r"\b0x[0-9a-f]+", "0x0"),
    (r"={3,}", "==="),
    (r"_{3,}", "___"),
    (r"[ \t]+$", ""),
)
_HEADER = re.compile(
    r"^(?:=+ test session starts =+"
    r"|(?:platform|cachedir:|rootdir:|configfile:|plugins:|collect(?:ed|ing)|asyncio:|hypothesis) .*)\n",
    re.MULTILINE,
)
_WAIT_S = 60
_LIMIT_S = 300
_LEFT_OUT = shutil.ignore_patterns("*_artifacts", "evalstudio-report", ".evalstudio", "__pycache__")


class PageFault(AssertionError):
    """A block does not do what its page says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    marks: Mapping[str, str]
    body: str
    """Content without the indentation of a tab."""
    indent: str
    span: tuple[int, int]
    """Offsets of the content in the page."""

    @property
    def place(self) -> str:
        return f"{name_of(self.page)}:{self.line}"

    @property
    def is_of_another_test(self) -> bool:
        return bool(MARKS_OF_OTHER_TESTS & set(self.marks))

    @property
    def is_command(self) -> bool:
        return self.language in COMMAND_LANGUAGES and "title" not in self.marks

    @property
    def is_output(self) -> bool:
        return self.language == "text" and "title" not in self.marks

    @property
    def is_run(self) -> bool:
        """Report whether this module runs the block."""
        if self.is_of_another_test or "not_run" in self.marks:
            return False
        return "title" in self.marks or self.is_command or self.is_output


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """A block of output, and what the commands print now."""

    block: Block
    text: str
    fault: str = ""
    """Reason why nothing of the output is shown, else ""."""


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    text = read(page)
    blocks = []
    for fence in _FENCE.finditer(text):
        indent = fence["indent"]
        marks = {name: quoted or bare for name, quoted, bare in _MARK.findall(fence["marks"])}
        blocks.append(
            Block(
                page=page,
                line=text.count("\n", 0, fence.start()) + 1,
                language=fence["language"],
                marks=marks,
                body=re.sub(rf"^{indent}", "", fence["body"], flags=re.MULTILINE),
                indent=indent,
                span=fence.span("body"),
            )
        )
    return blocks


def readings() -> dict[str, list[Path]]:
    """Return the pages that are read in one folder: those of `start` together, each other page alone."""
    start = [DOCS / "start" / f"{name}.md" for name in ("install", "first-test", "your-application")]
    start.append(DOCS / "start" / "documents-to-gate.md")
    others = {name_of(page): [page] for page in PAGES if page not in start}
    return {"docs/start": start, **others}


def normalized(text: str) -> str:
    """Return an output without what differs from run to run."""
    for pattern, constant in _VARYING:
        text = re.sub(pattern, constant, text, flags=re.MULTILINE)
    return text.strip("\n")


class Reader:
    """Enters the blocks of pages into a terminal.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._terminals: dict[str, Terminal] = {}

    def enter(self, page: Path) -> Iterator[ShownOutput]:
        """Enter the blocks of a page, and yield its outputs.

        Raises:
            PageFault: a command ended with another status than the page says, or a file is written twice.
        """
        for block in blocks_of(page):
            if not block.is_run:
                continue
            terminal = self._terminal(block.marks.get("folder", ""), is_clone="clone" in block.marks)
            if "port" in block.marks:
                terminal.ports[block.marks["port"]] = str(free_port())
            if "title" in block.marks:
                terminal.write(terminal.with_free_ports(block))
            elif block.is_command:
                terminal.enter(block, terminal.with_free_ports(block).body)
            else:
                if "output_of" in block.marks:
                    terminal.enter(block, block.marks["output_of"])
                yield terminal.shown_by(block)

    def _terminal(self, name: str, *, is_clone: bool) -> Terminal:
        if name not in self._terminals:
            folder = self._folder / (name or "page")
            folder.mkdir(parents=True)
            if is_clone:
                shutil.copytree(ROOT / "example_suites", folder / "example_suites", ignore=_LEFT_OUT)
                shutil.copy(ROOT / "pyproject.toml", folder)
            self._terminals[name] = Terminal(folder)
        return self._terminals[name]

    def close(self) -> None:
        """End the commands that keep running."""
        for terminal in self._terminals.values():
            terminal.close()


@dataclass
class Terminal:
    """A shell in a folder."""

    folder: Path
    output: str = ""
    ports: dict[str, str] = field(default_factory=dict)
    """Port in the page to the one that is used."""
    _current: Path | None = None
    _contents: dict[Path, str] = field(default_factory=dict)
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def current(self) -> Path:
        return self._current or self.folder

    def with_free_ports(self, block: Block) -> Block:
        """Return a block whose ports are free ones."""
        body = block.body
        for port, free in self.ports.items():
            body = body.replace(port, free)
        return dataclasses.replace(block, body=body)

    def write(self, block: Block) -> None:
        path = self.current / block.marks["title"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if block.language == "diff":
            self._change(block, path)
            return
        if "append" in block.marks:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\n{block.body}")
            return
        before = self._contents.get(path)
        if before not in (None, block.body) and "replace" not in block.marks:
            raise PageFault(f'{block.place}: {path.name} has another content already; mark it replace="yes"')
        if "replace" in block.marks and not path.exists():
            raise PageFault(f"{block.place}: there is no {path.name} to replace")
        self._contents[path] = block.body
        path.write_text(block.body, encoding="utf-8")

    def _change(self, block: Block, path: Path) -> None:
        lines = block.body.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if not line.startswith("+"))
        after = "".join(line[1:] for line in lines if not line.startswith("-"))
        text = path.read_text(encoding="utf-8")
        if text.count(before) != 1:
            raise PageFault(
                f"{block.place}: {path.name} has the lines to change {text.count(before)} times, not once"
            )
        path.write_text(text.replace(before, after), encoding="utf-8")

    def enter(self, block: Block, commands: str) -> None:
        if "background" in block.marks:
            self._start(block, commands)
            return
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as place:
            script = f"trap 'pwd > {place.name}' EXIT\nset -eo pipefail\n{commands}"
            result = subprocess.run(
                ["bash", "-c", script],
                cwd=self.current,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=_LIMIT_S,
                check=False,
            )
            self._current = Path(place.read().strip() or self.current)
        self.output = result.stdout.replace(f"{self.current}/", "").replace(f"{self.folder}/", "")
        expected = int(block.marks.get("exit", 0))
        if "output_of" not in block.marks and result.returncode != expected:
            raise PageFault(
                f"{block.place}: exit status {result.returncode}, not {expected}\n{commands}\n{self.output}"
            )

    def _start(self, block: Block, commands: str) -> None:
        output = self.folder / ".printed-in-the-background"
        with output.open("wb") as file:
            child = subprocess.Popen(
                ["bash", "-c", f"exec {commands}"],
                cwd=self.current,
                env={**self._environment(), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append(child)
        end = time.monotonic() + _WAIT_S
        while block.marks["background"] not in output.read_text(encoding="utf-8"):
            if child.poll() is not None or time.monotonic() > end:
                raise PageFault(
                    f"{block.place}: not printed: {block.marks['background']}\n{output.read_text()}"
                )
            time.sleep(0.05)

    def shown_by(self, block: Block) -> ShownOutput:
        """Return the lines of the last output that a block shows."""
        lines = _HEADER.sub("", self.output).strip("\n").splitlines()
        for mark, is_first in (("first", True), ("last", False)):
            text = block.marks.get(mark)
            if text is None:
                continue
            number = next((number for number, line in enumerate(lines) if text in line), None)
            if number is None:
                return self._fault_output(block, mark)
            lines = lines[number:] if is_first else lines[: number + 1]
        if "lines" in block.marks:
            lines = [line for line in lines if re.search(block.marks["lines"], line)]
            if not lines:
                return self._fault_output(block, "lines")
        return ShownOutput(block, "\n".join(line.rstrip() for line in lines) + "\n")

    def _fault_output(self, block: Block, mark: str) -> ShownOutput:
        fault = f'{block.place}: no line has {mark}="{block.marks[mark]}"; change the mark\n{self.output}'
        return ShownOutput(block, block.body, fault)

    def close(self) -> None:
        for child in self._running:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            child.wait()

    def _environment(self) -> dict[str, str]:
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "PYTEST_"))
        }
        return {
            **variables,
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def rewritten(page: Path, outputs: Sequence[ShownOutput]) -> str:
    """Return a page with its outputs as they are printed now; unchanged if only seconds and ids differ.

    If one differs, all are replaced, so that runs have the same id in all of them.
    """
    text = read(page)
    if all(normalized(output.text) == normalized(output.block.body) for output in outputs):
        return text
    for output in sorted(outputs, key=lambda output: output.block.span, reverse=True):
        start, end = output.block.span
        body = re.sub(r"^(?=.)", output.block.indent, output.text, flags=re.MULTILINE)
        text = text[:start] + body + text[end:]
    return text


def unmarked(page: Path) -> list[Block]:
    """Return the blocks of a page that no test runs and that give no reason for it."""
    return [
        block
        for block in blocks_of(page)
        if not (block.is_run or block.is_of_another_test or "not_run" in block.marks)
    ]
