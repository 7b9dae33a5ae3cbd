"""Parts of speech and inflection of English words, by WordNet, suffixes and neighbours."""

from __future__ import annotations

from pytest_evalstudio.perturbations._wordnet import ADJECTIVE, ADVERB, NOUN, VERB, Sense, WordNet

DETERMINERS = frozenset({
    "a", "an", "the", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "no", "any", "some", "each", "every",  # noqa: E501
    "which", "what", "whose",
})  # fmt: skip
PREPOSITIONS = frozenset({
    "of", "in", "on", "at", "by", "for", "from", "with", "without", "into", "onto", "about", "above", "below", "under", "over", "between", "during",  # noqa: E501
    "before", "after", "through", "per", "within", "against", "via", "as", "than",
})  # fmt: skip
_BE = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
_MODALS = frozenset({"will", "would", "shall", "should", "can", "could", "may", "might", "must", "cannot"})
_SUBJECTS = frozenset({"i", "you", "we", "they", "who"})
BEFORE_VERBS = _MODALS | _SUBJECTS | {"to", "do", "does", "did", "please", "not"}
_DEGREE_WORDS = frozenset({"very", "too", "so", "more", "most", "less", "least", "how", "as", "quite"})
FUNCTION_WORDS = DETERMINERS | PREPOSITIONS | _BE | BEFORE_VERBS | _DEGREE_WORDS | frozenset({
    "done", "has", "have", "had", "having", "ought", "he", "she", "it", "me", "him", "us", "them", "whom", "someone", "anyone", "everyone", "nobody",  # noqa: E501
    "something", "anything", "nothing", "everything", "and", "or", "but", "nor", "if", "because", "while", "when", "where", "why", "whether", "there",  # noqa: E501
    "here", "then", "such", "both", "either", "neither", "only", "own", "same", "just", "also", "again", "ever", "never", "much", "many", "few",  # noqa: E501
    "several", "all", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "yes", "tell", "let", "get", "make",  # noqa: E501
})  # fmt: skip
"""Words that carry grammar: never replaced, whatever else WordNet knows under their names."""

