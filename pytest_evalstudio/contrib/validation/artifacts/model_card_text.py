"""Model card as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.contrib.validation.artifacts.conclusion import ConclusionDecision, describe_decision
from pytest_evalstudio.contrib.validation.artifacts.evidence import evidence_rows
from pytest_evalstudio.contrib.validation.artifacts.model_card import Inventory, ModelCard
from pytest_evalstudio.contrib.validation.artifacts.register import register_lines
from pytest_evalstudio.contrib.validation.methods.controls.results import control_notes
from pytest_evalstudio.core.markdown import whole
from pytest_evalstudio.text.figures import figure, percent


def card_markdown(card: ModelCard) -> str:
    """Return a model card as Markdown."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: ModelCard) -> Iterator[str]:
    yield from (f"# {whole(card.title)}: model card", "")
    yield from ("## Model inventory", "")
    yield from (f"- {name}: {whole(value)}" for name, value in inventory_rows(card.inventory))
    yield from (f"- Limitation: {whole(text)}" for text in card.inventory.limitations)
    yield from ("", "## Scope", "")
    if card.description:
        yield from (whole(card.description), "")
    yield f"Model: {whole(card.model or 'the configured one')}. Documents: {_joined(card.documents)}."
    yield from ("", f"Conclusion: **{card.conclusion.fitness}**.")
    for status in card.sign_offs:
        if status.is_valid and status.sign_off.exception_text:
            yield f"- **{whole(status.sign_off.exception_text)}**"
    yield from (f"- Missing ({gap.code}): {whole(gap.text)}" for gap in card.conclusion.gaps)
    yield from (f"- Decided by {whole(text)}" for text in card.conclusion.decided_by)
    yield from (f"- Limit: {whole(text)}" for text in card.conclusion.limits)
    yield from ("", "## Data and fingerprints", "", "| Basis | SHA-256 |", "| --- | --- |")
    yield from (f"| {whole(name)} | {value} |" for name, value in evidence_rows(card.evidence))
    if card.conclusion.decision is not None:
        yield from ("", "## Decision and controls", "")
        yield from (f"- {whole(text)}" for text in describe_decision(card.conclusion.decision))
        yield from (f"- {whole(text)}" for text in control_notes(card.conclusion.decision.controls))
        yield from _evidence_lines(card.conclusion.decision)
    yield from _result_lines(card)
    yield from ("", "## Weaknesses", "")
    yield from (
        f"- **{problem.severity}** ({whole(problem.step)}): {whole(problem.description)}"
        for problem in card.weaknesses
    )
    if not card.weaknesses:
        yield "The completed steps report none."
    yield from register_lines(card.register)
    yield from ("", "## Safety and ethics", "")
    yield from (f"- Tested: {whole(text)}" for text in card.safety.tested)
    yield from (f"- Finding: {whole(text)}" for text in card.safety.findings)
    yield from (f"- Not tested: {whole(text)}" for text in card.safety.not_tested)
    yield from ("", "## Monitoring plan", "")
    for trigger in card.monitoring:
        yield f"- {whole(trigger.condition)} {whole(trigger.action)}"
        # A slice of a text: one line where there is a gate, none otherwise.
        yield from (f"  Gate: `{trigger.gate}`" for _ in trigger.gate[:1])
        yield from (f"  Guard: `{trigger.guard}`" for _ in trigger.guard[:1])
    yield from ("", "## Evidence for guidance", "")
    yield "Evidence of this workflow for parts of the guidance; it is no statement of compliance."
    yield from ("", "| Guidance | Part | Evidence | Not covered |", "| --- | --- | --- | --- |")
    for part in card.mapping:
        evidence = part.evidence or "none"
        yield f"| {part.guidance} | {whole(part.section)} | {evidence} | {part.not_covered} |"
    yield from ("", f"Editions, as of {card.guidance_as_of}:", "")
    for edition in card.editions:
        link = f", {edition.link}" if edition.link else ""
        yield f"- {whole(edition.id)}: {whole(edition.title)}, {edition.date}{link} ({whole(edition.status)})"
    yield from ("", "## Sign-off", "")
    for status in card.sign_offs:
        entry = status.sign_off
        remarks = "; ".join(map(whole, status.remarks))
        yield f"- {entry.role}: {whole(entry.name)}, {entry.date}, {entry.decision} ({remarks})"
    if card.unsigned:
        yield f"Without a valid sign-off: {', '.join(card.unsigned)}."


def _evidence_lines(decision: ConclusionDecision) -> Iterator[str]:
    """Yield the evidence that the tier demands, coverage of the documents included, as a table."""
    if decision.requirements is not None:
        yield from ("", f"## Evidence for tier {whole(decision.requirements.tier)}", "")
        yield from ("| Evidence | Reached | Of | Required | |", "| --- | --- | --- | --- | --- |")
        for entry in decision.requirements.entries:
            total = "" if entry.total is None else entry.total
            state = "" if entry.is_met else "missing"
            yield f"| {entry.name} | {entry.reached} | {total} | {entry.required} | {state} |"


def _result_lines(card: ModelCard) -> Iterator[str]:
    yield from (
        "",
        "## Metrics",
        "",
        "| Metric | Threshold | Decides | Agreement |",
        "| --- | --- | --- | --- |",
    )
    for metric in card.metrics:
        sign = "≥" if metric.better == "higher" else "≤"
        limit = f"{sign} {figure(metric.threshold)} | {whole(metric.source)} | {metric.limitation}"
        yield f"| {whole(metric.metric)} | {limit} |"
    yield from ("", "## Results", "")
    if card.quality is not None:
        low, high = card.quality.interval
        yield (
            f"{card.quality.words}:"
            f" {percent(card.quality.share)}, 95"
            " % interval"
            f" {percent(low)} to {percent(high)}."
        )
        yield ""
    yield from (f"- {whole(name)}: {whole(text)}" for name, text in card.results.items())


def inventory_rows(inventory: Inventory) -> Iterator[tuple[str, str]]:
    """Yield the fields of the inventory with names for people; those without a value are one line."""
    fields = (
        ("Inventory id", inventory.inventory_id),
        ("Intended use", inventory.intended_use),
        ("Materiality tier", inventory.materiality),
        ("Owner", inventory.owner),
        ("Version of the application", inventory.version),
    )
    yield from ((name, value) for name, value in fields if value)
    if missing := [name.lower() for name, value in fields if not value]:
        yield "Not stated", ", ".join(missing)


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(map(whole, texts))
