"""English verbs and their forms, for the analysis of plain sentences."""

from __future__ import annotations

from typing import Literal

from pytest_evalstudio.mrm.texts.words import word_set

Form = Literal["base", "s", "past", "participle", "ing"]

MODALS = frozenset(["can", "may", "must", "should", "will", "shall", "could", "would", "might"])
BE = frozenset(["is", "are", "was", "were"])
HAVE = frozenset(["has", "have", "had"])
_REGULAR = word_set(
    """
    absorb accept access accompany account achieve acquire act activate add address adjust administer
    advise affect agree aim allow amend amount analyse announce answer appear apply appoint approve
    arrange arrive ask assess assign assist attend audit authorise authorize avoid award belong benefit
    block boil book call cancel carry cause chair change charge check claim clean clear close collect
    combine comprise compare complete concern conclude conduct confirm connect consider consist consume
    contact contain continue contribute control convert cook cool cooperate coordinate correspond cost
    count cover create decide declare decline decrease deliver demonstrate depend describe design
    destroy detect determine develop differ discharge discuss dispose distribute divide document donate
    double drop dry earn educate elect employ enable encourage end enforce enter escalate establish
    estimate evaluate examine exceed exchange exclude exist expand expect expire explain export express
    extend fail fasten finance finish fit fix flash focus follow forward fund gain generate govern grant
    guarantee handle happen heat help hire host identify ignore imply import impose improve include
    incorporate increase indicate inform inhibit initiate insert inspect inspire install insure
    integrate invest investigate invite involve issue join label last launch lift limit link list load
    locate lock look lower maintain manage manufacture mature measure melt merge monitor move need
    notify number obtain occur offer open operate order organise outline own participate pass perform
    permit place plan play possess post postpone practise prefer prepare prescribe present preserve
    press prevent process produce prohibit promote propose protect prove provide publish pull purchase
    push qualify question raise range reach receive recommend recruit recycle reduce refer reflect
    refund refuse register regulate reimburse reject relate release relieve rely remain remind remove
    renew rent repair repeat replace reply report represent request require rescue reserve resign resist
    resolve respond rest restore restrict result retain retire return review reward rinse rotate sample
    save scan schedule search secure select separate serve service settle share ship show sign signal
    slide sort specify sponsor start state stay stop store stream submit succeed suffer suggest
    supervise supply support surround suspend swallow switch talk target tend terminate test tighten
    tolerate top total touch trace track trade train transfer transport travel treat trigger trust turn
    type update upgrade use validate value vary verify visit void vote wait walk want warn wash waste
    watch weigh wipe withhold work administrate apologise assemble attach calculate certify classify
    convene counter delegate depart detach dilute disclose disconnect display drain drill ease eject
    emit empty engage ensure exempt fill filter fold grease grip guide hang hedge imprison inflate
    inflict inject institute instruct interrupt invoice lapse lease lubricate mount nominate occupy oil
    oversee overtake pack park phase pick plug polish pour power print pump quote reconcile record
    rectify refill reset reside revise roll screw seal shake soak spray stabilise stabilize stretch
    subscribe supplement suppress survey tap test trim unlock unplug vaccinate ventilate vent
    """
)
_IRREGULAR = {
    "become": ("became", "become"),
    "begin": ("began", "begun"),
    "break": ("broke", "broken"),
    "bring": ("brought", "brought"),
    "build": ("built", "built"),
    "burn": ("burnt", "burnt"),
    "buy": ("bought", "bought"),
    "choose": ("chose", "chosen"),
    "come": ("came", "come"),
    "cost": ("cost", "cost"),
    "cut": ("cut", "cut"),
    "deal": ("dealt", "dealt"),
    "draw": ("drew", "drawn"),
    "drink": ("drank", "drunk"),
    "drive": ("drove", "driven"),
    "eat": ("ate", "eaten"),
    "fall": ("fell", "fallen"),
    "feed": ("fed", "fed"),
    "feel": ("felt", "felt"),
    "find": ("found", "found"),
    "forget": ("forgot", "forgotten"),
    "freeze": ("froze", "frozen"),
    "get": ("got", "got"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "have": ("had", "had"),
    "hear": ("heard", "heard"),
    "hold": ("held", "held"),
    "keep": ("kept", "kept"),
    "know": ("knew", "known"),
    "lead": ("led", "led"),
    "leave": ("left", "left"),
    "lend": ("lent", "lent"),
    "let": ("let", "let"),
    "light": ("lit", "lit"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "mean": ("meant", "meant"),
    "meet": ("met", "met"),
    "pay": ("paid", "paid"),
    "put": ("put", "put"),
    "read": ("read", "read"),
    "ride": ("rode", "ridden"),
    "rise": ("rose", "risen"),
    "run": ("ran", "run"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "set": ("set", "set"),
    "shut": ("shut", "shut"),
    "speak": ("spoke", "spoken"),
    "spend": ("spent", "spent"),
    "stand": ("stood", "stood"),
    "take": ("took", "taken"),
    "teach": ("taught", "taught"),
    "tell": ("told", "told"),
    "throw": ("threw", "thrown"),
    "undergo": ("underwent", "undergone"),
    "wear": ("wore", "worn"),
    "win": ("won", "won"),
    "withdraw": ("withdrew", "withdrawn"),
    "withhold": ("withheld", "withheld"),
    "write": ("wrote", "written"),
    "oversee": ("oversaw", "overseen"),
    "overtake": ("overtook", "overtaken"),
}
_DOUBLING = word_set(
    """
    drop fit plan refer stop submit permit prefer occur ship top transfer travel trim cancel control
    label plug commit patrol signal total trap equip level
    """
)


def third_person(base: str) -> str:
    """Return the third person singular of a base form.

    >>> third_person("carry"), third_person("pass"), third_person("have")
    ('carries', 'passes', 'has')
    """
    if base == "have":
        return "has"
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{base}es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"


def past(base: str) -> str:
    """Return the past tense of a base form."""
    return _IRREGULAR[base][0] if base in _IRREGULAR else _regular_past(base)


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    if base in _DOUBLING:
        return f"{base}{base[-1]}ed"
    return f"{base}ed"


def _ing(base: str) -> str:
    if base.endswith("e") and not base.endswith("ee"):
        return f"{base[:-1]}ing"
    return f"{base}{base[-1]}ing" if base in _DOUBLING else f"{base}ing"


def _forms() -> dict[str, dict[Form, str]]:
    """Return the forms of all verbs: a word to its possible forms, each with the base."""
    forms: dict[str, dict[Form, str]] = {}
    for base in sorted(_REGULAR | set(_IRREGULAR)):
        done = _IRREGULAR[base] if base in _IRREGULAR else (_regular_past(base),) * 2
        for word, form in (
            (base, "base"),
            (third_person(base), "s"),
            (done[0], "past"),
            (done[1], "participle"),
            (_ing(base), "ing"),
        ):
            forms.setdefault(word, {}).setdefault(form, base)  # type: ignore[arg-type]
    return forms


_FORMS = _forms()


def forms(word: str) -> dict[Form, str]:
    """Return the forms that a lower-case word can be, each with its base form.

    >>> forms("costs"), forms("paid"), forms("table")
    ({'s': 'cost'}, {'past': 'pay', 'participle': 'pay'}, {})
    """
    return _FORMS.get(word, {})


def is_participle(word: str) -> bool:
    """Report whether a lower-case word can be a past participle."""
    return "participle" in forms(word) or (word.endswith("ed") and len(word) > 4)
