"""Suites, last run and baseline of a project, as a coding agent sees them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_evalstudio.contrib.agent_loop.runs import Program, ProgramEnd, Report, pytest_program
from pytest_evalstudio.contrib.agent_loop.texts import joined, line, paged, quoted, section
from pytest_evalstudio.core.agent_part import AgentPart
from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.record.reader import RecordReader, record_path
from pytest_evalstudio.record.schema import Item

SUITES_ON_PAGE = 30
TESTS_ON_PAGE = 60
FAILURES_ON_PAGE = 5
COLLECTING_S = 120.0
_RAN = (0, 1)
"""Exit statuses of pytest after a run: all passed, or some failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Limits of what one server does for an agent.

    Attributes:
        runs: number of runs.
        tests: number of tests in a run.
        seconds: of a run.
    """

    runs: int = 50
    tests: int = 500
    seconds: float = 900.0


@dataclass(kw_only=True)
class Workspace:
    """Folder of a project, in which an agent may run tests.

    Attributes:
        folder: where pytest is started; files outside are refused.
        report: folder of the report of its runs.
        baseline: file or report that runs are compared with.
        limits: of the runs.
        parts: what optional parts bring.
    """

    folder: Path
    report: Path
    baseline: Path
    limits: RunLimits = field(default_factory=RunLimits)
    parts: tuple[AgentPart, ...] = ()
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)
    _runs: int = field(default=0, init=False, repr=False)

    async def suites(self, file: str, page: int) -> str:
        """Return the files with tests and their numbers, or the tests of one file.

        Raises:
            DataError: if the tests cannot be collected, or there is no such file.
        """
        collected = await self._collected([self._argument(file)] if file else [])
        nodeids = [nodeid for nodeid in collected if not self._hides(nodeid)]
        if file:
            page_entries = paged([line(nodeid) for nodeid in nodeids], page, TESTS_ON_PAGE)
        else:
            counts = Counter(nodeid.partition("::")[0] for nodeid in nodeids)
            entries = [f"{line(name)}: {count:,} tests" for name, count in counts.items()]
            page_entries = paged(entries, page, SUITES_ON_PAGE)
        return joined([f"{len(nodeids):,} tests", *page_entries.entries, page_entries.footer])

    async def run(self, files: Sequence[str], cases: Sequence[str], report: Report) -> str:
        """Run tests, and return the verdict with the first failures.

        Args:
            files: with tests; all that pytest finds where none is given.
            cases: keys or node ids of the tests to run; all of the files where none is given.
            report: of the progress.

        Raises:
            DataError: if there is no such file or case, or a run is going on.
            ConfigurationError: if a limit is reached.
        """
        if self._lock.locked():
            raise DataError("a run is going on; wait for its end, or cancel it")
        async with self._lock:
            if self._runs >= self.limits.runs:
                raise ConfigurationError(
                    f"this server has made its {self.limits.runs} runs (--max-runs); ask a person to start it"
                    " again"
                )
            nodeids = await self._selected(files, cases)
            self._runs += 1
            arguments = ["-q", "--evalstudio-output", str(self.report), *self._compared(), "--", *nodeids]
            program = self._pytest(arguments, self.limits.seconds)
            before = self._stamp()
            run_end = await program.run(report)
            if self._stamp() == before:
                raise DataError(
                    f"the run left no report (exit status {run_end.status}): {_last_lines(run_end)}"
                )
            return self._verdict(run_end)

    def failures(self, page: int) -> str:
        """Return the failures of the last run: reason, what differs, next step.

        Raises:
            DataError: if there is no run, or its record is damaged.
        """
        from pytest_evalstudio.contrib.agent_loop.failures import failure_entries

        entries = failure_entries(self._record(), self._baseline_record())
        if not entries:
            return "no test failed in the last run"
        page_entries = paged(entries, page, FAILURES_ON_PAGE)
        return joined(["\n\n".join(page_entries.entries), page_entries.footer])

    def case(self, key: str) -> str:
        """Return question, answer, chunks and verdicts of a test of the last run.

        Raises:
            DataError: if there is no such test.
        """
        record = self._record()
        nodeids: list[str] = []
        texts = []
        for item in record.items():
            nodeids.append(item.key)
            if key in (item.key, item.nodeid):
                texts.append(joined(_case_lines(record, item)))
        if not texts:
            raise unknown_name("test of the last run", key, nodeids)
        return "\n\n".join(texts[:FAILURES_ON_PAGE])

    def compare(self) -> str:
        """Return the comparison of the last run with the baseline.

        Raises:
            DataError: if there is no run or no baseline.
            ConfigurationError: if they have no test in common.
        """
        from pytest_evalstudio.analysis.comparison.baseline import opened
        from pytest_evalstudio.analysis.comparison.compare import compare
        from pytest_evalstudio.analysis.comparison.sides import read_side
        from pytest_evalstudio.analysis.comparison.text import comparison_lines

        self._record()
        if not self.baseline.exists():
            raise DataError(
                f"there is no baseline {self.baseline.name}; a person makes one by `evalstudio baseline save`"
            )
        with opened(self.baseline) as reader:
            base = read_side(reader.run, reader.outlines(), answers_of=("passed",))
        with opened(self.report) as reader:
            new = read_side(reader.run, reader.outlines(), answers_of=("failed",))
        return quoted("\n".join(comparison_lines(compare(base, new))))

    async def explain(self, cases: Sequence[str]) -> str:
        """Return the causes of regressed cases, for which their models are asked again.

        Raises:
            DataError: if there is no run, or the causes cannot be searched.
        """
        self._record()
        for case in cases:
            _check_name(case)
        if self._lock.locked():
            raise DataError("a run is going on; wait for its end, or cancel it")
        async with self._lock:
            arguments = ["explain", "--report", str(self.report), "--baseline", str(self.baseline), *cases]
            code = "import sys; from pytest_evalstudio.cli import main; sys.exit(main(sys.argv[1:]))"
            program = Program(
                arguments=("-c", code, *arguments),
                folder=self.folder,
                timeout_s=self.limits.seconds,
                private_variables=self._private_variables,
            )
            run_end = await program.run()
        if run_end.status not in _RAN:
            raise DataError(_last_lines(run_end))
        return quoted(run_end.output)

    def summary(self) -> str:
        """Return the summary of the last run as Markdown.

        Raises:
            DataError: if there is none.
        """
        self._record()
        path = self.report / "summary.md"
        if not path.is_file():
            raise DataError("the last run left no summary; run again")
        return path.read_text(encoding="utf-8", errors="replace")

    async def _selected(self, files: Sequence[str], cases: Sequence[str]) -> list[str]:
        """Return what pytest is called with, after the limit of tests was checked."""
        arguments = [self._argument(file) for file in files]
        collected = await self._collected(arguments)
        nodeids = [nodeid for nodeid in collected if not self._hides(nodeid)]
        if len(nodeids) < len(collected):
            arguments = nodeids
        if cases:
            selection = [nodeid for nodeid in nodeids if _is_chosen(nodeid, cases)]
            for case in cases:
                if not any(_is_chosen(nodeid, [case]) for nodeid in selection):
                    keys = [nodeid.partition("::")[2].rpartition("[")[0] for nodeid in nodeids]
                    raise unknown_name("test", case, keys)
            nodeids = arguments = selection
        if not nodeids:
            raise DataError("no test was collected; list_suites shows what there is")
        if len(nodeids) > self.limits.tests:
            raise ConfigurationError(
                f"{len(nodeids):,} tests are more than the {self.limits.tests:,} of one run (--max-tests);"
                " name files or cases"
            )
        return arguments

    async def _collected(self, arguments: Sequence[str]) -> list[str]:
        options = ["--collect-only", "-q", "--no-header", "-p", "no:warnings", "--"]
        run_end = await self._pytest([*options, *arguments], COLLECTING_S).run()
        if run_end.status not in (*_RAN, 5):  # 5: no tests
            raise DataError(f"the tests cannot be collected: {_last_lines(run_end)}")
        return [text for text in run_end.output.splitlines() if "::" in text and not text.startswith(" ")]

    def _pytest(self, arguments: Sequence[str], timeout_s: float) -> Program:
        return pytest_program(arguments, self.folder, timeout_s, self._private_variables)

    @property
    def _private_variables(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.private_variables)

    def _hides(self, nodeid: str) -> bool:
        return any(part.hides(nodeid) for part in self.parts)

    def _argument(self, file: str) -> str:
        """Return a file of the project as an argument of pytest.

        Raises:
            DataError: if it is none, or not in the folder.
        """
        _check_name(file)
        path = (self.folder / file.partition("::")[0]).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise DataError(f"{line(file)}: is not in the folder of this server; give a path within it")
        if not path.exists():
            raise DataError(f"{line(file)}: there is no such file; list_suites shows what there is")
        return file

    def _compared(self) -> list[str]:
        return ["--evalstudio-baseline", str(self.baseline)] if self.baseline.exists() else []

    def _stamp(self) -> int:
        try:
            return record_path(self.report).stat().st_mtime_ns
        except DataError:
            return 0

    def _record(self) -> RecordReader:
        try:
            return RecordReader(record_path(self.report))
        except DataError as exc:
            if _lacks_record(self.report):
                raise DataError("there is no run yet; call run first") from exc
            raise

    def _baseline_record(self) -> Path | None:
        return self.baseline if self.baseline.exists() else None

    def _verdict(self, run_end: ProgramEnd) -> str:
        summary = self.summary().splitlines()
        verdict = [text.lstrip("# ") for text in summary[:6] if text.strip()]
        late = f"ended after {self.limits.seconds:g} s (--timeout)" if run_end.is_late else ""
        failures = self.failures(1)
        next_step = "" if failures.startswith("no test failed") else "next: case(key) shows a test as a whole"
        return joined([late, *map(line, verdict[:1]), quoted("\n".join(verdict[1:])), failures, next_step])


def _lacks_record(report: Path) -> bool:
    """Return whether a report's folder has no record."""
    from pytest_evalstudio.record.writer import FILE

    return not (report / FILE).is_file()


