"""Three questions on a terminal, for `evalstudio init` without arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_evalstudio.core.errors import ConfigurationError

_KINDS: Mapping[str, tuple[str, str]] = {
    "python": ("a Python function", "Function, as MODULE:FUNCTION, e.g. app:ask"),
    "http": ("an HTTP service", "Address, e.g. http://127.0.0.1:8000/ask"),
    "openai": ("chat completions: OpenAI, vLLM, Ollama and others", "Name of the model"),
    "lab": ("a file with answers that exist already", "Lab or data set"),
    "agent": ("an agent in Python", "Function, as MODULE:FUNCTION, e.g. agent:run"),
}
_SYSTEMS = ("github", "gitlab", "jenkins")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Answers to the questions.

    Attributes:
        kind: option of the application, "" for the built-in stand-in.
        target: value of the option.
        system: CI system, "" for none.
    """

    kind: str = ""
    target: str = ""
    system: str = ""


def ask_choice(ask: Callable[[str], str], say: Callable[[str], None]) -> Choice:
    """Ask for the application, its address or name, and the CI system.

    Args:
        ask: shows a prompt and returns the line that was typed.

    Raises:
        ConfigurationError: if an answer is not among the choices, or the input ends.
    """
    say("What answers the questions?")
    for number, (text, _) in enumerate(_KINDS.values(), 1):
        say(f"  {number}  {text}")
    try:
        kind = _chosen(ask("Number (Enter: a built-in stand-in that quotes a document): "), tuple(_KINDS))
        target = ask(f"{_KINDS[kind][1]}: ").strip() if kind else ""
        if kind and not target:
            raise ConfigurationError(f"nothing was typed; run evalstudio init again, or give --{kind}")
        say("Which CI system runs the tests?")
        for number, name in enumerate(_SYSTEMS, 1):
            say(f"  {number}  {name}")
        system = _chosen(ask("Number (Enter: none): "), _SYSTEMS)
    except EOFError:
        raise ConfigurationError("the input ended before all questions were answered") from None
    return Choice(kind=kind, target=target, system=system)


def _chosen(line: str, names: tuple[str, ...]) -> str:
    text = line.strip().lower()
    if not text:
        return ""
    if text in names:
        return text
    if text.isascii() and text.isdigit() and 1 <= int(text[:3]) <= len(names):
        return names[int(text) - 1]
    raise ConfigurationError(f"{text!r} is not among the choices: 1 to {len(names)}, or {', '.join(names)}")
