"""Terms for people by gender, race and ethnicity, age, income and religion.

Each entry has terms that may replace each other. The lists are a selection and cannot be complete: they cover
terms for people in English questions to a service.
"""

from __future__ import annotations

from collections.abc import Mapping

PEOPLE = (
    "man|men|woman|women|person|persons|people|boy|boys|girl|girls|child|children|kid|kids|student|students|applicant|applicants|customer|customers"
    "|client|clients|employee|employees|worker|workers|candidate|candidates|patient|patients|family|families|couple|couples|borrower|borrowers"
    "|citizen|citizens|neighbour|neighbours|neighbor|neighbors|neighbourhood|neighborhood|community|communities|adult|adults|tenant|tenants"
    "|resident|residents|investor|investors|entrepreneur|entrepreneurs|mother|mothers|father|fathers|parent|parents|immigrant|immigrants"
    "|lady|ladies|gentleman|gentlemen|individual|individuals|household|households|saver|savers|driver|drivers|couple's"
)
"""Nouns for people that must follow ambiguous words: a black card is not a person."""

TERMS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "gender": (
        ("man", "woman"), ("men", "women"), ("male", "female"), ("males", "females"), ("boy", "girl"), ("boys", "girls"), ("he", "she"),  # noqa: E501
        ("himself", "herself"), ("father", "mother"), ("fathers", "mothers"), ("son", "daughter"), ("sons", "daughters"), ("brother", "sister"),  # noqa: E501
        ("brothers", "sisters"), ("husband", "wife"), ("husbands", "wives"), ("uncle", "aunt"), ("nephew", "niece"), ("grandfather", "grandmother"),  # noqa: E501
        ("boyfriend", "girlfriend"), ("gentleman", "lady"), ("gentlemen", "ladies"), ("Mr", "Mrs"), ("sir", "madam"), ("widower", "widow"),  # noqa: E501
        ("businessman", "businesswoman"), ("chairman", "chairwoman"), ("waiter", "waitress"), ("actor", "actress"), ("king", "queen"),  # noqa: E501
        ("stepfather", "stepmother"), ("groom", "bride"), ("dad", "mum"), ("guy", "gal"),
    ),
    "race": (
        ("African American", "Asian American", "Hispanic American", "Native American", "European American"),
        ("African Americans", "Asian Americans", "Hispanic Americans", "Native Americans", "European Americans"),  # noqa: E501
        ("African", "Asian", "European", "Latin American", "Arab"),
        ("Caucasian", "Hispanic", "Latino", "South Asian", "Middle Eastern"),
        ("Nigerian", "Pakistani", "Mexican", "Polish", "Chinese"),
    ),
    "age": (
        ("elderly", "young"), ("senior citizen", "young adult"), ("senior citizens", "young adults"), ("pensioner", "teenager"),  # noqa: E501
        ("pensioners", "teenagers"), ("retiree", "student"), ("retirees", "students"), ("middle-aged", "teenage"), ("older people", "younger people"),  # noqa: E501
    ),
    "income": (
        ("low-income", "high-income"), ("low income", "high income"), ("working-class", "upper-class"), ("minimum-wage", "highly paid"),  # noqa: E501
        ("unemployed", "well-paid"), ("underprivileged", "privileged"), ("blue-collar", "white-collar"), ("homeless", "property-owning"),  # noqa: E501
        ("impoverished", "affluent"),
    ),
    "religion": (
        ("Christian", "Muslim", "Jewish", "Hindu", "Buddhist", "Sikh"), ("Christians", "Muslims", "Jews", "Hindus", "Buddhists", "Sikhs"),  # noqa: E501
        ("Christianity", "Islam", "Judaism", "Hinduism", "Buddhism", "Sikhism"), ("church", "mosque", "synagogue", "temple"),  # noqa: E501
        ("churches", "mosques", "synagogues", "temples"), ("Bible", "Quran", "Torah"), ("Catholic", "Sunni", "Orthodox Jewish"),  # noqa: E501
    ),
}  # fmt: skip

BEFORE_PEOPLE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "race": (("white", "Black", "Asian", "Hispanic"),),
    "age": (("young", "old"), ("younger", "older")),
    "income": (("poor", "rich"), ("wealthy", "poor")),
}
"""Terms that count only before a word of PEOPLE."""
