"""Chat completions by the client of the openai package."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pytest_evalstudio.hosts._chat import ChatCompletions
from pytest_evalstudio.hosts._openai import OpenAIService, refused_request


@dataclass(kw_only=True)
class OpenAIChat(OpenAIService, ChatCompletions):
    """Chat completions by the client of the openai package, without the models that it makes of replies."""

    @asynccontextmanager
    async def response(self, request: Mapping[str, Any]) -> AsyncIterator[Any]:
        import openai

        completions = self.client().chat.completions
        try:
            async with completions.with_streaming_response.create(**request) as response:
                yield response.http_response
        except openai.APIStatusError as exc:
            raise refused_request(exc) from exc
