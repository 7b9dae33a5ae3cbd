"""Reads from a case's categories which perturbators made it, and whether they keep its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

PREFIX = "perturbed_by:"

MEANING_CHANGING = ("antonym", "contextual_misinformation", "encoding")
"""Perturbators whose answers are allowed to differ; flips under them are reported apart and fail nothing."""

_REFERENCE_NAMES = {
    "qwerty": "qwerty",
    "random_character_replacement": "random_replacement",
    "random_character_insert": "random_insert",
    "random_character_delete": "random_delete",
    "keyword_typos": "keyboard_typos",
    "random_ocr": "ocr",
    "encoding_base16": "encoding_base16",
    "encoding_base64": "encoding_base64",
}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def perturbators(categories: Iterable[str]) -> tuple[str, ...]:
    """The perturbators named in a case's categories, in order.

    Args:
        categories: e.g. "perturbed_by:comma:PerturbationIntensity.HIGH"; the reference engine's class names are
            understood.

    Returns:
        "id:LEVEL" for each, the level upper case; "id" where none is given.

    >>> perturbators(["perturbed", "perturbed_by:h2o_sonar.utils.perturbations.CommaPerturbator:PerturbationIntensity.HIGH"])
    ('comma:HIGH',)
    """
    found = []
    for category in categories:
        if category.startswith(PREFIX):
            name, _, level = category.removeprefix(PREFIX).partition(":")
            found.append(":".join(filter(None, (_id(name), level.rpartition(".")[2].upper()))))
    return tuple(found)


def keeps_meaning(made_by: Sequence[str]) -> bool:
    """Whether a good model must answer as it did before.

    >>> keeps_meaning(["comma:LOW"]), keeps_meaning(["comma:LOW", "antonym:HIGH"])
    (True, False)
    """
    return not any(entry.startswith(MEANING_CHANGING) for entry in made_by)


def _id(name: str) -> str:
    last = name.rpartition(".")[2]
    snake = _HUMP.sub("_", re.sub(r"OCR", "Ocr", last).replace("Perturbator", "")).lower().strip("_")
    return _REFERENCE_NAMES.get(snake, snake)
