"""Failed items in the formats of CI services: GitHub annotations, GitLab code quality, SARIF."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from pytest_evalstudio.core.display import visible
from pytest_evalstudio.core.text import with_short_keys
from pytest_evalstudio.record.schema import EvaluatorEntry, Item
from pytest_evalstudio.report.failed_items import answer_and_reference, has_common_words

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.comparison.results import Comparison

GITHUB_SHOWN = 50
"""GitHub shows ten annotations of a step; more only lengthen its log."""
_TITLE_CHARS = 120
_MESSAGE_CHARS = 1_000
_ANSWER_CHARS = 300
_DIFFERENCE_CHARS = 600
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Severity = Literal["info", "minor", "major", "critical", "blocker"]


class Failure(Struct, frozen=True, kw_only=True):
    """A failed or broken item.

    Attributes:
        path: of the file, relative to pytest's root folder.
        line: of the test case in it, from 1.
        rules: evaluators that failed it, and the code of a failure that no evaluator decides; "error" for an
            item without a verdict.
        is_leak: whether it is a finding about privacy or security.
        details: lines on the answer, for annotations.
    """

    nodeid: str
    path: str
    line: int
    rules: tuple[str, ...]
    message: str
    is_leak: bool = False
    details: tuple[str, ...] = ()


class AnswerDetails:
    """Answers of failed items, and their differences from the baseline's answer or the expected one.

    Args:
        evaluators: of the run.
        comparison: with a baseline, None without one.
        first: node ids of the items that are shown before all others.
    """

    def __init__(
        self,
        evaluators: Mapping[str, EvaluatorEntry],
        comparison: Comparison | None,
        first: Container[str],
    ) -> None:
        self._evaluators = evaluators
        self._base_answers = (
            {change.nodeid: change.base_answer for change in comparison.changes} if comparison else {}
        )
        self._first = first
        self._explained = {True: 0, False: 0}

    def lines(self, item: Item) -> tuple[str, ...]:
        """Return lines on an item; none for items beyond those that GitHub is given."""
        is_first = item.nodeid in self._first
        if self._explained[is_first] >= GITHUB_SHOWN:
            return ()
        self._explained[is_first] += 1
        answer, expected = answer_and_reference(item, self._evaluators)
        if not answer:
            return ()
        lines = [f"answer: {_shortened(answer, _ANSWER_CHARS)}"]
        base = self._base_answers.get(item.nodeid, "")
        if base and base != answer:
            lines.append(f"since the baseline: {_difference(base, answer)}")
        elif has_common_words(expected, answer):
            lines.append(f"from the expected answer: {_difference(expected, answer)}")
        elif expected:
            lines.append(f"expected: {_shortened(expected, _ANSWER_CHARS)}")
        return tuple(lines)


def _difference(base: str, answer: str) -> str:
    from pytest_evalstudio.text.windows import change_windows, word_diff

    return _shortened(word_diff(change_windows(base, answer)), _DIFFERENCE_CHARS)


def _shortened(text: str, limit: int) -> str:
    """Return the beginning of a text on one line."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= limit else f"{line[:limit]} …"


def failures_of(
    items: Iterable[Item],
    locations: Mapping[str, tuple[str, int]],
    details: AnswerDetails | None = None,
) -> Iterator[Failure]:
    """Yield the failed and broken items of a record.

    Args:
        items: of the record.
        locations: node id to path and line; an item without a place is at the first line of its file.
        details: of the answers, None for none.
    """
    for item in items:
        if item.verdict not in ("failed", "error"):
            continue
        path, line = locations.get(item.nodeid, (item.file, 1))
        missed = tuple(id for id, verdict in item.verdicts.items() if verdict.missed)
        kinds = {
            finding.problem_type
            for row in item.rows
            for outcome in row.outcomes.values()
            for finding in outcome.findings
        }
        codes = (item.code,) if item.verdict == "failed" and item.code else ()
        yield Failure(
            nodeid=item.nodeid,
            path=path,
            line=line,
            rules=(*missed, *codes) or ("error",),
            message=visible(item.reason or "failed")[:_MESSAGE_CHARS],
            is_leak=bool(kinds & {"privacy", "security"}),
            details=details.lines(item) if details is not None else (),
        )


