"""One side of a comparison: the scores of a record's items, without the texts that are not shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from pytest_evalstudio.analysis.comparison.calls import packed_calls
from pytest_evalstudio.analysis.comparison.changed_tests import digest_bytes
from pytest_evalstudio.analysis.comparison.results import RunLabel
from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.errors import unknown_name
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.core.usage import INPUT, OUTPUT, cached_share
from pytest_evalstudio.record.outline import AnyItem, RowOutline, VerdictOutline
from pytest_evalstudio.record.schema import RecordRow, Run

MAX_ANSWER_CHARS = 4_000
"""Characters of an answer that are kept for a word diff."""
_BETWEEN_CHUNKS = b'","'
"""Bytes of a line between two chunks; within a chunk, quotes are escaped."""
PERTURBATION_SOURCE = "perturbation_source"

Identity = tuple[str, str, str, int]
"""File, key, model and part of an item."""
Segment = tuple[str, str]
"""Kind and value of a group of cases."""
MetricName = tuple[str, str]
"""Evaluator and metric."""
Scores = Mapping[MetricName, float | None]
"""Score of an item by metric, None where a metric was not scored."""


class Measures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Figures and digests of an item's answers.

    Attributes:
        duration_s, cost_usd: means; None where they are not known.
        tokens: mean of the tokens in and out; None where the host does not report them.
        cached_share: mean share of input tokens that come from the service's prompt cache, from 0 to 1; None
            where the host does not report it.
        answers: digest of the answers of all repeats; None where they are not known, or one is missing.
        answer_chars: mean length of the answers in characters; None where `answers` is.
        context: digest of the chunks that came with the answers, in their order; None where it is not known.
        chunks: digest of the same chunks without their order; None where it is not known.
        calls: digest of the called tools and their arguments; None where it is not known.
        tool_calls: mean number of calls; None where no answer calls a tool.
    """

    duration_s: float | None = None
    cost_usd: float | None = None
    tokens: float | None = None
    cached_share: float | None = None
    answers: int | None = None
    answer_chars: float | None = None
    context: int | None = None
    chunks: int | None = None
    calls: int | None = None
    tool_calls: float | None = None


class SideItem(Measures, frozen=True, kw_only=True, gc=False):
    """Properties of an item that a comparison needs.

    Attributes:
        outcome: "passed", "failed", "error", "skipped" or "not_run".
        cluster: file and key of the original case, which perturbations and repeats belong to.
        flaky: whether repeats or attempts disagree.
        passing: ids of the evaluators that pass the item.
        failing: ids of those that fail it; both are empty where some of them do not decide.
        segments: groups of cases that the item belongs to, as kind and value, e.g. ("category", "fees").
        repeats: by evaluator, whether each repeat passes, None where it does not say; {} for one answer.
        scores: by evaluator and metric, None where a metric was not scored.
        case: digest of question and expectation within this process; 0 without a row.
        digest: of the test case as the record has it, see `changed_tests`; b"" where it is not known.
        attachments: digest of the images and files of the question and of the turns; 0 for none.
        documents: names of the documents that the item uses.
        question: beginning of the question of an item that did not pass.
        trajectory: calls of the first answer, packed; see `analysis.comparison.calls`.
    """

    nodeid: str
    outcome: str
    cluster: tuple[str, str]
    flaky: bool
    scores: Scores
    case: int
    documents: tuple[str, ...]
    reason: str
    answer: str
    question: str = ""
    attachments: int = 0
    trajectory: str = ""
    digest: bytes = b""
    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    segments: tuple[Segment, ...] = ()
    repeats: Mapping[str, tuple[bool | None, ...]] = {}

    def score(self, name: MetricName) -> float | None:
        """Return the score of a metric, None where the item has none."""
        return self.scores.get(name)


