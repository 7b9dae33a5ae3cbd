"""`[judge]`: which model judges, or which of them together, and what that may cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.fields import fact

WHOLE_RUN = ("max_cost", "max_calls")
"""Limits of a whole run, which no evaluator has of its own."""
_JUDGES = ("host", "model", "connection", "panel")
"""Keys that say which model judges."""


class JudgeMember(BaseModel):
    """Judge model; further keys are the host's parameters and limits.

    Attributes:
        host: host of the judge.
        model: name of a `[[model]]` to use instead of a host; further keys override its own.
        connection: name of a `[connection.NAME]` to use instead of a host; further keys override its own.
    """

    model_config = ConfigDict(extra="allow", protected_namespaces=(), defer_build=True)

    host: Annotated[str, Field(min_length=1)] | None = None
    model: Annotated[str, Field(min_length=1)] | None = None
    connection: Annotated[str, Field(min_length=1)] | None = None

    @property
    def settings(self) -> dict[str, object]:
        """The host, its parameters and limits."""
        named = {"host": self.host, "connection": self.connection}
        return {**{key: value for key, value in named.items() if value}, **(self.model_extra or {})}

    @property
    def is_given(self) -> bool:
        """Return True if it says which model judges."""
        return bool(self.host or self.model or self.connection)

    @model_validator(mode="after")
    def _one_of_both(self) -> JudgeMember:
        if self.host and self.model:
            raise ValueError("give host or model, not both")
        if self.connection and (self.host or self.model):
            raise ValueError("give connection, host or model, only one of them")
        return self


class JudgeTable(JudgeMember):
    """The judge of a configuration.

    Attributes:
        host: host of the judge; its parameters and limits are further keys.
        model: name of a `[[model]]` to use instead of a host; further keys override its own.
        connection: name of a `[connection.NAME]` to use instead of a host; further keys override its own.
        panel: several judges, each with `host` or `model`; they vote.
        vote: rule that combines a panel's verdicts: "majority" (of yes and no; a tie fails; scores are
            averaged) or "mean".
        templates: folder of prompts that replace those of the same name.
        template_versions: name of a prompt to the version that the evaluators were calibrated with; another
            version is an error.
        examples: file of examples that people have judged, which the prompts show; `judge-tune` writes it.
        images: whether the images of a question are sent to the judge; its host must take images. Without it,
            the judge is told the names of images and files.
        steady: whether to set temperature 0 and a seed, if the host supports them.
        max_cost: US dollars for judging in a run; beyond it no question is asked.
        max_calls: maximum number of requests to judges in a run, including retries.
    """

    panel: list[JudgeMember] = Field(default_factory=list)
    vote: Literal["majority", "mean"] = "majority"
    templates: str | None = None
    template_versions: dict[str, str] = Field(default_factory=dict)
    examples: str | None = None
    images: bool = False
    steady: bool = True
    max_cost: Annotated[float, Field(ge=0)] | None = None
    max_calls: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _members(self) -> JudgeTable:
        if self.panel and self.is_given:
            raise ValueError("give host or model for one judge, panel for several, not both")
        if any(not member.is_given for member in self.panel):
            raise ValueError("panel: each judge needs host or model")
        if self.model_extra and not self.is_given:
            raise ValueError(
                f"{', '.join(self.model_extra)}: a host's parameter without a host; give host or model"
            )
        return self

    @property
    def members(self) -> list[JudgeMember]:
        """The judges that are asked; none where only limits or prompts are configured."""
        if self.panel:
            return self.panel
        named = {"host": self.host, "model": self.model, "connection": self.connection}
        return [JudgeMember(**named, **(self.model_extra or {}))] if self.is_given else []

    @classmethod
    def over(cls, base: JudgeTable | None, settings: Mapping[str, object]) -> JudgeTable:
        """Return an evaluator's own table.

        Judges, vote, templates, their versions, examples, `images` and `steady` that it lacks are inherited
        from the base.

        Raises:
            ConfigurationError: if anything in it is wrong.
        """
        for key in WHOLE_RUN:
            if key in settings:
                raise ConfigurationError(f"judge.{key}: is a limit of the whole run; set it in [judge]")
        inherited: dict[str, Any] = {}
        if base is not None:
            inherited = {
                key: getattr(base, key)
                for key in ("vote", "templates", "template_versions", "examples", "images", "steady")
                if key in base.model_fields_set
            }
            if not set(_JUDGES) & set(settings):
                inherited |= {
                    **{key: value for key in _JUDGES if (value := getattr(base, key))},
                    **(base.model_extra or {}),
                }
        try:
            table = cls.model_validate({**inherited, **settings})
        except ValidationError as exc:
            error = exc.errors(include_url=False)[0]
            location = ".".join(str(step) for step in error["loc"])
            raise ConfigurationError(f"judge{'.' + location if location else ''}: {fact(error)}") from None
        if not table.members:
            raise ConfigurationError("judge: needs host, model or panel")
        return table
