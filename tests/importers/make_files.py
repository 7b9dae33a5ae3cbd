"""Write the files of this folder with the tools themselves: `python tests/importers/make_files.py TOOL`.

Run it once per tool, in an environment with that tool; `files/VERSIONS.md` names the versions. The tests read
the files only.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC
from importlib.metadata import version
from pathlib import Path

FILES = Path(__file__).parent / "files"
QUESTION = "What does a transfer abroad cost?"
ANSWER = "A transfer abroad costs 15 USD."
CHUNKS = ["A transfer abroad costs 15 USD.", "A transfer within the country is free."]
HISTORY = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": "Hello! How can I help?"},
    {"role": "user", "content": QUESTION},
]


def deepeval() -> str:
    from deepeval.dataset import EvaluationDataset, Golden
    from deepeval.test_case import LLMTestCase

    goldens = [
        Golden(input=QUESTION, expected_output="15 USD", source_file="fees.md", comments="from the branch"),
        Golden(input="Is a transfer within the country free?", expected_output="Yes", context=CHUNKS),
    ]
    EvaluationDataset(goldens=goldens).save_as("json", str(FILES), "deepeval_goldens")
    dataset = EvaluationDataset()
    dataset.add_test_case(
        LLMTestCase(
            input=QUESTION,
            actual_output=ANSWER,
            expected_output="15 USD",
            retrieval_context=CHUNKS,
            name="abroad",
        )
    )
    for kind in ("json", "csv"):
        dataset.save_as(kind, str(FILES), "deepeval_cases", include_test_cases=True)
    return version("deepeval")


def ragas() -> str:
    from ragas.dataset_schema import EvaluationDataset, MultiTurnSample, SingleTurnSample
    from ragas.messages import AIMessage, HumanMessage

    EvaluationDataset(
        samples=[
            SingleTurnSample(
                user_input=QUESTION, response=ANSWER, reference="15 USD", retrieved_contexts=CHUNKS
            ),
            SingleTurnSample(user_input="Is it fast?", response="No.", reference="It takes 3 days."),
        ]
    ).to_jsonl(str(FILES / "ragas.jsonl"))
    EvaluationDataset(
        samples=[SingleTurnSample(user_input=QUESTION, reference="15 USD", retrieved_contexts=CHUNKS)]
    ).to_csv(str(FILES / "ragas.csv"))
    EvaluationDataset(
        samples=[
            MultiTurnSample(
                user_input=[
                    HumanMessage(content="Hello?"),
                    AIMessage(content="Hello!"),
                    HumanMessage(content=QUESTION),
                ],
                reference="15 USD",
            )
        ]
    ).to_jsonl(str(FILES / "ragas_turns.jsonl"))
    return version("ragas")


def langsmith() -> str:
    from datetime import datetime
    from uuid import UUID

    from langsmith.schemas import Example

    common = {
        "dataset_id": UUID(int=1),
        "created_at": datetime(2026, 11, 1, tzinfo=UTC),
        "modified_at": datetime(2026, 11, 1, tzinfo=UTC),
    }
    examples = [
        Example(
            id=UUID(int=2),
            inputs={"question": QUESTION},
            outputs={"answer": "15 USD"},
            metadata={"dataset_split": ["base"]},
            **common,
        ),
        Example(id=UUID(int=3), inputs={"messages": HISTORY}, outputs={"answer": "15 USD"}, **common),
    ]
    lines = (json.dumps(json.loads(example.json())) for example in examples)
    (FILES / "langsmith.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return version("langsmith")


def braintrust() -> str:
    from braintrust import EvalCase
    from braintrust.bt_json import bt_dumps

    cases = [
        EvalCase(input=QUESTION, expected="15 USD", tags=["fees"], metadata={"branch": "north"}, id="abroad"),
        EvalCase(input={"question": "Is it fast?"}, expected={"answer": "No"}, id="fast"),
    ]
    lines = (
        bt_dumps({key: value for key, value in vars(case).items() if value is not None}) for case in cases
    )
    (FILES / "braintrust.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return version("braintrust")


def mlflow() -> str:
    import mlflow
    from mlflow.entities import Document, SpanType

    mlflow.set_tracking_uri(f"sqlite:///{FILES.parent / 'mlflow.db'}")

    @mlflow.trace(span_type=SpanType.RETRIEVER)
    def retrieve(question: str) -> list[Document]:
        return [Document(page_content=text, metadata={"doc_uri": "fees.md"}) for text in CHUNKS]

    @mlflow.trace
    def answer(question: str) -> str:
        retrieve(question)
        return ANSWER

    answer(QUESTION)
    trace = mlflow.get_trace(mlflow.get_last_active_trace_id())
    mlflow.log_expectation(trace_id=trace.info.trace_id, name="expected_response", value="15 USD")
    trace = json.loads(mlflow.get_trace(trace.info.trace_id).to_json())
    private = ("mlflow.source", "mlflow.user", "mlflow.artifactLocation")
    for name in ("trace_metadata", "tags"):
        values = trace["info"][name].items()
        trace["info"][name] = {key: value for key, value in values if not key.startswith(private)}
    (FILES / "mlflow_trace.json").write_text(json.dumps(trace, indent=2) + "\n", encoding="utf-8")
    row = {"trace": json.dumps(trace), "expected_facts": ["15 USD"]}
    (FILES / "mlflow_traces.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    records = [
        {
            "inputs": {"question": QUESTION},
            "expectations": {"expected_response": "15 USD", "guidelines": ["Be brief."]},
            "tags": {"branch": "north"},
        },
        {"inputs": {"messages": HISTORY}, "outputs": ANSWER},
    ]
    lines = (json.dumps(record) for record in records)
    (FILES / "mlflow_records.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return version("mlflow")


def inspect() -> str:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalError,
        EvalLog,
        EvalSample,
        EvalSpec,
        write_eval_log,
    )
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput
    from inspect_ai.scorer import Score

    def sample(id: str, epoch: int, question: str, target: str | list[str], answer: str) -> EvalSample:
        return EvalSample(
            id=id,
            epoch=epoch,
            input=[ChatMessageSystem(content="Answer briefly."), ChatMessageUser(content=question)],
            target=target,
            output=ModelOutput.from_content("mockllm/model", answer),
            scores={"includes": Score(value="C")},
            metadata={"branch": "north"},
        )

    failed = EvalSample(
        id="late",
        epoch=1,
        input="Is it late?",
        target="No",
        error=EvalError(message="timed out", traceback="", traceback_ansi=""),
    )
    spec = EvalSpec(
        created="2026-11-01T00:00:00+00:00",
        task="fees",
        dataset=EvalDataset(name="fees", samples=3),
        model="mockllm/model",
        config=EvalConfig(epochs=2),
    )
    samples = [
        sample("abroad", 1, QUESTION, "15 USD", ANSWER),
        sample("abroad", 2, QUESTION, "15 USD", "It costs 5 USD."),
        sample("free", 1, "Is a transfer within the country free?", ["Yes", "free"], "Yes, it is free."),
        failed,
    ]
    for suffix in ("json", "eval"):
        write_eval_log(
            EvalLog(eval=spec, status="success", samples=samples), str(FILES / f"inspect.{suffix}")
        )
    return version("inspect-ai")


def openai_evals() -> str:
    lines = [
        json.dumps({"input": HISTORY, "ideal": ["15 USD", "15 dollars"]}),
        json.dumps({"input": [{"role": "user", "content": QUESTION}], "ideal": "15 USD"}),
        json.dumps({"item": {"question": QUESTION, "correct_label": "15 USD"}}),
    ]
    (FILES / "openai_evals.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return "written by hand, after the documentation of openai/evals and of the Evals API"


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    sys.stdout.write(f"{globals()[sys.argv[1]]()}\n")
