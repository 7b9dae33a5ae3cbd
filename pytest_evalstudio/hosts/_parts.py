"""Parts of the user's application: its retrieval and its generation, called one after the other."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct, structs

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.restored import Restored
from pytest_evalstudio.hosts._callables import Call

CONTEXT = "context"
"""Parameter by which a generation gets the texts of the chunks."""
_OF_CHUNKS = (CONTEXT, "context_sources", "context_scores")


class Chunks(Struct, frozen=True, kw_only=True):
    """Result of a retrieval, with the attributes of an answer."""

    context: tuple[str, ...] = ()
    context_sources: tuple[str, ...] = ()
    context_scores: tuple[float, ...] = ()


@dataclass(slots=True, kw_only=True)
class Part:
    """A callable of the user's that a test may replace for a while.

    Attributes:
        label: what messages call it.
        current: returns the callable.
        offered: arguments that it gets if it asks for them by name.
        configured: arguments of the configuration that it takes.
    """

    label: str
    current: Callable[[], object]
    offered: Mapping[str, Any]
    configured: Mapping[str, Any]
    _code: object = None
    _call: Call | None = None

    def call(self) -> Call:
        """Return the callable with its arguments.

        Raises:
            ConfigurationError: if it cannot be called so.
        """
        code = self.current()
        if self._call is None or code != self._code:
            self._code = code
            self._call = Call.of(code, self.label, offered=self.offered, configured=self.configured)
        return self._call

    def takes(self, name: str) -> bool:
        """Return whether the callable has a parameter of this name, or takes any."""
        return takes(self.current(), name)


@dataclass(slots=True, kw_only=True)
class ApplicationParts:
    """Retrieval and generation of an application.

    Attributes:
        retrieve: returns the chunks for a question; None for an application that retrieves nothing.
        generate: returns the answer for a question and its chunks.
    """

    retrieve: Part | None
    generate: Part
    _checked: bool = field(default=False)

    @classmethod
    def of(
        cls,
        codes: Mapping[str, Callable[[], object]],
        *,
        offered: Mapping[str, Any],
        configured: Mapping[str, Any],
    ) -> ApplicationParts:
        """Look at both callables.

        Args:
            codes: by the name of the setting, "retrieve" and "generate", what returns the callable.
            offered: arguments that each gets if it asks for them by name.
            configured: arguments of the configuration; each part gets those that it has.

        Raises:
            ConfigurationError: if there is no generation, or one cannot be called.
        """
        if "generate" not in codes:
            raise ConfigurationError(
                "`retrieve` is given without `generate`, which writes the answer from the chunks; give"
                " `generate` too"
            )
        of_generation = {**offered, **dict.fromkeys(_OF_CHUNKS, ())}
        parts = {
            name: Part(
                label=f"{name} part",
                current=code,
                offered=of_generation if name == "generate" else offered,
                configured={key: value for key, value in configured.items() if takes(code(), key)},
            )
            for name, code in codes.items()
        }
        if not parts["generate"].takes(CONTEXT):
            raise ConfigurationError(
                f"`generate` has no parameter {CONTEXT!r} for the texts of the chunks; add it"
            )
        for part in parts.values():
            part.call()
        return cls(retrieve=parts.get("retrieve"), generate=parts["generate"])

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer a prompt with the chunks of an earlier answer where it names some, else with new ones.

        Raises:
            HostFault: if the code raises, or returns no chunks or no answer.
        """
        try:
            generate = self.generate.call()
        except ConfigurationError as exc:  # of what a test has put in place of the code
            raise HostFault(str(exc)) from None
        chunks = await self._chunks(prompt)
        arguments = {key: list(getattr(chunks, key)) for key in _OF_CHUNKS if self.generate.takes(key)}
        answer = await dataclasses.replace(generate, fixed={**generate.fixed, **arguments}).answer(prompt)
        if answer.context or answer.error:
            return answer
        return structs.replace(
            answer, **structs.asdict(chunks), retrieves=True if self.retrieve is not None else None
        )

    async def _chunks(self, prompt: Prompt) -> Chunks:
        restored = prompt.restored
        if restored is not None and restored.chunks is not None:
            return _restored_chunks(restored)
        if self.retrieve is None:
            return Chunks()
        try:
            call = self.retrieve.call()
        except ConfigurationError as exc:
            raise HostFault(str(exc)) from None
        return chunks_of(await call.returned(prompt), call.label)


def takes(function: object, name: str) -> bool:
    """Return whether a callable has a parameter of this name, or takes any."""
    if not callable(function):
        return False
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # functions of C extensions have no signature
        return True
    return any(each.name == name or each.kind is each.VAR_KEYWORD for each in parameters)


def check_parameters(configured: Iterable[str], functions: Mapping[str, object]) -> None:
    """Refuse a configured argument that neither the application nor one of its parts has.

    Args:
        configured: names of the arguments.
        functions: callables by the setting that names them.

    Raises:
        ConfigurationError: for the first of them.
    """
    for name in configured:
        if not any(takes(function, name) for function in functions.values()):
            parameter_names = [key for function in functions.values() for key in _names(function)]
            fact = f"parameters: no parameter {name!r} in {', '.join(functions)}"
            raise ConfigurationError(f"{fact}. {nearest(name, parameter_names)}".rstrip())


def _names(function: object) -> list[str]:
    return list(inspect.signature(function).parameters) if callable(function) else []


def _restored_chunks(restored: Restored) -> Chunks:
    return Chunks(
        context=restored.chunks or (), context_sources=restored.sources, context_scores=restored.scores
    )


def chunks_of(returned: object, label: str) -> Chunks:
    """Read what a retrieval returned.

    Args:
        returned: a list of texts; of mappings with `text`, and `source` and `score` where they are known; or
            a mapping with `context`, `context_sources` and `context_scores`, as an answer has them.

    Raises:
        HostFault: if it is none of these.
    """
    if isinstance(returned, Mapping):
        rows = returned.get(CONTEXT)
        sources, scores = returned.get("context_sources") or (), returned.get("context_scores") or ()
    else:
        rows, sources, scores = returned, (), ()
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise HostFault(
            f"{label} returned {type(returned).__name__}; return a list of texts, or of mappings with 'text',"
            " 'source' and 'score'"
        )
    if rows and all(isinstance(row, Mapping) for row in rows):
        sources = [str(row.get("source") or "") for row in rows]
        scores = [row["score"] for row in rows if row.get("score") is not None]
        rows = [row.get("text") for row in rows]
    if not all(isinstance(row, str) for row in rows):
        raise HostFault(f"{label} returned a chunk without a text; give each chunk as a text")
    for name, values in (("context_sources", sources if any(sources) else ()), ("context_scores", scores)):
        if values and len(values) != len(rows):
            raise HostFault(
                f"{label} returned {len(rows)} chunks and {len(values)} {name}; give one per chunk"
            )
    return Chunks(
        context=tuple(rows),
        context_sources=tuple(map(str, sources)) if any(sources) else (),
        context_scores=tuple(float(score) for score in scores),
    )
