"""The nearest known name for one that is not known: by meaning, then by spelling."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

CUTOFF = 0.6
"""Similarity from which on a name counts as misspelt; at 0.5, "azure" resembles "fixture"."""

SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # keys of test cases
        **dict.fromkeys(
            (
                "answer",
                "expected",
                "expected_answer",
                "golden",
                "ground_truth",
                "ideal",
                "reference",
                "reference_answer",
                "target",
            ),
            ("expected_output",),
        ),
        **dict.fromkeys(("input", "query", "question", "user_input"), ("prompt", "input")),
        **dict.fromkeys(
            ("assert", "assertion", "contains", "equals", "includes", "keywords", "must_contain", "regex"),
            ("condition", "output_condition", "text_matching"),
        ),
        **dict.fromkeys(("criteria", "rubric", "rules"), ("guidelines", "criterion", "definition")),
        **dict.fromkeys(("facts", "must_mention"), ("expected_facts",)),
        **dict.fromkeys(("contexts", "retrieved_contexts", "chunks"), ("context",)),
        **dict.fromkeys(("tools", "expected_tools", "tool_use"), ("expected_tool_calls", "tool_calls")),
        **dict.fromkeys(("metrics", "threshold", "scorers"), ("evaluators",)),
        **dict.fromkeys(("output", "response", "completion"), ("actual_output",)),
        "tags": ("categories",),
        "id": ("key",),
        "name": ("key",),
        # hosts and their options
        **dict.fromkeys(("azure", "azure_openai"), ("azure_openai_llm",)),
        **dict.fromkeys(("openai", "gpt", "chatgpt"), ("openai_llm", "openai_compatible")),
        **dict.fromkeys(("claude", "anthropic"), ("anthropic_llm",)),
        **dict.fromkeys(("aws", "bedrock"), ("amazon_bedrock_llm", "amazon_bedrock_rag")),
        **dict.fromkeys(("gemini", "litellm", "llamacpp", "vertex", "vllm"), ("openai_compatible",)),
        **dict.fromkeys(("rest", "requests", "api"), ("http",)),
        **dict.fromkeys(("callable", "function"), ("python", "target")),
        **dict.fromkeys(("base_url", "endpoint"), ("url",)),
        **dict.fromkeys(("token", "apikey", "secret"), ("api_key",)),
        **dict.fromkeys(("model", "model_name"), ("llm_model_name",)),
        **dict.fromkeys(("tokens", "max_new_tokens"), ("max_tokens", "max_output_tokens", "text_matching")),
        "provider": ("host",),
        "timeout": ("timeout_s",),
        # evaluators
        **dict.fromkeys(("exact_match", "tokens_presence"), ("text_matching",)),
        **dict.fromkeys(("similarity", "semantic_similarity"), ("answer_semantic_similarity",)),
        **dict.fromkeys(("cost", "latency"), ("effort",)),
        **dict.fromkeys(("secrets", "leaks"), ("sensitive_data_leakage",)),
        "json": ("json_schema",),
        "pii": ("pii_leakage",),
        # perturbators
        **dict.fromkeys(("typo", "typos", "misspelling"), ("keyboard_typos",)),
        **dict.fromkeys(("paraphrase", "synonyms"), ("synonym",)),
    }
)
"""Names of other tools, or of everyday language, to the names that mean the same here."""


def nearest_name(name: str, names: Iterable[str], cutoff: float = CUTOFF) -> str:
    """Return the known name that means the same or is spelt most alike, "" if none is near.

    >>> nearest_name("azure", ["fixture", "azure_openai_llm"])
    'azure_openai_llm'
    >>> nearest_name("rogue", ["rouge", "bleu"])
    'rouge'
    """
    known = list(names)
    # Meaning comes first: "expected" is spelt like "expects", and means "expected_output".
    if synonym := meaning_of(name, known):
        return synonym
    close = difflib.get_close_matches(_plain(name), known, n=1, cutoff=cutoff)
    return close[0] if close else ""


def meaning_of(name: str, names: Collection[str]) -> str:
    """Return the known name that means the same as a name, "" if none does."""
    return next((other for other in SYNONYMS.get(_plain(name), ()) if other in names), "")


def _plain(name: str) -> str:
    """Return a name in lower case with underscores: "expectedOutput" is "expected_output"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[-\s]", "_", name).lower()
