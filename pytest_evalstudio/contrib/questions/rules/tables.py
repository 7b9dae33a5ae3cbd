"""Questions for the cells of tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.parsing.pipeline import open_pipeline
from pytest_evalstudio.contrib.questions.parsing.tables import REMARK, Table, parsed_table
from pytest_evalstudio.contrib.questions.quantities import UNITS, pattern, quantities, unit_of
from pytest_evalstudio.contrib.questions.rules.conditions import keywords_condition, quantity_condition
from pytest_evalstudio.contrib.questions.rules.row_phrases import (
    AREA_HEADS,
    BAND,
    CODE,
    LINKS,
    MAX_HEAD_WORDS,
    MAX_ROW_WORDS,
    TableContext,
    is_plural_name,
    label_of_rows,
    main_noun,
    of_band,
    row_phrase,
    with_small_initial,
)
from pytest_evalstudio.contrib.questions.rules.slots import Fact, QuantityQuestion
from pytest_evalstudio.contrib.questions.words import word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import Regexp, parse_condition

_TASKS = word_table("task verbs")
_DETERMINERS = word_table("determiners")
_PROPERTIES = word_table("attributes") | word_table("properties of rows")
_INHERENT = word_table("inherent properties")
_REGIONS = word_table("regions")
_NOUNS_OF_SALE = word_set("price cost charge fee fare tariff rate hire")
"""Nouns for what something costs."""
_NOUNS_OF_MONEY = [
    [noun] for noun in (*_NOUNS_OF_SALE, "limit", "allowance", "excess", "deposit", "refund", "fine")
]
_NOUNS_OF_TIME = word_set("period time deadline notice term duration wait stay interval age date entitlement")
_LIMITS = word_set("limit maximum minimum allowance")
_SOLD = word_set("service ticket boat room product course extra membership hire package")
"""Heads of first columns whose rows have a price."""
_VALUES = word_set("value values specification data figure rating")
"""Heads of second columns whose rows are such properties."""
_SPECIFIED = word_set("property feature characteristic parameter specification metric")
"""Heads of first columns whose rows are properties of one thing."""
_FREQUENCIES = word_set("interval frequency schedule")
_NO_HEADING = word_table("no headings")
"""Words of a heading that is no noun phrase."""
_MAX_CELL_CHARS, _MAX_CELL_WORDS, _MAX_WORDS_WITHOUT_QUANTITY = 100, 14, 4
"""A quantity with its bound and rate is shorter; patterns of cells take more than linear time."""
_ROW = re.compile(r"[A-Za-z][\w’'-]*(?:,?\s[\w’'/-]+)*")
"""Name of a row without remarks."""
_HEAD = re.compile(r"(?P<noun>[A-Z][A-Za-z’'-]*(?:\s[a-z][a-z’'-]*)*?)(?:\s\([^()]{1,25}\))?")
_CLAUSE = re.compile(r"(?i)\b(?:is|are|was|were|has|have|does|do|did|not|cannot|can|will|must)\b")
_COLUMNS = {"telephone": "telephone number", "phone": "telephone number", "tel": "telephone number"}
"""Names of columns in full."""
_VAGUE = word_set("time number date amount value age level rate cover interest")
"""Attributes that need another word to say what they are."""
_BOUNDS = word_set("minimum maximum")
"""Heads that say nothing without the noun that they bound."""
_OTHERS = re.compile(r"(?i)(?:all |any )?others?\b")
"""Rows that only the rows before them explain."""
_EMPTY = re.compile(r"(?i)(?:yes|no|none|n/?a|[–—-]|free|closed|as (?:required|needed|agreed)|not \w+)?\.?")
_CELL = re.compile(
    r"(?i)(?:(?:up to|at least|at most|about|from)\s)?(?P<text>.+?)"
    r"(?:\s(?:per|a|an|each|of)\s[a-z ]+|\s(?:before|after)[a-z ]*)?"
)
_ADVERBS = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annually": "year",
}
_SIGNAL = re.compile(
    r"(?P<name>(?:error |fault )?code|(?:status |warning )?(?:light|lamp)|colou?r|display|message|signal"
    r"|symbol|indicator|alarm)s?"
)
"""Heads of first columns whose rows mean something."""
_VISIBLE = ("light", "lamp", "signal", "symbol", "indicator", "alarm")
_MEANINGS = word_set("meaning cause fault problem")
_REMEDIES = ("what to do", "action", "remedy", "solution", "what you should do", "response")
_BARE_NUMBER = re.compile(r"[\d.,]+")
_ASKED_FOR = re.compile(r"(?P<participle>[A-Z][a-z]+(?:ed|pt|ld|nt)) (?P<link>for|within|after)")
"""Head of a column that is the rest of a passive: "Kept for"."""
_EXTREME = re.compile(r"(?P<limit>Maximum|Minimum|Max\.?|Min\.?) (?P<noun>[a-z][a-z -]+)")
_TIME_COLUMN = re.compile(
    r"(?i)(?:per (?P<per>[a-z]+)|(?:half |full |whole )?day|evening|hour|week|weekend|month|season|year"
    r"|(?P<days>weekdays?|weekends|(?:mon|tues|wednes|thurs|fri|satur|sun)days?))"
)
_ADVERBIAL = re.compile(
    r"(?i)(?:overseas|abroad|online|elsewhere(?: in .+)?"
    r"|(?:in|on|at|with|without|during|after|before|within|outside|if|by)\s.+)"
)
_KINDS_OF_OFFER = (
    "plan|tier|edition|package|ticket|fare|tariff|account|membership|subscription|level|option|scheme"
)
"""Nouns of things that are offered under a name."""
_PEOPLE = word_set("Children People Staff Men Women Youth")
_DEPENDENT = re.compile(r"(?i)\b(?:this|that|these|those|if|above$|below$|usually|see)\b")
"""Words of cells that only other cells or notes explain."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_RATE = re.compile(r",?\s(?P<rate>per [a-z]+(?: [a-z]+)?)$")


