"""Settings of a model that differ from the baseline's, by the part of the application that they belong to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.formats.prompt_files import PromptFile
from pytest_evalstudio.record.causes import CauseCode, CausePart

PROMPT_SETTINGS = ("prompt", "system_prompt")
MODEL_SETTINGS = (
    "llm_model_name",
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "reasoning_effort",
    "llm_args",
)
PARAMETERS = "parameters"
IGNORED = ("folder",)
VALUE_CHARS = 40
_ABSENT = "not set"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """A setting with another value.

    Attributes:
        name: "parameters.NAME" for an entry of `parameters`.
        then, now: values as records hold them; None where it is not set.
        part: that it belongs to; None for one that is never put back, e.g. an address.
    """

    name: str
    then: object
    now: object
    part: CausePart | None

    def __str__(self) -> str:
        if self.name == "prompt":
            return f"prompt {prompt_name(self.now)} in place of {prompt_name(self.then)}"
        then, now = (
            _ABSENT if value is None else excerpt(repr(value), VALUE_CHARS) for value in (self.then, self.now)
        )
        return f"`{self.name}` is {now} in place of {then}"


def setting_changes(
    then: Mapping[str, Any], now: Mapping[str, Any], parts: Mapping[str, str]
) -> tuple[SettingChange, ...]:
    """Return the settings that differ.

    Args:
        then: settings of the baseline's record.
        now: settings of today, as a record has them.
        parts: by name of a setting or of an entry of `parameters`, the part that the configuration says.
    """
    first, second = _flat(then), _flat(now)
    names = [name for name in dict.fromkeys((*first, *second)) if name not in IGNORED]
    return tuple(
        SettingChange(name=name, then=first.get(name), now=second.get(name), part=_part(name, parts))
        for name in names
        if _value(first.get(name)) != _value(second.get(name))
    )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the entries of `parameters` beside the others."""
    parameters = settings.get(PARAMETERS)
    entries = parameters if isinstance(parameters, Mapping) else {}
    return {
        **{name: value for name, value in settings.items() if name != PARAMETERS},
        **{f"{PARAMETERS}.{name}": value for name, value in entries.items()},
    }


def _value(value: object) -> object:
    """Return what counts of a value: of a prompt its text, since a renamed file changes no answer."""
    return value["sha256"] if isinstance(value, Mapping) and "sha256" in value else value


def _part(name: str, parts: Mapping[str, str]) -> CausePart | None:
    entry = name.removeprefix(f"{PARAMETERS}.")
    if (part := parts.get(name, parts.get(entry))) is not None:
        return CausePart(kind=CauseCode(part))
    if name in PROMPT_SETTINGS:
        return CausePart(kind=CauseCode.PROMPT)
    if name in MODEL_SETTINGS:
        return CausePart(kind=CauseCode.MODEL)
    return CausePart(kind=CauseCode.SETTING, name=entry) if name != entry else None


def prompt_name(value: object) -> str:
    """Return the name of a recorded prompt: its file without the suffix, and the beginning of its digest."""
    if not isinstance(value, Mapping):
        return _ABSENT
    return f"{PurePath(str(value.get('file', ''))).stem} ({str(value.get('sha256', ''))[:7]})"


def obstacle(change: SettingChange, configured_models: Sequence[str], *, runs_user_code: bool) -> str:
    """Return why a setting cannot be put back, "" if it can.

    Args:
        configured_models: names of language models in today's configuration.
        runs_user_code: whether the host calls the user's own code, which knows its models itself.
    """
    if "****" in str(change.then):
        return f"{change}: the record holds it masked"
    if change.name == "prompt" and isinstance(change.then, Mapping):
        text = str(change.then.get("text", ""))
        if hashlib.sha256(text.encode()).hexdigest() != change.then.get("sha256"):
            return f"{change}: the record holds its text masked"
    if change.name == "llm_model_name" and not runs_user_code and change.then not in configured_models:
        return f"{change}, which is no longer configured; a [[model]] with it lets it be tested"
    return ""


def restored_table(table: ModelTable, changes: Sequence[SettingChange]) -> ModelTable:
    """Return a model with some settings of the baseline."""
    settings = dict(table.model_extra or {})
    parameters = dict(settings.get(PARAMETERS) or {})
    template = table.template
    for change in changes:
        section, _, entry = change.name.rpartition(".")
        if change.name == "prompt":
            template = _template(change.then)
            continue
        target, name = (parameters, entry) if section == PARAMETERS else (settings, change.name)
        if change.then is None:
            target.pop(name, None)
        else:
            target[name] = change.then
    if parameters or PARAMETERS in settings:
        settings[PARAMETERS] = parameters
    return table.with_parameters(settings).with_prompt(template)


def _template(value: object) -> PromptFile | None:
    if not isinstance(value, Mapping):
        return None
    return PromptFile(file=str(value.get("file", "")), text=str(value.get("text", "")))