_SUFFIXES = (
    (("ly",), ADVERB),
    (("ous", "ful", "ive", "able", "ible", "less", "ical", "ary"), ADJECTIVE),
    (("tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "ism", "age"), NOUN),
)
_VOWELS = "aeiou"
_AN_BEFORE = ("hour", "honest", "honour", "honor", "heir")
_A_BEFORE = (
    *("uni", "unani", "use", "usu", "util", "ute", "uto", "ura", "ure", "uri", "uro", "uru", "ubiq", "uk"),
    *("eu", "ew", "one", "once"),
)
_AN_DESPITE_A = ("uniden", "unideal", "unill", "unim", "unin", "uniron", "uniss", "oner", "onei")
"""Beginnings of words where "un" is a prefix, as in "uninsured", and of "onerous"."""


def part_of_speech(senses: dict[str, Sense], word: str, before: str, after: dict[str, Sense]) -> str:
    """Return the part of speech of a word in its sentence.

    Args:
        senses: what WordNet knows of the word; at least one.
        word, before: in lower case; `before` is "" at a sentence's beginning.
        after: what WordNet knows of the next word.
    """
    if len(senses) == 1:
        return next(iter(senses))
    # Rules from the most certain to the least; the most frequent sense decides where none applies.
    if VERB in senses and before in BEFORE_VERBS and word == senses[VERB].base:
        return VERB
    for endings, part in _SUFFIXES:
        if part in senses and word.endswith(endings):
            return part
    if ADJECTIVE in senses and (before in _BE or before in _DEGREE_WORDS) and not word.endswith("s"):
        return ADJECTIVE
    if before in DETERMINERS or before in PREPOSITIONS:
        rest = {part: sense for part, sense in senses.items() if part in (NOUN, ADJECTIVE)}
        if ADJECTIVE in rest and NOUN in after:
            return ADJECTIVE
        if NOUN in rest:
            return NOUN
    return max(senses.values(), key=lambda sense: sense.count).part


def bent(wordnet: WordNet, sense: Sense, word: str, new: str) -> str:
    """Inflect a new base form like a word, in number or degree; "" if no rule applies."""
    if word == sense.base:
        return new
    if sense.part == NOUN:
        return plural(new, wordnet.plurals)
    if sense.part == VERB:
        # Phrasal verbs have the ending at their first word, which `plural` does not know.
        return plural(new, {"have": "has"}) if word.endswith("s") and " " not in new else ""
    if sense.part == ADJECTIVE and word.endswith(("er", "est")):
        return degree(new, word[-2:] if word.endswith("er") else "est", wordnet.degrees.get(new, ()))
    return ""


def inflected(wordnet: WordNet, sense: Sense, word: str, new: str) -> str:
    """Inflect a synonym like a word in number, person, tense or degree; "" if either form is irregular."""
    base = sense.base
    if word == base:
        return new
    if sense.part == NOUN:
        irregular = wordnet.is_irregular(new, NOUN)
        return plural(new, {}) if word == plural(base, wordnet.plurals) and not irregular else ""
    if sense.part == VERB and word == plural(base, {}):
        return plural(new, {})
    # WordNet lists doubled consonants as irregular too, so the rules below need not double them.
    if wordnet.is_irregular(base, sense.part) or wordnet.is_irregular(new, sense.part):
        return ""
    if sense.part == VERB:
        return next((form(new) for form in (_past, _participle) if word == form(base)), "")
    return next((degree(new, ending) for ending in ("er", "est") if word == degree(base, ending)), "")


def _past(verb: str) -> str:
    """Return a regular verb's past; final consonants are not doubled."""
    if verb.endswith("e"):
        return verb + "d"
    return verb[:-1] + "ied" if verb.endswith("y") and verb[-2:-1] not in _VOWELS else verb + "ed"


def _participle(verb: str) -> str:
    """Return a regular verb's present participle; final consonants are not doubled."""
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"


def plural(word: str, irregular: dict[str, str]) -> str:
    """Return a noun's plural, or a verb's third person; of several words, the last one is changed.

    >>> plural("fee", {}), plural("boundary", {}), plural("tax", {}), plural("child", {"child": "children"})
    ('fees', 'boundaries', 'taxes', 'children')
    """
    if word in irregular:
        return irregular[word]
    head, space, last = word.rpartition(" ")
    if space:
        return f"{head} {plural(last, irregular)}"
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def degree(word: str, ending: str, irregular: tuple[str, ...] = ()) -> str:
    """Return a comparative ("er") or superlative ("est"); long adjectives get "more" or "most".

    >>> degree("low", "est"), degree("big", "er"), degree("easy", "er"), degree("expensive", "est")
    ('lowest', 'bigger', 'easier', 'most expensive')
    """
    for form in irregular:
        if form.endswith(ending[-1:]) and (ending == "est") == form.endswith("st"):
            return form
    # Groups of vowels stand for syllables; a final "e" is silent.
    groups = sum(
        char in _VOWELS + "y" and (not position or word[position - 1] not in _VOWELS + "y")
        for position, char in enumerate(word.rstrip("e"))
    )
    # "easier", "narrower" and "simpler" are the adjectives of two syllables that take an ending.
    if groups > 1 and not word.endswith(("y", "ow", "le")):
        return f"{'more' if ending == 'er' else 'most'} {word}"
    if word.endswith("e"):
        return word + ending[1:]
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "i" + ending
    # One vowel between single consonants: "big" is doubled, "low", "deep" and "fast" are not.
    if (
        groups == 1
        and len(word) > 2
        and word[-1] not in _VOWELS + "wxy"
        and word[-2] in _VOWELS
        and word[-3] not in _VOWELS
    ):
        return word + word[-1] + ending
    return word + ending


def article(word: str) -> str:
    """Return the indefinite article before a word, judged by its letters.

    >>> article("price"), article("elderly"), article("hour"), article("university"), article("unpaid")
    ('a', 'an', 'an', 'a', 'an')
    >>> [article(word) for word in ("onerous", "unidentified", "utopian", "unanimous", "ewe", "urologist")]
    ['an', 'an', 'a', 'a', 'a', 'a']
    >>> [article(word) for word in ("one-sided", "urban", "unison", "utter", "unimportant", "US")]
    ['a', 'an', 'a', 'an', 'an', 'an']
    """
    low = word.lower()
    if low.startswith(_AN_BEFORE):
        return "an"
    if low.startswith(_A_BEFORE) and not low.startswith(_AN_DESPITE_A):
        return "a"
    # "" is in every string.
    return "an" if low[:1] in _VOWELS and low else "a"


def cased(new: str, like: str) -> str:
    """Return a word with the capitalisation of another.

    >>> cased("price", "Cost"), cased("price", "COST"), cased("price", "cost"), cased("price", "A")
    ('Price', 'PRICE', 'price', 'Price')
    """
    # A single capital, e.g. "A", begins a sentence and does not shout.
    if like.isupper() and len(like) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if like[:1].isupper() else new
