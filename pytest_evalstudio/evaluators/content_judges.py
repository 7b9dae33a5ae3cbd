"""Boolean judges of content: sexism, stereotypes, language mismatch, contact information, summaries.

Each class declares the question to the judge; `BooleanJudge` asks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.judging import JUDGE, asked_texts
from pytest_evalstudio.core.outcomes import Finding, Metric
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.evaluators._common import boolean_metrics
from pytest_evalstudio.evaluators._judged import judge_keywords
from pytest_evalstudio.evaluators._verdicts import BooleanJudge, VerdictQuestion

_LEAK = Finding(
    description="the judge finds contact information",
    severity="high",
    problem_type="privacy",
    avid="P0300",
    actions="Read the answer; remove such data from the model's documents, or filter the answers.",
)


@evaluator(
    "sexism",
    name="Sexism (judge)",
    domain="fairness",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    keywords=judge_keywords("S F AT", "C M O"),
    problem_type="fairness",
    avid="E0100",
)
@dataclass(frozen=True)
class Sexism(BooleanJudge):
    """The judge looks for sexism in the answer, given the question.

    Attributes:
        evaluate_retrieved_context: judge the retrieved context as well, by a separate question.

    Source: H2O Eval Studio user guide, Sexism (Judge).
    """

    decided_by_one_observation: ClassVar[bool] = True
    evaluate_retrieved_context: bool = False
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "No sexism (pass)",
        "Sexist (fail)",
        "Sexism in retrieval",
        "Sexism in generation",
        "Sexism parsing failures",
    )
    prompts: ClassVar[tuple[str, ...]] = ("sexism",)
    asked: ClassVar[VerdictQuestion] = VerdictQuestion(
        prompt="sexism",
        verdict="Sexism in the answer.",
        passing="absent",
        failing="present",
        texts=lambda case: {**asked_texts(case), "answer": case.actual_output},
    )


@evaluator(
    "stereotypes",
    name="Stereotypes (judge)",
    domain="fairness",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    keywords=judge_keywords("S F AT", "C M O"),
    problem_type="fairness",
    avid="E0100",
)
@dataclass(frozen=True)
class Stereotypes(BooleanJudge):
    """The judge looks for gender or race information in the answer that the question did not ask for.

    Attributes:
        evaluate_retrieved_context: judge the retrieved context as well, by a separate question.

    Source: H2O Eval Studio user guide, Stereotypes (Judge).
    """

    decided_by_one_observation: ClassVar[bool] = True
    evaluate_retrieved_context: bool = False
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Stereotype-free (pass)",
        "Stereotyped (fail)",
        "Stereotypes in retrieval",
        "Stereotypes in generation",
        "Stereotypes parsing failures",
    )
    prompts: ClassVar[tuple[str, ...]] = ("stereotypes",)
    asked: ClassVar[VerdictQuestion] = VerdictQuestion(
        prompt="stereotypes",
        verdict="Additions of gender or race in the answer.",
        passing="absent",
        failing="present",
        texts=lambda case: {**asked_texts(case), "answer": case.actual_output},
    )


@evaluator(
    "language_mismatch",
    name="Language mismatch (judge)",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    keywords=judge_keywords("S VR F", "C M O"),
)
@dataclass(frozen=True)
class LanguageMismatch(BooleanJudge):
    """The judge compares the languages of question and answer.

    Attributes:
        evaluate_retrieved_context: judge the retrieved context as well, by a separate question.

    Source: H2O Eval Studio user guide, Language mismatch (Judge).
    """

    evaluate_retrieved_context: bool = False
    applies_to_refusals: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Same language (pass)",
        "Language mismatch (fail)",
        "Language mismatch retrieval failures",
        "Language mismatch generation failures",
        "Language mismatch parsing failures",
    )
    prompts: ClassVar[tuple[str, ...]] = ("language_mismatch",)
    asked: ClassVar[VerdictQuestion] = VerdictQuestion(
        prompt="language_mismatch",
        verdict="Languages of question and answer.",
        passing="same",
        failing="different",
        texts=lambda case: {"question": case.question, "answer": case.actual_output},
    )


@evaluator(
    "contact_information",
    name="Contact information leakage",
    domain="privacy",
    needs=("actual_output",),
    requires=(JUDGE,),
    method=("judge",),
    keywords=judge_keywords("S PE AT VR", "C M O"),
    problem_type="privacy",
    avid="P0300",
)
@dataclass(frozen=True)
class ContactInformation(BooleanJudge):
    """The judge looks for names, addresses, phone numbers, medical data, user names and e-mail addresses.

    Attributes:
        evaluate_retrieved_context: judge the retrieved context as well, by a separate question.

    Source: H2O Eval Studio user guide, Contact Information.
    """

    decided_by_one_observation: ClassVar[bool] = True
    evaluate_retrieved_context: bool = False
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "No contact information leakages (pass)",
        "Contact information leakages (fail)",
        "Contact information retrieval failures",
        "Contact information generation failures",
        "Contact information parsing failures",
    )
    prompts: ClassVar[tuple[str, ...]] = ("contact_information",)
    asked: ClassVar[VerdictQuestion] = VerdictQuestion(
        prompt="contact_information",
        verdict="Contact information in the text.",
        passing="absent",
        failing="present",
        texts=lambda case: {"answer": case.actual_output},
        finding=_LEAK,
    )


@evaluator(
    "summarization_judge",
    name="Summarization (judge)",
    domain="summarization",
    needs=("expected_output", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    keywords=judge_keywords("S VR", "C M O"),
    problem_type="summarization",
)
@dataclass(frozen=True)
class SummarizationJudge(BooleanJudge):
    """The judge compares the answer with the reference summary and, if the case has it, with the source.

    The source is the retrieved context; a question may contain it as well.

    Source: H2O Eval Studio user guide, Summarization (Judge).
    """

    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Good summary (pass)",
        "Bad summary (fail)",
        "Summarization retrieval failures",
        "Summarization generation failures",
        "Summarization parsing failures",
    )
    reads_all_outputs: ClassVar[bool] = True
    prompts: ClassVar[tuple[str, ...]] = ("summarization_judge",)
    asked: ClassVar[VerdictQuestion] = VerdictQuestion(
        prompt="summarization_judge",
        verdict="Quality of the summary.",
        passing="good",
        failing="bad",
        texts=lambda case: {
            **({"request": case.question} if case.question.strip() else {}),
            **({"source": case.context} if any(map(str.strip, case.context)) else {}),
            "reference": case.reference,
            "answer": case.actual_output,
        },
    )
