"""Nouns that several kinds of question depend on."""

from __future__ import annotations

from pytest_evalstudio.mrm.texts.words import word_set

ATTRIBUTES = word_set(
    """
    allowance amount bonus budget capacity charge commission cost coupon cover deduction deposit
    discount dividend duration excess fee fine fund grant height increase interest length level limit
    maximum minimum penalty period power premium pressure price range rate rebate reduction refund
    resolution rise salary share size speed surcharge surplus tariff temperature term threshold turnover
    volume wage warranty weight width yield deficit dose margin
    """
)
"""Nouns that name a quantity: "a fee of £5" is asked for with "What fee"."""
CHANGES = word_set(
    """
    rise fall increase decrease grow decline drop improve climb reduce change widen narrow
    """
)
"""Verbs for a change of a quantity."""
