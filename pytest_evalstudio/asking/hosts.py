"""From a `[[model]]` table of the configuration to a model that can be asked."""

from __future__ import annotations

import functools
import hashlib
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct, structs

from pytest_evalstudio.asking.answers import AnswerCache, digest_of
from pytest_evalstudio.asking.corpora import CorpusRegister, report_ingestion
from pytest_evalstudio.asking.descriptors import affordable, describe_limit
from pytest_evalstudio.asking.downloads import named_hosts
from pytest_evalstudio.asking.labels import SessionLabels
from pytest_evalstudio.asking.limits import Limits
from pytest_evalstudio.asking.load import load_of
from pytest_evalstudio.asking.prices import Prices, without_prices
from pytest_evalstudio.asking.profiles import ModelProfile, RequestResources
from pytest_evalstudio.asking.requesting import MAX_TEXT_CHARS
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.asking.runs import CacheMode, RunSource, fixed_run
from pytest_evalstudio.asking.secrets import Secrets
from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import NOTHING, Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError, ResourceMissing
from pytest_evalstudio.core.loops import LoopThread
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.host import Host, HostFault, HostSpec, Opens
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.restored import ToolSource
from pytest_evalstudio.formats.options import build, check_options
from pytest_evalstudio.formats.prompt_files import PromptFile, prompt_file_of
from pytest_evalstudio.hosts._tools import HostTools
from pytest_evalstudio.judges.budget import Budget
from pytest_evalstudio.text.prose import prose_sentences
from pytest_evalstudio.text.thoughts import ThoughtTags, tags_fault

if TYPE_CHECKING:
    from pytest_evalstudio.asking.tracing import TracingSource

if TYPE_CHECKING:
    from pytest_evalstudio.asking.templates import PromptTemplate

LIMIT_KEYS = (
    "concurrency",
    "requests_per_minute",
    "timeout_s",
    "retries",
    "breaker",
    "deadline_s",
    "rate_limit_wait_s",
)
LABEL_KEYS = ("connection", "description", "prices")
SESSION_KEYS = (
    "host",
    "cache",
    "thoughts",
    "rag",
    "retrieval",
    "deterministic",
    "runs",
    "budget",
    *LABEL_KEYS,
    *LIMIT_KEYS,
)
"""Keys of a model's table that are not the host's: `runs` and `budget` belong to the plugin, `rag` says that
a host of kind "both" retrieves, `retrieval` whether each of its answers must come with chunks.
"""

_SESSION_OPTIONS = ("cache", "thoughts", "rag", "retrieval", "deterministic", *LABEL_KEYS)
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "pytest-evalstudio/model")


