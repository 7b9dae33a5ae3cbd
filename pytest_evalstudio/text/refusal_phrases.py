"""English phrases of refusals, courtesies and explanations: regular expressions over a clause."""

from __future__ import annotations

import re


def _any(words: str) -> str:
    """Return an alternative of words, which are separated by commas."""
    return "|".join(word.strip() for word in words.split(","))


_ADVERB = _any("really, simply, just, honestly, also, currently, still, genuinely, personally")
_I = rf"(?:i|we)(?:\s(?:{_ADVERB}))?"
_I_AM = "(?:i'm|i am|we're|we are)"
_DO_NOT = "(?:don't|do not|didn't|did not)"
_CANNOT = "(?:can't|cannot|can not|couldn't|could not)"
_DOES_NOT = "(?:does not|do not|doesn't|don't|did not|didn't|cannot|can't|could not|couldn't)"
_NONE = "(?:no|not enough|not sufficient|insufficient)"
_ACTION = _any(
    "answer, help, assist, provide, give, tell, say, determine, find, locate, share, disclose, reveal,"
    "discuss, comply, fulfill?, process, complete, confirm, verify, respond, offer, access, see,"
    "identify, comment, advise, recommend, engage, generate, create, write, produce, speculate, browse,"
    "retrieve, look, continue, participate, infer, derive, speak, do, be, make, support, check, open,"
    "view, read, understand, guess, predict, guarantee, suggest, explain, describe, list, name, quote,"
    "cite, perform"
)
_FACTS = _any(
    "information, info, details?, data, knowledge, context, answers?, an answer, records?, documentation,"
    "mention"
)
_INFORMATION = f"{_FACTS}|{_any('access, expertise, ability, permission, authori[sz]ation, idea, way, clue')}"
_ADJECTIVE = _any(
    "any, enough, sufficient, the, that, this, specific, further, more, detailed, reliable, direct, real-"
    "time, personal, up-to-date, additional, relevant, such, necessary, required, exact, current, clear,"
    "explicit, other, your, a, an"
)
_ADJECTIVES = rf"(?:(?:{_ADJECTIVE})\s)*"
_AFTER_FACT = _any(
    "about, on, regarding, concerning, of, in, for, to, that, which, available, provided, given, here,"
    "related, from, at, with, because, as, since, relevant, whether, how, what, by, beyond, specific,"
    "right, yet"
)
_AFTER_FACTS = rf"(?=$|,|\s(?:{_AFTER_FACT})\b)"
_SUPPLIED = _any("provided, given, available, retrieved, supplied, attached, uploaded")
_SOURCE = _any(
    "context, documents?, text, texts, passages?, sources?, excerpts?, materials?, knowledge base,"
    "documentation, snippets?, results?, chunks?, (?<=provided )information, (?<=given )information,"
    "(?<=available )information, (?<=retrieved )information, information (?:provided|given|available|i"
    "have)"
)
_SOURCES = (
    r"(?:(?:the|this|these|those|my|our|your|any of the|none of the|neither of the|in the)\s)?"
    rf"(?:(?:{_SUPPLIED}|above|following|source|search|reference)\s){{0,3}}(?:{_SOURCE})"
    rf"(?:\s(?:{_SUPPLIED}|i have|you (?:provided|gave)))?"
)
_STATED = _any(
    "stated, specified, mentioned, given, known, clear, available, provided, found, included, covered,"
    "disclosed, listed, documented, described, indicated, answered, addressed, contained"
)
_SURELY_STATED = _any(
    "stated, specified, mentioned, given, known, clear, disclosed, documented, indicated, answered"
)
_DONE = _any(
    "answered, determined, provided, found, given, shared, disclosed, inferred, derived, established,"
    "confirmed, verified"
)
_STATES = _any(
    "contain, include, mention, provide, say, specify, state, answer, cover, address, discuss, give,"
    "have, list, describe, explain, indicate, offer, tell, reveal, refer, define, name, disclose, help,"
    "seem to, appear to"
)
_KNOWN_THING = _any(
    "what, how, if, whether, the, that, this, about, when, where, which, who, whose, why, your, his, her,"
    "their, its, enough, exactly, for sure, for certain, yet, it, sorry, anything about"
)
_IS_NOT = r"(?:\s(?:is|was) (?:not|never|nowhere)|'s not|\s(?:isn't|wasn't))\s(?:\w+ly\s)?"
_SAY = "say|tell|determine|answer|know"
_MATTER = "question|request|topic|information|matter|subject"

