"""Editions of OWASP's lists."""

from __future__ import annotations

from pytest_evalstudio.contrib.redteam.kinds import KINDS
from pytest_evalstudio.contrib.redteam.owasp import owasp_table, owasp_tags


def test_the_editions_have_the_same_risks_in_another_order() -> None:
    ids = {f"LLM{number:02}" for number in range(1, 11)}
    risks = owasp_table().risks
    assert {risk.id_2025 for risk in risks} == {risk.id_2026 for risk in risks} == ids
    moved = {risk.id_2025: risk.id_2026 for risk in risks if risk.id_2025 != risk.id_2026}
    assert moved == {
        "LLM03": "LLM04",
        "LLM04": "LLM05",
        "LLM05": "LLM10",
        "LLM06": "LLM03",
        "LLM07": "LLM08",
        "LLM08": "LLM09",
        "LLM09": "LLM07",
        "LLM10": "LLM06",
    }
    assert [risk.id for risk in owasp_table().agentic] == [f"ASI{number:02}" for number in range(1, 11)]


def test_every_tag_names_its_edition() -> None:
    for kind in KINDS.values():
        tags = list(owasp_tags(kind.owasp, kind.agentic))
        assert all(tag.rpartition(":")[2] in ("2025", "2026") for tag in tags)
        assert len(tags) == 2 * bool(kind.owasp) + bool(kind.agentic)
