"""Results of gates over a scored table in words: figure with interval, worst groups, worst answers."""

from __future__ import annotations

from pytest_evalstudio.contrib.tables.figures.errors import error_lines
from pytest_evalstudio.contrib.tables.figures.estimates import Figure
from pytest_evalstudio.contrib.tables.gates.checks import CheckResult, GateCheck, GatedTable, worst_segments
from pytest_evalstudio.contrib.tables.scored_record import AnswerRow, WorstRow
from pytest_evalstudio.contrib.tables.table.reader import distinct_rows
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.text.figures import figure

SEGMENTS = 3
ROWS = 3
TEXT_CHARS = 200
INDEPENDENT = "for independent rows"


def headline(check: GateCheck, result: CheckResult) -> str:
    """Return a result on one line."""
    figure = result.figure
    if result.change is None and check.earlier:
        return f"{check.term} of {check.subject}: no scored answer in table or baseline"
    if figure.value is None:
        return f"{check.gate.text}: not met: no scored answer of {check.subject}"
    if result.change is not None:
        change = result.change
        interval = _interval(change.interval)
        word = "not worse" if result.met else "worse"
        return (
            f"{check.term} of {check.subject} is {word}: {number(figure.value)} after"
            f" {number(change.base.value)}, difference {number(change.difference)}{interval}"
            f" (n {figure.n:,} and {change.base.n:,}; 95 % interval {INDEPENDENT})"
        )
    word = "met" if result.met else "not met"
    return (
        f"{check.gate.text}: {word}: {check.subject} has {number(figure.value)}{_interval(figure.interval)}"
        f" (n {figure.n:,}{'; 95 % interval' if figure.interval else ''})"
    )


def explanation(gated: GatedTable, check: GateCheck, result: CheckResult) -> str:
    """Return the message of a check that is not met."""
    lines = [headline(check, result)]
    lines += _about_rows(gated, check)
    lines += _segment_lines(gated, check)
    lines += _row_lines(gated, check)
    return "\n".join(lines)


def number(value: float | None) -> str:
    """Return a figure with four significant digits, "none" for none."""
    return "none" if value is None else figure(value)


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" [{number(interval[0])}, {number(interval[1])}]"


def _about_rows(gated: GatedTable, check: GateCheck) -> list[str]:
    manifest = gated.table.manifest
    aggregate = manifest.aggregate(
        check.gate.evaluator, check.metric.key, check.model, check.group, check.group_value
    )
    lines = []
    if aggregate is not None and aggregate.rows > aggregate.scored:
        parts = [f"{aggregate.not_applicable:,} not applicable"] * bool(aggregate.not_applicable)
        parts += [f"{aggregate.no_answer:,} without an answer"] * bool(aggregate.no_answer)
        parts += error_lines([aggregate])
        lines.append(f"not scored: {'; '.join(parts)}")
    if manifest.sampling is not None:
        population = sum(stratum.population for stratum in manifest.sampling.strata)
        lines.append(f"estimated from a sample of {manifest.answers:,} of {population:,} rows")
    return lines


def _segment_lines(gated: GatedTable, check: GateCheck) -> list[str]:
    segments = worst_segments(gated.table.manifest, check, SEGMENTS)
    lines = [
        f"  {entry.group} {excerpt(entry.group_value, TEXT_CHARS)}: {_segment(figure)}"
        for entry, figure in segments
    ]
    return [f"groups with the worst {check.term}:", *lines] if lines else []


def _segment(figure: Figure) -> str:
    return f"{number(figure.value)}{_interval(figure.interval)} (n {figure.n:,})"


def _row_lines(gated: GatedTable, check: GateCheck) -> list[str]:
    aggregate = gated.table.manifest.aggregate(
        check.gate.evaluator, check.metric.key, check.model, check.group, check.group_value
    )
    worst = aggregate.worst if aggregate is not None else ()
    if not worst:
        return []
    answers = gated.table.answers_of([row.row_id for row in worst])
    distinct = set(distinct_rows(answers, [row.row_id for row in worst])[:ROWS])
    lines = [f"answers with the worst {check.metric.key}:"]
    for row in worst:
        if row.row_id in distinct:
            lines += _answer_lines(row, answers.get(row.row_id), check)
    return lines


def _answer_lines(row: WorstRow, answer: AnswerRow | None, check: GateCheck) -> list[str]:
    key = f", key {excerpt(answer.key, TEXT_CHARS)}" if answer is not None and answer.key else ""
    lines = [f"  row {row.row_id}{key}: {check.metric.key} {number(row.value)}"]
    if answer is None:
        return [*lines, "    the table keeps no texts of this row"]
    texts = {
        "question": answer.input,
        "answer": answer.actual_output,
        "expected": answer.expected_output,
        "context": answer.context[0] if answer.context else "",
    }
    return lines + [f"    {name}: {excerpt(text, TEXT_CHARS)}" for name, text in texts.items() if text]
