"""Pages of a workflow: its report, and its model card for paper."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.contrib.validation.artifacts.annex_iv import documented_points
from pytest_evalstudio.contrib.validation.artifacts.conclusion import describe_decision
from pytest_evalstudio.contrib.validation.artifacts.evidence import evidence_rows
from pytest_evalstudio.contrib.validation.artifacts.finding_counts import finding_counts
from pytest_evalstudio.contrib.validation.artifacts.model_card import ModelCard
from pytest_evalstudio.contrib.validation.artifacts.model_card_text import inventory_rows
from pytest_evalstudio.contrib.validation.artifacts.summary import WorkflowSummary
from pytest_evalstudio.contrib.validation.methods.controls.results import exclusion_notes
from pytest_evalstudio.contrib.validation.workflow.guidance import Guidance
from pytest_evalstudio.report import assets
from pytest_evalstudio.report.page import environment, trusted_markup


def render_workflow(summary: WorkflowSummary, artifacts: Mapping[str, str], card: ModelCard) -> str:
    """Render a workflow as a separate page.

    Args:
        summary: of the workflow.
        card: its model card.
        artifacts: names of files next to the page, with their descriptions.
    """
    decision = card.conclusion.decision
    shared = {"style": trusted_markup(assets.style()), "policy": trusted_markup(assets.policy(scripts=False))}
    return (
        environment()
        .get_template("workflow.html")
        .render(
            shared
            | {
                "summary": summary,
                "artifacts": artifacts,
                "conclusion": card.conclusion,
                "decision": decision,
                "decision_texts": [] if decision is None else list(describe_decision(decision)),
                "control_texts": [] if decision is None else list(exclusion_notes(decision.controls)),
                "card": card,
                "inventory": list(inventory_rows(card.inventory)),
                "finding_counts": finding_counts(summary),
                "fingerprints": list(evidence_rows(card.evidence)),
            }
        )
    )


def render_card(card: ModelCard) -> str:
    """Render a model card as a page for paper: a browser prints it, or saves it as PDF."""
    decision = card.conclusion.decision
    values = {
        "style": trusted_markup(assets.card_style()),
        "policy": trusted_markup(assets.policy(scripts=False, css=assets.card_style())),
        "card": card,
        "decision_texts": [] if decision is None else list(describe_decision(decision)),
        "inventory": list(inventory_rows(card.inventory)),
        "evidence": list(evidence_rows(card.evidence)),
    }
    return environment().get_template("model_card.html").render(values)


def render_annex(card: ModelCard, guidance: Guidance) -> str:
    """Render the points of Annex IV of the EU AI Act with the content of a model card, for paper."""
    values = {
        "style": trusted_markup(assets.card_style()),
        "policy": trusted_markup(assets.policy(scripts=False, css=assets.card_style())),
        "card": card,
        "points": list(documented_points(guidance, card)),
    }
    return environment().get_template("annex_iv.html").render(values)
