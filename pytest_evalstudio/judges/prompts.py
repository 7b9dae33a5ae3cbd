"""The prompts of judges: files, in this package or in a folder of the user's."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.judging import PLACEHOLDER, PLACEHOLDERS, Example, Question
from pytest_evalstudio.judges.attachments import attachment_names, attachments_note
from pytest_evalstudio.judges.examples import examples_shown
from pytest_evalstudio.judges.fence import fence_mark, fenced, on_lines_of_their_own
from pytest_evalstudio.judges.layout import options_of, split_at_material, with_options_reversed

if TYPE_CHECKING:
    from jinja2 import Environment, Template


SUFFIX = ".j2"
SYSTEM = "system"
"""The prompt of the system role: the rules of all tasks that judge."""
WRITING_SYSTEM = "writing_system"
"""The prompt of the system role for tasks that write."""
WRITING = frozenset({"attacks", "questions", "simulated_user"})
"""Prompts of tasks that write."""
FRAME = "frame"
"""The prompt that surrounds every other: the mark of the fences, and the form of the reply."""
REPAIR = "repair"
"""The prompt that shows a reply that could not be read, and asks for it once more."""
OWN = "pytest_evalstudio.judges"

_VERSION = re.compile(r"\{#-?\s*version:?\s*([\w.-]+)")


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A prompt as its file has it.

    Attributes:
        is_own: whether it is of the user's folder.
    """

    name: str
    text: str
    is_own: bool

    @property
    def version(self) -> str:
        """Return the version that reports name: that of the file, with the first digits of its digest.

        It is "own" for a user's file without a version.
        """
        stated = _VERSION.search(self.text)
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:8]
        return f"{stated[1] if stated else 'own' if self.is_own else '0'}-{digest}"


