"""The user's application in this process: one callable, or one object for each conversation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.restored import RestorablePart, ToolReplay, ToolSource
from pytest_evalstudio.core.states import ApplicationState
from pytest_evalstudio.hosts._callables import Call, called, state_of
from pytest_evalstudio.hosts._threads import CallThread, Start, start_thread

if TYPE_CHECKING:
    from pytest_evalstudio.hosts._parts import ApplicationParts

REFUSED_CALL = "replay_refused"
"""Cause of a replayed answer that is missing since a tool must not be called again."""


@dataclass(slots=True)
class Application:
    """Answers prompts by the user's code.

    Attributes:
        label: what to call the code in messages.
        offered: arguments that a callable gets if it asks for them by name.
        configured: arguments that the user gave it.
        call: answers every prompt; None where a factory makes an object for each conversation.
        factory: makes a callable for each conversation, and for each single question.
        current: returns the code that the configuration names, which a test may replace for a while; None for
            code that stays what it is.
        current_state: returns the function that returns the state of the application, as JSON data; by
            default a method `state` of what is called, if it has one. It gets the session if it asks for it
            by name.
    """

    label: str
    offered: Mapping[str, Any]
    configured: Mapping[str, Any]
    call: Call | None = None
    factory: Callable[[], Any] | None = None
    current: Callable[[], object] | None = None
    current_state: Callable[[], Any] | None = None
    _code: object = None
    _conversations: dict[str, _Conversation] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        function: object,
        label: str,
        *,
        offered: Mapping[str, Any],
        configured: Mapping[str, Any],
        is_factory: bool,
    ) -> Application:
        """Look at the user's code.

        Raises:
            ConfigurationError: if it cannot be called with a prompt and these arguments, or, for a factory,
                without any argument.
        """
        if not is_factory:
            call = Call.of(function, label, offered=offered, configured=configured)
            return cls(label, offered, configured, call=call, _code=function)
        if not callable(function):
            raise ConfigurationError(f"{label} is not a factory: it cannot be called")
        try:
            inspect.signature(function).bind()
        except TypeError as exc:
            raise ConfigurationError(
                f"{label} is called without arguments to make an application: {exc}"
            ) from None
        except ValueError:  # a built-in without a signature
            pass
        return cls(label, offered, configured, factory=function, _code=function)

    def _refresh(self) -> None:
        """Take the code that the configuration names now.

        Raises:
            ConfigurationError: as `of`.
        """
        if self.current is None:
            return
        code = self.current()
        # A method is another object with each look-up.
        if code is self._code or (inspect.ismethod(code) and code == self._code):
            return
        fresh = Application.of(
            code,
            self.label,
            offered=self.offered,
            configured=self.configured,
            is_factory=self.factory is not None,
        )
        self.call, self.factory, self._code = fresh.call, fresh.factory, code

    @property
    def keeps_sessions(self) -> bool:
        """Return True if the code remembers a conversation: by an object of its own, or by its session."""
        return self.factory is not None or (self.call is not None and "session" in self.call.prompt_arguments)

    def holds_session(self, session: str) -> bool:
        """Return True if a turn of the conversation was asked in this process."""
        return session in self._conversations

    async def end_session(self, session: str) -> None:
        """Forget a conversation; an object with a method `close` is closed."""
        conversation = self._conversations.pop(session, None)
        if conversation is not None:
            await conversation.end()

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer a prompt.

        Raises:
            HostFault: if the code raises or returns no answer.
        """
        try:
            self._refresh()
        except ConfigurationError as exc:  # of what a test has put in place of the code
            raise HostFault(str(exc)) from None
        known = self._conversations.get(prompt.session)
        conversation = known or await self._begun()
        if prompt.session and self.keeps_sessions:
            self._conversations[prompt.session] = conversation
        try:
            before = await self._state(conversation, prompt) if known is None else None
            answer = await conversation.call.answer(prompt, conversation.start)
            after = await self._state(conversation, prompt)
        finally:
            if not prompt.session:
                await conversation.end()
        if after is None or answer.error:
            return answer
        return structs.replace(answer, state=ApplicationState(after=after, before=before))

    async def _state(self, conversation: _Conversation, prompt: Prompt) -> str | None:
        """Return the application's state as JSON text, None where the code does not give it."""
        if self.current_state is not None:
            read = self.current_state()
        elif inspect.getattr_static(conversation.call.function, "state", None) is None:
            return None  # also a mock, which has any attribute
        else:
            read = conversation.call.function.state  # type: ignore[attr-defined]
        if not callable(read):
            return None
        try:
            names = inspect.signature(read).parameters
        except ValueError:  # a built-in without a signature
            names = MappingProxyType({})
        arguments = {"session": prompt.session} if "session" in names else {}
        state = await called(functools.partial(read, **arguments), start=conversation.start)
        return state_of(state, self.label).after

    async def _begun(self) -> _Conversation:
        """Return a conversation with the callable, or with an object that the factory makes."""
        if self.call is not None:
            return _Conversation(call=self.call)
        assert self.factory is not None  # an application has a callable or a factory
        thread = CallThread()
        application = await called(self.factory, start=thread.start)
        try:
            call = Call.of(
                application, f"what {self.label} returned", offered=self.offered, configured=self.configured
            )
        except ConfigurationError as exc:
            raise HostFault(str(exc)) from None
        return _Conversation(call=call, thread=thread)


