"""An application that the test session itself starts: a pytest fixture that gives a callable."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._applications import Application, ApplicationHost
from pytest_evalstudio.hosts._tools import HostTools


@host(
    "fixture",
    name="pytest fixture",
    kind="both",
    caches=False,
    runs_user_code=True,
    media_types=MEDIA_TYPES,
)
@dataclass(kw_only=True)
class FixtureCallable(ApplicationHost):
    """Your own pytest fixture; its value is called with the prompt, as `python` calls its target.

    Attributes:
        fixture: name of the fixture.
        parameters: further arguments; each must be one that the callable has.
        factory: call it without arguments once for each conversation, and with each message what it returns;
            a method `close` of that is called at the end.
        retrieve: name of the method of the fixture's value that retrieves, as `python` calls it.
        generate: name of the method of the fixture's value that answers with the chunks.
    """

    fixture: str
    llm_model_name: str = ""
    system_prompt: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    _name: str = field(default="", init=False, repr=False)
    factory: bool = False
    retrieve: str = ""
    generate: str = ""

    def open(self, tools: HostTools) -> None:
        """Take the model's name; the callable comes later, with `bind`."""
        self._name = tools.name
        self._tool_source = tools.tool_source

    def bind(self, function: object) -> None:
        """Take the fixture's value.

        Raises:
            ConfigurationError: if it cannot be called with the configured arguments.
        """
        offered = {
            "model": self._name,
            "llm_model_name": self.llm_model_name,
            "system_prompt": self.system_prompt,
        }
        label = f"the value of fixture {self.fixture!r}"
        parameters = self.parameters
        codes: dict[str, Callable[[], object]] = {}
        for setting, name in (("retrieve", self.retrieve), ("generate", self.generate)):
            if name:
                if not callable(getattr(function, name, None)):
                    raise ConfigurationError(f"{setting} = {name!r}: {label} has no such method")
                codes[setting] = functools.partial(getattr, function, name)
        if codes:
            from pytest_evalstudio.hosts._parts import ApplicationParts, check_parameters, takes

            check_parameters(
                parameters, {"fixture": function, **{name: code() for name, code in codes.items()}}
            )
            self._parts = ApplicationParts.of(codes, offered=offered, configured=parameters)
            parameters = {name: value for name, value in parameters.items() if takes(function, name)}
            if not callable(function):
                return
        self._application = Application.of(
            function, label, offered=offered, configured=parameters, is_factory=self.factory
        )

    async def answer(self, prompt: Prompt) -> Answer:
        if self._application is None and self._parts is None:
            raise ConfigurationError(
                f"fixture {self.fixture!r} exists only in a pytest run; elsewhere use host 'python' with a"
                " target"
            )
        return await self.answered(prompt)

    async def close(self) -> None:
        """Release the fixture's value; pytest tears the fixture down."""
        self._application = self._parts = None