@dataclass(slots=True)
class Side:
    """A run and its items by identity, in the order of the run.

    Attributes:
        model: the only model of the items, where two models of one run are compared.
        has_not_run: whether the budget of a model left out an item.
        renamed_files: path of a file in this run to its path in the run that it is compared with.
    """

    run: Run
    items: dict[Identity, SideItem] = field(default_factory=dict)
    model: str = ""
    has_not_run: bool = False
    renamed_files: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> RunLabel:
        baseline = self.run.baseline
        return RunLabel(
            run_id=self.run.run_id,
            created=self.run.created,
            commit=self.run.commit,
            items=len(self.items),
            has_answers=baseline is None or baseline.has_answers,
            model=self.model,
        )


_JUDGED = frozenset({"passed", "failed", "xpassed", "xfailed"})
_OUTCOMES = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "xfailed": "failed",
    "error": "error",
    "skipped": "skipped",
    "not_run": "not_run",
}


def read_side(
    run: Run,
    items: Iterable[AnyItem],
    *,
    models: Mapping[str, str] | None = None,
    answers_of: Collection[str] = ("passed", "failed", "error", "skipped"),
) -> Side:
    """Return a side of a comparison; the items are read once.

    Args:
        run: header of the record.
        items: of the record.
        models: label of a model in this run to its label in the other one, where they differ.
        answers_of: outcomes of the items whose answers are kept; answers take most of the memory.
    """
    side = Side(run)
    sides = side.items
    labels = model_labels(run)
    renamed = models or {}
    has_texts = run.baseline is None or run.baseline.has_answers
    names: dict[str, dict[str, MetricName]] = {}  # one object for equal values, which thousands of items have
    documents: dict[tuple[str, ...], tuple[str, ...]] = {}
    files: dict[str, str] = {}
    evaluators: dict[frozenset[str], frozenset[str]] = {}
    segments: dict[tuple[Segment, ...], tuple[Segment, ...]] = {}
    keeps_answer = {verdict: outcome in answers_of for verdict, outcome in _OUTCOMES.items()}
    for item in items:
        file = files.setdefault(item.file, item.file)
        label = labels.get(item.model_key, item.model_key)
        row = item.rows[0] if item.rows else None
        verdict = item.verdict
        side.has_not_run |= verdict == "not_run"
        measures = _measures(item.rows, has_texts=has_texts)
        passing, failing = _evaluators_by_verdict(item)
        sides[file, item.key, renamed.get(label, label), item.part] = SideItem(
            nodeid=item.nodeid,
            outcome="error" if item.code == ItemCode.EXPECTED_ERROR else _OUTCOMES[verdict],
            cluster=(file, original_key(row, item.key) if row and row.relationships else item.key),
            flaky=item.flaky
            or any(reached.pass_k == 0.0 and _disagrees(reached) for reached in item.verdicts.values()),
            scores=_scores(item, names),
            case=case_digest(row),
            documents=documents.setdefault(row.corpus, row.corpus) if row else (),
            reason=item.reason,
            answer=row.answer.text[:MAX_ANSWER_CHARS] if row and keeps_answer[verdict] else "",
            question=excerpt(row.question) if row and verdict != "passed" else "",
            attachments=attachments_digest(row),
            trajectory=packed_calls(row) if row and row.answer.tool_calls else "",
            digest=digest_bytes(item.digest),
            passing=evaluators.setdefault(passing, passing),
            failing=evaluators.setdefault(failing, failing),
            segments=segments.setdefault(groups := _segments(item, file), groups),
            repeats={id: verdict.repeats for id, verdict in item.verdicts.items() if verdict.repeats}
            if len(item.rows) > 1
            else {},
            **msgspec.structs.asdict(measures),
        )
    return side


def _segments(item: AnyItem, file: str) -> tuple[Segment, ...]:
    """Return the groups of cases that an item belongs to: its file, categories and configured metadata."""
    categories = item.rows[0].categories if item.rows else ()
    return (
        ("suite", file),
        *(("category", category) for category in categories),
        *((name, value) for name, values in item.segments.items() for value in values),
    )


