"""Technical documentation by Annex IV of the EU AI Act: what a validation gives, and what is to be added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.artifacts.evidence import evidence_rows
from pytest_evalstudio.contrib.validation.artifacts.model_card import ModelCard
from pytest_evalstudio.contrib.validation.workflow.guidance import CardPart, Guidance
from pytest_evalstudio.text.figures import figure


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedPoint:
    """A point of the annex.

    Attributes:
        lines: content of the model card that bears on it.
        supply: what the provider adds.
    """

    point: str
    title: str
    lines: tuple[str, ...]
    supply: str


def documented_points(guidance: Guidance, card: ModelCard) -> Iterator[DocumentedPoint]:
    """Yield the points of the annex with the content of a model card."""
    for point in guidance.annex_iv:
        yield DocumentedPoint(
            point=point.point,
            title=point.title,
            lines=tuple(line for part in point.shows for line in _PARTS[part](card)),
            supply=point.supply,
        )


def _identity(card: ModelCard) -> Iterator[str]:
    yield f"{card.title}: model {card.model or 'the configured one'}"
    if card.description:
        yield card.description


def _stated(name: str, value: str) -> Iterator[str]:
    if value:
        yield f"{name}: {value}"


def _results(card: ModelCard) -> Iterator[str]:
    yield f"conclusion of the validation: {card.conclusion.fitness}"
    if card.quality is not None:
        yield card.quality.words


def _limitations(card: ModelCard) -> Iterator[str]:
    yield from card.inventory.limitations
    yield from card.conclusion.limits
    yield from (gap.text for gap in card.conclusion.gaps)


def _metrics(card: ModelCard) -> Iterator[str]:
    for metric in card.metrics:
        sign = "≥" if metric.better == "higher" else "≤"
        yield f"{metric.metric} {sign} {figure(metric.threshold)} ({metric.source}; {metric.limitation})"


_PARTS: Mapping[CardPart, Callable[[ModelCard], Iterator[str]]] = {
    "identity": _identity,
    "intended_use": lambda card: _stated("Intended use", card.inventory.intended_use),
    "version": lambda card: _stated("Version", card.inventory.version),
    "documents": lambda card: _stated("Documents", ", ".join(card.documents)),
    "validation": lambda card: (f"{name}: {text}" for name, text in card.results.items()),
    "attacks": lambda card: iter(card.safety.tested),
    "results": _results,
    "limitations": _limitations,
    "weaknesses": lambda card: (f"{each.severity}: {each.description}" for each in card.weaknesses),
    "metrics": _metrics,
    "register": lambda card: (f"{each.id} ({each.status}): {each.description}" for each in card.register),
    "fingerprints": lambda card: (f"{name}: {value}" for name, value in evidence_rows(card.evidence)),
    "monitoring": lambda card: (f"{each.condition} {each.action}" for each in card.monitoring),
}
