"""Configured models that a test or a notebook asks, with answers as cases."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, Unpack, cast

from msgspec.structs import replace

from pytest_evalstudio.api.builders import CaseFields, case_of_data, is_data, make_case
from pytest_evalstudio.asking.dialogues import Request
from pytest_evalstudio.asking.prompts import case_variables, prompt_of
from pytest_evalstudio.core.cases import Answer, Case, Retrieval
from pytest_evalstudio.core.disturbances import disturbance_of
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError, unknown_name
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.scoring.answering import answered, request_of
from pytest_evalstudio.scoring.tasks import ModelInfo, resolved

if TYPE_CHECKING:
    from pytest_evalstudio.asking.resolve import ModelSession
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.formats.model_tables import ModelTable


class DataclassInstance(Protocol):
    """Instance of any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Question = str | Case | Mapping[str, Any] | DataclassInstance
"""A text, a case, or the fields of a case in a mapping or a dataclass of the user's."""


class AskableSession(Protocol):
    """A model that can be asked from threads and from event loops."""

    @property
    def retrieves(self) -> bool | None: ...

    @property
    def retrieval(self) -> Retrieval: ...

    def ask(self, requests: Sequence[Request], /) -> list[Answer]: ...

    async def ask_async(self, requests: Sequence[Request], /) -> list[Answer]: ...


class AskedModel:
    """A configured model in a test or a notebook."""

    def __init__(self, info: ModelInfo, session: AskableSession) -> None:
        self._info = info
        self._session = session

    def ask(
        self, question: Question, *, corpus: Sequence[str | Path] = (), **fields: Unpack[CaseFields]
    ) -> Case:
        """Return the model's answer as a case, ready for an evaluator.

        Args:
            question: a text, or a case that is to be answered, e.g. one of `eval_perturb`; it has its own
                documents and fields. A mapping or an instance of a dataclass with the fields of a case is a
                case, too.
            corpus: documents for a model that retrieves; paths or URLs.
            fields: further fields of the case, e.g. expected_output; the turns of a `conversation` are sent
                before the question, `images` and `files` (paths) with it.
        """
        __tracebackhide__ = True  # in a test, a wrong field is shown at the line that asks
        return self.ask_all([question], corpus=corpus, **fields)[0]

    def ask_all(
        self,
        questions: Sequence[Question],
        *,
        corpus: Sequence[str | Path] = (),
        **fields: Unpack[CaseFields],
    ) -> list[Case]:
        """Return the answers to several questions, asked concurrently.

        Raises:
            TypeError: if a case is given, and documents or fields beside it.
            ConfigurationError: for a mapping or dataclass with a field that a case does not have.
        """
        __tracebackhide__ = True
        cases = _cases_to_ask(questions, corpus, fields)
        return self._answered(cases, self._session.ask([_request(case) for case in cases]))

    async def ask_async(
        self, question: Question, *, corpus: Sequence[str | Path] = (), **fields: Unpack[CaseFields]
    ) -> Case:
        """Return the model's answer as `ask` does, and leave the event loop free meanwhile."""
        __tracebackhide__ = True
        return (await self.ask_all_async([question], corpus=corpus, **fields))[0]

    async def ask_all_async(
        self,
        questions: Sequence[Question],
        *,
        corpus: Sequence[str | Path] = (),
        **fields: Unpack[CaseFields],
    ) -> list[Case]:
        """Return the answers as `ask_all` does, and leave the event loop free meanwhile."""
        __tracebackhide__ = True
        cases = _cases_to_ask(questions, corpus, fields)
        return self._answered(cases, await self._session.ask_async([_request(case) for case in cases]))

    def _answered(self, cases: Sequence[Case], answers: Sequence[Answer]) -> list[Case]:
        # Before any case is made: the caller gets the cases of all questions, or none.
        for answer in answers:
            if answer.not_asked:
                self._refuse(answer.error)
        return [
            answered(
                case,
                answer,
                self._info,
                1,
                retrieves=self._session.retrieves,
                retrieval=self._session.retrieval,
            )
            for case, answer in zip(cases, answers, strict=True)
        ]

    def _refuse(self, reason: str) -> None:
        """Report that a question was not asked.

        Raises:
            EvaluationError: with the reason.
        """
        raise EvaluationError(reason)


