"""Standards of risk management and methods of evaluation, as an evaluator's keywords name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

PREFIXES: Mapping[str, str] = {"nist-ai-rmf-": "NIST AI RMF", "sr-11-7-": "SR 11-7"}
"""Prefixes of the keywords of standards."""

METHOD_PREFIX = "evaluation-method-"


class Part(Struct, frozen=True):
    """Part of a standard, with its requirement."""

    keyword: str
    standard: str
    name: str
    asks: str


PARTS: tuple[Part, ...] = (
    Part(
        "nist-ai-rmf-valid-and-reliable",
        "NIST AI RMF",
        "Valid and reliable",
        "The system does its task accurately, robustly and repeatedly.",
    ),
    Part(
        "nist-ai-rmf-safe",
        "NIST AI RMF",
        "Safe",
        "Under its defined conditions it endangers neither life, health, property nor the environment.",
    ),
    Part(
        "nist-ai-rmf-secure-and-resilient",
        "NIST AI RMF",
        "Secure and resilient",
        "It withstands attacks and unexpected changes, or degrades gracefully.",
    ),
    Part(
        "nist-ai-rmf-accountable-and-transparent",
        "NIST AI RMF",
        "Accountable and transparent",
        "Users can learn what the system does and who is accountable for it.",
    ),
    Part(
        "nist-ai-rmf-explainable-and-interpretable",
        "NIST AI RMF",
        "Explainable and interpretable",
        "Its operation and the meaning of its outputs can be explained.",
    ),
    Part(
        "nist-ai-rmf-privacy-enhanced",
        "NIST AI RMF",
        "Privacy-enhanced",
        "Personal data stay confidential and under the control of the persons concerned.",
    ),
    Part(
        "nist-ai-rmf-fair",
        "NIST AI RMF",
        "Fair, with harmful bias managed",
        "It treats people alike; harmful bias is found and managed.",
    ),
    Part(
        "sr-11-7-conceptual-soundness",
        "SR 11-7",
        "Conceptual soundness",
        "Design, methods and choice of inputs are documented and supported by evidence.",
    ),
    Part(
        "sr-11-7-ongoing-monitoring",
        "SR 11-7",
        "Ongoing monitoring",
        "Performance is followed after deployment, and deviations are noticed.",
    ),
    Part(
        "sr-11-7-outcomes-analysis",
        "SR 11-7",
        "Outcomes analysis",
        "Outputs are compared with actual outcomes, by statistics and expert judgment.",
    ),
)
"""Sources: NIST AI 100-1, section 3 (2023); Federal Reserve SR 11-7, sections V and VI (2011). Wording of our
own.
"""


def standards_of(keywords: Iterable[str]) -> list[Part]:
    """Return the parts of standards that an evaluator serves, in the standards' order; unknown ones last.

    >>> [(part.standard, part.name) for part in standards_of(["evaluation-method-ngram", "sr-11-7-outcomes-analysis"])]
    [('SR 11-7', 'Outcomes analysis')]
    """  # noqa: E501
    words = list(keywords)
    parts = [part for part in PARTS if part.keyword in words]
    names = {part.keyword for part in parts}
    for word in words:
        standard = next((name for prefix, name in PREFIXES.items() if word.startswith(prefix)), "")
        if standard and word not in names:
            parts.append(Part(word, standard, _plain(word, tuple(PREFIXES)), ""))
    return parts


def by_standard(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """Group parts by the names of their standards.

    >>> by_standard(standards_of(["nist-ai-rmf-safe", "nist-ai-rmf-fair", "sr-11-7-outcomes-analysis"]))
    [('NIST AI RMF', 'Safe; Fair, with harmful bias managed'), ('SR 11-7', 'Outcomes analysis')]
    """
    names = dict.fromkeys(part.standard for part in parts)
    return [(name, "; ".join(part.name for part in parts if part.standard == name)) for name in names]


def methods_of(keywords: Iterable[str], declared: Iterable[str] = ()) -> list[str]:
    """Return the methods of an evaluator: those it declares, else those of its keywords.

    >>> methods_of(["evaluation-type-deterministic", "evaluation-method-rule-based"])
    ['rule based']
    """
    return list(declared) or [
        _plain(word, (METHOD_PREFIX,)) for word in keywords if word.startswith(METHOD_PREFIX)
    ]


def _plain(word: str, prefixes: tuple[str, ...]) -> str:
    for prefix in prefixes:
        word = word.removeprefix(prefix)
    return word.replace("-", " ")
