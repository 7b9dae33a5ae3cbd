"""The border of answers: what is scored of the text of a model, wherever it comes from."""

from __future__ import annotations

from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.text.thoughts import ThoughtTags, split_thoughts


def without_thoughts(answer: Answer, tags: ThoughtTags = True) -> Answer:
    """Return an answer whose text has no thoughts; they are kept in `thoughts`.

    An answer that is only an unfinished thought is an error: the model reached its limit of tokens before it
    answered.

    Args:
        answer: to a question, or of a conversation with all its turns.
        tags: of the model's thoughts, see `split_thoughts`.
    """
    if answer.turns:
        turns = tuple(
            structs.replace(turn, answer=without_thoughts(turn.answer, tags)) for turn in answer.turns
        )
        if turns == answer.turns:
            return answer
        last = turns[-1].answer
        error = answer.error or (f"turn {len(turns)}: {last.error}" if last.error else "")
        return structs.replace(answer, turns=turns, text=last.text, thoughts=last.thoughts, error=error)
    reply = split_thoughts(answer.text, tags)
    if reply.text == answer.text:
        return answer
    thoughts = "\n\n".join(filter(None, (answer.thoughts, reply.thoughts)))
    error = answer.error
    if reply.unfinished and not reply.text:
        error = error or (
            f"the answer is an unfinished thought ({reply.unfinished} is never closed); raise the token limit"
            " of the model, e.g. max_tokens"
        )
    return structs.replace(answer, text=reply.text, thoughts=thoughts, error=error)


def scored_case(case: Case, tags: ThoughtTags = True) -> Case:
    """Return a case as evaluators take it: its answer without thoughts."""
    answer = without_thoughts(case.answer, tags)
    return case if answer is case.answer else structs.replace(case, answer=answer)
