"""Answer correctness of RAGAS: F1 of statements, and similarity of answer and expected answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question, asked_texts
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import YES, record
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import listed
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._ragas import (
    CLAIMS,
    DIFFERENCE,
    claims_in,
    claims_question,
    in_order,
    numbered,
    verdict_list,
)
from pytest_evalstudio.evaluators._similarity import TextEmbeddings
from pytest_evalstudio.metrics.classification import statement_f1
from pytest_evalstudio.metrics.quoting import one_line

STATEMENTS = "statements"
"""Name of a prompt."""
_STATEMENT_KINDS = {"answer_only": "not in the expected answer", "expected_only": "missing from the answer"}


@evaluator(
    "answer_correctness",
    name="Answer correctness",
    difference=DIFFERENCE,
    domain="generation",
    needs=("question", "expected_output", "actual_output"),
    requires=(JUDGE, "embedder"),
    method=("judge", "embeddings"),
    systems=("llm", "rag"),
    extra="models",
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class AnswerCorrectness:
    """Weighted mean of the F1 of the answer's statements and the similarity of answer and expected answer.

    Attributes:
        factuality_weight: weight of the F1, 0 or more.
        similarity_weight: weight of the similarity, 0 or more, not both 0; only the ratio matters.

    Source: RAGAS, metric answer correctness.
    """

    factuality_weight: float = 0.75
    similarity_weight: float = 0.25
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_correctness",
            "Answer correctness",
            primary=True,
            description="Agreement of the answer with the expected one.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = (CLAIMS, STATEMENTS)

    def __post_init__(self) -> None:
        if (
            min(self.factuality_weight, self.similarity_weight) < 0
            or not self.factuality_weight + self.similarity_weight > 0
        ):
            raise ConfigurationError(
                "factuality_weight and similarity_weight: must be 0 or more, and not both 0"
            )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def finish(considered: Sequence[tuple[Case, Compared]]) -> list[Outcome]:
            texts = (text for case, compared in considered for text in _embedded(case, compared))
            # Without a judgement that succeeded there is no text, and no need to load the model.
            vectors = TextEmbeddings(texts, tools.embedder) if considered else None
            return [self._outcome(case, compared, vectors) for case, compared in considered]

        return judged(cases, tools, self.metrics, _compared, finish, embeds=_embedded)

    def _outcome(self, case: Case, compared: Compared, vectors: TextEmbeddings | None) -> Outcome:
        statements = compared.sorted
        if not any(statements.values()):
            return Outcome.not_applicable("neither answer nor expected output makes a statement")
        assert vectors is not None
        factuality = statement_f1(*(len(statements[key]) for key in ("both", "answer_only", "expected_only")))
        similarity = max(0.0, float(vectors.cosines([case.actual_output], [case.expected_output])[0, 0]))
        weights = self.factuality_weight + self.similarity_weight
        wrong = [
            f"{kind}: {listed([one_line(statement) for statement in statements[key]])}"
            for key, kind in _STATEMENT_KINDS.items()
            if statements[key]
        ]
        return Outcome.score(
            {
                "answer_correctness": (
                    (self.factuality_weight * factuality + self.similarity_weight * similarity) / weights
                )
            },
            reason="; ".join(wrong),
            details={
                **statements,
                "reasons": compared.reasons,
                "factuality": factuality,
                "similarity": similarity,
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Statements of an answer and of the expected answer.

    Attributes:
        sorted: statements by where they occur: "both" of the answer that the expected answer makes too,
            "answer_only", "expected_only".
        reasons: the judge's reason for each statement.
    """

    sorted: Mapping[str, Sequence[str]]
    reasons: Mapping[str, str]


def _embedded(case: Case, compared: Compared) -> tuple[str, str]:
    return case.actual_output, case.expected_output


def _compared(case: Case) -> Flow[Compared]:
    """Split both texts into statements, then look for each on the other side: three questions."""
    replies = yield [
        claims_question(case, case.actual_output),
        claims_question(case, case.expected_output),
    ]
    answer_claims, expected = map(claims_in, replies)
    # Nothing to compare: all statements of the other side are unmatched, without a question.
    if not answer_claims or not expected:
        return Compared(
            sorted={"both": [], "answer_only": answer_claims, "expected_only": expected}, reasons={}
        )
    [reply] = yield [
        Question(
            prompt=STATEMENTS,
            texts={**asked_texts(case), "statement": answer_claims, "expected_statement": expected},
            reply=record(
                answer_verdicts=verdict_list(
                    len(answer_claims), "statement", "Does the expected answer make the statement too?"
                ),
                expected_verdicts=verdict_list(
                    len(expected), "statement", "Does the answer make the statement too?"
                ),
            ),
            # The two lists do not check each other: a statement may imply another one that does not imply it.
            consistency=numbered(answer_verdicts="statement", expected_verdicts="statement"),
        )
    ]
    of_answer = list(zip(answer_claims, in_order(reply["answer_verdicts"], "statement"), strict=True))
    of_expected = list(zip(expected, in_order(reply["expected_verdicts"], "statement"), strict=True))
    return Compared(
        sorted={
            "both": [statement for statement, judge_reply in of_answer if judge_reply["verdict"] == YES],
            "answer_only": [
                statement for statement, judge_reply in of_answer if judge_reply["verdict"] != YES
            ],
            "expected_only": [
                statement for statement, judge_reply in of_expected if judge_reply["verdict"] != YES
            ],
        },
        reasons={statement: judge_reply["reason"] for statement, judge_reply in (*of_expected, *of_answer)},
    )
