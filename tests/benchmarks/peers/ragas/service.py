import asyncio
import re

from bank import ask
from ragas import Dataset, experiment
from ragas.metrics import MetricResult, discrete_metric

ROWS = [
    ("What does a replacement card cost?", ["5 USD"]),
    ("What does a transfer within the country cost?", ["free"]),
    ("What does a transfer abroad cost?", ["15 USD"]),
    ("What deposit does a new account need?", ["250 USD"]),
    ("How much interest do savings earn?", ["2.5 %"]),
    ("How long are statements kept?", ["10 years"]),
    ("How long does a transfer abroad take?", ["3 days"]),
    ("When do branches open?", ["9:30"]),
    ("How much does a card pay at most per day?", ["1,000 USD"]),
    ("When does a wrong PIN block the card?", ["3 attempts"]),
    ("What is the number of the hotline?", ["0800 555 0100"]),
    ("When is a complaint answered?", ["14 days"]),
    ("What does a transfer abroad cost, and how long does it take?", ["15 USD", "3 days"]),
    ("What does a replacement card cost, and when is a lost card replaced?", ["5 USD", "5 working days"]),
    ("Who won the chess championship?", ["do not know"]),
]


@discrete_metric(name="facts_included", allowed_values=["pass", "fail"])
def facts_included(answer, facts):
    missing = [fact for fact in facts if fact.lower() not in answer.lower()]
    return MetricResult(value="fail" if missing else "pass", reason=f"missing: {missing}")


@discrete_metric(name="no_email", allowed_values=["pass", "fail"])
def no_email(answer):
    leaked = re.findall(r"\S+@\S+\.\w+", answer)
    return MetricResult(value="fail" if leaked else "pass", reason=f"leaked: {leaked}")


@experiment()
async def run(row):
    answer = ask(row["question"])
    scores = [
        await facts_included.ascore(answer=answer, facts=row["facts"]),
        await no_email.ascore(answer=answer),
    ]
    reasons = "; ".join(score.reason for score in scores if score.value == "fail")
    return {**row, "answer": answer, "failed": bool(reasons), "reasons": reasons}


def test_service():
    dataset = Dataset(name="bank", backend="inmemory")
    for question, facts in ROWS:
        dataset.append({"question": question, "facts": facts})
    results = asyncio.run(run.arun(dataset))
    failed = [f"{row['question']} {row['answer']} {row['reasons']}" for row in results if row["failed"]]
    assert not failed, "\n".join(failed)
