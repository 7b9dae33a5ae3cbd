"""Templates of prompts: what a model is asked, made of a question and its test case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError, unknown_name
from pytest_evalstudio.formats.prompt_files import PromptFile

if TYPE_CHECKING:
    from jinja2 import Environment, Template

VARIABLES = ("question", "conversation", "case")
ALIASES = ("prompt", "input")
"""Names that the question has elsewhere: in suites, and in data sets."""
"""Variables of a template; a case has its key, categories, and keys of the user's own."""
BLOCKS = ("system", "user")
MAX_PROMPT_CHARS = 10_000_000


class PromptTemplate:
    """A checked template in Jinja's language; it reaches neither files nor Python.

    Blocks `system` and `user` are the messages of these roles; a template without blocks is the user's
    message.

    Args:
        source: file and text.

    Attributes:
        reads_case: whether the prompt depends on more of the case than its question and conversation.

    Raises:
        ConfigurationError: with file and line, for a syntax error, another variable or another block.
    """

    def __init__(self, source: PromptFile) -> None:
        from jinja2 import TemplateSyntaxError, meta

        self._file = source.file
        environment = _environment()
        try:
            tree = environment.parse(source.text)
            self._template: Template = environment.from_string(source.text)
        except TemplateSyntaxError as exc:
            raise ConfigurationError(f"{source.file}:{exc.lineno}: {exc.message}") from None
        if any(True for _ in meta.find_referenced_templates(tree)):
            raise ConfigurationError(
                f"{source.file}: includes another template; write the whole prompt in a single file"
            )
        names = meta.find_undeclared_variables(tree)
        for name in sorted(names - {*VARIABLES, *ALIASES}):
            remedy = f"A prompt can use: {', '.join(VARIABLES)}."
            raise ConfigurationError(f"{source.file}: {unknown_name('variable', name, VARIABLES, remedy)}")
        for name in self._template.blocks:
            if name not in BLOCKS:
                remedy = f"There are: {', '.join(BLOCKS)}."
                raise ConfigurationError(f"{source.file}: {unknown_name('block', name, BLOCKS, remedy)}")
        if self._template.blocks and "user" not in self._template.blocks:
            raise ConfigurationError(f"{source.file}: has a block `system` and no block `user`; add one")
        self.reads_case = "case" in names

    @property
    def has_system(self) -> bool:
        """Return True if the template has a message for the system role."""
        return "system" in self._template.blocks

    def applied(self, prompt: Prompt) -> Prompt:
        """Return the prompt with the texts of the template.

        Raises:
            EvaluationError: if a value is missing, or the prompt is too long.
        """
        from jinja2 import TemplateError

        variables = {
            "question": prompt.text,
            **dict.fromkeys(ALIASES, prompt.text),
            "conversation": [{"role": turn.role, "content": turn.content} for turn in prompt.conversation],
            "case": json.loads(prompt.case or "{}"),
        }
        try:
            if not self._template.blocks:
                return replace(prompt, text=self._checked(self._template.render(variables).strip()))
            texts = {name: self._block(name, variables) for name in self._template.blocks}
        except (TemplateError, TypeError, ArithmeticError, ValueError, OverflowError) as exc:
            raise EvaluationError(f"prompt {self._file}: {exc}") from None
        return replace(prompt, text=texts["user"], system=texts.get("system", prompt.system))

    def _block(self, name: str, variables: Mapping[str, Any]) -> str:
        context = self._template.new_context(dict(variables))
        return self._checked("".join(self._template.blocks[name](context)).strip())

    def _checked(self, text: str) -> str:
        if len(text) > MAX_PROMPT_CHARS:
            raise EvaluationError(f"prompt {self._file}: it is longer than {MAX_PROMPT_CHARS:,} characters")
        return text


def _environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Prompts are plain text, which escapes of HTML would change.
    return ImmutableSandboxedEnvironment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
