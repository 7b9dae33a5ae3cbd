"""Sections of a document, and questions that name the one that explains them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_evalstudio.contrib.questions.checks.retrieval import SECTION
from pytest_evalstudio.contrib.questions.parsing.statements import split_heading
from pytest_evalstudio.contrib.questions.words import title_case, word_table

_NUMBER = re.compile(
    r"^(?:(?:Section|Article|Part|Chapter|§)\s)?(?:\d+(?:\.\d+)*\s?[.:)–—-]?|[A-Z]\s?[.:)–—-])?\s*(?=[A-Z])"
)
_LABEL = re.compile(
    r"^(?:Section|Article|Part|Chapter|§|Annex|Appendix)\s(?:\d+(?:\.\d+)*|[A-Z])\s?[.:)–—-]?\s*"
)
_MARK = re.compile(r"\d{1,2}\.")
"""A number that the splitter of sentences has separated from its heading."""
_END = (".", "!", "?", ":", ";", "|", ",")
_MAX_WORDS, _MIN_ITEMS = 9, 3
_MIN_QUESTION_WORDS = 3
"""Words of a heading that is a question: "When do I have to wait?"."""
_GENERIC = word_table("generic headings")


class Sections:
    """The headings of the sections of a document by their sentences.

    Args:
        sentences: of the document with its headings, in order.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._headings: dict[str, str] = {}
        heading = mark = ""
        items = _items(sentences)
        for number, sentence in enumerate(sentences):
            joined, _ = split_heading(f"{mark} {sentence}" if mark else sentence)
            mark = sentence if _MARK.fullmatch(sentence) else ""
            if number in items:
                self._headings.setdefault(sentence, heading if _is_specific(heading) else "")
                if number + 1 not in items:
                    heading = ""  # the text goes on, or the last line is a heading
                continue
            if joined:
                heading = joined
            elif number and _is_heading(sentence):
                heading = _plain(sentence)
                continue
            self._headings.setdefault(sentence, heading if _is_specific(heading) else "")

    def heading(self, evidence: str) -> str:
        """Return the heading over a sentence, "" for none or one that says nothing."""
        return self._headings.get(evidence.partition("\n")[0], "")


def in_section(question: str, heading: str, title: str) -> str:
    """Return a question that names its section and document, each unless it is "".

    >>> in_section("How long is access suspended?", "Overdue loans", "Library Rules")
    'Under “Overdue loans” in “Library Rules”, how long is access suspended?'
    """
    if not heading and not title:
        return question
    if heading.casefold() in title.casefold():
        return f"According to “{title_case(title)}”, {question[0].lower()}{question[1:]}"
    document = f" in “{title_case(title)}”" if title else ""
    return f"{SECTION}{heading}”{document}, {question[0].lower()}{question[1:]}"


def _items(sentences: Sequence[str]) -> set[int]:
    """Return the numbers of the lines of lists: three lines without an end, or those after a colon.

    A last line with a number, or in capitals, is the next heading.
    """
    items: set[int] = set()
    run: list[int] = []
    for number, sentence in enumerate([*sentences, "."]):
        if not sentence.endswith(_END):
            run.append(number)
            continue
        if run and run[0] and (len(run) >= _MIN_ITEMS or sentences[run[0] - 1].endswith(":")):
            last = sentences[run[-1]]
            is_heading = last.isupper() or _NUMBER.sub("", last) != last
            items.update(run[:-1] if is_heading else run)
        run = []
    return items


def _is_heading(text: str) -> bool:
    words = text.split()
    is_question = text.endswith("?") and len(words) >= _MIN_QUESTION_WORDS
    return (
        (is_question or not text.endswith(_END))
        and 0 < len(_plain(text).split()) <= _MAX_WORDS
        and len(words) <= _MAX_WORDS + 3
    )


def _plain(heading: str) -> str:
    text = _LABEL.sub("", heading)
    return title_case(_NUMBER.sub("", text).strip(" *#"))


def _is_specific(heading: str) -> bool:
    words = [word for word in re.findall(r"[a-z’'-]+", heading.lower()) if len(word) > 2]
    return bool(words) and not set(words) <= _GENERIC and "“" not in heading and heading[0].isupper()