def _is_chosen(nodeid: str, cases: Sequence[str]) -> bool:
    name = nodeid.partition("::")[2]
    return any(case in (nodeid, name, name.rpartition("[")[0]) for case in cases)


def _check_name(name: str) -> None:
    """Refuse a name that pytest would take for an option.

    Raises:
        DataError: says so.
    """
    if name.startswith("-") or "\0" in name:
        raise DataError(f"{line(name)}: is not the name of a file or case")


def _last_lines(run_end: ProgramEnd) -> str:
    lines = [text for text in run_end.output.splitlines() if text.strip()]
    if run_end.is_late:
        return "it took too long"
    return " / ".join(map(line, lines[-5:])) or "it printed nothing"


def _case_lines(record: RecordReader, item: Item) -> Iterator[str]:
    from pytest_evalstudio.text.figures import figure

    model = record.run.model_name(item.model_key)
    yield f"{line(item.nodeid)}: {item.verdict} ({line(model)})"
    if item.reason:
        yield from section("reason", item.reason)
    for id, verdict in item.verdicts.items():
        scores = ", ".join(
            f"{name} {figure(score)}" for name, score in verdict.scores.items() if score is not None
        )
        state: str = verdict.status
        if verdict.passed is not None:
            state = "passed" if verdict.passed else "failed"
        yield f"{id}: {state}" + (f" ({scores})" if scores else "")
        yield from section(f"reason of {id}", verdict.reason if verdict.passed is not True else "")
    for row in item.rows[:1]:
        yield from section("question", row.question)
        yield from section("expected output", row.expected_output)
        yield from section("condition", row.condition)
        yield from section("answer", row.answer.text)
        yield from section("error of the application", row.answer.error)
        for number, chunk in enumerate(row.answer.context[:3], 1):
            yield from section(f"context {number} of {len(row.answer.context)}", chunk)
        if row.answer.tool_calls:
            calls = ", ".join(call.name for call in row.answer.tool_calls)
            yield from section("calls of tools", calls)