def open_model(
    name: str,
    settings: Mapping[str, Any],
    registry: Registry,
    *,
    folder: Path,
    cache: AnswerCache | None,
    workers: int = 1,
    run: RunSource | None = None,
    kept: CacheMode = CacheMode.RESUME,
    env: Mapping[str, str] | None = None,
    thread: LoopThread | None = None,
    kind: str = "model",
    allow_private_hosts: bool = False,
    optional: Mapping[str, Any] = NOTHING,
    budget: Budget | None = None,
    allow_absent: bool = False,
    max_text_chars: int = MAX_TEXT_CHARS,
    tracing: TracingSource | None = None,
    thoughts: ThoughtTags = True,
    program: str = "",
    tool_source: ToolSource | None = None,
) -> ModelSession:
    """Make a configured model ready to be asked.

    Args:
        settings: `host`, the host's parameters, limits, `cache` (never, resume or always),
            `rag`; `${NAME}` in any text is taken from the environment.
        folder: where relative paths and modules are looked for.
        cache: where answers are kept, None to keep none; it stays open when the session closes.
        workers: how many processes share the limits.
        run: the run that asks; a new one where it is None.
        kept: use of stored answers where neither the settings nor the host say otherwise.
        env: in place of the process's environment.
        thread: where its requests run, with those of others.
        kind: what messages call it.
        allow_private_hosts: whether documents may be fetched from addresses that are not public.
        optional: parameters that the host gets where it has them and the settings do not set them; it may
            leave them out.
        budget: of the requests; None for no limit.
        allow_absent: whether a missing client package is an error of each question, not of the model.
        max_text_chars: of the configuration; far longer answers and contexts are errors.
        tracing: returns the traces of its questions; None for none.
        thoughts: tags of thoughts in the texts of a model whose settings have none.
        program: of a model that runs the user's code, see `model_identity`.
        tool_source: records and replays wrapped tools of applications in this process.

    Raises:
        ConfigurationError: if anything in the settings is unknown, missing or wrong.
    """
    with _errors_of(kind, name):
        cls, spec = _host_of(settings, registry)
        settings, source = _prompt_apart(settings)
        template = _template_of(source, spec)
        known = parameters(cls)
        preferred = {key: value for key, value in optional.items() if key in known and key not in settings}
        settings = {**preferred, **settings}
        notes: list[str] = []
        secrets = Secrets()
        # Before the checks below, whose messages may quote values: secrets are known only from here on.
        expanded = secrets.expand(settings, env=env)
        register = CorpusRegister(cache.folder if cache is not None else None)

        def note(message: str) -> None:
            notes.append(f"{kind} {name!r}: {secrets.mask_message(message)}")

        try:
            options = _ModelOptions.checked(cls, settings, expanded, f"host {spec.id}")
            limits = _limits(options, spec, workers, note)
            host = build(cls, options.parameters, f"host {spec.id}")
            if spec.opens:
                tools = HostTools(
                    name=name,
                    folder=folder,
                    downloads=cache.folder / "documents" if cache is not None else None,
                    artifacts=cache.folder / "artifacts" if cache is not None else None,
                    split_sentences=prose_sentences,
                    mask=secrets.mask_message,
                    timeout_s=limits.timeout_s,
                    allow_private_hosts=allow_private_hosts,
                    trusted_hosts=named_hosts(),
                    optional=frozenset(preferred),
                    note=note,
                    priced_models=frozenset(options.session.prices),
                    corpora=register,
                    max_text_chars=max_text_chars,
                    tool_source=tool_source,
                    progress=report_ingestion,
                )
                cast(Opens, host).open(tools)
        except ConfigurationError as exc:
            if not (allow_absent and isinstance(exc, ResourceMissing)):
                raise ConfigurationError(secrets.mask_message(str(exc))) from exc
            host = absent_host(spec, secrets.mask_message(str(exc)))
        identity = _identity(name, spec, secrets, expanded, source, program)
        profile = ModelProfile(
            name=name,
            key=identity.key,
            settings=identity.settings,
            kind=kind,
            retrieves=options.retrieves(spec),
            retrieval=options.session.retrieval,
            deterministic=options.is_deterministic(spec),
            labels=options.labels(identity.settings),
            template=template,
            thoughts=options.thoughts(kind, thoughts),
            unsupported=functools.partial(_unsupported, spec, registry),
            max_text_chars=max_text_chars,
            notes=notes,
        )
        resources = RequestResources(
            secrets=secrets,
            cache=cache,
            cache_mode=options.cache_mode(spec, kept),
            run=run or fixed_run(),
            thread=thread,
            budget=budget,
            register=register,
            load=load_of(options.session.connection, str(folder), limits),
            tracing=tracing,
        )
        return ModelSession(host, profile=profile, limits=limits, resources=resources)


def _unsupported(spec: HostSpec, registry: Registry, attachment: Attachment) -> str:
    """Return what a host cannot take, and the hosts that can."""
    from pytest_evalstudio.asking.attachments import unsupported_message  # only for this error

    return unsupported_message(spec, registry, attachment)


@contextmanager
def _errors_of(kind: str, name: str) -> Iterator[None]:
    """Name the model in errors of its configuration."""
    try:
        yield
    except ConfigurationError as exc:
        raise ConfigurationError(f"{kind} {name!r}: {exc}") from exc


