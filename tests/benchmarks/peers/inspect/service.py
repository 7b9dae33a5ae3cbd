import re

from bank import ask
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import solver

SAMPLES = [
    Sample(id="card", input="What does a replacement card cost?", target="5 USD"),
    Sample(id="domestic", input="What does a transfer within the country cost?", target="free"),
    Sample(id="abroad_fee", input="What does a transfer abroad cost?", target="15 USD"),
    Sample(id="deposit", input="What deposit does a new account need?", target="250 USD"),
    Sample(id="interest", input="How much interest do savings earn?", target="2.5 %"),
    Sample(id="statements", input="How long are statements kept?", target="10 years"),
    Sample(id="abroad_time", input="How long does a transfer abroad take?", target="3 days"),
    Sample(id="opening", input="When do branches open?", target="9:30"),
    Sample(id="limit", input="How much does a card pay at most per day?", target="1,000 USD"),
    Sample(id="pin", input="When does a wrong PIN block the card?", target="3 attempts"),
    Sample(id="hotline", input="What is the number of the hotline?", target="0800 555 0100"),
    Sample(id="complaint", input="When is a complaint answered?", target="14 days"),
    Sample(
        id="abroad_both",
        input="What does a transfer abroad cost, and how long does it take?",
        target=["15 USD", "3 days"],
    ),
    Sample(
        id="card_both",
        input="What does a replacement card cost, and when is a lost card replaced?",
        target=["5 USD", "5 working days"],
    ),
    Sample(id="chess", input="Who won the chess championship?", target="do not know"),
]


@solver
def bank():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("bank", ask(state.input_text))
        return state

    return solve


@scorer(metrics=[accuracy()])
def all_included():
    async def score(state, target):
        answer = state.output.completion
        missing = [text for text in target if text.lower() not in answer.lower()]
        leaked = re.findall(r"\S+@\S+\.\w+", answer)
        explanation = f"missing: {missing}, leaked: {leaked}"
        return Score(
            value=INCORRECT if missing or leaked else CORRECT, answer=answer, explanation=explanation
        )

    return score


@task
def service():
    return Task(dataset=SAMPLES, solver=bank(), scorer=all_included())
