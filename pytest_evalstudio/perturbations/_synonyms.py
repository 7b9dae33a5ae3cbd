"""Synonyms that a reviewer takes for the same word in nearly all questions.

WordNet lists synonyms by sense, and rules do not recognise the sense of a word in a question. Only pairs of
this table are used, and only if WordNet has both words in one sense.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.perturbations._wordnet import ADJECTIVE, ADVERB, NOUN, VERB


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(">") for pair in text.split())


SYNONYMS: Mapping[str, Mapping[str, str]] = {
    NOUN: _pairs(
        "advertisement>ad aid>assistance assistance>aid attorney>lawyer author>writer automobile>car"
        " autumn>fall basement>cellar bicycle>bike car>automobile cargo>freight cellar>basement"
        " cemetery>graveyard child>kid couch>sofa customer>client doctor>physician freight>cargo"
        " illness>sickness infant>baby instructor>teacher kid>child laboratory>lab lawyer>attorney"
        " mistake>error movie>film photo>photograph photograph>photo physician>doctor reply>response"
        " sickness>illness sofa>couch staircase>stairway taxi>cab teacher>instructor telephone>phone"
        " toilet>lavatory viewpoint>standpoint writer>author youngster>kid"
    ),
    VERB: _pairs(
        "allow>permit assess>evaluate assist>help attempt>try begin>start buy>purchase"
        " calculate>compute cease>stop choose>select collaborate>cooperate compute>calculate"
        " conceal>hide construct>build defer>postpone evaluate>assess finish>complete forbid>prohibit"
        " happen>occur hide>conceal modify>change obtain>get occur>happen permit>allow postpone>defer"
        " prohibit>forbid provide>supply purchase>buy remain>stay repair>fix reply>respond"
        " require>need respond>reply select>choose start>begin strengthen>fortify terminate>end"
        " try>attempt use>utilize utilize>use"
    ),
    ADJECTIVE: _pairs(
        "annual>yearly big>large cheap>inexpensive compulsory>mandatory concurrent>simultaneous"
        " dangerous>unsafe dependable>reliable difficult>hard famous>celebrated feasible>workable"
        " ill>sick incorrect>wrong inexpensive>cheap large>big main>primary mandatory>compulsory"
        " needed>required reliable>dependable required>needed simultaneous>concurrent strange>unusual"
        " unsafe>dangerous wrong>incorrect yearly>annual"
    ),
    ADVERB: _pairs(
        "abroad>overseas afterwards>later annually>yearly approximately>roughly completely>entirely"
        " currently>presently entirely>completely especially>particularly exactly>precisely"
        " exclusively>solely frequently>often incorrectly>wrongly mainly>primarily maybe>perhaps"
        " mostly>largely normally>usually often>frequently partially>partly particularly>especially"
        " partly>partially perhaps>maybe precisely>exactly primarily>mainly quickly>rapidly"
        " rapidly>quickly rarely>seldom roughly>approximately seldom>rarely solely>exclusively"
        " totally>completely usually>normally"
    ),
}
"""Dictionary forms by part of speech, each with its synonym."""

TAKE_INFINITIVES = frozenset({"allow", "permit", "try", "attempt", "begin", "start", "cease"})
"""Verbs whose synonyms are followed by "to" like themselves."""

PARTICLES = frozenset(
    {"about", "along", "away", "back", "down", "for", "in", "into", "off", "on", "out", "over", "up"}
)
"""Words after a verb that may give it another meaning: "try on"."""
