"""Bring your own prompt: the user's question to the judge, answered by true or false."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.judging import JUDGE, PLACEHOLDERS, Flow, Question
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import choice, record, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import boolean_metrics
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._verdicts import verdict_outcome

_BRACED = re.compile(r"\{([A-Za-z_]+)\}")


@evaluator(
    "byop",
    name="BYOP: bring your own prompt",
    domain="generation",
    needs=("question", "expected_output", "context", "actual_output"),
    requires=(JUDGE, "option:prompt"),
    method=("judge",),
    keywords=judge_keywords("S SR PE F AT VR", "C M O"),
)
@dataclass(frozen=True)
class Byop:
    """The judge answers the user's own prompt with true (the case passes) or false.

    A case needs only the texts that the prompt names.

    Attributes:
        prompt: the question to the judge, with {question}, {expected_output}, {context} or {actual_output}
            where these are to stand (or {INPUT}, {EXPECTED_OUTPUT}, {CONTEXT}, {ACTUAL_OUTPUT}); at least one
            of them. Other braces are plain text.

    Source: H2O Eval Studio user guide, Parameterizable BYOP.
    """

    prompt: str = ""
    applies_to_refusals: ClassVar[bool] = True
    reads_all_outputs: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Model passes",
        "Model failures",
        "Model retrieval failures",
        "Model generation failures",
        "Model parse failures",
    )
    prompts: ClassVar[tuple[str, ...]] = ("byop",)

    def __post_init__(self) -> None:
        if self.prompt and not self.needs:
            named = _BRACED.findall(self.prompt)
            hint = nearest(named[0], PLACEHOLDERS) if named else ""
            names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ConfigurationError(
                f"prompt: contains no text to judge; add a placeholder. {hint or 'Placeholders: ' + names}"
            )

    @property
    def needs(self) -> tuple[str, ...]:
        """The inputs that the prompt names."""
        return tuple(
            dict.fromkeys(PLACEHOLDERS[name] for name in _BRACED.findall(self.prompt) if name in PLACEHOLDERS)
        )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        texts: Mapping[str, str | Sequence[str]] = {
            "question": case.question,
            "expected_output": case.reference,
            "context": case.context,
            "actual_output": case.actual_output,
        }
        [named] = yield [
            Question(
                prompt="byop",
                texts={name: texts[name] for name in self.needs},
                settings={"instruction": self.prompt},
                reply=record(
                    reason=text("Why, in one or two sentences."),
                    verdict=choice("The answer to the instruction.", "true", "false"),
                ),
            )
        ]
        return verdict_outcome(self.metrics, named["verdict"], named["reason"], failing="false")