class Prompts:
    """The prompts of one configuration.

    Args:
        folder: of files that are used in place of those of the same name here; None for none.
        examples: name of a prompt to examples that it shows.
        shows_images: whether the images of a judged question are sent with its prompt.

    Raises:
        ConfigurationError: if the folder is not there, or has a file of a name that no prompt has.
    """

    def __init__(
        self,
        folder: Path | None = None,
        examples: Mapping[str, Sequence[Example]] = NOTHING,
        *,
        shows_images: bool = False,
    ) -> None:
        self.shows_images = shows_images
        self._folder = folder
        self._examples = examples
        self._templates: dict[str, Template] = {}
        if folder is None:
            return
        if not folder.is_dir():
            raise ConfigurationError(f"judge.templates: there is no folder {folder}")
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            if path.stem not in names():
                hint = nearest(path.stem, names())
                raise ConfigurationError(
                    f"{path}: no prompt has this name. {hint or 'Names: ' + ', '.join(names())}"
                )
            self._compiled(path.stem)

    def source(self, name: str) -> PromptSource:
        """A prompt's file."""
        if self._folder is not None and (path := self._folder / f"{name}{SUFFIX}").is_file():
            try:
                return PromptSource(name, path.read_text(encoding="utf-8"), is_own=True)
            except (OSError, UnicodeDecodeError) as exc:
                raise ConfigurationError(f"{path}: cannot be read: {exc}") from None
        return PromptSource(
            name,
            resources.files(OWN).joinpath("templates", f"{name}{SUFFIX}").read_text(encoding="utf-8"),
            is_own=False,
        )

    def versions(self, used: Sequence[str]) -> dict[str, str]:
        """Return the versions of prompts, and of the prompts that surround them."""
        systems = dict.fromkeys(system_prompt(name) for name in used) or {SYSTEM: None}
        return {name: self.source(name).version for name in (*used, *systems, FRAME, REPAIR)}

    def check_versions(self, pinned: Mapping[str, str]) -> None:
        """Compare the prompts with the versions that a configuration was calibrated with.

        Args:
            pinned: name of a prompt to its version, with or without the digits of its digest.

        Raises:
            ConfigurationError: for an unknown name or another version.
        """
        for name, version in pinned.items():
            if name not in names():
                hint = nearest(name, names()) or f"Names: {', '.join(names())}"
                raise ConfigurationError(f"judge.template_versions.{name}: no prompt has this name. {hint}")
            present = self.source(name).version
            if version not in (present, present.rpartition("-")[0]):
                raise ConfigurationError(
                    f"judge.template_versions.{name}: {self._place(name)} has version {present}, but the"
                    f" configuration was calibrated with {version!r}; run judge-check again and set it to"
                    f' "{present}", or take the former prompt as a file of judge.templates'
                )

    def system_of(self, prompt: str) -> str:
        """Return the rules of all tasks that judge, or of those that write, for the system role."""
        return self._rendered(system_prompt(prompt), {}).strip()

    def render(self, question: Question, *, reverse_options: bool = False) -> str:
        """Return the system's and the user's part of a question's prompt in one text."""
        user = self.render_user(question, reverse_options=reverse_options)
        return f"{self.system_of(question.prompt)}\n\n{user}"

    def render_user(self, question: Question, *, reverse_options: bool = False) -> str:
        """Return the prompt of a question without the rules of all tasks.

        All that is the same for every case comes before the mark of the fences. Texts that its file has no
        place for stand at its end, but only where it has a place for none.

        Args:
            reverse_options: whether options, their criteria and examples are in the other order, to see
                whether the order matters.

        Raises:
            ConfigurationError: if a user's prompt cannot be rendered.
        """
        texts = {
            name: text if isinstance(text, str) else tuple(text) for name, text in question.texts.items()
        }
        mark = fence_mark([*_flat(texts), *attachment_names(question.attachments)], question.prompt)
        shown = {name: _Shown(name, text, mark) for name, text in texts.items()}
        settings = _reversed_examples(question.settings) if reverse_options else question.settings
        task = on_lines_of_their_own(
            self._rendered(question.prompt, {**settings, **shown, "texts": shown}), mark
        )
        if reverse_options:
            task = with_options_reversed(task, options_of(question.reply), mark)
        instructions, material = split_at_material(task, mark)
        referenced = [each for each in shown.values() if each.is_named and not each.is_shown]
        unused = [] if any(each.used for each in shown.values()) else list(shown.values())
        note = attachments_note(question.attachments, mark, shows_images=self.shows_images)
        more = "\n\n".join(filter(None, [*map(str, [*referenced, *unused]), note]))
        examples = self._examples_of(question, list(_flat(texts)), is_reversed=reverse_options)
        parts = {
            "instructions": instructions,
            "examples": examples,
            "material": "\n\n".join(filter(None, (material, more))),
            "task": "\n\n".join(filter(None, (task.strip(), examples))),
            "more": more,
            "mark": mark,
            "reply": spoken(question.reply, reverse_options=reverse_options),
        }
        return self._rendered(FRAME, parts).strip() + "\n"

    def _examples_of(self, question: Question, others: Sequence[str], *, is_reversed: bool) -> str:
        """Return the examples of a prompt, whose mark is the same for every case that does not contain it."""
        examples = self._examples.get(question.prompt, ())
        texts = [text for example in examples for text in _flat(example.texts)]
        mark = fence_mark(texts, f"examples of {question.prompt}", others=others)
        return examples_shown(examples, question.reply, mark, is_reversed=is_reversed)

    def render_repair(self, prompt: str, raw: str, fault: str) -> str:
        """The prompt that asks once more for what could not be read."""
        mark = fence_mark([raw], prompt)
        return (
            self._rendered(
                REPAIR, {"prompt": prompt, "fault": fault, "raw": fenced("reply", raw, mark), "mark": mark}
            ).strip()
            + "\n"
        )

    def _rendered(self, name: str, values: Mapping[str, Any]) -> str:
        from jinja2 import TemplateError

        try:
            return self._compiled(name).render(**values)
        except TemplateError as exc:
            raise ConfigurationError(f"{self._place(name)}: {exc}") from None

    def _compiled(self, name: str) -> Template:
        from jinja2 import TemplateSyntaxError

        if name not in self._templates:
            try:
                self._templates[name] = _environment().from_string(self.source(name).text)
            except TemplateSyntaxError as exc:
                raise ConfigurationError(f"{self._place(name)}:{exc.lineno}: {exc.message}") from None
        return self._templates[name]

    def _place(self, name: str) -> str:
        return (
            str(self._folder / f"{name}{SUFFIX}")
            if self._folder is not None and self.source(name).is_own
            else f"prompt {name}"
        )