def cell_questions(text: str, corpus: Corpus) -> Iterator[QuantityQuestion | Fact]:
    """Yield a question for each cell that its column and row name, e.g. the fee for the Plus account."""
    table = parsed_table(text)
    if table is None:
        return
    lead = _lead(text, corpus)
    context = TableContext(
        table,
        corpus,
        _noun_of_cells(table) or _noun(lead[0] if lead else ""),
        _kinds(table),
        " ".join(lead[-2:]),
    )
    names = Counter(row[0].casefold() for row in table.rows)
    for row in table.rows:
        # A row may be shorter than the head.
        for at, cell in enumerate(row[1:], 1):
            is_long = len(cell) > _MAX_CELL_CHARS
            if is_long or _EMPTY.fullmatch(cell) or cell.casefold() in names or names[row[0].casefold()] > 1:
                continue
            cell = REMARK.sub("", cell)
            if question := _question(row[0], at, cell, context):
                yield from _answered(
                    question, cell, _unit(table.heads[at]) if _BARE_NUMBER.fullmatch(cell) else ""
                )


def _lead(table: str, corpus: Corpus) -> list[str]:
    """Return the heading over a table, and the sentences between."""
    if table not in corpus.sentences:
        return []
    at = corpus.sentences.index(table)
    lead: list[str] = []
    for sentence in reversed(corpus.sentences[max(0, at - 12) : at]):
        lead.insert(0, sentence)
        if not sentence.endswith((".", ":", "|", ";")):
            break
    return lead