def github_lines(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield a workflow command of GitHub Actions for each failure, at the line of its test case.

    Source: GitHub Docs, Workflow commands for GitHub Actions.

    >>> failure = Failure(nodeid="s.json::a,b", path="s.json", line=7, rules=("rouge",), message="50% of::1")
    >>> list(github_lines([failure]))
    ['::error file=s.json,line=7,title=s.json%3A%3Aa%2Cb::50%25 of::1']
    """
    for number, failure in enumerate(failures):
        if number == GITHUB_SHOWN:
            yield "::notice::evalstudio: more failures are in the report"
            return
        title = _property(with_short_keys(visible(failure.nodeid))[:_TITLE_CHARS])
        properties = f"file={_property(failure.path)},line={failure.line}"
        message = "\n".join((failure.message, *failure.details))
        yield f"::error {properties},title={title}::{_data(message)}"


class _Lines(Struct, frozen=True):
    begin: int


class _Place(Struct, frozen=True):
    path: str
    lines: _Lines


class CodeQualityIssue(Struct, frozen=True, kw_only=True):
    """An issue of GitLab's code quality report.

    Source: GitLab Docs, Code Quality, "Code Quality report format".
    """

    description: str
    check_name: str
    fingerprint: str
    severity: Severity
    location: _Place


def code_quality(failures: Iterable[Failure]) -> list[CodeQualityIssue]:
    """Return the failures as a code quality report; a fingerprint stays the same from run to run."""
    return [
        CodeQualityIssue(
            description=f"{failure.nodeid}: {failure.message}",
            check_name=rule,
            fingerprint=hashlib.sha256(f"{rule}\0{failure.nodeid}".encode()).hexdigest(),
            severity="critical" if failure.is_leak else "major",
            location=_Place(failure.path, _Lines(failure.line)),
        )
        for failure in failures
        for rule in failure.rules
    ]


class _Text(Struct, frozen=True):
    text: str


class _Region(Struct, frozen=True):
    start_line: int = field(name="startLine")


class _Artifact(Struct, frozen=True):
    uri: str


class _Physical(Struct, frozen=True):
    artifact: _Artifact = field(name="artifactLocation")
    region: _Region


class _Location(Struct, frozen=True):
    physical: _Physical = field(name="physicalLocation")


class _SarifResult(Struct, frozen=True, kw_only=True):
    rule_id: str = field(name="ruleId")
    level: Literal["error", "warning"]
    message: _Text
    locations: tuple[_Location, ...]
    fingerprints: dict[str, str] = field(name="partialFingerprints")


class _Rule(Struct, frozen=True, kw_only=True):
    id: str
    description: _Text = field(name="shortDescription")


class _Driver(Struct, frozen=True, kw_only=True):
    name: str
    version: str
    rules: tuple[_Rule, ...]


class _Tool(Struct, frozen=True):
    driver: _Driver


class _SarifRun(Struct, frozen=True, kw_only=True):
    tool: _Tool
    results: tuple[_SarifResult, ...]


class Sarif(Struct, frozen=True, kw_only=True):
    """A SARIF log.

    Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0.
    """

    schema: str = field(name="$schema", default=_SCHEMA)
    version: str = "2.1.0"
    runs: tuple[_SarifRun, ...]


def sarif(failures: Iterable[Failure], *, tool: str, version: str, names: Mapping[str, str]) -> Sarif:
    """Return the failures as a SARIF log.

    Args:
        failures: leaks have the level error, other failures the level warning.
        tool, version: of the program that found them.
        names: evaluator id to its name.
    """
    results = tuple(
        _SarifResult(
            rule_id=rule,
            level="error" if failure.is_leak else "warning",
            message=_Text(f"{failure.nodeid}: {failure.message}"),
            locations=(_Location(_Physical(_Artifact(_uri(failure.path)), _Region(failure.line))),),
            fingerprints={"nodeId": hashlib.sha256(failure.nodeid.encode()).hexdigest()},
        )
        for failure in failures
        for rule in failure.rules
    )
    rules = tuple(
        _Rule(id=rule, description=_Text(names.get(rule, rule)))
        for rule in dict.fromkeys(result.rule_id for result in results)
    )
    return Sarif(
        runs=(_SarifRun(tool=_Tool(_Driver(name=tool, version=version, rules=rules)), results=results),)
    )


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path.replace("\\", "/"))


def _data(text: str) -> str:
    # The percent sign first, since the other escapes begin with one.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
