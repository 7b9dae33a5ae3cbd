"""Round trip of a test case: from its question alone to its evidence, and from there to its answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from pytest_evalstudio.contrib.questions.api import (
    ANSWERED,
    AnswerChecks,
    SentenceIndex,
    bare_question,
    cell_statements,
    is_natural,
    pattern,
    quantities,
    rivals,
    stems,
    word_set,
)
from pytest_evalstudio.contrib.validation.methods.test_cases.keys import WRITTEN_BY
from pytest_evalstudio.contrib.validation.methods.texts.language import ENGLISH, language_of
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.text.sentences import split_sentences

_LEAD = re.compile(r"^(?P<lead>Yes|No)\. |^(?P<letter>[A-F])\) ")
_NEGATION = re.compile(r"(?i)\b(?:no|not|never|cannot)\b")
_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_QUESTION_WORDS = word_set("what which who whom whose when where why how")
_PREPOSITIONS = word_set(
    """
    in for at on by within after before up until since to from under above below during with about
    """
)
_ASKING = (
    _QUESTION_WORDS
    | _PREPOSITIONS
    | word_set(
        """
        is are was were do does did has have had can may must should will would could name list explain
        describe tell give state define if please
        """
    )
)
_NEVER_LAST = word_set(
    """
    a an the and or is are was were does did has must should may can what which how when where who
    why much many
    """
)
_BE = word_set("is are was were be been being")
_NEVER_FOLLOW = word_set("the a an")
_NOT_AFTER_ARTICLE = word_set(
    """
    the a an of is are was were does did do has have must should may can will and or to by at what
    which how
    """
)
MAX_SENTENCES = 40
"""Number of sentences that a condition is tried on."""
_MIN_PAIRS = 0.2
_FEWEST_PAIRS = 3


class RoundTrip:
    """Checks of test cases against all sentences of the documents.

    Args:
        sentences: of the documents, or of the chunks of the cases.
        own_keys: keys of the cases that people have imported, added or edited. Their wording is free, and
            most quote no evidence: their answers are compared with all statements of documents in English.
    """

    def __init__(self, sentences: Sequence[str], own_keys: Collection[str] = ()) -> None:
        self._own_keys = frozenset(own_keys)
        distinct = list(dict.fromkeys(sentences))
        self._answers: AnswerChecks | None = None
        if own_keys and language_of(sentences) == ENGLISH:
            self._answers = AnswerChecks([tuple(cell_statements(text)) or (text,) for text in distinct])
        self._index = SentenceIndex(distinct)
        self._words = {word for sentence in sentences for word in _words(sentence)}
        self._pairs = {pair for sentence in sentences for pair in pairwise(_words(sentence))}

    def unrelated_sentences(self, case: TestCase) -> list[str]:
        """Return up to 40 sentences of the documents that share no word with the expected answer."""
        words = set(stems(case.expected_output))
        # Headings and cells of tables have no full stop.
        sentences = [text for text in self._index.sentences if text.endswith(".")]
        spread = sentences[:: max(1, len(sentences) // MAX_SENTENCES)][:MAX_SENTENCES]
        return [sentence for sentence in spread if not words & set(stems(sentence))]

    def support(self, case: TestCase) -> float | None:
        """Return the support of the answer by its evidence, or by the documents if people wrote the case."""
        if not self._is_free(case):
            return support_by_evidence(case)
        return self._answers.support(case.expected_output) if self._answers is not None else None

    def _is_free(self, case: TestCase) -> bool:
        """Report whether people wrote a case without evidence."""
        return case.key in self._own_keys and not evidence_of(case)

    def retrieval(self, case: TestCase) -> float | None:
        """Return how well the question alone leads to the evidence, as a share of the best sentence's words.

        For a case without evidence: 1.0 if no sentence answers the question, else 0.0. None for people's own.
        """
        if case.key in self._own_keys:
            return None
        shares = self._index.shares(case.prompt)
        best = float(shares.max(initial=0.0))
        evidence = evidence_of(case)
        if not evidence:
            return float(best < ANSWERED)
        return round(min(1.0, self._index.share(case.prompt, evidence) / best), 6) if best else 0.0

    def uniqueness(self, case: TestCase) -> float | None:
        """Return 0.0 if another sentence answers the question otherwise, else 1.0.

        None for generated cases without evidence.
        """
        if case.key in self._own_keys:
            if self._answers is None or case.expects == "refusal":
                return None
            return self._answers.uniqueness(case.prompt, case.expected_output)
        evidence = evidence_of(case)
        if not evidence or is_written(case):
            return None
        return float(not rivals(case.prompt, case.expected_output, evidence, self._index))

    def readability(self, case: TestCase) -> float | None:
        """Return 1.0 if the words of a question are in an order that English has, else 0.0.

        None for people's own questions, which need not read as rules write them. Another one begins with a
        question word, an auxiliary, or a preposition that a question word follows, does not end with a
        function word, has no leftovers of a sentence, and of neighbours that both occur in the documents one
        pair in five at least occurs there, unless it asks for the cell of a table.
        """
        if case.key in self._own_keys:
            return None
        words = _words(bare_question(case.prompt))
        if len(words) < 3 or words[0] not in _ASKING or words[-1] in _NEVER_LAST:
            return 0.0
        # Rules write a preposition only before a question word, e.g. "Within how many days".
        is_asking = words[0] not in _PREPOSITIONS or is_written(case) or _QUESTION_WORDS & set(words[:5])
        if not is_asking or any(a in _NEVER_FOLLOW and b in _NOT_AFTER_ARTICLE for a, b in pairwise(words)):
            return 0.0
        if is_written(case):
            return 1.0
        if not is_natural(case.prompt) or _has_bare_participle(words, evidence_of(case)):
            return 0.0
        pairs = [(a, b) for a, b in pairwise(words) if a in self._words and b in self._words]
        hits = sum(pair in self._pairs for pair in pairs)
        # The words of a cell and those of its row and column are neighbours in the question only.
        is_of_cell = evidence_of(case).startswith("|")
        return float(is_of_cell or len(pairs) < _FEWEST_PAIRS or hits >= _MIN_PAIRS * len(pairs))


def support_by_evidence(case: TestCase) -> float | None:
    """Return the share of the statements of the answer that its evidence has; None without evidence.

    The evidence must be in the chunk. Each quantity of the answer must be in the evidence, in any notation.
    The quantities of a question that is answered by yes must be in it too, and of one that is answered by no
    at least one must not, unless the evidence is negative. A chosen letter must have the text
    of the answer in the question.
    """
    evidence = evidence_of(case)
    if not evidence:
        return None
    source = str((case.model_extra or {}).get("source_text", ""))
    if any(_flat(part) not in _flat(source) for part in evidence.split("\n")):
        return 0.0
    answer = case.expected_output
    lead = _LEAD.match(answer)
    stated = answer[lead.end() :] if lead else answer
    if lead and lead["letter"] and f"{lead['letter']}) {stated}" not in case.prompt:
        return 0.0
    texts = [quantity.text for quantity in quantities(stated)]
    if any(not _has(text, evidence) for text in texts):
        return 0.0
    if lead and lead["lead"]:
        quantity_texts = [quantity.text for quantity in quantities(bare_question(case.prompt))]
        holds = all(_has(text, evidence) for text in quantity_texts)
        is_denial = holds and _NEGATION.search(evidence) and not _NEGATION.search(case.prompt)
        if quantity_texts and holds != (lead["lead"] == "Yes") and not is_denial:
            return 0.0
    words = set(stems(stated))
    # A language model may repeat words of the question in its answer.
    stem_set = set(stems(evidence)) | (set(stems(case.prompt)) if is_written(case) else set())
    numbers = {word for text in texts for word in stems(text)}
    # Quantities were checked above, in any notation.
    rest = words - numbers
    return round(len(rest & stem_set) / len(rest), 6) if rest else 1.0


def sentences_of(cases: Sequence[TestCase]) -> list[str]:
    """Return the sentences of the chunks of test cases."""
    sources = dict.fromkeys(str((case.model_extra or {}).get("source_text", "")) for case in cases)
    return [
        sentence
        for source in sources
        # The evidence as a sentence, too: it may have other ends than those of the split.
        for part in (
            source,
            *(evidence_of(case) for case in cases if (case.model_extra or {}).get("source_text") == source),
        )
        for sentence in ([part] if part is not source else [source[a:b] for a, b in split_sentences(source)])
        if sentence
    ]


def evidence_of(case: TestCase) -> str:
    """Return the quoted evidence of a case, "" for a case that no document answers."""
    return str((case.model_extra or {}).get("evidence", "") or "")


def is_written(case: TestCase) -> bool:
    """Report whether a language model has written the case."""
    return bool((case.model_extra or {}).get(WRITTEN_BY))


def _has_bare_participle(words: Sequence[str], evidence: str) -> bool:
    """Report whether a question has "is tighten" where its evidence has "is tightened"."""
    present = set(_words(evidence))
    return any(
        first in _BE and second not in present and {f"{second}ed", f"{second}d"} & present
        for first, second in pairwise(words)
    )


def _has(quantity: str, text: str) -> bool:
    return bool(re.search(pattern(quantity), text))


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
