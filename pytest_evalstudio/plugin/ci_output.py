"""Failed items for CI services, written at the end of a session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.plugin.figures import BASELINE_CLASS
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.report.ci_output import (
    AnswerDetails,
    Failure,
    code_quality,
    failures_of,
    github_lines,
    sarif,
)

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.run.settings import IniSettings

OTHER_ANNOTATIONS = "pytest_github_actions_annotate_failures"
"""Plugin that writes an annotation for each test that fails in its call."""


class CiOutput:
    """Formats of CI services that a session writes.

    Args:
        config: of the session.
        ini: names the formats.
    """

    def __init__(self, config: pytest.Config, ini: IniSettings) -> None:
        self._start = config.invocation_params.dir
        self._root = config.rootpath
        self._code_quality = ini.code_quality
        self._sarif = ini.sarif
        in_actions = os.environ.get("GITHUB_ACTIONS") == "true"
        self._github = ini.github == "yes" or (not ini.github and in_actions)
        # The condition of the plugin itself: it is silent outside of GitHub Actions.
        self._is_annotated = in_actions and config.pluginmanager.hasplugin(OTHER_ANNOTATIONS)
        self._annotated: set[str] = set()
        self._places: dict[str, tuple[str, int]] = {}
        self._regressed: set[str] = set()
        self._failures: list[Failure] = []

    @property
    def is_wanted(self) -> bool:
        """Return True if any format is written."""
        return self._github or bool(self._code_quality or self._sarif)

    def note(self, report: pytest.TestReport) -> None:
        """Remember the line of an item, and whether it regressed since the baseline."""
        if self.is_wanted:
            path, line, _ = report.location
            self._places[report.nodeid] = (path, (line or 0) + 1)
            if dict(report.user_properties).get(BASELINE_CLASS) == "regressed":
                self._regressed.add(report.nodeid)
            if self._is_annotated and report.when == "call" and report.failed:
                self._annotated.add(report.nodeid)

    def write(self, record: Path, summary: Path, comparison: Comparison | None = None) -> None:
        """Write the files, and the job summary of GitHub Actions.

        Args:
            record: of the run.
            summary: of the report, in Markdown.
            comparison: with the baseline, None without one.

        Raises:
            OSError: if a file cannot be written.
        """
        if not self.is_wanted:
            return
        reader = RecordReader(record)
        details = None
        if self._github:
            details = AnswerDetails(reader.run.evaluators, comparison, self._regressed)
        self._failures = list(failures_of(reader.items(), self._places, details))
        if self._code_quality:
            self._write(self._code_quality, code_quality(self._failures))
        if self._sarif:
            names = {id: entry.name for id, entry in reader.run.evaluators.items()}
            tool = reader.run.tool
            self._write(self._sarif, sarif(self._failures, tool=tool.name, version=tool.version, names=names))
        job_summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if self._github and job_summary and summary.is_file():
            with open(job_summary, "a", encoding="utf-8") as file:
                file.write(summary.read_text(encoding="utf-8"))

    def annotate(self, terminal: Any) -> None:
        """Write the annotations of GitHub Actions, regressed items first, since GitHub shows few of them.

        Items that another plugin annotates are left out.
        """
        if self._github:
            failures = sorted(self._failures, key=lambda failure: failure.nodeid not in self._regressed)
            others = [failure for failure in failures if failure.nodeid not in self._annotated]
            for line in github_lines(others):
                terminal.write_line(line)

    def _write(self, file: str, content: object) -> None:
        target = self._start / file
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
