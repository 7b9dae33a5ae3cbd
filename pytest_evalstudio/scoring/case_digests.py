"""Digest of a test case: what it asks and expects, and the rules that judge it."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping

import msgspec

from pytest_evalstudio.core.conversations import ConversationPlan
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.record.schema import CaseDigest, RecordRow
from pytest_evalstudio.scoring.masking import masked_texts
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.run_header import document_digests
from pytest_evalstudio.scoring.tasks import EvalTask

_HASH_BYTES = 6


def case_digest_of(task: EvalTask, row: RecordRow, evaluators: Iterable[ConfiguredEvaluator]) -> CaseDigest:
    """Return the digest of a test case.

    Args:
        row: of the case, as the record has it: its texts are masked.
        evaluators: that judge the case, with its own options.
    """
    selected = tuple(evaluators)
    return CaseDigest(
        parts={name: _hash(value) for name, value in _parts(task, row).items() if value},
        thresholds={each.id: _rules(each)[0] for each in selected},
        options={each.id: options for each in selected if (options := _rules(each)[1])},
    )


def _parts(task: EvalTask, row: RecordRow) -> dict[str, object]:
    """Return the parts of a case by name, as people call them; falsy ones are not there."""
    case, expected_calls = task.case, row.expected_tool_calls
    return {
        "question": [row.question, [(turn.role, turn.content) for turn in row.conversation]],
        "turns": _plan(case.plan, is_answered=task.answered),
        "images or files": [each.sha256 for each in row.attachments],
        "condition": row.condition and [row.condition, row.condition_on],
        # A single accepted answer has the digest of its text, on which recorded baselines depend.
        "expected output": [row.expected_output, *row.accepted_outputs]
        if row.accepted_outputs
        else row.expected_output,
        "expects": row.expects,
        "expected facts": row.expected_facts,
        "guidelines": row.guidelines,
        "expected documents": [row.expected_documents, row.expected_chunks]
        if row.expected_documents or row.expected_chunks
        else "",
        # No calls at all are an expectation, too.
        "expected tool calls": "" if expected_calls is None else [msgspec.to_builtins(expected_calls)],
        "expected state": row.expected_state,
        "documents": [row.corpus, document_digests(case)] if row.corpus else "",
    }


def _plan(plan: ConversationPlan | None, *, is_answered: bool) -> object:
    """Return a conversation as data; images and files by their content.

    Of a conversation that has taken place, only the first message is a part of the test: the further ones
    may be replies to the model.
    """
    if plan is None:
        return None
    content = msgspec.to_builtins(plan)
    for number, (turn, planned) in enumerate(zip(content.get("turns", ()), plan.turns, strict=True)):
        turn["attachments"] = [each.sha256 for each in planned.attachments]
        if is_answered and number:
            del turn["prompt"]
    return masked_texts(content)


@functools.lru_cache(maxsize=256)
def _rules(selected: ConfiguredEvaluator) -> tuple[str, str]:
    """Return the hashes of the thresholds that decide, and of the options; "" for the default options."""
    options = _options(selected)
    thresholds = {key: selected.thresholds[key] for key in selected.asserted}
    return _hash(thresholds), _hash(options) if options else ""


def _options(selected: ConfiguredEvaluator) -> dict[str, object]:
    """Return the options that are not the defaults: a later version may have more options."""
    defaults = parameters(type(selected.evaluator))
    options = {
        name: value
        for name, value in selected.parameters.items()
        if name not in defaults or not _equal(value, defaults[name])
    }
    if selected.attached is not None:
        options["calibration"] = selected.attached.sha256
    return options


def _equal(value: object, default: object) -> bool:
    # As texts, a tuple of a default equals a list of the configuration.
    return value == default or _text(value) == _text(default)


def _hash(value: object) -> str:
    return hashlib.blake2b(_text(value).encode("ascii"), digest_size=_HASH_BYTES).hexdigest()


def _text(value: object) -> str:
    """Return a value as JSON, the same for equal values; half a surrogate pair is an escape in it."""
    return _ENCODER.encode(value)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Iterable) else repr(value)


_ENCODER = json.JSONEncoder(sort_keys=True, default=_plain)
