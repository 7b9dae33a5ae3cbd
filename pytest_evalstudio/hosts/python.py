"""The user's own application, called in this process."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError, exception_text, nearest
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._applications import Application, ApplicationHost
from pytest_evalstudio.hosts._tools import HostTools


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

    It may return the result of LangGraph, the OpenAI Agents SDK, pydantic-ai, LlamaIndex or Haystack.

    Attributes:
        target: "package.module:callable"; dots after the colon reach attributes; in Python also the callable
            itself. It gets the prompt, and by name, if it asks for them: corpus, run, conversation (the
            earlier turns, each with role and content), images and files (lists of absolute paths),
            reply_schema (of judges), session (id of the conversation), model, llm_model_name, system_prompt,
            and anything in `parameters`.
        parameters: further arguments; each must be one that the callable has.
        factory: call it without arguments once for each conversation, and with each message what it returns;
            a method `close` of that is called at the end.
        state: "package.module:callable" that returns the application's state as JSON data, for
            `final_state`; it is called before and after a question or conversation, with the `session` if it
            asks for it. Without it, a method `state` of the callable is called, if it has one.
    """

    target: str | Callable[..., Any]
    llm_model_name: str = ""
    system_prompt: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    factory: bool = False
    state: str = ""
    _importable: list[str] = field(default_factory=list, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Import the target; the configuration's folder and the current one are importable until `close`.

        Raises:
            ConfigurationError: if there is no such callable, or the configured arguments do not fit it.
        """
        self._importable = [str(tools.folder.resolve()), os.getcwd()]
        sys.path[:0] = self._importable
        try:
            function = load_target(self.target) if isinstance(self.target, str) else self.target
            offered = {
                "model": tools.name,
                "llm_model_name": self.llm_model_name,
                "system_prompt": self.system_prompt,
            }
            self._application = Application.of(
                function,
                f"target {self.target!r}",
                offered=offered,
                configured=self.parameters,
                is_factory=self.factory,
            )
            if self.state:
                read = load_target(self.state)
                if not callable(read):
                    raise ConfigurationError(f"state {self.state!r} is not callable")
                self._application.read_state = read
        except BaseException:
            self._forget_folders()
            raise

    async def answer(self, prompt: Prompt) -> Answer:
        if self._application is None:
            raise ConfigurationError(f"target {self.target!r} was not opened; ask it through open_model")
        return await self._application.answer(prompt)

    async def close(self) -> None:
        self._forget_folders()

    def _forget_folders(self) -> None:
        for folder in self._importable:
            if folder in sys.path:
                sys.path.remove(folder)
        self._importable = []


def load_target(target: str) -> object:
    """Import the object that "package.module:attribute" names.

    Raises:
        ConfigurationError: if it cannot be imported; the nearest existing name is proposed.
    """
    module_name, colon, path = target.partition(":")
    if not (module_name and colon and path):
        raise ConfigurationError(f"target {target!r} is not of the form 'package.module:callable'")
    try:
        target_object: object = importlib.import_module(module_name)
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
    except Exception as exc:
        raise ConfigurationError(
            f"target {target!r}: module {module_name!r} does not import: {exception_text(exc)}"
        ) from exc
    owner = f"module {module_name!r}"
    for name in path.split("."):
        if not hasattr(target_object, name):
            public = [entry_name for entry_name in dir(target_object) if not entry_name.startswith("_")]
            raise ConfigurationError(
                f"target {target!r}: {owner} has no {name!r}. {nearest(name, public)}".rstrip()
            )
        target_object = getattr(target_object, name)
        owner = repr(name)
    return target_object
