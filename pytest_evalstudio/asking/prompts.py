"""The prompt of a question: one place for cases of suites, rows of labs and questions of Python tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Prompt, Turn
from pytest_evalstudio.core.disturbances import Disturbance


def prompt_of(
    question: str,
    *,
    key: str = "",
    corpus: tuple[str, ...] = (),
    run: int = 1,
    conversation: tuple[Turn, ...] = (),
    originals: Iterable[str] = (),
    attempt: int = 1,
    sample: str = "",
    case: str = "",
    attachments: tuple[Attachment, ...] = (),
    disturbance: Disturbance | None = None,
) -> Prompt:
    """Return the prompt with which a model is asked a question.

    Args:
        key: of the test case.
        corpus: documents of the test: absolute paths or URLs.
        run: number of the repeat, 1 for the first.
        conversation: turns before the question.
        originals: questions of the cases that this one is a perturbation of. If one of them is the same
            question, the case is an unchanged copy: the model is asked again, since its answer to the
            original says nothing of its noise.
        attempt: number of the attempt at the test case, 1 for the first. The model is asked again for each,
            since a test is run again to see another answer.
        sample: name of a sample of its own; the model is asked again for each.
        case: what templates of prompts may use of the test case; see `case_variables`.
        attachments: images and files that the question comes with.
    """
    is_copy = any(original == question for original in originals)
    parts = [key if is_copy else "", f"attempt {attempt}" if attempt > 1 else "", sample]
    return Prompt(
        text=question,
        corpus=corpus,
        run=run,
        conversation=conversation,
        sample=" ".join(filter(None, parts)),
        case=case,
        attachments=attachments,
        disturbance=disturbance,
    )


def case_variables(key: str, categories: Iterable[str], extra: Mapping[str, Any] | None) -> str:
    """Return as JSON what templates of prompts may use of a case: key, categories, keys of the user's own.

    Expectations are left out: a prompt must not tell the answer.
    """
    return json.dumps({**(extra or {}), "key": key, "categories": list(categories)}, default=str)
