"""Enterprise h2oGPTe without retrieval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._completions import sendable
from pytest_evalstudio.hosts._h2ogpte import AGENT_OPTION, H2OGPTEService
from pytest_evalstudio.hosts._messages import conversation_text, counts
from pytest_evalstudio.hosts._tools import HostTools


@host(
    "h2ogpte_llm",
    name="Enterprise h2oGPTe LLM",
    kind="llm",
    extra="h2ogpte",
    client="h2ogpte",
    takes_system=True,
    agent_option=AGENT_OPTION,
)
@dataclass(kw_only=True)
class H2OGPTELLM(H2OGPTEService):
    """Language models and agents of Enterprise h2oGPTe.

    Attributes:
        text_context_list: texts that every question is answered from.
        chat_conversation: pairs of question and answer before the turns of every test case.
    """

    text_context_list: Sequence[str] | None = None
    chat_conversation: Sequence[tuple[str, str]] | None = None

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request; see `H2OGPTEService.open_service`."""
        self.open_service("h2ogpte_llm", tools)

    async def answer(self, prompt: Prompt) -> Answer:
        return await self.call(partial(self._by_agent if self.uses_agent else self._at_once, prompt))

    async def close(self) -> None:
        if self._sessions:
            await self.start_removal(self.remove_sessions)

    def _at_once(self, prompt: Prompt, client: Any) -> Answer:
        """Ask by one request, which takes the earlier turns and the texts."""
        reply = client.answer_question(
            sendable(prompt.text),
            system_prompt=self._system(prompt),
            pre_prompt_query=self.pre_prompt_query,
            prompt_query=self.prompt_query,
            text_context_list=None if self.text_context_list is None else list(self.text_context_list),
            llm=self.model,
            llm_args=dict(self.llm_args),
            chat_conversation=[*map(tuple, self.chat_conversation or ()), *_pairs(prompt)] or None,
            timeout=math.ceil(self.patience_s),
        )
        return Answer(
            text=reply.content,
            usage=counts({"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}),
            served_model=reply.llm,
        )

    def _by_agent(self, prompt: Prompt, client: Any) -> Answer:
        """Ask in a chat session, which has the files that an agent makes."""
        settings = {
            "system_prompt": self._system(prompt),
            "pre_prompt_query": self.pre_prompt_query,
            "prompt_query": self.prompt_query,
            "llm": self.model,
            "llm_args": dict(self.llm_args),
        }
        reply = self.asked(client, None, conversation_text(prompt), settings, None)
        return self.described(client, reply)

    def _system(self, prompt: Prompt) -> str | None:
        return "\n\n".join(filter(None, (self.system_prompt, prompt.system))) or self.system_prompt


def _pairs(prompt: Prompt) -> list[tuple[str, str]]:
    """Return the earlier turns as pairs of what the user and the assistant said."""
    pairs: list[tuple[str, str]] = []
    for turn in prompt.conversation:
        text = sendable(turn.content)
        if turn.role == "assistant" and pairs and not pairs[-1][1]:
            pairs[-1] = (pairs[-1][0], text)
        else:
            pairs.append(("", text) if turn.role == "assistant" else (text, ""))
    return pairs
