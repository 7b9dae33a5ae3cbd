"""Statements that the documents do not answer a question, in the words of different applications."""

from __future__ import annotations

import re

from pytest_evalstudio.formats.condition import Regexp

REFUSAL = "The documents do not answer this question."
_SOURCES = (
    r"(?:documents?|documentation|context|information|sources?|texts?|excerpts?|passages?|materials?|polic(?:y|ies)|manual|report|leaflet"
    r"|knowledge base|files?|data|sections?|pages?)"
)
_STATED = (
    r"(?:answered|addressed|available|contained|covered|defined|described|detailed|disclosed|discussed|documented|explained|found|given"
    r"|included|indicated|known|listed|mentioned|provided|recorded|reported|shown|specified|stated)"
)
_STATES = (
    r"(?:address|answer|contain|cover|describe|detail|disclose|discuss|explain|give|have|hold|include|indicate|list|mention|name|offer"
    r"|provide|report|reveal|say|show|specify|state|tell)"
)
_NOT = r"(?:not|n['’]t|never|nowhere)"
_REFUSAL = (
    rf"(?is)\b{_SOURCES}\b[^.!?]{{0,60}}?\b(?:do|does|did|has|have|is|are)(?:\s{_NOT}|n['’]t)\s(?:\w+\s){{0,3}}?(?:{_STATES}|{_STATED}|\w*(?:address|relat|relevan)\w*)"
    rf"|\b(?:is|are|was|were|been|be|being)(?:\s{_NOT}|n['’]t)\s(?:\w+\s){{0,3}}?{_STATED}\b"
    rf"|\b{_NOT}\s(?:\w+\s){{0,2}}?{_STATED}\s(?:in|by|within|anywhere)\b|\b(?:none|neither)\sof\sthe\s{_SOURCES}"
    rf"|\b{_SOURCES}\sonly\s{_STATES}s?"
    rf"|\b(?:there\s(?:is|are)|contains?|have|has|had|find|found|provides?|gives?|includes?|offers?|with|see)"
    rf"\s(?:no|not any)\s"
    rf"(?:\w+\s){{0,3}}?(?:information|mention|details?|answer|data|reference|indication|statement|evidence|word)"
    rf"|\bno\s(?:\w+\s){{0,2}}?(?:information|mention|details?|reference|indication|evidence)\b[^.!?]{{0,60}}?\b(?:is|are|was|in|on|about|of|could|can)\b"
    rf"|\b(?:ca(?:n\s?not|n['’]t)|could(?:\snot|n['’]t)|unable\sto|not\sable\sto|not\spossible\sto|impossible\sto|unfortunately[^.!?]{{0,40}}not)\s(?:\w+\s){{0,2}}?(?:answer|find|determine|tell|say|help|provide|locate|give|confirm|identify|(?:be\s)?(?:answered|determined|found)|be\s(?:answered|determined|found))"
    rf"|\b(?:do|does|did)(?:\snot|n['’]t)\s(?:actually\s|currently\s)?(?:know|have)\b"
    rf"|\b(?:outside|beyond|out\sof|not\s(?:within|in|part\sof))\s(?:of\s)?(?:the\s)?(?:scope|(?:provided\s|given\s)?{_SOURCES})"
    rf"|\b(?:insufficient|not\senough|lacks?|lacking|missing)\s(?:\w+\s){{0,2}}?(?:information|details?|data|context)"
    rf"|\b(?:{_SOURCES})\b[^.!?]{{0,30}}\b(?:silent|say[s]?\snothing|mentions?\snothing|contains?\snothing)\b|\bnothing\s(?:about|on|in)\b"
)
"""Pattern of a statement that the documents do not have the answer."""


def refusal_condition(text: str = "") -> str:
    """Return the condition that an answer says that the documents lack the answer, and states no new number.

    Args:
        text: its numbers may be repeated.
    """
    numbers = "|".join(sorted({re.escape(number) for number in re.findall(r"\d+(?:[.,]\d+)*", text)}))
    but = rf"(?!(?:{numbers})(?![\d]))" if numbers else ""
    invented = Regexp(rf"(?<![\w.,]){but}\d")
    return f"{Regexp(_REFUSAL)} AND NOT {invented}"
