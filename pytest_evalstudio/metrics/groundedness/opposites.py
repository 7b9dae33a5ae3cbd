"""English words of opposite meaning, negations and restrictions."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping

from pytest_evalstudio.metrics.grounding import stem

NEGATIONS = frozenset(
    """
    no not never none nobody nothing neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt
    werent hasnt havent hadnt couldnt wouldnt shouldnt mustnt fail failed fails failing lack lacks lacked
    lacking refuse refused denied denies deny reject rejected unable hardly
    """.split()  # noqa: SIM905
)
"""Words that negate a statement, without apostrophes."""

RESTRICTIONS = frozenset(
    """
    only except but however any instead rather despite although nothing none some few little barely merely
    just solely exclusively unless until
    """.split()  # noqa: SIM905
)
"""Words that restrict a statement or contrast it with another."""

_PAIRS = """
    increase decrease, rise fall, rose fell, rose dropped, grew shrank, won lost, bought sold,
    grow shrink, raise lower, strengthen weaken, improve worsen, gain loss,
    gain lose, win lose, success failure, succeed fail, high low, higher lower, up down, more less, many few,
    first last, before after, early late, start end, begin end, begin finish, open close, accept reject,
    accept refuse, allow forbid, allow prohibit, allow prevent, approve reject, agree disagree,
    support oppose, include exclude, add remove, buy sell, push pull, enter leave, arrive depart,
    arrive leave, positive negative, good bad, best worst, better worse, large small, big small, long short,
    old new, young old, hot cold, strong weak, fast slow, quick slow, easy difficult, easy hard,
    simple complex, rich poor, cheap expensive, safe dangerous, public private, internal external,
    true false, right wrong, correct incorrect, legal illegal, possible impossible, always never, all none,
    everything nothing, everyone nobody, above below, over under, inside outside, left right, north south,
    east west, male female, man woman, men women, boy girl, husband wife, father mother, son daughter,
    brother sister, king queen, he she, day night, morning evening, summer winter, forward backward,
    love hate, like dislike, remember forget, create destroy, build destroy, maximum minimum,
    majority minority, expand contract, expand reduce, increase reduce, grow decline, increase decline,
    rise decline, rise drop, increase drop, improve decline, profit loss, encourage discourage, confirm deny,
    admit deny, guilty innocent, alive dead, live die, born died, present absent, same different,
    similar different, full empty, deep shallow, wide narrow, heavy light, dark light, happy sad,
    optimistic pessimistic, advantage disadvantage, benefit harm, help hinder, protect endanger,
    attack defend, war peace, friend enemy, ally enemy, employ fire, hire fire, temporary permanent,
    voluntary mandatory, optional mandatory, popular unpopular, dependent independent, local global,
    domestic foreign, national international, online offline, single multiple, single married,
    significant slight, significant minor, major minor, substantial minimal, highlight ignore, highlight hide,
    show hide, reveal conceal, reveal hide, continue stop, continue halt, start stop, enable disable,
    exceed miss, outperform underperform, upper lower, ancient modern, natural artificial, lead follow,
    teach learn, give take, send receive, borrow lend, save spend, import export, victory defeat,
    ahead behind, near far, top bottom, front back, often rarely, frequently rarely, usually rarely,
    partially fully, partly fully, only all, some all, upgrade downgrade, accelerate slow, tighten loosen,
    tighten ease, upward downward, appreciate depreciate, surplus deficit, asset liability, creditor debtor,
    supply demand, abundant scarce, praise criticize, praise criticise, release arrest, release capture,
    free imprisoned, convict acquit, healthy sick, survive die, mild severe, victim suspect
"""
_PREFIXES = ("un", "dis", "non", "mis")
_MIN_BASE_CHARS = 4


@functools.lru_cache(maxsize=1)
def _table() -> Mapping[str, frozenset[str]]:
    table: defaultdict[str, set[str]] = defaultdict(set)
    for pair in _PAIRS.split(","):
        first, second = (stem(word) for word in pair.split())
        table[first].add(second)
        table[second].add(first)
    return {word: frozenset(others) for word, others in table.items()}


@functools.lru_cache(maxsize=65_536)
def opposites(word: str) -> frozenset[str]:
    """Return the stems of opposite meaning of a stem: of the table, and with or without a negative prefix.

    Args:
        word: a stem in lower case.

    >>> "fall" in opposites("rise"), "happi" in opposites("unhappi")
    (True, True)
    """
    derived = {prefix + word for prefix in _PREFIXES if len(word) >= _MIN_BASE_CHARS}
    derived |= {
        word.removeprefix(prefix)
        for prefix in _PREFIXES
        if word.startswith(prefix) and len(word) - len(prefix) >= _MIN_BASE_CHARS
    }
    return _table().get(word, frozenset()) | derived


@functools.lru_cache(maxsize=65_536)
def is_negation(word: str) -> bool:
    """Return True for a negation in lower case, such as "never" or "isn't", of at most 100 characters."""
    return word.endswith("n't") or word.replace("'", "") in NEGATIONS