def system_prompt(name: str) -> str:
    """Return the name of the system prompt that belongs to a task's prompt."""
    return WRITING_SYSTEM if name in WRITING else SYSTEM


@functools.cache
def names() -> tuple[str, ...]:
    """The names of all prompts."""
    return tuple(
        sorted(
            file.name.removesuffix(SUFFIX)
            for file in resources.files(OWN).joinpath("templates").iterdir()
            if file.name.endswith(SUFFIX)
        )
    )


class _Shown:
    """A text as a template gets it: printing it prints it fenced, whatever the template does around it.

    Attributes:
        is_shown: whether it was printed.
        is_named: whether an instruction names it; it is then printed after the instructions.
    """

    def __init__(self, name: str, text: str | tuple[str, ...], mark: str) -> None:
        self._name = name
        self._text = text
        self._mark = mark
        self.is_shown = False
        self.is_named = False

    @property
    def used(self) -> bool:
        """Return whether the prompt has a place for the text."""
        return self.is_shown or self.is_named

    @property
    def reference(self) -> str:
        """The name by which an instruction refers to the text."""
        self.is_named = True
        return f"[{self._name}]"

    def __str__(self) -> str:
        self.is_shown = True
        if isinstance(self._text, str):
            return fenced(self._name, self._text, self._mark)
        return "\n".join(
            fenced(f"{self._name} {number}", text, self._mark) for number, text in enumerate(self._text, 1)
        )

    def __len__(self) -> int:
        return len(self._text)

    def __bool__(self) -> bool:
        return bool(self._text)


def _reversed_examples(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a prompt with its examples in the other order, if it has any."""
    examples = settings.get("examples")
    return {**settings, "examples": examples[::-1]} if isinstance(examples, list) else settings


def _flat(texts: Mapping[str, str | Sequence[str]]) -> Iterator[str]:
    for name in sorted(texts):
        text = texts[name]
        yield from (text,) if isinstance(text, str) else text


@functools.cache
def _environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Prompts are plain text, which escapes of HTML would change.
    environment = ImmutableSandboxedEnvironment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["fill"] = _fill
    return environment


def _fill(instruction: str, shown: Mapping[str, _Shown]) -> str:
    """A user's prompt with each {placeholder} replaced by the name of its text; other braces stay.

    The texts follow the instructions, fenced.
    """
    return PLACEHOLDER.sub(lambda match: shown[PLACEHOLDERS[match[1]]].reference, instruction)


def spoken(schema: Mapping[str, Any], *, reverse_options: bool = False) -> str:
    """The properties of an object in words, one to a line.

    >>> from pytest_evalstudio.core.replies import choice, record, text
    >>> print(spoken(record(reason=text("Why."), verdict=choice("Is it so?"))))
    - "reason" (text): Why.
    - "verdict" ("yes" or "no"): Is it so?
    """
    return "\n".join(_lines(schema, reverse_options, ""))


def _lines(schema: Mapping[str, Any], reverse: bool, indent: str) -> list[str]:
    lines = []
    for name, part in schema.get("properties", {}).items():
        description = part.get("description", "")
        inner = _lines(part.get("items", part), reverse, indent + "  ")
        lines.append(
            f'{indent}- "{name}" ({_kind(part, reverse)})'
            + (f": {description}" if description else "")
            + (" Each with:" if inner else "")
        )
        lines += inner
    return lines


def _kind(part: Mapping[str, Any], reverse: bool) -> str:
    if "enum" in part:
        options = [f'"{option}"' for option in part["enum"]]
        return " or ".join(reversed(options) if reverse else options)
    kind = part.get("type")
    if kind == "array":
        inner = part.get("items", {})
        return "list of objects" if inner.get("type") == "object" else f"list of {_kind(inner, reverse)}s"
    if kind in ("integer", "number"):
        bounds = [
            f"from {part['minimum']:g}" if "minimum" in part else "",
            f"to {part['maximum']:g}" if "maximum" in part else "",
        ]
        return " ".join(filter(None, ["whole number" if kind == "integer" else "number", *bounds]))
    return "text" if kind == "string" else str(kind)
