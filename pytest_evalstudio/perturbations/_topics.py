"""Topics of questions: noun phrases, found by words that are none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from pytest_evalstudio.perturbations._grammar import FUNCTION_WORDS
from pytest_evalstudio.perturbations._words import WORD

_TOPIC_WORDS = 4
_ARTICLES = {"a": "the", "an": "the"}
_DETERMINERS = frozenset({
    "a", "an", "her", "his", "its", "my", "our", "the", "their", "these", "this", "those", "your",
})  # fmt: skip
_BEFORE_OTHERS = frozenset({
    "can", "cannot", "could", "he", "how", "i", "may", "might", "must", "she", "should", "they", "to", "we",
    "who", "will", "would", "you",
})  # fmt: skip
"""Words that a verb or an adjective follows."""
_BEFORE_GERUNDS = frozenset({
    "about", "after", "before", "by", "for", "from", "of", "on", "when", "while", "without",
})  # fmt: skip
_VERBS = (
    "accept", "allow", "answer", "apply", "approve", "arrive", "ask", "become", "begin", "believe",
    "belong", "break", "bring", "build", "buy", "calculate", "call", "cancel", "care", "carry", "change",
    "charge", "check", "choose", "claim", "close", "come", "compare", "complete", "confirm", "contact",
    "contain", "cost", "count", "cover", "create", "decide", "define", "deliver", "depend", "describe",
    "differ", "do", "earn", "ensure", "exist", "expect", "explain", "fail", "file", "fill", "find",
    "finish", "follow", "found", "get", "give", "go", "happen", "have", "help", "hold", "include",
    "increase", "inform", "invest", "join", "keep", "know", "learn", "leave", "let", "list", "live", "look",
    "lose", "make", "manage", "matter", "mean", "measure", "mention", "move", "need", "offer", "open",
    "order", "own", "pay", "perform", "prevent", "proceed", "process", "produce", "provide", "qualify",
    "reach", "read", "receive", "recommend", "register", "remain", "remember", "remove", "replace",
    "report", "require", "return", "run", "say", "see", "seem", "sell", "send", "serve", "set", "show",
    "sign", "speak", "start", "state", "stay", "stop", "submit", "suggest", "summarise", "summarize",
    "support", "take", "talk", "tell", "think", "travel", "try", "turn", "understand", "update", "use",
    "wait", "want", "withdraw", "work", "write",
)  # fmt: skip
"""Verbs of questions about documents, in their base form."""
_NOUNS_TOO = frozenset({
    "call", "change", "charge", "claim", "cost", "cover", "increase", "list", "offer", "order", "process",
    "record", "report", "request", "return", "work",
})  # fmt: skip
"""Verbs that are nouns at the end of a noun phrase."""
_IRREGULAR = (
    "became", "began", "bought", "broke", "brought", "built", "came", "chose", "chosen", "done", "gave",
    "given", "gone", "got", "held", "kept", "knew", "known", "left", "lost", "made", "meant", "paid",
    "said", "seen", "sent", "shown", "sold", "spoke", "spoken", "taken", "thought", "told", "took",
    "understood", "went", "withdrawn", "withdrew", "written", "wrote",
)  # fmt: skip
_OTHERS = (
    "abroad", "again", "always", "anything", "everything", "nothing", "often", "online", "please",
    "something",
)  # fmt: skip
_NO_NOUNS = frozenset(
    [
        *_OTHERS,
        *_IRREGULAR,
        *(
            form
            for verb in _VERBS
            # "use" → "using", "apply" → "applied", "stop" → "stopped"; forms that no verb has do no harm.
            for stem in (verb, verb.removesuffix("e"), f"{verb[:-1]}i", f"{verb}{verb[-1]}")
            for form in (verb, f"{verb}s", f"{stem}ed", f"{stem}ing", f"{stem}es")
        ),
    ]
)
"""Verbs in all forms and adverbs, which are no topic."""


_INVERTING = frozenset({
    "am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "how", "is", "may", "might",
    "must", "shall", "should", "was", "were", "when", "where", "why", "will", "would",
})  # fmt: skip
"""First words of questions whose subject is followed by a verb or an adjective."""
_BEFORE_SUBJECTS = frozenset({
    "because", "how", "if", "make", "makes", "that", "when", "where", "whether", "which", "while", "why",
})  # fmt: skip
_DO = frozenset({"did", "do", "does"})
_BE = frozenset({"am", "are", "is", "was", "were"})
_MASS = frozenset({
    "access", "advice", "cash", "credit", "equipment", "income", "inflation", "information", "insurance",
    "interest", "luggage", "money", "research", "software", "support", "travel",
})  # fmt: skip
"""Nouns that need neither a plural nor an article."""


def topic_of(text: str) -> str:
    """Return the longest noun phrase of a question, of at most four words, or "" where none is certain.

    It fits into a sentence as it is: a determiner with nouns, a name, or nouns in the plural. A text without
    English function words has no topic.

    >>> topic_of("What does a replacement card cost in Spain?")
    'the replacement card'
    >>> topic_of("What should I know about fees?")
    'fees'
    >>> topic_of("Is the capital of France Paris?")
    'the capital'
    """
    matches = list(WORD.finditer(text))
    words = [match[0].lower() for match in matches]
    # Such a text may be in another language, or a list of search terms, which the rules do not fit.
    if not any(word in FUNCTION_WORDS for word in words):
        return ""
    runs: list[list[str]] = [[]]
    ends = [0]
    for index, (match, word) in enumerate(zip(matches, words, strict=True)):
        previous, following = words[index - 1] if index else "", words[index + 1 : index + 2]
        # A word before a word of content modifies it: "the required documents", but "what is required".
        is_last = not following or not _is_content(following[0])
        is_participle = word.endswith("ed") and is_last
        is_noun = _is_content(word) and (
            (not is_participle and _is_likely_noun(word, previous))
            or (word in _NOUNS_TOO and bool(runs[-1]) and _ends_phrase(runs[-1], words, index))
        )
        if is_noun and not _is_sentence_start(text, match.start()):
            runs[-1].append(match[0])
        else:
            runs.append([word] if word in _DETERMINERS else [])
            ends.append(0)
        ends[-1] = index + 1
    phrases = [_phrase(run, words, end) for run, end in zip(runs, ends, strict=True) if run]
    return max(phrases, key=_noun_count, default="")


def _ends_phrase(run: Sequence[str], words: Sequence[str], index: int) -> bool:
    """Return whether a word that is a verb too ends the noun phrase that the words of a run begin.

    After "do" a verb must follow the subject: "does a late charge apply", but "does a replacement card cost".
    """
    first = index - len(run)
    if first > 0 and words[first - 1] in _DO:
        return _is_verb_next(words, index + 1)
    return index + 1 == len(words) or not _is_content(words[index + 1])


def _noun_count(phrase: str) -> int:
    return sum(word not in _DETERMINERS for word in phrase.split())


def _phrase(run: Sequence[str], words: Sequence[str], end: int) -> str:
    """Return a run of likely nouns as a noun phrase, "" where it may be none.

    Args:
        run: the words, with a determiner in lower case before them or not.
        words: of the whole text, in lower case.
        end: index of the word after the run.
    """
    first = end - len(run)
    if run[0] in _DETERMINERS:
        nouns = list(run[1:])
        previous = words[first - 1] if first else ""
        is_subject = previous in _BEFORE_SUBJECTS or (words[0] in _INVERTING and previous in _INVERTING)
        if is_subject and not _is_verb_next(words, end):
            nouns = nouns[:-1]  # what is said of it: "is the bank solvent", "that the bank discloses"
        return " ".join([_ARTICLES.get(run[0], run[0]), *nouns[:_TOPIC_WORDS]]) if nouns else ""
    names = list(takewhile(lambda word: word[0].isupper(), run))
    if names:
        if sum(word[0].isupper() for word in run) > 1 and words[0] in _BE:
            names = names[:1]  # "is the capital of France Paris"
        return " ".join(names[:_TOPIC_WORDS])
    # "business", "status" and "analysis" are singular, and need an article.
    is_plural = run[-1].endswith("s") and not run[-1].endswith(("ss", "us", "is"))
    return " ".join(run[-_TOPIC_WORDS:]) if is_plural or run[-1] in _MASS else ""


def _is_verb_next(words: Sequence[str], end: int) -> bool:
    """Return whether the word after a subject is its verb, or "of", so that the subject is complete."""
    following = words[end] if end < len(words) else ""
    return following == "of" or following in _NO_NOUNS or following.endswith("ed")


def _is_content(word: str) -> bool:
    """Return whether a word in lower case carries content."""
    return word.isascii() and len(word) > 3 and word not in FUNCTION_WORDS


def _is_likely_noun(word: str, previous: str) -> bool:
    """Return whether a word of content can be a part of a noun phrase; verbs and adverbs are not."""
    return (
        word not in _NO_NOUNS
        and previous not in _BEFORE_OTHERS
        and not word.endswith("ly")
        and not (word.endswith("ing") and previous in _BEFORE_GERUNDS)
    )


def _is_sentence_start(text: str, index: int) -> bool:
    """Return whether a word begins the text or a sentence: there it is a question word or an imperative."""
    before = text[max(0, index - 3) : index].strip()
    return not before or before[-1] in ".!?:"
