"""`[[model]] budget`: what the asking of a model may take in a run."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator


class BudgetTable(BaseModel):
    """Limits of the asking of one model in a run; it ends before one of them is passed.

    Attributes:
        cost_usd: US dollars.
        calls: requests, including retries.
        tokens: tokens of prompts and answers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object) -> object:
        unknown = [name for name in data if name not in cls.model_fields] if isinstance(data, dict) else []
        if unknown:
            raise ValueError(f"unknown key {unknown[0]!r}; known keys: {', '.join(cls.model_fields)}")
        return data

    @model_validator(mode="after")
    def _limits_something(self) -> BudgetTable:
        if self.cost_usd is None and self.calls is None and self.tokens is None:
            raise ValueError("give cost_usd, calls or tokens")
        return self