def _noun(heading: str) -> str:
    """Return the property that a heading names, in the singular: "admission charge"."""
    words = re.sub(r"^[\dA-Z]{1,2}(?:\.\d+)*[.)]?\s", "", heading).split()
    head = singular(main_noun(words)) if words else ""
    if head not in _PROPERTIES or heading.endswith("."):
        return ""
    end = next(at for at, word in enumerate(words) if singular(word.lower()) == head)
    phrase = [word.lower() for word in words[:end]] + [head]
    return " ".join(phrase) if len(phrase) <= 2 and _NO_HEADING.isdisjoint(phrase) else head


def _noun_of_cells(table: Table) -> str:
    """Return the property that a cell says is missing: "No refund"."""
    cells = (
        re.fullmatch(r"No (?P<noun>[a-z]+)", REMARK.sub("", cell)) for row in table.rows for cell in row[1:]
    )
    return next((cell["noun"] for cell in cells if cell is not None and cell["noun"] in _PROPERTIES), "")


def _kinds(table: Table) -> tuple[str, ...]:
    """Return the kind of quantity of most cells of each column, "" for words, or different kinds."""
    kinds = []
    for at in range(len(table.heads)):
        cells = [REMARK.sub("", row[at]) for row in table.rows if len(row) > at]
        hits = [
            quantities(cell) for cell in cells if not _EMPTY.fullmatch(cell) and not cell.startswith("No ")
        ]
        of_column = Counter(hit[0].kind for hit in hits if hit)
        kind, count = of_column.most_common(1)[0] if of_column else ("", 0)
        kinds.append(kind if len(of_column) == 1 and 2 * count > len(hits) else "")
    return tuple(kinds)


def _question(name: str, at: int, cell: str, context: TableContext) -> str:
    """Return the question for a cell, "" where its row or column has no plain name."""
    table = context.table
    first, head = table.heads[0].lower(), REMARK.sub("", table.heads[at])
    if not head:
        return ""
    if not first:
        return _of_property(name, head, cell)
    if signal := _SIGNAL.fullmatch(first):
        return _of_signal(name, head, signal["name"])
    name = REMARK.sub("", name).strip()
    is_code, is_band = CODE.fullmatch(name) is not None, BAND.fullmatch(name) is not None
    if not (is_code or is_band):
        if not _ROW.fullmatch(name) or _CLAUSE.search(name) or len(name.split()) > MAX_ROW_WORDS:
            return ""
        if _frequency_condition(cell) and (question := _frequency(name, head)):
            return question
        if len(table.heads) == 2 and (first in _SPECIFIED or head.lower() in _VALUES):
            return f"What is the {with_small_initial(name)}?" if _is_attribute(name) else ""
        if head.lower() in _TASKS - _PROPERTIES:
            is_recurring = re.match(r"(?i)(?:every|after|once|twice)\s", cell) is not None
            return (
                f"How often should I {head.lower()} the {with_small_initial(name)}?" if is_recurring else ""
            )
        if _is_task(name) or _OTHERS.match(name):
            return ""
    return _of_column(name, at, cell, context)