LEAD = re.compile(
    rf"(?:{_I_AM}\s(?:(?:very|so|really|truly|deeply)\s)?sorry(?:\s(?:about|for)\s[^,]{{1,60}})?"
    r"|sorry(?:\sabout\sthat)?|(?:my )?apologies|(?:i|we)\sapologi[sz]e(?:\sfor\s[^,]{1,80})?"
    r"|unfortunately|regrettably|sadly|hmm?|that(?=\s(?:i|we|the|there|no)\b)|well|no|yes|ok|okay|oh|and|then"
    rf"|also|currently|honestly|{_I_AM} afraid|it (?:seems|appears|looks like)"
    r"|at (?:this time|the moment|this point|present)"
    r"|(?:as an?|based on|according to|given|from|in|with|for|regarding|after)\s[^,]{1,120}(?=,))"
    r"(?:[,\s]+|$)"
)
"""Beginning of a clause that does not decide its kind."""
NO_LEAD = re.compile(r"(?:no|in|with|for|from|as|given|well|after)\b(?![^,]{0,120},)")
"""Words that are no beginning without a comma: "no fee is charged"."""

REFUSALS = (
    rf"{_I}\s{_DO_NOT}\sknow(?:$|[,\s]+(?:{_KNOWN_THING})\b)",
    rf"{_I}\s(?:{_CANNOT}|won't|will not|would not|wouldn't|shouldn't|must not)"
    rf"\s(?:\w+ly\s)?(?:be able to\s)?(?:{_ACTION})\b(?!.{{0,60}}\benough\b)",
    rf"(?:{_I_AM}|i was|we were)\s(?:(?:{_ADVERB})\s)?(?:unable|not (?:able|allowed"
    rf"|permitted|authori[sz]ed|in a position|going|willing|equipped|designed))\sto\s(?:{_ACTION})\b",
    rf"{_I_AM}\s(?:(?:really|quite|entirely|honestly)\s)?(?:not\s(?:(?:really|quite|entirely)\s)?"
    r"(?:sure|certain|familiar|comfortable|qualified)|unsure|uncertain"
    r"|(?:not aware|unaware)\sof\s(?:the|this|that|what|how|whether))\b",
    rf"{_I}\s{_DO_NOT}\s(?:(?:currently|actually)\s)?(?:have|possess|find|see|get)\s{_ADJECTIVES}"
    rf"(?:{_INFORMATION})\b",
    rf"{_I}\s{_DO_NOT}\shave\s(?:that|this|it)(?:$|\sin\b)",
    rf"{_I}\s(?:have|found|see|find)\s{_NONE}\s{_ADJECTIVES}(?:{_INFORMATION})\b",
    rf"(?:i've|we've)\s(?:got\s)?no\s{_ADJECTIVES}(?:{_INFORMATION})\b",
    rf"{_I}\s(?:have|was|were)\s(?:not|never)\s(?:been\s)?(?:given|provided|told|shown)\b",
    rf"{_I}\s(?:must|have to|need to|will have to|am going to|respectfully)\s(?:decline|refuse)\b",
    rf"{_I}\s(?:decline|refuse)(?:$|\sto\b)",
    rf"{_I}\s{_DO_NOT}\sunderstand\b",
    rf"{_I}\s(?:{_DO_NOT}|{_CANNOT})\s(?:think|believe)\s(?:that\s)?(?:i|we)\s(?:can|could|know|have)\b",
    rf"{_I}\s{_DO_NOT}\s(?:have|hold|express)\s(?:\w+\s)?(?:opinions?|beliefs|feelings|preferences)\b",
    rf"{_I}\s(?:would\s|'d\s)?(?:need|require)\s(?:more|further|additional)\s(?:\w+\s)?(?:{_FACTS})\b",
    r"(?:i'd|i would|we would|we'd)\s(?:rather|prefer)\snot\b",
    r"(?:i|we) (?:can |may )?only (?:answer|have|know|can|handle|cover|help|assist|discuss|respond)\b",
    rf"(?:{_CANNOT}|unable to|not able to)\s(?:{_ACTION})\b",
    rf"{_SOURCES}\s{_DOES_NOT}\s(?:\w+ly\s|also\s)?(?:{_STATES})\b",
    rf"{_SOURCES}\s(?:is|are)\s(?:silent|insufficient|unavailable|not (?:sufficient|enough|{_STATED}))\b",
    rf"{_SOURCES}\s(?:(?:contain|have|has|provide|give|offer|include)s?\s{_NONE}|lacks?)\s{_ADJECTIVES}"
    rf"(?:{_INFORMATION})\b",
    rf"none of the\s{_SOURCES}\s(?:contain|mention|say|state|answer|cover|address|describe|provide)e?s?\b",
    rf"there(?:'s| is| was| are)\s{_NONE}\s{_ADJECTIVES}(?:{_FACTS}){_AFTER_FACTS}",
    rf"there (?:isn't|wasn't|aren't)\s{_ADJECTIVES}(?:{_FACTS}){_AFTER_FACTS}",
    rf"{_NONE}\s{_ADJECTIVES}(?:information|info|details?|answers?|mention|context)"
    r"(?:\s(?:about|on|regarding|for|of|to)\s[^,]{1,80}?)?"
    rf"\s(?:(?:is|was|are|were|can be|could be|has been|have been)\s)?(?:{_STATED})\b",
    r"no\s(?:information|data|answer|comment|idea|context)$",
    r"(?:insufficient|not enough)\s(?:information|context|data)\b",
    r"(?:the answer(?:\sto (?:this|that|your|the) question)?"
    r"|(?:the|this|that) (?:requested\s)?(?:information|topic|subject))"
    rf"(?:{_IS_NOT}(?:{_STATED})|\s{_CANNOT} be (?:{_DONE}))\b",
    rf"(?:it|this|that){_IS_NOT}(?:{_STATED})\s(?:in|by)\s{_SOURCES}(?:$|\s)",
    rf"(?:it|this|that){_IS_NOT}(?:{_SURELY_STATED}|possible to (?:{_SAY}))\b",
    rf"(?:it|this|that)(?:'s| is) (?:impossible|not possible) (?:for me )?to (?:{_SAY})\b",
    r"the answer (?:is|remains) unknown\b",
    rf"(?:not|never|nowhere)\s(?:{_STATED})\b(?=$|\s(?:in|by|there|here|anywhere))",
    r"(?:unknown|unclear|unanswerable|n/a)$",
    rf"(?:(?:your|the|this|that)\s(?:{_MATTER})|this|that|it)(?:'s|\s(?:is|falls|lies|goes))"
    r"\s(?:(?:well|far)\s)?(?:outside|beyond|out)\s(?:of\s)?(?:(?:the|my|our)\s)?(?:\w+\s){0,2}"
    r"(?:scope|documents?|knowledge|context|expertise|area|(?:cap)?abilit(?:y|ies)|reach|domain)\b",
    rf"(?:this|that|your|the) (?:question|query) {_CANNOT} be (?:{_DONE})\b",
    r"(?:i|we) (?:won't|will not|can't|cannot) (?:follow|obey|ignore|play|pretend|act|repeat|print|output)\b",
    # A company that says "we do not share your data" answers; an assistant that says "I" declines.
    r"i (?:don't|do not) (?:store|keep|hold|share|disclose|reveal|give out)\s[^,]{0,60}"
    r"\b(?:passwords?|tokens?|keys?|credentials?|secrets?|data|details|information)\b[^.]{0,60}$",
    r"i (?:don't|do not) (?:follow|accept|take)\s[^,]{0,40}\b(?:instructions?|orders?|commands?)\b",
    r"(?:this|that|it) (?:goes|is) against (?:my|our|the) (?:\w+ )?"
    r"(?:guidelines|instructions|rules|policy|policies)$",
    rf"your request {_CANNOT} be (?:fulfilled|completed|processed|answered)\b",
    r"that(?:'s| is) (?:not )?something (?:that )?(?:i|we) (?:can't|cannot|can|won't)(?! recommend)\b",
    r"(?:that|this|it)(?:'s| is) not something (?:that )?(?:i|we) (?:do|will do|would do|share|offer)$",
    r"(?:that|this|it)(?:'s| is) not (?:information|data|something) (?:that )?(?:i|we) (?:may|can|could|will)"
    r" (?:disclose|share|give|provide|reveal|discuss)\b",
    r"it would not be appropriate for (?:me|us) to\b",
    r"i (?:have to|must|need to) stay within my role\b",
)
"""Clauses that say that the answer is not known, or not given."""

