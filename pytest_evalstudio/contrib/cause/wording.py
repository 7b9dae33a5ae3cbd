"""Causes in words: one sentence each, and further facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.contrib.cause.cases import RegressedCase
from pytest_evalstudio.contrib.cause.chunks import ChunkChange, chunk_sentence, document_sentence
from pytest_evalstudio.contrib.cause.repeats import MAX_REPEATS
from pytest_evalstudio.contrib.cause.search import Conclusion
from pytest_evalstudio.contrib.cause.settings import prompt_name
from pytest_evalstudio.contrib.cause.trajectories import before_sentence, divergence_sentence, tool_sentence
from pytest_evalstudio.record.causes import CauseBasis, CauseCode, CauseEntry, CausePart, Trial
from pytest_evalstudio.text.figures import counted, figure

CHUNKS_SHOWN = 3


def entry_of(case: RegressedCase, conclusion: Conclusion) -> CauseEntry:
    """Return the record's entry of a case, not yet masked."""
    code, parts = conclusion.code, conclusion.parts
    change = case.chunks[0] if case.chunks else None
    if code is CauseCode.DOCUMENT and change is not None:
        parts = (CausePart(kind=code, name=case.documents.name_for(change)),)
    return CauseEntry(
        file=case.item.file.nodeid,
        key=case.item.task.key,
        model=case.item.task.model.label,
        code=code,
        basis=conclusion.basis,
        parts=parts,
        is_joint=conclusion.is_joint,
        text=_sentence(case, conclusion),
        details=tuple(dict.fromkeys(_details(case, conclusion))),
        trials=conclusion.trials,
        calls=conclusion.calls,
    )


def _sentence(case: RegressedCase, conclusion: Conclusion) -> str:
    """Return the cause in one sentence, which begins with its name."""
    parts = conclusion.parts
    match conclusion.code:
        case CauseCode.DOCUMENT:
            change = case.chunks[0]
            return f"document: {document_sentence(change, case.then.text, case.documents.name_for(change))}"
        case CauseCode.SEVERAL if conclusion.is_joint:
            return f"several: passes only with the baseline's {_listed(case, parts, 'and')} together"
        case CauseCode.SEVERAL:
            return f"several: passes with the baseline's {_listed(case, parts, 'or with its')} alone"
        case CauseCode.NOISE:
            return f"noise: {_as_is(conclusion.trials)}"
        case CauseCode.AGENT:
            divergence = case.trajectories.divergence
            assert divergence is not None  # the search has seen it
            return f"agent: {_same_results(case)}, {divergence_sentence(divergence)}"
        case CauseCode.MODEL if not parts:
            if case.other_chunks:
                return "model: served model changed; the case fails with the baseline's chunks, too"
            return "model: served model changed, same prompt and chunks"
        case CauseCode.NOT_TESTED:
            return f"not tested: {_untested_reason(conclusion)}"
        case CauseCode.NOT_FOUND:
            return f"not found: {_not_found(case, conclusion)}"
        case _:
            return _part_sentence(case, parts[0])


def _part_sentence(case: RegressedCase, part: CausePart) -> str:
    match part.kind:
        case CauseCode.RETRIEVAL:
            what = f"; {chunk_sentence(case.chunks[0])}" if case.chunks else ""
            return f"retrieval: passes with the baseline's chunks{what}"
        case CauseCode.TOOL:
            change = case.trajectories.result_of(part.name)
            return f"tool `{part.name}`: {tool_sentence(change)}"
        case CauseCode.PROMPT:
            return f"prompt: passes with {_prompt(case, part)}"
        case kind:
            changes = "; ".join(map(str, case.settings_of(part)))
            return f"{kind}: passes with the baseline's value; {changes}"


def _prompt(case: RegressedCase, part: CausePart) -> str:
    change = case.settings_of(part)[0]
    if change.name == "prompt":
        return f"prompt {prompt_name(change.then)}"
    return f"the baseline's `{change.name}`"


def _listed(case: RegressedCase, parts: Sequence[CausePart], word: str) -> str:
    return f" {word} ".join(_part_name(case, part) for part in parts)


def _part_name(case: RegressedCase, part: CausePart) -> str:
    if part.kind is CauseCode.RETRIEVAL:
        return "chunks"
    if part.kind is CauseCode.TOOL:
        return f"results of `{part.name}`"
    if part.kind is CauseCode.SETTING:
        return f"`{part.name}`"
    return str(part.kind)


