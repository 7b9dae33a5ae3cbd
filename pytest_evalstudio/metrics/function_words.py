"""English function words."""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """
    a about above across after again against all almost along also although always am among an and
    another any anybody anyone anything are around as at away back be became because become been
    before behind being below beneath beside besides between beyond both but by can cannot could did
    do does doing done down during each either else enough etc even ever every everybody everyone
    everything except few for former from further get gets getting given go goes going gone got had
    has have having he hence her here hers herself him himself his how however i if in indeed
    instead into is it its itself just last least less let like likely many may maybe me might mine
    more moreover most much must my myself near neither never nevertheless next no nobody none nor
    not nothing now of off often oh ok okay on once one ones only onto or other others otherwise
    ought our ours ourselves out over own per perhaps please quite rather really same shall she
    should since so some somebody somehow someone something sometimes still such than that the their
    theirs them themselves then there therefore these they thing things this those though through
    throughout thus to together too toward towards under unless unlike until up upon us very via was
    way we well were what whatever when whenever where whereas wherever whether which while who
    whoever whole whom whose why will with within without would yes yet you your yours yourself
    yourselves im ive id ill youre youve youd youll hes shes weve theyre theyve thats whats dont
    doesnt didnt isnt arent wasnt werent wont wouldnt cant couldnt shouldnt hasnt havent hadnt aint
    theres heres lets
    """.split()  # noqa: SIM905
)
"""English words that carry no claim.

Function words of other languages are not listed; they occur in any context of the same language.
"""
