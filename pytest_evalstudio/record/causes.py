"""Types of the causes of regressions in a run's record."""

from __future__ import annotations

import enum
from typing import Annotated

from msgspec import Struct

from pytest_evalstudio.core.kept import Kept


class CauseCode(enum.StrEnum):
    """Cause of a regression.

    Attributes:
        RETRIEVAL: the application retrieves other chunks, which its documents do not explain.
        DOCUMENT: the documents no longer say what the chunks said.
        PROMPT: the configured prompt.
        MODEL: the language model, or its settings.
        SETTING: another configured argument of the application.
        TOOL: a tool returned something else.
        AGENT: the agent calls its tools otherwise after the same results.
        SEVERAL: more than one part: several that are needed together, or each of several by itself.
        NOISE: the case passes often enough as it is.
        NOT_FOUND: it fails with all parts that can be restored, or none of them differs.
        NOT_TESTED: nothing could be tested; the text says why.
    """

    RETRIEVAL = "retrieval"
    DOCUMENT = "document"
    PROMPT = "prompt"
    MODEL = "model"
    SETTING = "setting"
    TOOL = "tool"
    AGENT = "agent"
    SEVERAL = "several"
    NOISE = "noise"
    NOT_FOUND = "not_found"
    NOT_TESTED = "not_tested"


class CauseBasis(enum.StrEnum):
    """Basis of a cause.

    Attributes:
        REPLAY: the case passes with the parts of the baseline, and not without them.
        FINGERPRINTS: nothing else differs in the two records.
        ELIMINATION: everything else that differs was restored, and the case still fails.
        REPEATS: repeats of the case as it is.
        NONE: no cause.
    """

    REPLAY = "replay"
    FINGERPRINTS = "fingerprints"
    ELIMINATION = "elimination"
    REPEATS = "repeats"
    NONE = "none"


class CausePart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Part of an application that differs from the baseline.

    Attributes:
        kind: of the part.
        name: setting, tool or document; "" where the kind says everything.
    """

    kind: CauseCode
    name: Annotated[str, Kept.ID] = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind.value


class Trial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answers with some parts of the baseline put back.

    Attributes:
        parts: of the baseline; () for the application as it is.
        passed, failed: number of answers.
        p: of Fisher's exact test that they pass no more often than as it is; None without a test.
        reason: why there are no more answers, "" where the test decided.
    """

    parts: tuple[CausePart, ...]
    passed: int = 0
    failed: int = 0
    p: float | None = None
    reason: str = ""


class CauseEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Cause of one regressed case.

    Attributes:
        file: path of its file, as in the node id.
        key: of the test case.
        model: label of the model.
        parts: smallest set of parts whose restoration makes the case pass.
        is_joint: whether all parts are needed together; otherwise each of several is enough.
        text: the cause in one sentence.
        details: further facts, a sentence each.
        trials: what was tested, in this order.
        calls: of the application, for this case.
    """

    file: Annotated[str, Kept.ID]
    key: Annotated[str, Kept.ID]
    model: Annotated[str, Kept.ID]
    code: CauseCode
    basis: CauseBasis = CauseBasis.NONE
    parts: tuple[CausePart, ...] = ()
    is_joint: bool = False
    text: str
    details: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    calls: int = 0
