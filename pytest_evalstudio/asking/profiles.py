"""Parts of a session of a model: the profile of the model, and the resources of its requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from pytest_evalstudio.asking.labels import SessionLabels
from pytest_evalstudio.asking.requesting import MAX_TEXT_CHARS
from pytest_evalstudio.asking.runs import CacheMode, RunSource, fixed_run
from pytest_evalstudio.asking.secrets import Secrets

if TYPE_CHECKING:
    from pytest_evalstudio.asking.answers import AnswerCache
    from pytest_evalstudio.asking.corpora import CorpusRegister
    from pytest_evalstudio.asking.load import Load
    from pytest_evalstudio.asking.templates import PromptTemplate
    from pytest_evalstudio.asking.tracing import TracingSource
    from pytest_evalstudio.core.attachments import Attachment
    from pytest_evalstudio.core.cases import Retrieval
    from pytest_evalstudio.core.loops import LoopThread
    from pytest_evalstudio.judges.budget import Budget
    from pytest_evalstudio.text.thoughts import ThoughtTags


class ModelProfile(Struct, frozen=True, kw_only=True):
    """A configured model, as far as it is known before the first question.

    Attributes:
        key: the same for the same name, host and settings, in every run.
        settings: the host's parameters, secrets masked: what reports show and answers are stored under.
        kind: what messages call it.
        retrieves: whether it retrieves; None where each answer says so by its context.
        retrieval: "optional" for a model that retrieves only when it needs to.
        deterministic: whether it gives the same answer to the same question.
        labels: connection, description and prices of the configuration.
        template: of its prompts; None to ask the questions as they are.
        thoughts: tags of thoughts in its texts, see `text.thoughts`; False for a judge, whose replies are
            read as a whole.
        unsupported: describes an image or file that the host cannot take, with the remedy.
        max_text_chars: of the configuration; far longer answers and contexts are errors.
        notes: messages of the host about its service.
    """

    name: str
    key: str
    settings: Mapping[str, Any]
    kind: str = "model"
    retrieves: bool | None = None
    retrieval: Retrieval = ""
    deterministic: bool = False
    labels: SessionLabels = field(default_factory=SessionLabels)
    template: PromptTemplate | None = None
    thoughts: ThoughtTags = True
    unsupported: Callable[[Attachment], str] = str
    max_text_chars: int = MAX_TEXT_CHARS
    notes: list[str] = field(default_factory=list)


class RequestResources(Struct, frozen=True, kw_only=True):
    """Resources of the requests to a model.

    Attributes:
        secrets: of its settings, which no message contains.
        cache: where answers are kept; None to keep none. It stays open when the session closes.
        cache_mode: use of the stored answers.
        run: the run that asks, known from the first question on.
        thread: where its requests run, with those of others; one of its own for None.
        budget: of its requests; None for no limit.
        register: of the host's collections; it is closed with the session.
        load: slots and pace of the requests, which the models of a connection share; None for its own.
        tracing: returns the traces of its questions; None for none.
    """

    secrets: Secrets = field(default_factory=Secrets)
    cache: AnswerCache | None = None
    cache_mode: CacheMode = CacheMode.RESUME
    run: RunSource = field(default_factory=fixed_run)
    thread: LoopThread | None = None
    budget: Budget | None = None
    register: CorpusRegister | None = None
    load: Load | None = None
    tracing: TracingSource | None = None
