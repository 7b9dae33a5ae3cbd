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

import support.linear_scoring  # noqa: F401  # adds its functions to the table
from support.linear_table import BOUNDS, FUNCTIONS, TEXTS, Function, measured, refused, text_of

__all__ = ["BOUNDS", "FUNCTIONS", "TEXTS"]


# text


@measured("text.numbers", 8.0)
def _numbers(text: str) -> None:
    from fractions import Fraction

    from pytest_evalstudio.text.comparison import find_number
    from pytest_evalstudio.text.numbers import FigureIndex

    FigureIndex().read(text)
    find_number(text, Fraction(977), unit="USD")


@measured("text.values", 16.0)
def _values(text: str) -> None:
    from pytest_evalstudio.text.affirmation import polarity_of
    from pytest_evalstudio.text.paraphrases import paraphrase
    from pytest_evalstudio.text.stated_values import find_value, value_alone

    value = value_alone("30 minutes")
    assert value is not None
    find_value(text, value)
    polarity_of(text, text)
    paraphrase(text)


@measured("text.words", 4.0)
def _words(text: str) -> None:
    from pytest_evalstudio.text.comparison import has_part
    from pytest_evalstudio.text.words import signs_of, split_unspaced, words_of

    words_of(text)
    signs_of(text)
    split_unspaced(text)
    has_part(text, "977")
    has_part(text, text[:20])


@measured("formats.json_formats", 4.0)
def _formats(text: str) -> None:
    from pytest_evalstudio.formats.json_formats import FORMATS, has_format

    for name in FORMATS:
        has_format(text, name)


@measured("text.comparison", 4.0)
def _labels_as_texts(text: str) -> None:
    from pytest_evalstudio.text.comparison import equal_by_value, normal_label

    normal_label(text)
    equal_by_value(text, text[1:])


@measured("text.claims", 8.0)
def _claims(text: str) -> None:
    from pytest_evalstudio.text.claims import claims_of, content_of, stated_figures, statements_of

    claims_of(text)
    content_of(text)
    statements_of(text)
    stated_figures(text)


@measured("text.thoughts")
def _thoughts(text: str) -> None:
    from pytest_evalstudio.text.thoughts import split_thoughts

    split_thoughts(text)


@measured("formats.cells", 4.0)
def _cells(text: str) -> None:
    from pytest_evalstudio.formats.cells import list_in, object_in

    list_in(f"[{text}]")
    object_in(f"{{{text}}}")


# metrics


@measured("core.display")
def _display(text: str) -> None:
    from pytest_evalstudio.core.display import visible, visible_json, visible_lines

    visible(text)
    visible_lines("::" + text)
    visible_json(json.dumps(text))


@measured("core.text.is_blank")
def _blank(text: str) -> None:
    from pytest_evalstudio.core.text import is_blank

    is_blank(text)
    is_blank("\u200b" * len(text))


@measured("metrics.detectors.find_account_activity")
def _account_activity(text: str) -> None:
    from pytest_evalstudio.metrics.detectors.activity import find_account_activity

    find_account_activity(f"$1 {text}")
    find_account_activity(f"{text} $1 ".join(["she ", "her "]))


@measured("text.refusals.is_refusal")
def _refusal(text: str) -> None:
    from pytest_evalstudio.text.refusals import is_refusal

    is_refusal(text, text)
    is_refusal(text, phrases=["not here", text[:20]])


@measured("core.attachments.media_type_of")
def _media_type(text: str) -> None:
    from pytest_evalstudio.core.attachments import media_type_of

    content = text.encode("utf-8", "surrogatepass")
    for beginning in (b"", b"PK\x03\x04", b"RIFF"):
        media_type_of(beginning + content, f"{text[:50]}.md")


@measured("hosts._faults.quoted")
def _quoted(text: str) -> None:
    from pytest_evalstudio.hosts._faults import quoted

    quoted(f"data:image/png;base64,{text}", str)
    quoted(f"{'QUJD' * 100} {text}", str)


@measured("hosts._attachments.bedrock_name")
def _bedrock_name(text: str) -> None:
    from pytest_evalstudio.hosts._attachments import bedrock_name

    bedrock_name(text, 1)
    bedrock_name(f"{text}.pdf", 1)


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
    refused(lambda reply: read_reply(reply, schema), text)
    refused(lambda reply: read_reply(f'{{"verdict": "yes", "reason": "{reply}"}} ```json {{', schema), text)


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
    prompts.render_repair(prompt, text, "is not JSON")


# asking


@measured("secrets.mask_message")
def _secrets(text: str) -> None:
    from pytest_evalstudio.asking.secrets import Secrets

    secrets = Secrets()
    settings = secrets.expand({"api_key": "${KEY}", "url": "http://a:b@c"}, env={"KEY": "12345678"})
    secrets.mask(text)
    secrets.mask_message(text)
    secrets.masked({**settings, "prompt": text})


@measured("secrets.expand")
def _expand(text: str) -> None:
    from pytest_evalstudio.asking.secrets import Secrets

    refused(lambda value: Secrets().expand({"prompt": value}, env={"a": "b"}), text)


# formats


@measured("condition.parse", 3.0)
def _condition(text: str) -> None:
    from pytest_evalstudio.formats.condition import parse_condition
    from pytest_evalstudio.formats.condition_writing import substring_condition

    parse = parse_condition.__wrapped__
    refused(parse, text)
    refused(parse, f'"{text}" AND "a"')
    str(parse(substring_condition(text)))