def _cases_to_ask(
    questions: Sequence[Question], corpus: Sequence[str | Path], fields: CaseFields
) -> list[Case]:
    __tracebackhide__ = True
    documents = tuple(map(_document, corpus))
    try:
        return [_case_to_ask(question, documents, fields) for question in questions]
    except ConfigurationError as exc:
        raise exc.with_traceback(None) from None


def _document(document: str | Path) -> str:
    return resolved(str(document), str(Path.cwd()))


def _case_to_ask(question: Question, documents: tuple[str, ...], fields: CaseFields) -> Case:
    if not isinstance(question, str | Case) and is_data(question):
        question = case_of_data(question)
        # Relative documents of the case start where those of `corpus` do.
        question = replace(question, corpus=tuple(map(_document, question.corpus)))
    if not isinstance(question, Case):
        # Anything else than a text is refused there, a coroutine that was not awaited too.
        return make_case(cast(str, question), corpus=documents, **fields)
    if documents or fields:
        names = [*fields] if not documents else ["corpus", *fields]
        raise TypeError(
            f"a case is asked with its own fields; give {', '.join(names)} when you make the case"
        )
    return question


def _request(case: Case) -> Request:
    # A copy of a question is asked again: a stored answer would say nothing of the model's noise.
    is_perturbed = any(link.type == SOURCE for link in case.relationships)
    prompt = prompt_of(
        case.question,
        corpus=case.corpus,
        conversation=case.conversation,
        sample=case.key if is_perturbed else "",
        case=case_variables(case.key, case.categories, case.extra),
        attachments=case.attachments,
        disturbance=disturbance_of(case.categories),
    )
    return request_of(prompt, case.plan, f"{case.test_key} {case.key}")


class OpenModel(AskedModel):
    """A model that stays open until `close`, or the end of the process."""

    def __init__(self, table: ModelTable, session: ModelSession) -> None:
        super().__init__(ModelInfo(key=session.key, label=table.name), session)
        self.table = table
        self._opened = session
        self.is_closed = False

    def close(self) -> None:
        """End the connections of the model."""
        self.is_closed = True
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_open_models: dict[tuple[str, str], OpenModel] = {}
"""By configuration and name: each cell of a notebook has the model that the cells before have opened."""


def eval_model(
    name: str, config: str | Path | None = None, *, registry: Registry | None = None
) -> AskedModel:
    """Return a configured model to ask, as the fixture of that name does in tests.

    It stays open to the end of the process, and is opened anew when it was closed or its table has changed.

    Args:
        name: of a `[[model]]`.
        config: configuration file; the nearest one from the current folder upwards where not given.
        registry: registry of plugins; by default a new one.

    Raises:
        ConfigurationError: if there is no such model, or it is not available.

    Example, in a notebook: `case = await eval_model("rag").ask_async("What is the fee?")`.
    """
    from pytest_evalstudio.asking.configured_hosts import find_and_load_configuration
    from pytest_evalstudio.asking.hosts import open_model
    from pytest_evalstudio.asking.runs import AskingRun, fixed_run
    from pytest_evalstudio.asking.spending import model_budget
    from pytest_evalstudio.core.plugins.registry import Registry

    configuration = find_and_load_configuration(config)
    tables = {table.name: table for table in configuration.model}
    if name not in tables:
        raise unknown_name("model", name, tables, f"Add it as [[model]] to {configuration.file}.")
    table = tables[name]
    key = (str(configuration.file), name)
    earlier_model = _open_models.get(key)
    if earlier_model is not None and earlier_model.table == table and not earlier_model.is_closed:
        return earlier_model
    session = open_model(
        name,
        table.settings,
        registry or Registry(),
        folder=Path(configuration.folder),
        cache=None,
        run=fixed_run(AskingRun.new()),
        allow_private_hosts=configuration.allow_private_hosts,
        budget=None if table.budget is None else model_budget(table.budget, name),
        max_text_chars=configuration.max_text_chars,
        thoughts=configuration.thoughts,
    )
    # Registered with the first model; the function closes all that are opened later, too.
    if not _open_models:
        atexit.register(_close_all)
    # Only now: where the new table cannot be opened, the earlier model stays usable.
    if earlier_model is not None:
        earlier_model.close()
    _open_models[key] = OpenModel(table, session)
    return _open_models[key]


def _close_all() -> None:
    for model in _open_models.values():
        model.close()