def _scores(item: AnyItem, names: dict[str, dict[str, MetricName]]) -> dict[MetricName, float | None]:
    """Return the scores of an item by metric; `names` takes the names of metrics that it lacks."""
    scores: dict[MetricName, float | None] = {}
    for evaluator, reached in item.verdicts.items():
        keys = names.setdefault(evaluator, {})
        for metric, value in reached.scores.items():
            scores[keys.get(metric) or keys.setdefault(metric, (evaluator, metric))] = value
    return scores


def _evaluators_by_verdict(item: AnyItem) -> tuple[frozenset[str], frozenset[str]]:
    """Return the evaluators that pass an item, and those that fail it.

    Where a perturbation changed the meaning of the question, some of them do not decide. A regression that
    its confirmation refuted is no failure.
    """
    if item.verdict not in _JUDGED or (item.perturbed is not None and not item.perturbed.meaning_kept):
        return frozenset(), frozenset()
    verdicts = item.verdicts.items()
    confirmation = item.confirmation
    refuted = confirmation.evaluators if confirmation and confirmation.code == "not_confirmed" else ()
    return (
        frozenset(name for name, verdict in verdicts if verdict.passed is True),
        frozenset(name for name, verdict in verdicts if verdict.passed is False and name not in refuted),
    )


def _measures(rows: Sequence[RecordRow | RowOutline], *, has_texts: bool) -> Measures:
    if len(rows) == 1:  # most items: no lists and tuples for one row
        (row,) = rows
        answer = row.answer
        duration = None if answer.error else answer.duration_s
        tokens = _mean_tokens(rows) if answer.usage else None
        share = cached_share(answer.usage)
        if not has_texts or answer.error:
            return Measures(duration_s=duration, cost_usd=answer.cost_usd, tokens=tokens, cached_share=share)
        context, chunks = _context_digests(row)
        return Measures(
            duration_s=duration,
            cost_usd=answer.cost_usd,
            tokens=tokens,
            cached_share=share,
            answers=_answer_digest(row),
            answer_chars=len(answer.text),
            context=context,
            chunks=chunks,
            calls=_calls_digest(row),
            tool_calls=float(len(answer.tool_calls)) if answer.tool_calls else None,
        )
    means = Measures(
        duration_s=_mean_duration(rows),
        cost_usd=_mean_cost(rows),
        tokens=_mean_tokens(rows),
        cached_share=_mean_cached_share(rows),
    )
    if not has_texts or not rows or any(row.answer.error for row in rows):
        return means
    digests = [_context_digests(row) for row in rows]
    calls = sum(len(row.answer.tool_calls) for row in rows)
    return msgspec.structs.replace(
        means,
        answers=hash(tuple(map(_answer_digest, rows))),
        answer_chars=sum(len(row.answer.text) for row in rows) / len(rows),
        context=hash(tuple(digests)),
        chunks=hash(tuple(digest for _, digest in digests)),
        calls=hash(tuple(map(_calls_digest, rows))),
        tool_calls=calls / len(rows) if calls else None,
    )


def _answer_digest(row: RecordRow | RowOutline) -> int:
    """Return a digest of an answer's text, or of all messages of a conversation."""
    if not row.answer.turns:
        return hash(row.answer.text)
    return hash(tuple((turn.prompt, turn.answer.text) for turn in row.answer.turns))


def _calls_digest(row: RecordRow | RowOutline) -> int:
    """Return a digest of the called tools and their arguments, in their order."""
    if not row.answer.tool_calls:
        return 0
    return hash(
        tuple((call.name, _json_bytes(call.arguments), call.arguments_text) for call in row.answer.tool_calls)
    )