def _of_column(name: str, at: int, cell: str, context: TableContext) -> str:
    """Return the question for the property of a row that a column names, or the section for all columns."""
    head, label = context.table.heads[at], context.table.heads[0]
    match = _HEAD.fullmatch(head)
    if passive := _ASKED_FOR.fullmatch(head):
        row = row_phrase(name, context, "", article="the")
        is_period = context.kinds[at] == "period" or any(each.kind == "period" for each in quantities(cell))
        verb = "are" if is_plural_name(name.split()) or "," in name or " and " in name else "is"
        return f"For how long {verb} {row} {passive['participle'].lower()}?" if row and is_period else ""
    if limit := _EXTREME.fullmatch(head):
        word = "maximum" if limit["limit"].lower().startswith("max") else "minimum"
        if is_plural_name(limit["noun"].split()) and re.fullmatch(r"\d+", cell):
            return _with_row(f"What is the {word} number of {limit['noun']}", name, "number", context)
        match = _HEAD.fullmatch(f"{word.capitalize()} {limit['noun']}")
    if match is None or not _is_attribute(match["noun"]):
        return _of_case(name, at, cell, context)
    column = _COLUMNS.get(match["noun"].lower(), with_small_initial(match["noun"]))
    is_bare = _BARE_NUMBER.fullmatch(cell) is not None
    if column in _VAGUE or (is_bare and not _unit(head) and not column.endswith(("number", "capacity"))):
        return ""
    noun = main_noun(column.split())
    if rate := re.fullmatch(r"(?:price|cost)(?P<rate> per [a-z ]+)?", column):
        return _cost(name, (rate["rate"] or "").strip(), context) if context.kinds[at] == "money" else ""
    if column in _BOUNDS:
        # "Minimum": of what its quantity measures.
        dimensions = {
            UNITS[unit].dimension
            for each in quantities(cell)
            if (unit := unit_of(each.text).lower()) in UNITS
        }
        if len(dimensions) != 1:
            return ""
        column = f"{column} {dimensions.pop()}"
    beginning = "How much is" if context.kinds[at] == "money" else "What is"
    return _with_row(f"{beginning} the {column}", name, noun, context, label=label)


def _of_case(name: str, at: int, cell: str, context: TableContext) -> str:
    """Return the question for a column that is a case: "How much does a single visit cost for adults?"."""
    kind, noun = context.kinds[at], context.noun
    alike = [head for head, other in zip(context.table.heads, context.kinds, strict=True) if other == kind]
    is_shared = kind not in ("", "number") and len(alike) > 1 and not any(map(_is_attribute, alike))
    if kind == "money" and noun.split()[-1:] not in _NOUNS_OF_MONEY:
        noun = "price" if context.table.heads[0].lower() in _SOLD else ""
    if not quantities(cell):
        return ""
    case = _case(REMARK.sub("", context.table.heads[at]), context)
    last = noun.split()[-1] if noun else ""
    if last not in _LIMITS and (last in _NOUNS_OF_TIME) != (kind in ("period", "date")):
        return ""
    if not is_shared or not case or not noun or CODE.fullmatch(name):
        return ""
    if kind == "money" and noun.split()[-1] in _NOUNS_OF_SALE:
        return _cost(name, case, context)
    row = _RATE.sub("", name)
    rate = _RATE.search(name)
    return _with_row(
        f"What is the {noun}", row, noun.split()[-1], context, rate=rate["rate"] if rate else "", case=case
    )


def _case(head: str, context: TableContext) -> str:
    """Return a column as an adverbial: "in London", "for adults"; "" for one that is not sure."""
    if _ADVERBIAL.fullmatch(head):
        return head[0].lower() + head[1:]
    if time := _TIME_COLUMN.fullmatch(head):
        if time["per"]:
            return f"per {time['per']}"
        return f"on {head.lower()}" if time["days"] else f"for a {head.lower()}"
    head = head.partition(",")[0]
    words = head.split()
    if re.fullmatch(r"[A-Z][a-z-]+(?: [a-z-]+)?", head) and (is_plural_name(words) or head in _PEOPLE):
        return f"for {head.lower()}"
    if _is_place(head, context.corpus):
        return f"in {head}"
    if re.fullmatch(r"(?:Category|Class|Zone|Band|Group|Level) \w{1,2}", head):
        return f"in {with_small_initial(head)}"
    if re.search(r"\b(?:option|plan|account|ticket|card|membership)$", words[-1].lower().rstrip(",")):
        return f"with the {with_small_initial(head)}"
    if band := re.fullmatch(rf"(?P<things>[A-Z][a-z]+s) (?P<band>{BAND.pattern.removeprefix('(?i)')})", head):
        return f"for {band['things'].lower()} {of_band(band['band'])}"
    kind = _kind_of_offer(context) if re.fullmatch(r"[A-Z][a-z]+(?: and [A-Z][a-z]+)?", head) else ""
    return f"with the {head} {kind}{'s' if ' and ' in head else ''}" if kind else ""


