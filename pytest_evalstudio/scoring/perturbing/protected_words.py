"""Words by which protected spans are recognised: numerals, units, days, titles, first words."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPOKEN_NUMBERS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"
    " hundreds thousand thousands million millions billion billions trillion dozen dozens half halves"
    " quarter quarters third thirds fifth sixth seventh eighth ninth tenth first second once twice"
    " thrice double triple"
)
"""Numerals, and multiples that change an amount."""

UNITS = _words(
    "second seconds sec minute minutes min hour hours hrs h day days week weeks month months year years"
    " years-old old decade decades century centuries am pm a.m p.m o'clock percent per cent pct"
    " percentage point points basis bps dollar dollars euro euros pound pounds cents pence yen franc"
    " francs rupee rupees crown crowns koruna k m mm cm km mi mile miles ft foot feet inch inches yard"
    " yards g kg mg t tonne tonnes ton tons lb lbs oz ounce ounces l ml litre litres liter liters gallon"
    " gallons c f degree degrees celsius fahrenheit b kb mb gb tb byte bytes kilobyte kilobytes megabyte"
    " megabytes gigabyte gigabytes terabyte terabytes bit bits hz khz mhz ghz v kv w kw kwh watt watts"
    " volt volts mph kmh bn mn mio times fold metre metres meter meters kilometre kilometres kilometer"
    " kilometers kilogram kilograms gram grams square cubic acre acres hectare hectares calorie calories"
    " kcal mol"
)
"""Units that belong to the number before them."""

CALENDAR = _words(
    "january february april june july august september october november december monday tuesday"
    " wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays"
    " sundays noon midnight"
)
"""Days and months that are no other words."""

CONNECTORS = _words("of the de da do dos del della di du la le les van von der den ter zu al bin ibn y e et")
"""Words that may connect the parts of a name."""

TITLES = _words("mr mrs ms miss dr prof sir dame lord lady st sr jr rev hon gen col sgt capt")
"""Titles before names."""

ABBREVIATIONS = TITLES | _words("no vs e.g i.e etc approx fig sec art ref p pp vol cf inc ltd co corp")
"""Words whose full stop ends no sentence."""

SMALL_IN_TITLES = _words("a an the of for in on to and or at by with from per as")
"""Words that headlines do not capitalise."""

ACRONYMS = _words("US IT WHO")
"""Names that are function words in small letters."""

PRONOUNS = _words("i i'm i'd i'll i've")
"""Forms of I: capitalised, and no names."""

STARTERS = _words(
    "a about according after again all also although am an and any anyone anything are aren't as ask at"
    " be because before both but by calculate can can't cannot check choose compare compute consider"
    " convert correct could couldn't count create define describe despite did didn't discuss do does"
    " doesn't don't during each either estimate even every everyone everything evaluate except explain"
    " extract few find following for from generate get give given had has hasn't have haven't he hello"
    " help her here hers hey hi his how how's however i i'd i'll i'm i've identify if in include into is"
    " isn't it it's its justify keep last let let's like list look make many may maybe me might mine"
    " more most much must my name neither never no nobody none nor not nothing now of off often ok okay"
    " on only or other our out over people perhaps please provide quote rank read recommend regarding"
    " rewrite say select several shall she should shouldn't show since so some someone something"
    " sometimes sort state still such suggest sum summarise summarize suppose take tell than thank"
    " thanks that that's the their them then there there's these they think this those though through"
    " thus to today tomorrow tonight too translate try under unless until up upon us use very was wasn't"
    " we well were weren't what what's when when's where where's whether which while who who's whom"
    " whose why why's will with within without won't would wouldn't write yes yesterday yet you your"
    " yours"
)
"""Words that begin sentences and are no names."""