@measured("condition.parse of a pattern", 3.0)
def _pattern(text: str) -> None:
    from pytest_evalstudio.formats.condition import parse_condition

    refused(parse_condition.__wrapped__, f"regexp({text})")
    refused(parse_condition.__wrapped__, f'regexp("{text}")')


@measured("condition.check")
def _check(text: str) -> None:
    from pytest_evalstudio.formats.condition import parse_condition

    parse_condition('NOT ("Paris" OR "b") AND "c" AND regexp("^[A-Z][0-9]+$")').check(text)


@measured("source.json", 2.0)
def _json(text: str) -> None:
    from pytest_evalstudio.formats.source import parse

    refused(lambda content: parse(content, "f.json"), text)
    refused(lambda content: parse(f'{{"tests": [{content}', "f.json"), text)
    source = parse(json.dumps({"a": [text, {"b": text}], "c": 1}), "f.json")
    source.locate("/a/1/b")
    source.locate("/c")


@measured("source.json repaired", 3.0)
def _repaired(text: str) -> None:
    from pytest_evalstudio.formats.source import parse

    parse(f'{{"a": {json.dumps(text, ensure_ascii=False)},}}', "f.json")
    refused(
        lambda content: parse(f'{{"a": {json.dumps(content, ensure_ascii=False)}, "a": 1}}', "f.json"), text
    )
    refused(
        lambda content: parse(f'{{"a": {json.dumps(content, ensure_ascii=False)}, "b": NaN}}', "f.json"), text
    )


@measured("source.yaml", 3.0)
def _yaml(text: str) -> None:
    from pytest_evalstudio.formats.source import parse

    refused(lambda content: parse(content, "f.yaml", yaml=True), text)
    refused(lambda content: parse(f"tests: [{content}", "f.yaml", yaml=True), text)
    refused(
        lambda content: parse(content, "f.yaml", yaml=True).locate("/c"),
        f"a: |\n  x{text.replace(chr(10), chr(32))}\nc: 1\n",
    )


@measured("dataset.csv", 3.0)
def _csv(text: str) -> None:
    from pytest_evalstudio.formats.csv_text import parse_csv

    refused(lambda content: parse_csv(content, "f.csv"), text)
    refused(lambda content: parse_csv(f"input,context\r\n{content}", "f.csv"), text)


@measured("dataset.csv header", 3.0)
def _csv_header(text: str) -> None:
    from pytest_evalstudio.formats.csv_text import parse_csv

    header = ",".join(f"{text[place : place + 3]}{place}" for place in range(0, len(text) // 4, 4))
    refused(lambda content: parse_csv(content, "f.csv"), f"input,{header}\r\n1,2\r\n")


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
    from pytest_evalstudio.analysis.gates import parse_gate

    refused(parse_gate, text)
    refused(parse_gate, f"{text} >= 0.3")
    refused(parse_gate, f"rouge.rouge_l >= {text}")


@measured("where.parse", 3.0)
def _where(text: str) -> None:
    from pytest_evalstudio.scoring.perturbing.where import Where

    refused(Where, text)


# documents


def _document(suffix: str) -> Function:
    def convert(text: str) -> None:
        from pytest_evalstudio.hosts._documents import converted

        refused(lambda content: converted(content.encode(), suffix, "document"), text)

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
    from pytest_evalstudio.core.outcomes import Fragment, Metric
    from pytest_evalstudio.report.highlight import segments

    starts = range(0, len(text), 1000)
    fragments = [Fragment(start=place, end=place + 3, scores={"m": 0.1}) for place in starts]
    segments(text, fragments, Metric("m", "M", threshold=0.5, primary=True))


@measured("report.highlight of nested fragments")
def _nested(text: str) -> None:
    from pytest_evalstudio.core.outcomes import Fragment, Metric
    from pytest_evalstudio.report.highlight import segments

    count = len(text) // 100
    fragments = [
        Fragment(start=place, end=len(text) - place, scores={"m": place / len(text)})
        for place in range(count)
    ]
    segments(text, fragments, Metric("m", "M", threshold=0.5, primary=True))


@measured("report.worddiff")
def _worddiff(text: str) -> None:
    from pytest_evalstudio.report.worddiff import changed_words

    changed_words(text, text[len(text) // 2 :] + text[: len(text) // 2])
    changed_words(text, "")


@measured("comparison.windows")
def _windows(text: str) -> None:
    from pytest_evalstudio.text.windows import change_windows, word_diff

    word_diff(change_windows(text, text[len(text) // 2 :] + text[: len(text) // 2]))
    change_windows(text, "")


@measured("engine.shrinking.edits")
def _edits(text: str) -> None:
    from pytest_evalstudio.text.edits import applied, changes_between

    other = text[len(text) // 2 :] + text[: len(text) // 2]
    applied(text, [edit for change in changes_between(text, other) for edit in change])
    changes_between(text, text.replace("a", "b"))
    changes_between(text, "")


@measured("report.labels")
def _labels(text: str) -> None:
    from pytest_evalstudio.plots.labels import natural_key, short_labels

    short_labels([text + "a", text + "b"])
    natural_key(text)


@measured("report.markdown")
def _markdown(text: str) -> None:
    from pytest_evalstudio.core.markdown import code, escaped

    escaped(text)
    escaped(text, len(text))
    code(text)


def serve() -> None:
    """Answer requests on standard input until it ends."""
    warm: set[str] = set()
    for line in sys.stdin:
        request = json.loads(line)
        name = request["function"]
        function = FUNCTIONS[name]
        if name not in warm:
            function('A first sentence. And 1 "more" (é).\n\nb')
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
