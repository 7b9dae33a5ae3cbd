"""Perturbed tasks: what a run adds to the files it collects, still to be asked for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.conversations import ConversationPlan
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.scoring.perturbing.texts import Perturber, Variant
from pytest_evalstudio.scoring.tasks import EvalTask, resolved


def perturbed_tasks(tasks: Sequence[EvalTask], perturber: Perturber) -> list[EvalTask]:
    """Return a task per original and variant, without answers.

    Each task has its original's model, evaluators, `xfail` and `skip`.
    """
    unique: dict[str, Numbered] = {}
    for task in tasks:
        unique.setdefault(
            task.model.key, Numbered(other.key for other in tasks if other.model.key == task.model.key)
        )
    made_of: dict[int, list[Case]] = {}
    task_list = []
    for task in tasks:
        case = task.case
        if not perturber.wants(case.categories, (link.type for link in case.relationships)):
            continue
        # The models of a suite share the object of a case, which is perturbed once for all of them.
        if id(case) not in made_of:
            made_of[id(case)] = perturbed_cases(case, perturber, unique[task.model.key])
        task_list += [
            EvalTask(
                name="",
                model=task.model,
                case=variant,
                choice=task.choice,
                xfail=task.xfail,
                skip=task.skip,
                policy=task.policy,
            )
            for variant in made_of[id(case)]
        ]
    return task_list


def perturbed_cases(case: Case, perturber: Perturber, unique: Numbered) -> list[Case]:
    """Return the perturbed cases of a question, or of each message of a conversation, without answers."""
    variants: list[tuple[str, ConversationPlan | None, Variant]] = []
    if case.plan is None:
        variants += [(variant.text, None, variant) for variant in perturber.variants(case.question, case.key)]
    else:
        messages = case.plan.messages
        for index, variant in perturber.turn_variants(messages, case.key):
            changed = [*messages[:index], variant.text, *messages[index + 1 :]]
            variants.append((changed[0], case.plan.with_messages(changed), variant))
    return [
        structs.replace(
            case,
            key=unique(variant.key(case.key)),
            question=question,
            plan=plan,
            categories=tuple(variant.filed_under(case.categories)),
            relationships=variant.links(case.key),
            corpus=tuple(resolved(document, case.folder) for document in case.corpus),
            answer=Answer(),
            run=1,
        )
        for question, plan, variant in variants
    ]