def _limits(options: _ModelOptions, spec: HostSpec, workers: int, note: Callable[[str], None]) -> Limits:
    """Return the limits of one worker, within those of the operating system."""
    limits = build(Limits, options.limits, "").share(workers)
    if not spec.caches or (concurrency := affordable(limits.concurrency)) == limits.concurrency:
        return limits
    note(
        f"{concurrency} requests at the same time in place of {limits.concurrency}:"
        f" {describe_limit()}; raise the limit (ulimit -n) or lower `concurrency`"
    )
    return replace(limits, concurrency=concurrency)


def check_model(name: str, settings: Mapping[str, Any], registry: Registry, *, kind: str = "model") -> None:
    """Check a model's table without opening the model or reading the environment.

    Raises:
        ConfigurationError: if its host is unknown, or an option is unknown or has the wrong type.
    """
    with _errors_of(kind, name):
        cls, spec = _host_of(settings, registry)
        settings, source = _prompt_apart(settings)
        _template_of(source, spec)
        # Values of the environment may not be there yet, e.g. in a check by CI without secrets.
        known = {key: value for key, value in settings.items() if not _is_reference(value)}
        options = _ModelOptions.checked(cls, known, known, f"host {spec.id}")
        options.thoughts(kind)
        build(Limits, options.limits, "")


PROGRAM = "folder"
"""Setting that names the program of a model; no parameter of a host."""


class ModelIdentity(Struct, frozen=True, kw_only=True):
    """The part of a model's session that is known before the model is opened.

    Attributes:
        key: of the session.
        host: id of the host.
        settings: the host's parameters, secrets masked.
    """

    key: str
    host: str
    settings: dict[str, Any]


def model_identity(
    name: str,
    settings: Mapping[str, Any],
    registry: Registry,
    *,
    env: Mapping[str, str] | None = None,
    program: str = "",
) -> ModelIdentity:
    """Return the key and the settings that `open_model` gives a model.

    Args:
        program: folder of the configuration, relative to that of the run; "" for the same. Models that run
            the user's code are told apart by it, since equal settings name other code in another folder.

    Raises:
        ConfigurationError: if the host or a variable of the environment is unknown.
    """
    _, spec = _host_of(settings, registry)
    secrets = Secrets()
    settings, source = _prompt_apart(settings)
    return _identity(name, spec, secrets, secrets.expand(settings, env=env), source, program)


def asked_model(settings: Mapping[str, Any]) -> str:
    """Return the name of the language model that a host is to ask, "" where its settings name none."""
    return str(settings.get("llm_model_name") or "")


def _prompt_apart(settings: Mapping[str, Any]) -> tuple[Mapping[str, Any], PromptFile | None]:
    """Return settings and prompt apart: `${NAME}` in a prompt is no variable of the environment."""
    return {key: value for key, value in settings.items() if key != "prompt"}, prompt_file_of(settings)


def _template_of(source: PromptFile | None, spec: HostSpec) -> PromptTemplate | None:
    if source is None:
        return None
    from pytest_evalstudio.asking.templates import PromptTemplate

    template = PromptTemplate(source)
    if template.has_system and not spec.takes_system:
        raise ConfigurationError(
            f"prompt {source.file}: host {spec.id!r} takes no system message; put it into the user's message"
        )
    return template


def _identity(
    name: str,
    spec: HostSpec,
    secrets: Secrets,
    expanded: Mapping[str, Any],
    prompt: PromptFile | None,
    program: str,
) -> ModelIdentity:
    # Without limits and labels: another pace or description makes no other model.
    masked = secrets.masked({key: value for key, value in expanded.items() if key not in SESSION_KEYS})
    if prompt is not None:
        masked["prompt"] = {**prompt.model_dump(), "sha256": hashlib.sha256(prompt.text.encode()).hexdigest()}
    if program and spec.runs_user_code:
        masked[PROGRAM] = program
    key = str(uuid.uuid5(_NAMESPACE, digest_of([name, spec.id, without_prices(masked)])))
    return ModelIdentity(key=key, host=spec.id, settings=masked)


def _host_of(settings: Mapping[str, Any], registry: Registry) -> tuple[type[Host], HostSpec]:
    id = settings.get("host")
    if not isinstance(id, str):
        raise ConfigurationError(f"needs `host`, one of {', '.join(registry.hosts)}")
    return registry.hosts.get(id), registry.hosts.spec(id)