@dataclass(kw_only=True)
class ApplicationHost:
    """Host of an application in this process."""

    _application: Application | None = field(default=None, init=False, repr=False)
    _parts: ApplicationParts | None = field(default=None, init=False, repr=False)
    _recorded_tools: set[str] = field(default_factory=set, init=False, repr=False)
    _tool_source: ToolSource | None = field(default=None, init=False, repr=False)

    @property
    def restores(self) -> frozenset[RestorablePart]:
        """Return the parts of an earlier answer that the application can use."""
        parts: dict[RestorablePart, bool] = {
            "chunks": self._parts is not None,
            "calls": bool(self._recorded_tools),
        }
        return frozenset(part for part, is_declared in parts.items() if is_declared)

    @property
    def recorded_tools(self) -> frozenset[str]:
        """Return the wrapped tools that its answers have called so far."""
        return frozenset(self._recorded_tools)

    @property
    def composes(self) -> bool:
        """Return True where the parts are the whole application."""
        return self._application is None

    async def answered(self, prompt: Prompt) -> Answer:
        """Answer by the parts where chunks are restored, or nothing else answers, else as a whole.

        Raises:
            HostFault: if the code raises or returns no answer, or a tool was called that a replay must not
                call.
        """
        with ToolReplay(prompt.restored, prompt.disturbance, self._tool_source) as replay:
            try:
                answer = await self._made(prompt)
            except HostFault:
                if not replay.limit:
                    raise
                # No fault of the host: what the application has done so far is its answer.
                answer = Answer()
        self._recorded_tools |= replay.called
        if replay.refused:
            raise HostFault(f"the replay was ended by the call {replay.refused}", cause=REFUSED_CALL)
        # The results are those that the application got, whatever it reports; steps would name other calls.
        if replay.log and not answer.steps:
            answer = structs.replace(answer, tool_calls=tuple(replay.log))
        return answer

    async def _made(self, prompt: Prompt) -> Answer:
        restored = prompt.restored
        names_chunks = restored is not None and (restored.chunks is not None or restored.calls is None)
        if self._parts is not None and (names_chunks or self._application is None):
            return await self._parts.answer(prompt)
        if self._application is not None:
            return await self._application.answer(prompt)
        raise HostFault("the application was not opened; ask it through open_model")

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        """Nothing to prepare: the callable sees the corpus if it asks for it."""

    @property
    def keeps_sessions(self) -> bool:
        """Return True if the application remembers the turns of a conversation."""
        return self._application is not None and self._application.keeps_sessions

    def holds_session(self, session: str) -> bool:
        """Return True if the application knows a conversation."""
        return self._application is not None and self._application.holds_session(session)

    async def end_session(self, session: str) -> None:
        """Forget a conversation."""
        if self._application is not None:
            await self._application.end_session(session)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversation:
    """Callable of a conversation.

    Attributes:
        thread: in which an object of its own is called; None for a callable that all conversations share.
    """

    call: Call
    thread: CallThread | None = None

    @property
    def start(self) -> Start:
        return start_thread if self.thread is None else self.thread.start

    async def end(self) -> None:
        """Close an object of its own, and end its thread."""
        if self.thread is None:
            return
        close = getattr(self.call.function, "close", None)
        try:
            if callable(close):
                await called(close, start=self.thread.start)
        finally:
            self.thread.end()
