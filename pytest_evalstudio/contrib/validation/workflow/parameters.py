"""Types of the parameters of steps; `formats.options` checks them when the workflow's file is read."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

Count: TypeAlias = Annotated[int, Field(ge=1)]
Fraction: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Level: TypeAlias = Annotated[float, Field(gt=0, lt=1)]
"""Probability of an error, e.g. 0.05."""
Name: TypeAlias = Annotated[str, Field(min_length=1)]
Names: TypeAlias = list[Name]
Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e9)]
VectorChoice: TypeAlias = Literal["auto", "embeddings", "tf-idf"]
