"""Files that `evalstudio init` writes: a suite over one document, and a configuration."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.core.errors import ConfigurationError

DOCUMENT = """# Opening hours

The service desk is open from 8:00 to 17:30, Monday to Friday. On public holidays it is closed.

Outside these hours, lost cards are blocked by telephone at any time.
"""

SUITE = r"""{
  "name": "Starter suite",
  "description": "Two questions about one document.",
  "tests": [
    {
      "key": "test-b3e38eea",
      "documents": [
        "documents/opening_hours.md"
      ],
      "test_cases": [
        {
          "key": "opening-hours",
          "prompt": "When is the service desk open?",
          "categories": [],
          "relationships": [],
          "expected_output": "From 8:00 to 17:30, Monday to Friday.",
          "condition": "word(\"8:00\") AND word(\"17:30\")"
        },
        {
          "key": "holidays",
          "prompt": "Is the service desk open on public holidays?",
          "categories": [],
          "relationships": [],
          "expected_output": "It is closed.",
          "condition": "regexp(\"(?i)closed\")"
        }
      ]
    }
  ]
}
"""
"""In the canonical form; a constant, since the formats take longer to import than the files to write."""

CONFIGURATION = """# Which evaluators judge the answers, and the models that are asked. `evalstudio evaluators` and `evalstudio hosts` list all.
evaluators = ["text_matching", "lexical_groundedness", "pii_leakage"]
unchecked = "fail"  # a test case whose expectations no evaluator reads
gate = ["pass_rate(text_matching) >= 0.5"]

[evaluator.lexical_groundedness]
threshold = 0.5

# The embedded model: no network, no weights. Replace it by yours.
[[model]]
name = "extractive"
host = "extractive"

# [[model]]
# name = "gpt"
# host = "openai_compatible"
# url = "https://api.openai.com/v1"
# llm_model_name = "gpt-4o-mini"
# api_key = "${OPENAI_API_KEY}"
"""  # noqa: E501


def write_starter(folder: Path) -> list[Path]:
    """Write a starter suite, its document and a configuration; the suite comes first.

    Raises:
        ConfigurationError: if one of the files is there already; then none is written.
    """
    paths = [
        folder / "starter_suite.json",
        folder / "evalstudio.toml",
        folder / "documents" / "opening_hours.md",
    ]
    for path in paths:
        if path.exists():
            raise ConfigurationError(f"{path}: already exists; move it away, or give another folder")
    paths[2].parent.mkdir(parents=True, exist_ok=True)
    paths[0].write_text(SUITE, encoding="utf-8")
    paths[1].write_text(CONFIGURATION, encoding="utf-8")
    paths[2].write_text(DOCUMENT, encoding="utf-8")
    return paths
