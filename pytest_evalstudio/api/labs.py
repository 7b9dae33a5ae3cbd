"""Construction of labs: the questions of a suite and the answers of models as rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.configured_hosts import connection_of
from pytest_evalstudio.asking.dialogues import Request
from pytest_evalstudio.asking.downloads import name_host
from pytest_evalstudio.asking.hosts import asked_model, open_model
from pytest_evalstudio.asking.prompts import case_variables, prompt_of
from pytest_evalstudio.asking.resolve import ModelSession, Progress
from pytest_evalstudio.asking.runs import AskingRun, fixed_run
from pytest_evalstudio.asking.spending import budget_of
from pytest_evalstudio.core.disturbances import disturbance_of
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.guide_names import own_connection
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.attachments import attachments_of, recorded
from pytest_evalstudio.formats.conversations import AnsweredTurn, plan_of
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.lab import Model, TestLab
from pytest_evalstudio.formats.model_tables import labels_of
from pytest_evalstudio.formats.repeats import SequentialRuns
from pytest_evalstudio.formats.suite import OURS, Test, TestCase, TestSuite, complete_keys
from pytest_evalstudio.scoring.answer_rows import complete_row
from pytest_evalstudio.scoring.answering import request_of
from pytest_evalstudio.scoring.tasks import resolved, turns_of


class LabBuilder:
    """A lab in the making.

    Args:
        suite: the questions.
        models: `[[model]]` tables: name, host, and the host's parameters; several configurations of one model
            are several tables.
        folder: where modules and other files of the hosts are looked for.
        documents: folder or URL where relative documents of the suite start; `folder` where not given.
        cache: folder in which answers are kept; None to keep none. Stored answers serve a continued run, and
            models with `cache = "always"`.
        registry: registry of plugins; by default a new one.
        runs: how often each question is asked, where a model's table does not say.
        run: the run that asks; a new one where not given, so that the models are asked anew.
        allow_private_hosts: whether documents may be fetched from addresses that are not public.

    Attributes:
        not_asked: the reason for each question that was not asked: the budget of its model was used up, or its
            service refused access.
        stored: number of answers that an earlier run stored.

    Raises:
        ConfigurationError: if a model is not available, or two models have the same name.

    >>> suite = TestSuite(name="Sums")
    >>> _ = suite.add_test().add_case("2 + 2?", key="sum")
    >>> with LabBuilder(suite, [{"name": "parrot", "host": "scripted", "answers": {"2 + 2?": "4"}}]) as builder:
    ...     builder.complete_dataset().dataset.inputs[0].actual_output
    '4'
    """  # noqa: E501

    def __init__(
        self,
        suite: TestSuite,
        models: Sequence[Mapping[str, object]],
        *,
        folder: str | Path = ".",
        documents: str | Path | None = None,
        cache: str | Path | None = None,
        registry: Registry | None = None,
        runs: int = 1,
        run: AskingRun | None = None,
        allow_private_hosts: bool = False,
    ) -> None:
        # Keys are part of the requests, so they must be there before the first question.
        complete_keys(suite)
        self._suite = suite
        home = Path(folder).absolute()
        self._documents = documents_location(documents, home)
        self._cache = AnswerCache(Path(cache)) if cache is not None else None
        self._sessions: list[tuple[ModelSession, int]] = []
        self.lab = TestLab(name=suite.name, description=suite.description)
        self.not_asked: list[str] = []
        self.stored = 0
        plugins = registry or Registry()
        source = fixed_run(run)
        try:
            for table in models:
                if "name" not in table:
                    raise ConfigurationError("a model has no name; give each model a `name`")
                name = str(table["name"])
                if any(session.name == name for session, _ in self._sessions):
                    raise ConfigurationError(f"two models are named {name!r}; give each model a unique name")
                session = open_model(
                    name,
                    host_settings(table),
                    plugins,
                    folder=home,
                    cache=self._cache,
                    run=source,
                    allow_private_hosts=allow_private_hosts,
                    budget=budget_of(table),
                )
                self._sessions.append((session, _runs(name, table.get("runs", runs))))
        except BaseException:  # the caller gets no object on which to close the sessions that are open
            self.close()
            raise

    @classmethod
    def from_llm_test_suite(
        cls,
        llm_test_suite: TestSuite,
        *,
        llm_host: str = "",
        llm_model_names: Sequence[str],
        llm_host_configs: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
        llm_host_connection: str | Mapping[str, object] = "",
        llm_model_type: str | Enum = "",
        config: str | Path | None = None,
        **options: Any,
    ) -> Self:
        """Make a lab of several language models behind one host.

        Args:
            llm_host: id of the host; that of the connection where not given.
            llm_model_names: names of the models at the host.
            llm_host_configs: host parameters per model; with several for one model, each makes a model of its
                own, named by what differs.
            llm_host_connection: name of a `[connection.NAME]`, or its keys, e.g. url and api_key; they take
                precedence over those of `llm_host_configs`.
            llm_model_type: the same as `llm_host`, by the name in the documents of H2O Eval Studio.
            config: configuration file with the connection; the nearest one from the current folder upwards
                where not given.
            options: those of the class.

        Raises:
            ConfigurationError: if there is no such connection, or no host.
        """
        kind = llm_model_type.name if isinstance(llm_model_type, Enum) else llm_model_type
        if llm_host and kind:
            raise ConfigurationError("llm_host and llm_model_type are the same; give one of them")
        connection = (
            own_connection(llm_host_connection)
            if isinstance(llm_host_connection, Mapping)
            else connection_of(llm_host_connection, config)
        )
        host = llm_host or kind or str(connection.get("host", ""))
        if not host:
            raise ConfigurationError("there is no host; give llm_host, or a connection that has one")
        tables = []
        for name in llm_model_names:
            configs = (llm_host_configs or {}).get(name) or [{}]
            for label, settings in zip(labels_of(name, configs, name), configs, strict=True):
                table = {"llm_model_name": name, **settings, **connection}
                tables.append({**table, "name": label, "host": host})
        return cls(llm_test_suite, tables, **options)

    def build(self) -> TestLab:
        """Return the lab without answers: its models and unanswered rows."""
        self.lab.models = [_model(session) for session, _ in self._sessions]
        self.lab.llm_model_names = [model.llm_model_name or model.name for model in self.lab.models]
        documents = dict.fromkeys(document for test in self._suite.tests for document in test.documents)
        self.lab.docs_cache = {document: resolved(document, self._documents) for document in documents}
        self.lab.raw_dataset = LlmDataset(
            inputs=[
                row_of_case(self._suite, test, case, session.key, run, self._documents)
                for session, runs in self._sessions
                for test, case, run in self._questions(runs)
            ]
        )
        return self.lab

    def complete_dataset(self, progress: Progress | None = None) -> TestLab:
        """Return the lab with the answers of all its models.

        If an answer fails, `error` of its row says why. A question that a budget leaves out has a row in
        `raw_dataset` only.
        """
        self.build()
        rows = []
        for session, runs in self._sessions:
            questions = self._questions(runs)
            answers = session.ask(self._requests(questions), progress=progress)
            for (test, case, run), answer in zip(questions, answers, strict=True):
                if answer.not_asked:
                    self.not_asked.append(answer.error)
                    continue
                self.stored += answer.stored_at is not None
                row = row_of_case(self._suite, test, case, session.key, run, self._documents)
                complete_row(row, answer, self._documents)
                rows.append(row)
        self.lab.dataset = LlmDataset(inputs=rows)
        for model, (session, _) in zip(self.lab.models, self._sessions, strict=True):
            describe_session(model, session, self._documents)
        return self.lab

    def stored_dataset(self) -> tuple[TestLab, list[Row]]:
        """Return the lab with the answers that are stored for its run; no model is asked.

        Returns:
            The lab, and those of its rows whose answer is not stored.
        """
        self.build()
        rows, unanswered = [], []
        for session, runs in self._sessions:
            questions = self._questions(runs)
            for (test, case, run), answer in zip(
                questions, session.peek(self._requests(questions)), strict=True
            ):
                row = row_of_case(self._suite, test, case, session.key, run, self._documents)
                rows.append(row)
                if answer is None:
                    unanswered.append(row)
                else:
                    self.stored += 1
                    complete_row(row, answer, self._documents)
        self.lab.dataset = LlmDataset(inputs=rows)
        return self.lab, unanswered

    def close(self) -> None:
        """End the connections of the models."""
        for session, _ in self._sessions:
            session.close()
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _originals(self, case: TestCase) -> list[str]:
        """Return the questions of the cases that a case is a perturbation of."""
        sources = {link.target for link in case.relationships if link.type == SOURCE}
        return [other.prompt for _, other in self._suite.cases() if other.key in sources] if sources else []

    def _requests(self, questions: Sequence[tuple[Test, TestCase, int]]) -> list[Request]:
        return [
            request_of(
                prompt_of(
                    case.prompt,
                    key=case.key,
                    corpus=tuple(resolved(document, self._documents) for document in test.documents),
                    run=run,
                    conversation=turns_of(case.conversation),
                    originals=self._originals(case),
                    case=case_variables(case.key, case.categories, case.model_extra),
                    attachments=attachments_of(case.images, case.files, self._documents),
                    disturbance=disturbance_of(case.categories),
                ),
                # Without `on_failure`: nothing is judged here, so no turn can fail.
                plan_of(case.turns, case.user, case.judge, folder=self._documents),
                case.key,
            )
            for test, case, run in questions
        ]

    def _questions(self, runs: int) -> list[tuple[Test, TestCase, int]]:
        return [(test, case, run) for test, case in self._suite.cases() for run in range(1, runs + 1)]


def host_settings(table: Mapping[str, object]) -> dict[str, object]:
    """Return the keys of a model's table that its host takes."""
    return {key: value for key, value in table.items() if key not in ("name", "runs", "budget")}


