"""Tool consistency: the same tools are called when the question is only put in other words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tool_calls import call_text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import counterpart_of, keywords, listed
from pytest_evalstudio.metrics.call_lines import is_selected
from pytest_evalstudio.metrics.quoting import one_line

Compared = Literal["tools", "order", "arguments"]
_SHOWN_CALLS = 5


@evaluator(
    "tool_consistency",
    name="Tool consistency",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based", "evaluation-method-agents"),
    compares="perturbation_source",
)
@dataclass(frozen=True)
class ToolConsistency:
    """The model calls the same tools for a perturbed question as for its original.

    Only perturbations that keep the meaning are scored. `compare`: "tools" compares how often each tool is
    called, "order" also the order of the calls, "arguments" also their arguments. `only` and `ignore` are
    patterns of names, e.g. to compare only the tools that change something.

    Source: perturbation tests of CheckList (Ribeiro et al., 2020; invariance), applied to calls.
    """

    applies_without_text: ClassVar[bool] = True
    reads_trace: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    judges_conversations: ClassVar[bool] = True
    compare: Compared = "tools"
    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "tools_unchanged",
            "Tools unchanged",
            threshold=1.0,
            primary=True,
            boolean=True,
            description="1.0 where the calls are those for the original question, else 0.0.",
        ),
        Metric(
            "tool_call_overlap",
            "Overlap of calls",
            threshold=0.0,
            description="Calls that both answers have, divided by those of either (Jaccard index of"
            " multisets); 1.0 where neither calls a tool.",
        ),
    )

    def __post_init__(self) -> None:
        if self.compare not in get_args(Compared):
            raise ValueError(f'compare: expected "tools", "order" or "arguments", found {self.compare!r}')

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        before, after = list(self._calls(counterpart_of(case))), list(self._calls(case))
        counts, other_counts = Counter(before), Counter(after)
        is_same = before == after if self.compare == "order" else counts == other_counts
        every = (counts | other_counts).total()
        return Outcome.score(
            {
                "tools_unchanged": float(is_same),
                "tool_call_overlap": (counts & other_counts).total() / every if every else 1.0,
            },
            reason="" if is_same else _difference(counts, other_counts),
        )

    def _calls(self, case: Case) -> Iterator[str]:
        for call in case.tool_calls:
            if is_selected(call.name, self.only, self.ignore):
                # The order in which a model writes arguments has no meaning.
                arguments = dict(sorted(call.arguments.items()))
                yield (
                    call_text(call.name, arguments, call.arguments_text)
                    if self.compare == "arguments"
                    else call.name
                )


def _difference(before: Counter[str], after: Counter[str]) -> str:
    """Describe the calls that differ from those for the original question."""
    missing, added = before - after, after - before
    parts = [
        f"{label} than for the original question: {listed(list(map(_shown, counts.items())), _SHOWN_CALLS)}"
        for label, counts in (("fewer calls", missing), ("more calls", added))
        if counts
    ]
    return "; ".join(parts) or "another order of calls than for the original question"


def _shown(call: tuple[str, int]) -> str:
    text, count = call
    return one_line(text) + (f" ({count} times)" if count > 1 else "")
