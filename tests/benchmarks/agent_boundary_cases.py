"""Verdicts of four tools on 80 boundary cases of tool calls: 20 pairs of calls in four modes.

Each tool has an environment of its own, since their requirements exclude each other:

    python tests/benchmarks/agent_boundary_cases.py --tool agentevals > agentevals.json  # deepeval, ragas
    python tests/benchmarks/agent_boundary_cases.py --tool evalstudio > evalstudio.json
    python tests/benchmarks/agent_boundary_cases.py --table evalstudio.json agentevals.json ...

Ragas 0.4.3 needs langchain-community below 0.4.

A verdict is "pass" or "fail", "error" where the tool raises, and "-" where it has no such mode. DeepEval's
`ToolCorrectnessMetric` compares arguments too; it and Ragas' `ToolCallAccuracy` pass at 1.0.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Calls = list[tuple[str, dict[str, Any]]]
MODES = ("exact", "any_order", "superset", "subset")
FIND, CANCEL = ("find", {"code": "E1"}), ("cancel", {"code": "E1"})
PAIRS: dict[str, tuple[Calls, Calls]] = {
    "one call": ([FIND], [FIND]),
    "two calls": ([FIND, CANCEL], [FIND, CANCEL]),
    "swapped": ([FIND, CANCEL], [CANCEL, FIND]),
    "a further tool": ([FIND], [FIND, CANCEL]),
    "a missing call": ([FIND, CANCEL], [FIND]),
    "called twice, expected once": ([FIND], [FIND, FIND]),
    "called once, expected twice": ([FIND, FIND], [FIND]),
    "another value": ([FIND], [("find", {"code": "E2"})]),
    "an argument that is not named": ([FIND], [("find", {"code": "E1", "full": True})]),
    "a missing argument": ([("find", {"code": "E1", "full": True})], [FIND]),
    "1 and 1.0": ([("pay", {"sum": 1})], [("pay", {"sum": 1.0})]),
    "1 and '1'": ([("pay", {"sum": 1})], [("pay", {"sum": "1"})]),
    "1 and true": ([("pay", {"sum": 1})], [("pay", {"sum": True})]),
    "order of keys": ([("pay", {"to": {"a": 1, "b": 2}})], [("pay", {"to": {"b": 2, "a": 1}})]),
    "order of a list": ([("pay", {"to": ["a", "b"]})], [("pay", {"to": ["b", "a"]})]),
    "case of letters": ([("find", {"name": "Ada"})], [("find", {"name": "ada"})]),
    "none expected, none made": ([], []),
    "none expected, one made": ([], [FIND]),
    "one expected, none made": ([FIND], []),
    "one tool, two arguments, swapped": (
        [("find", {"code": "E1"}), ("find", {"code": "E2"})],
        [("find", {"code": "E2"}), ("find", {"code": "E1"})],
    ),
}


def evalstudio(expected: Calls, actual: Calls, mode: str) -> bool:
    """Return the verdict of `tool_calls`."""
    from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
    from pytest_evalstudio.metrics.tool_calls import compare_calls

    return compare_calls(
        [ToolCall(name=name, arguments=arguments) for name, arguments in actual],
        [ExpectedToolCall(name=name, arguments=arguments) for name, arguments in expected],
        mode=mode,  # type: ignore[arg-type]
        forbid_others=False,
    ).matches


def agentevals(expected: Calls, actual: Calls, mode: str) -> bool:
    """Return the verdict of `create_trajectory_match_evaluator`."""
    from agentevals.trajectory.match import create_trajectory_match_evaluator  # type: ignore[import-not-found]

    modes = {"exact": "strict", "any_order": "unordered", "superset": "superset", "subset": "subset"}
    evaluator = create_trajectory_match_evaluator(trajectory_match_mode=modes[mode])
    result = evaluator(outputs=_messages(actual), reference_outputs=_messages(expected))
    return bool(result["score"])


def _messages(calls: Calls) -> list[dict[str, Any]]:
    question = {"role": "user", "content": "Cancel E1"}
    tool_calls = [
        {"id": str(index), "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for index, (name, arguments) in enumerate(calls)
    ]
    called = {"role": "assistant", "content": "", "tool_calls": tool_calls}
    return [question, *([called] if calls else []), {"role": "assistant", "content": "Done."}]


def deepeval(expected: Calls, actual: Calls, mode: str) -> bool | None:
    """Return the verdict of `ToolCorrectnessMetric`; it has no mode that forbids further calls alone."""
    from deepeval.metrics import ToolCorrectnessMetric  # type: ignore[import-not-found]
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams  # type: ignore[import-not-found]

    if mode in ("any_order", "subset"):
        return None
    metric = ToolCorrectnessMetric(
        threshold=1.0,
        evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
        should_exact_match=mode == "exact",
        model=_NoModel(),
    )
    case = LLMTestCase(
        input="Cancel E1",
        actual_output="Done.",
        tools_called=[ToolCall(name=name, input_parameters=arguments) for name, arguments in actual],
        expected_tools=[ToolCall(name=name, input_parameters=arguments) for name, arguments in expected],
    )
    metric.measure(case, _show_indicator=False)
    return bool(metric.is_successful())


def _NoModel() -> Any:  # noqa: N802
    """Return a model for DeepEval that is never asked."""
    from deepeval.models import DeepEvalBaseLLM  # type: ignore[import-not-found]

    class Silent(DeepEvalBaseLLM):  # type: ignore[misc]
        def load_model(self) -> Any:
            return self

        def generate(self, *_: object, **__: object) -> str:
            raise RuntimeError("no model is asked here")

        a_generate = generate

        def get_model_name(self) -> str:
            return "none"

    return Silent()


def ragas(expected: Calls, actual: Calls, mode: str) -> bool | None:
    """Return the verdict of `ToolCallAccuracy`; it has a strict and a free order, and no other mode."""
    from ragas.dataset_schema import MultiTurnSample  # type: ignore[import-not-found]
    from ragas.messages import AIMessage, HumanMessage, ToolCall  # type: ignore[import-not-found]
    from ragas.metrics import ToolCallAccuracy  # type: ignore[import-not-found]

    if mode not in ("exact", "any_order"):
        return None
    metric = ToolCallAccuracy(strict_order=mode == "exact")
    sample = MultiTurnSample(
        user_input=[
            HumanMessage(content="Cancel E1"),
            AIMessage(content="", tool_calls=[ToolCall(name=name, args=args) for name, args in actual]),
        ],
        reference_tool_calls=[ToolCall(name=name, args=args) for name, args in expected],
    )
    return bool(asyncio.run(metric.multi_turn_ascore(sample)) == 1.0)


TOOLS: dict[str, Callable[[Calls, Calls, str], bool | None]] = {
    "evalstudio": evalstudio,
    "agentevals": agentevals,
    "deepeval": deepeval,
    "ragas": ragas,
}
WORDS = {True: "pass", False: "fail", None: "-"}


def verdicts(tool: str) -> dict[str, str]:
    """Return the verdict of a tool on each case."""
    words = {}
    for name, (expected, actual) in PAIRS.items():
        for mode in MODES:
            try:
                words[f"{name}; {mode}"] = WORDS[TOOLS[tool](expected, actual, mode)]
            except Exception as exc:
                words[f"{name}; {mode}"] = "error"
                print(f"{name}; {mode}: {type(exc).__name__}: {exc}", file=sys.stderr)
    return words


def table(files: list[Path]) -> None:
    """Print the cases in which tools differ, and the number of equal verdicts."""
    by_tool = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}
    first, *others = by_tool
    print(f"| case | {' | '.join(by_tool)} |\n|{' --- |' * (len(by_tool) + 1)}")
    for case in by_tool[first]:
        words = [by_tool[tool][case] for tool in by_tool]
        if len({word for word in words if word != "-"}) > 1:
            print(f"| {case} | {' | '.join(words)} |")
    for tool in others:
        pairs = [(by_tool[first][case], word) for case, word in by_tool[tool].items() if word != "-"]
        print(f"{tool}: {sum(word == other for word, other in pairs)} of {len(pairs)} verdicts as {first}")


def main() -> None:
    """Print verdicts or the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", choices=TOOLS)
    parser.add_argument("--table", nargs="+", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.tool:
        print(json.dumps(verdicts(arguments.tool), indent=1))
    if arguments.table:
        table(arguments.table)


if __name__ == "__main__":
    main()