def _as_is(trials: Sequence[Trial]) -> str:
    trial = next((trial for trial in trials if not trial.parts), Trial(parts=()))
    return f"passes {trial.passed} of {trial.passed + trial.failed} as it is"


def _same_results(case: RegressedCase) -> str:
    if case.trajectories.results:
        return "also with the results of the baseline"
    divergence = case.trajectories.divergence
    return "same results" if divergence is not None and divergence.before else "from its first call"


def _untested_reason(conclusion: Conclusion) -> str:
    if conclusion.reason:
        return conclusion.reason
    return next(iter(conclusion.candidates.obstacles), "nothing that differs can be put back")


def _not_found(case: RegressedCase, conclusion: Conclusion) -> str:
    if conclusion.reason:
        return conclusion.reason
    tested = [trial for trial in conclusion.trials if trial.parts]
    if not tested:
        same = "chunks, calls and settings are those of the baseline"
        untested = ", ".join(conclusion.candidates.untested)
        other = f"{untested}, which is not tested" if untested else "the code or the service changed"
        return f"{same}; {other}"
    best = max(tested, key=lambda trial: trial.passed)
    if best.passed + best.failed >= MAX_REPEATS:
        passed = f"passes {best.passed} of {best.passed + best.failed}"
        name = _listed(case, best.parts, "and")
        return f"with the baseline's {name} it {passed}, {_as_is(conclusion.trials)}; that settles nothing"
    parts = dict.fromkeys(part for trial in tested for part in trial.parts)
    return f"fails with the baseline's {_listed(case, tuple(parts), 'and')}, too"


def _details(case: RegressedCase, conclusion: Conclusion) -> Iterator[str]:
    code = conclusion.code
    if code is CauseCode.NOISE:
        return
    if code in (CauseCode.NOT_TESTED, CauseCode.NOT_FOUND):
        yield from _differences(case)
    kinds = {part.kind for part in conclusion.parts} | {code}
    if kinds & {CauseCode.RETRIEVAL, CauseCode.DOCUMENT}:
        yield from _chunk_details(case.chunks[1:] if code is CauseCode.RETRIEVAL else case.chunks)
        yield from map(str, (change for change in case.settings if _may_change_chunks(change.part)))
    if CauseCode.PROMPT in kinds or CauseCode.MODEL in kinds:
        yield from (str(change) for part in conclusion.parts for change in case.settings_of(part))
    if code is CauseCode.MODEL and case.other_model_served:
        yield _served(case)
    divergence = case.trajectories.divergence
    if divergence is not None and code in (CauseCode.AGENT, CauseCode.TOOL):
        if before := before_sentence(divergence):
            yield before
        if code is CauseCode.TOOL:
            yield f"then the agent {divergence_sentence(divergence)}"
    if conclusion.basis is CauseBasis.FINGERPRINTS:
        yield "nothing else differs in the two records"
    yield from conclusion.candidates.obstacles


def _differences(case: RegressedCase) -> Iterator[str]:
    """Yield what differs from the baseline, whether or not it is the cause."""
    yield from _chunk_details(case.chunks)
    yield from map(str, case.settings)
    if case.other_model_served:
        yield _served(case)
    trajectories = case.trajectories
    for tool in trajectories.changed_tools:
        yield f"tool `{tool}` {tool_sentence(trajectories.result_of(tool))}"
    if trajectories.divergence is not None:
        yield f"the agent {divergence_sentence(trajectories.divergence)}"


def _served(case: RegressedCase) -> str:
    return f"`{case.recorded_now.served_model}` answered in place of `{case.then.served_model}`"


def _may_change_chunks(part: CausePart | None) -> bool:
    return part is not None and part.kind in (CauseCode.SETTING, CauseCode.RETRIEVAL)


def _chunk_details(changes: Sequence[ChunkChange]) -> Iterator[str]:
    yield from map(chunk_sentence, changes[:CHUNKS_SHOWN])
    if len(changes) > CHUNKS_SHOWN:
        yield f"{counted(len(changes) - CHUNKS_SHOWN, 'more chunk')} of the baseline differ"


def trial_text(trial: Trial) -> str:
    """Return a trial in words."""
    parts = " and ".join(map(str, trial.parts))
    label = f"with the baseline's {parts}" if parts else "as it is"
    text = f"{label}: passes {trial.passed} of {trial.passed + trial.failed}"
    if trial.p is not None:
        text += f" (p {figure(trial.p)})"
    return f"{text}; {trial.reason}" if trial.reason else text