def _json_bytes(value: object) -> bytes:
    """Return a part of a record as JSON; an outline has it as it is in the line."""
    if isinstance(value, msgspec.Raw):
        return bytes(value)
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a surrogate pair, in a case that was not recorded yet
        return repr(msgspec.to_builtins(value)).encode("ascii", "backslashreplace")


def _disagrees(verdict: Verdict | VerdictOutline) -> bool:
    """Return True if a repeat passes although not all of them do; to be asked where `pass_k` is 0.0."""
    return verdict.passed is True or True in verdict.repeats


def case_digest(row: RecordRow | RowOutline | None) -> int:
    """Return a digest of a case's question and expectation, the same within a process; 0 without a row."""
    if row is None:
        return 0
    return hash(
        (
            row.question,
            row.conversation,
            row.expected_output,
            row.accepted_outputs,
            row.condition,
            row.condition_on,
            row.expects,
            row.expected_facts,
            row.guidelines,
            row.expected_documents,
            row.expected_chunks,
            None if row.expected_tool_calls is None else _json_bytes(row.expected_tool_calls),
            _json_bytes(row.expected_state),
            row.plan,
        )
    )


def attachments_digest(row: RecordRow | RowOutline | None) -> int:
    """Return a digest of the images and files of a case, the same within a process; 0 where it has none."""
    if row is None:
        return 0
    messages = (row.attachments, *(turn.attachments for turn in row.answer.turns))
    if not any(messages):
        return 0
    return hash(tuple(tuple((each.name, each.sha256) for each in message) for message in messages))


def model_labels(run: Run) -> dict[str, str]:
    """Return a label for each model that is the same in another run: its name if no other model has it."""
    names = [entry.name for entry in run.models.values()]
    return {
        key: entry.name if entry.name and names.count(entry.name) == 1 else key
        for key, entry in run.models.items()
    }


def original_key(row: RecordRow | RowOutline | None, key: str) -> str:
    """Return the key of the case that a row is a perturbation of; `key` for an original."""
    for link in row.relationships if row else ():
        if link.type == PERTURBATION_SOURCE:
            return link.target
    return key


def _mean_duration(rows: Sequence[RecordRow | RowOutline]) -> float | None:
    values = [row.answer.duration_s for row in rows if not row.answer.error]
    return sum(values) / len(values) if values else None


def _mean_cost(rows: Sequence[RecordRow | RowOutline]) -> float | None:
    values = [row.answer.cost_usd for row in rows if row.answer.cost_usd is not None]
    return sum(values) / len(values) if values else None


def _context_digests(row: RecordRow | RowOutline) -> tuple[int, int]:
    """Return digests of the chunks of a row's context: in their order, and without it."""
    text = _json_bytes(row.answer.context)
    digest = hash(text)
    if _BETWEEN_CHUNKS not in text:
        return digest, digest
    # Without the bracket and the quote at each end, which no other chunk has.
    return digest, hash(tuple(sorted(text[2:-2].split(_BETWEEN_CHUNKS))))


def _mean_tokens(rows: Sequence[RecordRow | RowOutline]) -> float | None:
    values = [
        sum(row.answer.usage.get(kind, 0) for kind in (INPUT, OUTPUT)) for row in rows if row.answer.usage
    ]
    return sum(values) / len(values) if values else None


def _mean_cached_share(rows: Sequence[RecordRow | RowOutline]) -> float | None:
    values = [share for row in rows if (share := cached_share(row.answer.usage)) is not None]
    return sum(values) / len(values) if values else None


def of_model(side: Side, model: str, name: str) -> Side:
    """Return the items of one model under another name, so that two models can be compared.

    Raises:
        ConfigurationError: if the run has no such model.
    """
    names = list(dict.fromkeys(identity[2] for identity in side.items))
    if model not in names:
        raise unknown_name("model", model, names, f"The run has {', '.join(names)}.")
    items = {
        (file, key, name, part): item
        for (file, key, label, part), item in side.items.items()
        if label == model
    }
    return Side(side.run, items, model, side.has_not_run)
