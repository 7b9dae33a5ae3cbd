"""Difference of a failing item for plugins that show one, as the test view of PyCharm does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.messages import shown_repeat

if TYPE_CHECKING:
    import pytest

    from pytest_evalstudio.scoring.results import Result

DIFF_CHARS = 20_000
"""Longer texts are cut: a view that shows them stops responding."""


def pass_on_comparison(config: pytest.Config, result: Result) -> None:
    """Pass the answer of a failing item and the expected one to plugins that show their difference.

    PyCharm's test view shows the difference of the last comparison of a failing test.
    """
    if not result.answers:
        return
    case = result.answers[shown_repeat(result)]
    if not (case.expected_output and case.has_text) or case.answer.turns:
        return
    # Without pytest's own implementation, which would compute a difference that nothing prints.
    assertion_plugin = config.pluginmanager.getplugin("assertion")
    call = config.pluginmanager.subset_hook_caller(
        "pytest_assertrepr_compare", remove_plugins=[assertion_plugin]
    )
    call(
        config=config,
        op="==",
        left=masked(case.actual_output)[:DIFF_CHARS],
        right=masked(case.expected_output)[:DIFF_CHARS],
    )
