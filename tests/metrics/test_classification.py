"""Labels of answers."""

from __future__ import annotations

import pytest

from pytest_evalstudio.metrics.classification import normal_label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("  Very\n Positive ", "very positive"),
        ("**Spam**.", "spam"),
        ("'no'", "no"),
        ("C++", "c++"),
        ("-1", "-1"),
        ("???", "???"),
    ],
)
def test_labels_are_folded_but_not_confused(text: str, label: str) -> None:
    assert normal_label(text) == label
