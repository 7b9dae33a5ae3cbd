"""Functions that handle text of strangers, and the texts that show whether their time is linear.

Run as a script it serves measurements: a line of JSON with `function`, `text`, `size` and `limit` on standard
input gives a line with the seconds of CPU time on standard output; a call that takes more than the limit ends
the process. A separate process is needed because a regular expression cannot be interrupted.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

Function = Callable[[str], Any]

TEXTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "blanks": ("", " "),
        "newlines": ("", "\n"),
        "tabs": ("", "\t"),
        "blanks then letter": ("x", " "),
        "blank lines": ("", " \n"),
        "brackets": ("", "["),
        "images": ("", "!["),
        "links": ("", "[a]("),
        "heading of blanks": ("# ", " "),
        "headings": ("", "# "),
        "thoughts": ("", "<think>"),
        "fence of blanks": ("```", " "),
        "fences": ("", "``` "),
        "parentheses": ("", "("),
        "quotes": ("", '"'),
        "quoted letters": ("", '"a'),
        "backslashes": ("", "\\"),
        "optional letters": ("", "a?"),
        "letters": ("", "a"),
        "digits": ("", "1"),
        "at signs": ("", "@"),
        "full stops": ("", "."),
        "hyphens": ("", "-"),
        "addresses": ("", "a@"),
        "dotted addresses": ("", "a.b@c."),
        "urls": ("", "http://"),
        "logins": ("", "http://a:b"),
        "braces": ("", "{"),
        "double braces": ("", "{{"),
        "references": ("", "${a"),
        "negations": ("", "NOT "),
        "opened parentheses": ("", "((("),
        "less than": ("", "<"),
        "tags": ("", "<a "),
        "comments": ("", "<!--"),
        "attributes": ("", '<a b="'),
        "ended attributes": ("", '<a b=">'),
        "entities": ("", "&amp;"),
        "accents": ("a", "\u0301"),
        "emoji": ("", "\U0001f600"),
        "direction marks": ("", "\u202e"),
        "ideographs": ("", "\u4e2d"),
        "words": ("", "word "),
        "initials": ("", "A. "),
        "initials without blanks": ("", "A."),
        "commas": ("", ","),
        "semicolons": ("", ";"),
        "numbers": ("", "1,"),
        "decimals": ("", "1.5 "),
        "hexadecimal": ("", "0x"),
        "pairs of hexadecimal": ("", "0a "),
        "colons": ("", "::"),
        "apostrophes": ("", "a'"),
        "underscores": ("", "_"),
        "passwords": ("", "password: "),
        "certificates": ("", "-----BEGIN CERTIFICATE-----\n"),
        "numbered steps": ("", "1. do "),
        "rules": ("", "- "),
        "dates": ("", "1 March "),
        "amounts": ("", "$1 "),
        "sentences": ("", "The fee is 5. "),
        "unfinished sentence": ("A ", "is "),
        "front matter": ("---\n", "--- \n"),
        "carriage returns": ("", "\r"),
        "keys": ("", "a: {"),
        "anchors": ("", "- &a\n"),
        "null bytes": ("", "\0"),
    }
)
"""By name, the beginning of a text and what is repeated after it."""

FUNCTIONS: dict[str, Function] = {}
"""By name; each function takes a text."""
BOUNDS: dict[str, float] = {}
"""Seconds of CPU time for a million characters."""


def measured(name: str, seconds: float = 1.0) -> Callable[[Function], Function]:
    """Add a function to the table.

    Args:
        seconds: of CPU time that a million characters may take; more than one second only where a library
            takes it.
    """

    def add(function: Function) -> Function:
        FUNCTIONS[name] = function
        BOUNDS[name] = seconds
        return function

    return add


def text_of(name: str, size: int) -> str:
    """A text of a kind with a given number of characters."""
    start, repeated = TEXTS[name]
    return (start + repeated * (size // len(repeated) + 1))[:size]


def _refused(function: Function, text: str) -> None:
    """Call a function that may refuse the text with an error for users."""
    from pytest_evalstudio.core.errors import EvalStudioError
    from pytest_evalstudio.core.plugins.host import HostFault

    try:
        function(text)
    except (EvalStudioError, HostFault, ValueError):
        return


# judges


@measured("judges.fence")
def _fence(text: str) -> None:
    from pytest_evalstudio.judges.fence import fence_mark, fenced, on_lines_of_their_own

    mark = fence_mark([text])
    on_lines_of_their_own(f"Is {fenced('answer', text, mark)} right? {text}", mark)


@measured("judges.parsing.read_reply")
def _reply(text: str) -> None:
    from pytest_evalstudio.judges.parsing import read_reply

    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["yes", "no"]}, "reason": {"type": "string"}},
        "required": ["verdict"],
    }
    _refused(lambda reply: read_reply(reply, schema), text)
    _refused(lambda reply: read_reply(f'{{"verdict": "yes", "reason": "{reply}"}} ```json {{', schema), text)


@measured("judges.prompts.render")
def _prompt(text: str) -> None:
    from pytest_evalstudio.core.judging import Question
    from pytest_evalstudio.core.replies import record
    from pytest_evalstudio.core.replies import text as sentence
    from pytest_evalstudio.judges.prompts import Prompts

    prompts = Prompts()
    prompt = prompts.render(
        Question(prompt="false_premise", texts={"question": text}, reply=record(question=sentence("q")))
    )
    prompts.render_repair(prompt, text, "is no JSON")


# asking


@measured("secrets.mask_message")
def _secrets(text: str) -> None:
    from pytest_evalstudio.engine.asking.secrets import Secrets

    secrets = Secrets()
    settings = secrets.expand({"api_key": "${KEY}", "url": "http://a:b@c"}, env={"KEY": "12345678"})
    secrets.mask(text)
    secrets.mask_message(text)
    secrets.masked({**settings, "prompt": text})


@measured("secrets.expand")
def _expand(text: str) -> None:
    from pytest_evalstudio.engine.asking.secrets import Secrets

    _refused(lambda value: Secrets().expand({"prompt": value}, env={"a": "b"}), text)


# formats


@measured("condition.parse", 3.0)
def _condition(text: str) -> None:
    from pytest_evalstudio.formats.condition import parse_condition, substring_condition

    parse = parse_condition.__wrapped__
    _refused(parse, text)
    _refused(parse, f'"{text}" AND "a"')
    str(parse(substring_condition(text)))


@measured("condition.parse of a pattern", 3.0)
def _pattern(text: str) -> None:
    from pytest_evalstudio.formats.condition import parse_condition

    _refused(parse_condition.__wrapped__, f"regexp({text})")
    _refused(parse_condition.__wrapped__, f'regexp("{text}")')


@measured("condition.check")
def _check(text: str) -> None:
    from pytest_evalstudio.formats.condition import parse_condition

    parse_condition('NOT ("Paris" OR "b") AND "c" AND regexp("^[A-Z][0-9]+$")').check(text)


@measured("source.json", 2.0)
def _json(text: str) -> None:
    from pytest_evalstudio.formats.source import parse

    _refused(lambda content: parse(content, "f.json"), text)
    _refused(lambda content: parse(f'{{"tests": [{content}', "f.json"), text)
    source = parse(json.dumps({"a": [text, {"b": text}], "c": 1}), "f.json")
    source.locate("/a/1/b")
    source.locate("/c")


@measured("source.json repaired", 3.0)
def _repaired(text: str) -> None:
    from pytest_evalstudio.formats.source import parse

    parse(f'{{"a": {json.dumps(text, ensure_ascii=False)},}}', "f.json")
    _refused(
        lambda content: parse(f'{{"a": {json.dumps(content, ensure_ascii=False)}, "a": 1}}', "f.json"), text
    )
    _refused(
        lambda content: parse(f'{{"a": {json.dumps(content, ensure_ascii=False)}, "b": NaN}}', "f.json"), text
    )


@measured("source.yaml", 3.0)
def _yaml(text: str) -> None:
    from pytest_evalstudio.formats.source import parse

    _refused(lambda content: parse(content, "f.yaml", yaml=True), text)
    _refused(lambda content: parse(f"tests: [{content}", "f.yaml", yaml=True), text)
    _refused(
        lambda content: parse(content, "f.yaml", yaml=True).locate("/c"),
        f"a: |\n  x{text.replace(chr(10), chr(32))}\nc: 1\n",
    )


@measured("dataset.csv", 6.0)
def _csv(text: str) -> None:
    from pytest_evalstudio.formats.dataset import parse_csv

    _refused(lambda content: parse_csv(content, "f.csv"), text)
    _refused(lambda content: parse_csv(f"input,context\r\n{content}", "f.csv"), text)


@measured("dataset.csv header", 6.0)
def _csv_header(text: str) -> None:
    from pytest_evalstudio.formats.dataset import parse_csv

    header = ",".join(f"{text[place : place + 3]}{place}" for place in range(0, len(text) // 4, 4))
    _refused(lambda content: parse_csv(content, "f.csv"), f"input,{header}\r\n1,2\r\n")


@measured("keys.derived_key")
def _key(text: str) -> None:
    from pytest_evalstudio.formats.keys import derived_key

    derived_key(text, text, [])


@measured("config.find")
def _config(text: str) -> None:
    from pytest_evalstudio.formats.recognition import _TABLE

    _TABLE.search(text)


@measured("gates.parse")
def _gate(text: str) -> None:
    from pytest_evalstudio.engine.analysis.gates import parse_gate

    _refused(parse_gate, text)
    _refused(parse_gate, f"{text} >= 0.3")
    _refused(parse_gate, f"rouge.rouge_l >= {text}")


@measured("where.parse", 3.0)
def _where(text: str) -> None:
    from pytest_evalstudio.engine.perturbing.where import Where

    _refused(Where, text)


# documents


def _document(suffix: str) -> Function:
    def convert(text: str) -> None:
        from pytest_evalstudio.hosts._documents import converted

        _refused(lambda content: converted(content.encode(), suffix, "document"), text)

    return convert


measured("documents.markdown")(_document(".md"))
measured("documents.html", 2.0)(_document(".html"))
measured("documents.text")(_document(".txt"))


@measured("extractive.chunks")
def _chunks(text: str) -> None:
    from pytest_evalstudio.hosts.extractive import grouped

    grouped(text.split("\n"), 800, 150)
    grouped(text.split(" "), 800, 150)


# report


@measured("report.highlight")
def _highlight(text: str) -> None:
    from pytest_evalstudio.core.outcomes import Metric
    from pytest_evalstudio.record.schema import Mark
    from pytest_evalstudio.report.highlight import segments

    fragments = [Mark(start=place, end=place + 3, scores={"m": 0.1}) for place in range(0, len(text), 1000)]
    segments(text, fragments, Metric("m", "M", threshold=0.5, primary=True))


@measured("report.highlight of nested fragments")
def _nested(text: str) -> None:
    from pytest_evalstudio.core.outcomes import Metric
    from pytest_evalstudio.record.schema import Mark
    from pytest_evalstudio.report.highlight import segments

    count = len(text) // 100
    fragments = [
        Mark(start=place, end=len(text) - place, scores={"m": place / len(text)}) for place in range(count)
    ]
    segments(text, fragments, Metric("m", "M", threshold=0.5, primary=True))


@measured("report.markdown")
def _markdown(text: str) -> None:
    from pytest_evalstudio.core.markdown import code, escaped

    escaped(text)
    escaped(text, len(text))
    code(text)


# detectors


@measured("detectors.find_pii", 2.5)
def _pii(text: str) -> None:
    from pytest_evalstudio.metrics.detectors import find_pii

    find_pii(text)


@measured("detectors.find_secrets", 2.5)
def _find_secrets(text: str) -> None:
    from pytest_evalstudio.metrics.detectors import find_secrets

    find_secrets(text)


@measured("detectors.redact", 4.0)
def _redact(text: str) -> None:
    from pytest_evalstudio.metrics.detectors import redact

    redact(text)


# evaluators


@measured("sentences.split_sentences", 20.0)
def _sentences(text: str) -> None:
    from pytest_evalstudio.models.sentences import split_sentences

    split_sentences(text)


def _scored(evaluator: str, *, context: bool = False, **fields: str) -> Function:
    def score(text: str) -> None:
        from pytest_evalstudio.core.cases import Case
        from pytest_evalstudio.core.plugins.registry import Registry
        from pytest_evalstudio.core.tools import Tools
        from pytest_evalstudio.models.sentences import split_sentences

        case = Case(
            key="k",
            question="What is the fee?",
            actual_output=fields.get("actual_output", text),
            expected_output=fields.get("expected_output", text + " paid"),
            condition='"fee" AND NOT regexp("x+")'
            if evaluator in ("text_matching", "encoding_guardrail")
            else "",
            context=(text, "The fee is 5 EUR.") if context else (),
        )
        cls = Registry().evaluators.get(evaluator)
        cls().score([case], Tools(split_sentences=split_sentences))

    return score


measured("evaluators.rouge", 20.0)(_scored("rouge"))
measured("evaluators.bleu", 30.0)(_scored("bleu"))
measured("evaluators.looping_detection", 40.0)(_scored("looping_detection"))
measured("evaluators.lexical_groundedness", 60.0)(_scored("lexical_groundedness", context=True))
measured("evaluators.json_schema")(_scored("json_schema"))
measured("evaluators.classification")(_scored("classification"))
measured("evaluators.text_matching")(_scored("text_matching", context=True))
measured("evaluators.encoding_guardrail", 10.0)(_scored("encoding_guardrail", context=True))
measured("evaluators.pii_leakage", 6.0)(_scored("pii_leakage", context=True))
measured("evaluators.sensitive_data_leakage", 6.0)(_scored("sensitive_data_leakage", context=True))


@measured("encoding_guardrail.decode_hidden", 6.0)
def _decode(text: str) -> None:
    from pytest_evalstudio.evaluators.encoding_guardrail import decode_hidden

    decode_hidden(text)
    decode_hidden(text, hinted=True)


@measured("steps.find_steps", 30.0)
def _find_steps(text: str) -> None:
    from pytest_evalstudio.metrics.steps import find_steps
    from pytest_evalstudio.models.sentences import split_sentences

    find_steps(text, split_sentences)


@measured("steps.merged")
def _merged_steps(text: str) -> None:
    from pytest_evalstudio.metrics.steps import merged

    steps = list(text)
    merged([steps[: len(steps) // 2], [*steps[: len(steps) // 4], "x"]])
    merged([["a", "b"] * (len(steps) // 4), [*["a", "b"] * (len(steps) // 8), "a", "a"]])


@measured("overlap.rouge_l", 2.0)
def _rouge_l(text: str) -> None:
    from pytest_evalstudio.metrics.overlap import rouge_l

    words = [str(number) for number in range(len(text) // 6)]
    _refused(lambda _: rouge_l(words, words[::-1]), text)


@measured("steps.likeness")
def _likeness(text: str) -> None:
    from pytest_evalstudio.metrics.steps import likeness

    likeness(text, text[:-1] + "z")


@measured("sentiment.lexicon", 4.0)
def _sentiment(text: str) -> None:
    from pytest_evalstudio.metrics.sentiment import lexicon_sentiment

    lexicon_sentiment(text)


@measured("artifacts.check_declared", 2.0)
def _artifact(text: str) -> None:
    import tempfile

    from pytest_evalstudio.evaluators._artifacts import ArtifactFault, check_declared

    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.json", "a.txt", "a.csv"):
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            try:
                check_declared(path, contains=["no such text"])
            except ArtifactFault:
                continue


@measured("document_recall.missing_documents")
def _recall(text: str) -> None:
    from pytest_evalstudio.metrics.ranking import missing_documents

    missing_documents([text, "b.pdf"], [text, f"http://{text}"])


# perturbations


def _perturbed(name: str) -> Function:
    def perturb(text: str) -> None:
        from pytest_evalstudio.core.plugins.registry import Registry

        Registry().perturbators.get(name)().perturb(text, "HIGH", 7)

    return perturb


for _name in (
    *(
        "comma",
        "contextual_misinformation",
        "copy",
        "counterfactual",
        "encoding_base16",
        "encoding_base64",
        "keyboard_typos",
        "ocr",
    ),
    *("qwerty", "random_character", "random_delete", "random_insert", "random_replacement", "word_swap"),
):
    measured(f"perturbations.{_name}", 3.0)(_perturbed(_name))


# texts of workflows


@measured("mrm.quantities", 4.0)
def _quantities(text: str) -> None:
    from pytest_evalstudio.mrm.texts.quantities import quantities

    quantities(text)


@measured("mrm.quantities.pattern")
def _quantity_pattern(text: str) -> None:
    import re

    from pytest_evalstudio.mrm.texts.quantities import pattern

    re.compile(pattern("£2,500.00")).search(text)
    re.compile(pattern("five working days")).search(text)


@measured("mrm.statements")
def _statements(text: str) -> None:
    from pytest_evalstudio.mrm.texts.statements import (
        _NEGATIVE,
        _STATEMENT,
        _UNCLEAR,
        stands_alone,
        statement,
    )

    statement(text)
    statement(f"The {text[:-40]} is one.")
    stands_alone(text)
    _STATEMENT.fullmatch(f"A {text}")
    _NEGATIVE.search(text)
    _UNCLEAR.search(text)


@measured("mrm.words", 4.0)
def _words(text: str) -> None:
    from pytest_evalstudio.mrm.texts.words import content_words, topic_words

    content_words(text)
    topic_words(text)


def serve() -> None:
    """Answer requests on standard input until it ends."""
    warm: set[str] = set()
    for line in sys.stdin:
        request = json.loads(line)
        name = request["function"]
        function = FUNCTIONS[name]
        if name not in warm:
            function("A first sentence. And 1 more.\n\nb")
            warm.add(name)
        text = text_of(request["text"], request["size"])
        signal.setitimer(
            signal.ITIMER_PROF, request["limit"]
        )  # its signal ends the process, whatever runs in it
        start = time.process_time()
        function(text)
        seconds = time.process_time() - start
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps({"seconds": seconds}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    serve()