def _is_reference(value: Any) -> bool:
    """Return whether a value takes anything from the environment."""
    return isinstance(value, str) and "${" in value


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionOptions:
    """Keys of a model's table that are neither the host's nor limits; None where the host decides."""

    cache: bool | Literal["never", "resume", "always"] | None = None
    thoughts: bool | list[str] | None = None
    rag: bool | None = None
    retrieval: Literal["", "optional"] = ""
    deterministic: bool | None = None
    connection: str = ""
    description: str = ""
    prices: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelOptions:
    """The checked options of a model's table.

    Attributes:
        parameters: of the host.
        limits: of the requests, as in `Limits`.
        session: all other keys.
    """

    parameters: Mapping[str, Any]
    limits: Mapping[str, Any]
    session: _SessionOptions

    @classmethod
    def checked(
        cls, host: type[Host], settings: Mapping[str, Any], expanded: Mapping[str, Any], place: str
    ) -> _ModelOptions:
        """Check all options of a table.

        Args:
            settings: the table as it is written.
            expanded: the same with the values of the environment.
        """
        from_text = {key for key, value in settings.items() if _is_reference(value)}

        def part(
            options: type, keys: Collection[str], place: str, also: Collection[str] = ()
        ) -> dict[str, Any]:
            values = {key: value for key, value in expanded.items() if key in keys}
            return check_options(options, values, place, also=also, from_text=from_text)

        return cls(
            parameters=part(host, set(expanded) - {*SESSION_KEYS}, place, SESSION_KEYS),
            limits=part(Limits, LIMIT_KEYS, ""),
            session=_SessionOptions(**part(_SessionOptions, _SESSION_OPTIONS, "")),
        )

    def cache_mode(self, spec: HostSpec, kept: CacheMode) -> CacheMode:
        """Return the use of stored answers.

        Args:
            spec: of the host, whose answers may not be worth storing.
            kept: for hosts whose answers are.
        """
        mode = self.session.cache
        if mode is None:
            return kept if spec.caches else CacheMode.NEVER
        if isinstance(mode, bool):  # TOML's true and false
            return CacheMode.ALWAYS if mode else CacheMode.NEVER
        return CacheMode(mode)

    def thoughts(self, kind: str, default: ThoughtTags = True) -> ThoughtTags:
        """Return the tags of thoughts in the model's texts; replies of judges are read as a whole.

        Raises:
            ConfigurationError: if they are not two different texts.
        """
        tags = self.session.thoughts
        if tags is None:
            return default if kind == "model" else False
        if fault := tags_fault(tags):
            raise ConfigurationError(fault)
        return tags

    def labels(self, settings: Mapping[str, Any]) -> SessionLabels:
        """Return connection, description and prices.

        Args:
            settings: of the host, which name the language model that is priced.
        """
        return SessionLabels(
            connection=self.session.connection,
            description=self.session.description,
            prices=Prices(self.session.prices, asked_model(settings)),
        )

    def is_deterministic(self, spec: HostSpec) -> bool:
        """Return whether the model gives the same answer to the same question."""
        return spec.deterministic if self.session.deterministic is None else self.session.deterministic

    def retrieves(self, spec: HostSpec) -> bool | None:
        """Return whether the model retrieves; None where only its answers say."""
        if self.session.rag is not None:
            return self.session.rag
        return True if spec.kind == "rag" else None


class AbsentHost:
    """Takes the place of a host.

    Args:
        reason: why it cannot be asked, with the remedy and without secrets.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        """Nothing to prepare."""

    async def answer(self, prompt: Prompt) -> Answer:
        raise HostFault(self._reason, cause="package_missing")

    async def close(self) -> None:
        """Nothing to close."""


def absent_host(spec: HostSpec, reason: str) -> Host:
    """Return a host with the declaration of another one that answers nothing."""
    declaration = structs.replace(spec, client="")  # which cannot be imported
    declared = type(AbsentHost.__name__, (AbsentHost,), {"__evalstudio__": declaration})
    return cast(Host, declared(reason))
