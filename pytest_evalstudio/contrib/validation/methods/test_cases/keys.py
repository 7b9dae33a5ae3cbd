"""Further keys of generated test cases."""

from __future__ import annotations

PLAIN_QUESTION, PLAIN_KIND, PLANTED_WORD = "plain_question", "plain_kind", "planted_word"
"""Keys of adversarial test cases."""
WRITTEN_BY = "written_by"
"""Key of test cases that a language model wrote, with its name."""
GENERATED_DIGEST = "generated_digest"
"""Key with the digest of the content, by which an edited test case is recognised."""
