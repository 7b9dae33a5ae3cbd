"""The user's own application, called in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError, exception_text, nearest
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._applications import Application, ApplicationHost
from pytest_evalstudio.hosts._tools import HostTools

if TYPE_CHECKING:
    from pytest_evalstudio.core.programs import Program


@host(
    "python",
    name="Python callable",
    kind="both",
    caches=False,
    runs_user_code=True,
    media_types=MEDIA_TYPES,
)
@dataclass(kw_only=True)
class PythonCallable(ApplicationHost):
    """Your own function, sync or async, that takes the prompt and returns the answer.

    It may return the result of LangChain, LangGraph, the OpenAI Agents SDK, pydantic-ai, LlamaIndex or
    Haystack.

    Attributes:
        target: "package.module:callable"; dots after the colon reach attributes; in Python also the callable
            itself. "" where `retrieve` and `generate` are the application. It gets the prompt, and by name,
            if it asks for them: corpus, run, conversation (the earlier turns, each with role and content),
            images and files (lists of absolute paths), reply_schema (of judges), session (id of the
            conversation), model, llm_model_name, system_prompt, and anything in `parameters`.
        parameters: further arguments; each must be one that the callable has.
        factory: call it without arguments once for each conversation, and with each message what it returns;
            a method `close` of that is called at the end.
        state: "package.module:callable" that returns the application's state as JSON data, for
            `final_state`; it is called before and after a question or conversation, with the `session` if it
            asks for it. Without it, a method `state` of the callable is called, if it has one.
        retrieve: the retrieval alone, as `target` is named: it gets the question, and returns texts, or
            mappings with text, source and score.
        generate: the generation alone: it gets the question and, as `context`, the texts of the chunks.
    """

    target: str | Callable[..., Any] = ""
    llm_model_name: str = ""
    system_prompt: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    factory: bool = False
    state: str = ""
    retrieve: str | Callable[..., Any] = ""
    generate: str | Callable[..., Any] = ""
    _program: Program | None = field(default=None, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Import the target from the configuration's folder; its modules are importable until `close`.

        Raises:
            ConfigurationError: if there is no such callable, or the configured arguments do not fit it.
        """
        from pytest_evalstudio.core.programs import open_program

        self._tool_source = tools.tool_source
        self._program = open_program(tools.folder, with_current=True)
        try:
            self._open_code(tools, self._program)
        except BaseException:
            self._forget_program()
            raise

    def _open_code(self, tools: HostTools, program: Program) -> None:
        codes = {
            name: _code_of(value, program)
            for name, value in (("retrieve", self.retrieve), ("generate", self.generate))
            if value
        }
        offered = {
            "model": tools.name,
            "llm_model_name": self.llm_model_name,
            "system_prompt": self.system_prompt,
        }
        if codes:
            from pytest_evalstudio.hosts._parts import ApplicationParts, check_parameters

            target = {"target": _code_of(self.target, program)()} if self.target else {}
            check_parameters(self.parameters, {**target, **{name: code() for name, code in codes.items()}})
            self._parts = ApplicationParts.of(codes, offered=offered, configured=self.parameters)
        if self.target:
            self._application = self._opened(offered, program)
        elif self._parts is None:
            fact = "host python.target: must be given; it has no default"
            raise ConfigurationError(f"{fact}. Give `target`, or `retrieve` and `generate` instead")
        elif self.factory or self.state:
            raise ConfigurationError("`factory` and `state` need `target`; name the whole application there")

    def _opened(self, offered: Mapping[str, Any], program: Program) -> Application:
        target = Target(self.target, program).current if isinstance(self.target, str) else None
        read_state = Target(self.state, program).current if self.state else None
        code = self.target if target is None else target()
        parameters = self.parameters
        if self._parts is not None:  # others belong to its parts alone
            from pytest_evalstudio.hosts._parts import takes

            parameters = {name: value for name, value in parameters.items() if takes(code, name)}
        application = Application.of(
            code,
            f"target {self.target!r}",
            offered=offered,
            configured=parameters,
            is_factory=self.factory,
        )
        application.current = target
        if read_state is not None:
            if not callable(read_state()):
                raise ConfigurationError(f"state {self.state!r} is not callable")
            application.current_state = read_state
        return application

    async def answer(self, prompt: Prompt) -> Answer:
        if self._application is None and self._parts is None:
            raise ConfigurationError(f"target {self.target!r} was not opened; ask it through open_model")
        return await self.answered(prompt)

    async def close(self) -> None:
        self._forget_program()

    def _forget_program(self) -> None:
        if self._program is not None:
            self._program.close()
            self._program = None


def _code_of(value: str | Callable[..., Any], program: Program) -> Callable[[], object]:
    """Return what returns a callable that the configuration names, or is."""
    return Target(value, program).current if isinstance(value, str) else lambda: value


class Target:
    """An object of the user's code: "package.module:attribute".

    Args:
        text: as the configuration names it.
        program: that the module belongs to.

    Raises:
        ConfigurationError: if the module cannot be imported.
    """

    def __init__(self, text: str, program: Program) -> None:
        module_name, colon, path = text.partition(":")
        if not (module_name and colon and path):
            raise ConfigurationError(f"target {text!r} is not of the form 'package.module:callable'")
        self._text = text
        self._module_name = module_name
        self._names = path.split(".")
        self._module = _imported(text, module_name, program)

    def current(self) -> object:
        """Return the object that the name means now: a test may have replaced it for a while.

        Raises:
            ConfigurationError: if there is none; the nearest existing name is proposed.
        """
        target_object: object = self._module
        owner = f"module {self._module_name!r}"
        for name in self._names:
            if not hasattr(target_object, name):
                public = [entry_name for entry_name in dir(target_object) if not entry_name.startswith("_")]
                raise ConfigurationError(
                    f"target {self._text!r}: {owner} has no {name!r}. {nearest(name, public)}".rstrip()
                )
            target_object = getattr(target_object, name)
            owner = repr(name)
        return target_object


def _imported(target: str, module_name: str, program: Program) -> ModuleType:
    """Import the module of a target.

    Raises:
        ConfigurationError: if that fails.
    """
    try:
        return program.import_module(module_name)
    except ModuleNotFoundError as exc:
        missing = exc.name or module_name
        if module_name == missing or module_name.startswith(missing + "."):
            remedy = (
                "it is searched next to the configuration, in the current folder and among installed packages"
            )
            raise ConfigurationError(f"target {target!r}: no module named {missing!r}; {remedy}") from exc
        raise ConfigurationError(
            f"target {target!r}: module {module_name!r} needs {missing!r}, which is not installed"
        ) from exc
    except ConfigurationError as exc:
        raise ConfigurationError(f"target {target!r}: {exc}") from exc
    except Exception as exc:
        raise ConfigurationError(
            f"target {target!r}: module {module_name!r} does not import: {exception_text(exc)}"
        ) from exc
