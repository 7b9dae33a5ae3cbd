"""Further keys of generated test cases."""

from __future__ import annotations

PLAIN_QUESTION, PLAIN_KIND, PLANTED_WORD = "plain_question", "plain_kind", "planted_word"
PLAIN_CONDITION, CONCESSION = "plain_condition", "concession"
PLAIN_CASE = "plain_case"
"""Keys of adversarial test cases; the last has the key of the case that asks the same fact plainly."""
WRITTEN_BY = "written_by"
"""Key of test cases that a language model wrote, with its name."""
GENERATED_DIGEST = "generated_digest"
"""Key with the digest of the content, by which an edited test case is recognised."""