def _kind_of_offer(context: TableContext) -> str:
    """Return what the columns of a table are, if the text says it of one: "a Saver ticket"."""
    text = " ".join(context.corpus.sentences)
    names = [name for head in context.table.heads[1:] for name in re.findall(r"\b[A-Z][a-z]+\b", head)]
    matches = (re.search(rf"\b{name} (?P<kind>{_KINDS_OF_OFFER})\b", text) for name in names)
    return next((match["kind"] for match in matches if match is not None), "")


def _is_place(name: str, corpus: Corpus) -> bool:
    pipeline = open_pipeline(corpus.pipeline)
    is_title = all(word[0].isupper() for word in name.split())
    doc = pipeline.parse(f"She lives in {name}.") if pipeline is not None and is_title else None
    is_named = doc is not None and any(each.ent_type_ == "GPE" for each in doc)
    return name.lower() in _REGIONS or is_named


def _cost(name: str, rest: str, context: TableContext) -> str:
    """Return the question for what the thing of a row costs; the period of a row goes to the end."""
    rate = _RATE.search(name)
    thing = _RATE.sub("", name)
    # "The dining room", where the documents speak of one only.
    texts = " ".join(context.corpus.sentences).lower()
    articles = set(re.findall(rf"\b(an?|each|any|the) {re.escape(thing.lower())}\b", texts))
    row = row_phrase(thing, context, "", article="the" if articles == {"the"} else "a")
    verb = "do" if is_plural_name(name.split()) or " and " in row else "does"
    words = ("How much", verb, row, "cost", rate["rate"] if rate else "", rest)
    return f"{' '.join(filter(None, words))}?" if row else ""


def _with_row(
    beginning: str,
    name: str,
    noun: str,
    context: TableContext,
    *,
    label: str = "",
    rate: str = "",
    case: str = "",
) -> str:
    """Return a question for the property of a row."""
    if re.match(r"(?:After|Before|During|Within|Outside|With|Without|In|On|At|From)\s", name):
        return f"{beginning} {' '.join(filter(None, (with_small_initial(name), rate, case)))}?"
    row = row_phrase(name, context, noun, article="the" if not case else "a")
    kind = label_of_rows(context.table.heads[0].lower(), context.before)
    is_place = kind in AREA_HEADS or kind in ("room", "hall", "ward", "area", "pool", "store")
    link = "of" if noun in _INHERENT else "in" if is_place and noun != "rent" else "for"
    texts = (beginning, link, row, rate, case)
    return f"{' '.join(filter(None, texts))}?" if row else ""


def _is_attribute(head: str) -> bool:
    """Report whether a heading is a noun phrase whose main noun is an attribute in the singular."""
    words = head.lower().split()
    is_phrase = _NO_HEADING.isdisjoint(words) and words[0] not in LINKS and len(words) <= MAX_HEAD_WORDS
    return bool(words) and is_phrase and main_noun(words) in _PROPERTIES


def _of_property(name: str, head: str, cell: str) -> str:
    """Return the question for a property of a model, or of a year: "What was the funding level in 2024?"."""
    if (
        not re.fullmatch(r"[A-Z][A-Za-z -]+", name)
        or _CLAUSE.search(name)
        or len(name.split()) > MAX_HEAD_WORDS
    ):
        return ""
    if _YEAR.fullmatch(head):
        if _is_attribute(name):
            return f"What was the {with_small_initial(name)} in {head}?"
        is_count = re.fullmatch(r"[\d,]+", cell) and is_plural_name(name.split())
        return f"How many {with_small_initial(name)} were there in {head}?" if is_count else ""
    is_model = re.fullmatch(r"(?=.*[A-Z\d])[A-Z][\w-]*(?: [A-Z\d][\w-]*)+", head)
    return (
        f"What is the {with_small_initial(name)} of the {head}?" if is_model and _is_attribute(name) else ""
    )