def documents_location(documents: str | Path | None, home: Path) -> str:
    """Return the folder or URL where relative paths of documents start; remember a URL's host as named."""
    if isinstance(documents, str) and "://" in documents:
        name_host(documents)
        return documents
    return str(Path(documents or home).absolute())


def _runs(name: str, value: object) -> int:
    if isinstance(value, SequentialRuns):
        raise ConfigurationError(
            f"model {name!r}: runs with `stop` needs the verdicts of a pytest run, and this command"
            " judges no answers; give a number of repeats, e.g. --runs 5"
        )
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"model {name!r}: runs = {value!r}: must be a whole number, 1 or more")
    return value


def _model(session: ModelSession) -> Model:
    settings = session.description()["settings"]
    return Model(
        **session.labels.texts(),
        model_type=session.spec.id,
        name=session.name,
        llm_model_name=asked_model(settings) or session.name,
        key=session.key,
        model_cfg=settings,
        retrieves=session.retrieves,
    )


def describe_session(model: Model, session: ModelSession, folder: str) -> None:
    """Note in a lab's model what is known after its questions were asked.

    Args:
        folder: documents below it are named from there.
    """
    model.llm_model_meta = dict(session.counters)
    model.connection = session.labels.connection or model.connection
    if session.collections:
        prefix = folder.rstrip(os.sep) + os.sep
        documents = dict.fromkeys(document for corpus in session.collections for document in corpus)
        model.collection_id = ",".join(dict.fromkeys(session.collections.values()))
        model.documents = [document.removeprefix(prefix) for document in documents]


def row_of_case(suite: TestSuite, test: Test, case: TestCase, model_key: str, run: int, folder: str) -> Row:
    """Return the row of a test case for one model and repeat, without an answer."""
    attachments = attachments_of(case.images, case.files, folder)
    attached = {
        "images": recorded(attachments, is_image=True),
        "files": recorded(attachments, is_image=False),
    }
    return Row(
        key=case.key,
        test_key=test.key,
        input=case.prompt,
        corpus=list(test.documents),
        categories=list(dict.fromkeys((*case.categories, *test.categories, *suite.categories))),
        relationships=list(case.relationships),
        expected_output=case.expected_output,
        output_condition=case.condition,
        output_constraints=list(case.constraints),
        model_key=model_key,
        # Files of a single run have no numbers of repeats.
        run=run if run > 1 else None,
        turns=[AnsweredTurn(**turn.to_dict()) for turn in case.turns],
        **({name: getattr(case, name) for name in OURS} | attached),
        **{"pass": case.policy or suite.policy},
        **(case.model_extra or {}),
    )