_TURN_TO = _any(
    "contact, ask, check, consult, visit, reach, refer, call, speak, try, see, look, email, write, find"
    "(?:it|more|this|out), get in touch"
)
_TURNING_TO = _any(
    "you, contacting, checking, consulting, asking, visiting, reaching, speaking, looking, calling,"
    "reviewing, referring, seeking"
)
_HELPER = _any(
    "team, support, branch, advis[eo]r, specialist, professional, lawyer, doctor, expert, desk, line"
)

COURTESIES = (
    r"$",
    r"please\b(?!\s(?:note|be aware|remember|bear|keep))",
    r"kindly\b",
    r"let (?:me|us) know\b",
    r"if (?:you|there|it)\b[^,]{0,160}"
    r"(?:$|,\s?(?:please|i|we|feel free|let|contact|you|ask|just|try|check)\b)",
    r"feel free\b",
    rf"you (?:can|may|could|might|should)(?: want to| wish to| also| always| still)?\s(?:{_TURN_TO})\b",
    r"(?:i|we)(?:'d|'ll| would| will| can)?\s(?:only\s)?(?:recommend|suggest|advise|encourage)\s(?:that\s)?"
    rf"(?:{_TURNING_TO})\b",
    r"(?:i|we)(?:'d| would|'m| am|'re| are| will|'ll)\s(?:be\s)?(?:happy|glad|here|pleased)\b",
    r"(?:i|we) (?:can|could) (?:help|assist|try|answer|tell you more|connect|forward|transfer)\b",
    r"(?:is|are) there (?:anything|something|any)\b",
    r"(?:what|how|where) (?:else|can|may|could|would|do) (?:i|we|you)\b",
    r"(?:would|could|can|do|may) (?:you|i|we)\b",
    r"thanks?\b",
    r"for (?:more|further|help|details|questions|assistance|accurate|specific|this|that|the latest)\b",
    r"to (?:find|get|learn|check|confirm)\b.{0,120}\b(?:contact|visit|check|call|ask|see|consult|please)\b",
    r"(?:contact|ask|check|consult|visit|try|call|email|see|refer to|reach out)\b",
    r"have a\b",
    r"(?:i|we) (?:hope|understand|appreciate|wish|know this)\b",
    rf"(?:your|the|a|our) (?:\w+\s){{0,3}}(?:{_HELPER})\s(?:can|may|will|could|might|should)\b",
)
"""Clauses of politeness: apologies, offers, pointers to somebody else."""

_IS_ABOUT = _any(
    "discuss(?:es)?, covers?, mentions?, contains?, describes?, focus(?:es)?, refers?, talks?, lists?,"
    "deals?, includes?, about, concerns?, relates?"
)

EXPLANATIONS = (
    rf"{_I_AM}\s(?:(?:only|just|currently)\s)?"
    r"(?:an?\b|designed|trained|limited|here|made|built|restricted|programmed)",
    r"my (?:knowledge|training|role|purpose|instructions|scope|expertise|task|job)\b",
    r"(?:i|we) (?:only )?(?:have|had) (?:only )?(?:access|been trained)\b",
    rf"(?:{_SOURCES}|it|they|these|this|those)\s(?:(?:is|are)\s)?(?:(?:only|just|mostly|mainly|primarily|solely)\s)?"
    rf"(?:{_IS_ABOUT})\b(?!\sthat\b)",
    r"(?:\w+ )?(?:data|details|information) (?:is|are) (?:protected|confidential|private|not public)$",
    r"(?:it|this|that) (?:may|might|could) be (?:outdated|incomplete|wrong|in another|elsewhere)\b",
)
"""Clauses on the sources and the assistant itself."""