def _of_signal(name: str, head: str, signal: str) -> str:
    """Return the question for the meaning of a code or signal, or for what to do about it."""
    name = REMARK.sub("", name)
    if len(name.split()) > MAX_ROW_WORDS or not re.fullmatch(r"[\w, -]+", name):
        return ""
    thing = f"the {signal} {with_small_initial(name)}"
    article = "an" if name[0].lower() in "aeiou" else "a"
    if re.fullmatch(r"[A-Z]*-?\d+", name):
        thing = f"{signal} {name}"
    elif "," in name:
        first, _, second = name.partition(", ")
        if "," in second:
            return ""
        is_state = signal.endswith(_VISIBLE) and len(first.split()) == 1
        other = "an" if second[0] in "aeiou" else "a"
        thing = f"{article} {with_small_initial(first)} with {other} {second}"
        if is_state:
            thing = f"{other} {second} {first.lower()} {signal}"
    elif signal.endswith(_VISIBLE):
        is_noun = name.lower().endswith(_VISIBLE)
        thing = f"{article} {name.lower()}{'' if is_noun else f' {signal}'}"
    if head.lower() in _MEANINGS:
        return f"What does {thing} mean?"
    return f"What should I do in case of {thing}?" if head.lower() in _REMEDIES else ""


def _frequency(name: str, head: str) -> str:
    """Return the question for a task, or for a part and what is done to it: "How often should I …"."""
    if head.lower() in _FREQUENCIES and _is_task(name):
        return f"How often should I {with_small_initial(name)}?"
    is_part = head.lower() in _TASKS and head.lower() not in _PROPERTIES and not _is_task(name)
    return f"How often should I {head.lower()} the {with_small_initial(name)}?" if is_part else ""


def _is_task(name: str) -> bool:
    words = name.lower().split()
    return words[0] in _TASKS and words[1:2] != [] and words[1] in _DETERMINERS


def _unit(head: str) -> str:
    """Return the unit of measure in the head of a column: "Volume (m³)"."""
    match = re.search(r"\((?P<unit>[^()\d\s]{1,8})\)$", head)
    return match["unit"] if match is not None else ""


def _answered(question: str, cell: str, unit: str) -> Iterator[QuantityQuestion | Fact]:
    """Yield a question with the condition of its cell: by the only quantity, or by words.

    Args:
        unit: of a cell that has a number only, "" for others.
    """
    match, hits = _CELL.fullmatch(cell), quantities(cell)
    if match is not None and len(hits) == 1 and hits[0].text == match["text"]:
        yield QuantityQuestion(
            question=question,
            quantity=hits[0],
            answer=f"{cell} {unit}".strip(),
            condition=pattern(hits[0].text),
        )
        return
    is_long = not hits and len(cell.split()) > _MAX_WORDS_WITHOUT_QUANTITY
    is_property = not question.startswith(("What should I do", "What does"))
    if is_property and (is_long or _CLAUSE.search(cell) or _DEPENDENT.search(cell)):
        return
    condition = _frequency_condition(cell) or keywords_condition(cell)
    is_short = len(cell.split()) <= _MAX_CELL_WORDS
    if condition and is_short and parse_condition(condition).check(cell):
        yield Fact(question=question, answer=cell, condition=condition)


def _frequency_condition(cell: str) -> str:
    """Return the condition of a frequency: "every 3 months", "weekly"; "" for other text."""
    text = cell.lower()
    if unit := _ADVERBS.get(text):
        others = "|".join(adverb for adverb, other in _ADVERBS.items() if other == unit)
        return str(Regexp(rf"(?i)\b(?:{others}|(?:every|once an?|once per|each) {unit})\b"))
    hits = quantities(cell)
    is_period = len(hits) == 1 and hits[0].kind == "period" and text == f"every {hits[0].text.lower()}"
    return quantity_condition(cell) if is_period else ""
