"""Any service that speaks OpenAI's chat completions: llama.cpp, Ollama, vLLM, LiteLLM, OpenAI itself."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.hosts._completions import (
    NO_KEY,
    RETRIED,
    error_fault,
    error_in,
    first_choice,
    refused_parameters,
    sendable,
)
from pytest_evalstudio.hosts._tools import HostTools

if TYPE_CHECKING:
    from openai import APIStatusError

REMEDIES: Mapping[int, str] = {
    400: "check llm_model_name and arguments",
    401: "check api_key",
    403: "check that api_key may use this model",
    404: "check url (it usually ends in /v1) and llm_model_name",
    422: "check arguments",
}
LONGEST_QUOTE = 300

_BOUNDS = ("minItems", "maxItems", "minimum", "maximum")
_NOT_FROM_HERE = ("model", "messages", "stream")


@host(
    "openai_compatible",
    name="OpenAI-compatible chat completions",
    kind="llm",
    extra="openai",
    takes_system=True,
)
@dataclass(kw_only=True)
class OpenAICompatible:
    """A chat-completions service at a URL of your choice.

    Attributes:
        url: the service's base, e.g. "http://localhost:11434/v1".
        api_key: use "${NAME}" to take it from the environment; local services need none.
        temperature, max_tokens, seed: None for the service's own default.
        input_usd_per_million, output_usd_per_million: prices of tokens; costs need both of them.
        arguments: further chat-completion arguments, passed through as they are.
        structured_output: how a judge's reply is held to its form: "json_schema", "json_object", "none", or
            "auto" for the first of these that the service takes.
    """

    url: str
    llm_model_name: str
    api_key: str = field(default="", repr=False)
    system_prompt: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    structured_output: Literal["auto", "json_schema", "json_object", "none"] = "auto"
    _refused: set[str] = field(default_factory=set, init=False, repr=False)
    _client: Any = field(default=None, init=False, repr=False)
    _mask: Callable[[str], str] = field(default=str, init=False, repr=False)
    _note: Callable[[str], None] = field(default=lambda message: None, init=False, repr=False)
    _optional: frozenset[str] = field(default=frozenset(), init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if the openai package is not installed, or a parameter cannot be right.
        """
        self._mask, self._note, self._optional = tools.mask, tools.note, tools.optional
        if importlib.util.find_spec("openai") is None:
            raise ConfigurationError(
                "host 'openai_compatible' needs the openai package: pip install \"pytest-evalstudio[openai]\""
            )
        if not self.url.startswith(("http://", "https://")):
            raise ConfigurationError(f"url = {self.url!r}: must begin with http:// or https://")
        for name in _NOT_FROM_HERE:
            if name in self.arguments:
                raise ConfigurationError(f"arguments.{name}: cannot be given here")
        if (self.input_usd_per_million is None) != (self.output_usd_per_million is None):
            raise ConfigurationError("input_usd_per_million and output_usd_per_million: give both or none")

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        """Nothing to prepare: the service does not retrieve, documents of a test are not sent."""

    async def answer(self, prompt: Prompt) -> Answer:
        import openai

        if self._client is None:
            http_client = openai.DefaultAsyncHttpxClient(event_hooks={"request": [self._refuse_other_origin]})
            self._client = openai.AsyncOpenAI(
                base_url=self.url,
                api_key=self.api_key or "none",
                max_retries=0,
                timeout=None,
                http_client=http_client,
            )
        form, optional = self._form(prompt), self._optional
        try:
            reply = await self._client.chat.completions.create(**self._request(prompt, form))
        except openai.APIStatusError as exc:
            if form != "none" and self.structured_output == "auto" and _refuses_form(exc):
                self._refused.add(form)
                return await self.answer(prompt)
            if refused := self._refused_parameters(exc, optional):
                self._leave_out(refused)
                return await self.answer(prompt)
            raise self._status_fault(exc) from exc
        except openai.APITimeoutError as exc:
            raise HostFault(f"{self.url} did not answer in time", retry=True) from exc
        except openai.APIResponseValidationError as exc:
            raise HostFault(f"{self.url} sent a reply that is not a chat completion") from exc
        except openai.APIConnectionError as exc:
            if isinstance(exc.__cause__, HostFault):
                raise exc.__cause__ from None
            raise HostFault(f"no connection to {self.url}: {self._innermost(exc)}", retry=True) from exc
        except openai.OpenAIError as exc:
            raise HostFault(f"{type(exc).__name__}: {exc}") from exc
        except TypeError as exc:
            raise HostFault(f"{exc}; check arguments") from exc
        except ValueError as exc:
            raise HostFault(f"{self.url} sent a reply that is not JSON: {exc}") from exc
        return self._read(reply)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _form(self, prompt: Prompt) -> str:
        """Return the form of reply that the service is asked for."""
        if prompt.reply_schema is None or "response_format" in self.arguments:
            return "none"
        if self.structured_output != "auto":
            return self.structured_output
        return next((form for form in ("json_schema", "json_object") if form not in self._refused), "none")

    def _request(self, prompt: Prompt, form: str) -> dict[str, Any]:
        system = "\n\n".join(filter(None, (self.system_prompt, prompt.system)))
        messages = [{"role": "system", "content": sendable(system)}] if system else []
        messages += [{"role": turn.role, "content": sendable(turn.content)} for turn in prompt.conversation]
        messages.append({"role": "user", "content": sendable(prompt.text)})
        chosen = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return {
            "model": self.llm_model_name,
            "messages": [],
            **{name: value for name, value in chosen.items() if value is not None},
            **self.arguments,
            # The client looks through messages and schema for files to upload, which takes it longer than all
            # the rest of a request; `extra_body` takes the place of the arguments as it is.
            "extra_body": {
                "messages": messages,
                **_response_format(form, prompt),
                **self.arguments.get("extra_body", {}),
            },
        }

    def _read(self, reply: Any) -> Answer:
        """Return the answer in a reply; replies of compatible services vary.

        A refusal is what the model said. An answer cut at its length limit is kept, and `usage` has
        `cut_at_length`.
        """
        if error := error_in(reply):
            said = str(error.get("message") or error) if isinstance(error, Mapping) else str(error)
            raise error_fault(error, f"{self.url} sent a reply without an answer: {self._quote(said)}")
        if isinstance(reply, str):
            raise HostFault(f"{self.url} sent a reply without an answer: {self._quote(reply)}")
        text, finish = first_choice(reply, self.url)
        usage = _usage(reply)
        if finish == "content_filter" and not text:
            raise HostFault("the service's content filter withheld the answer")
        if finish == "length":
            if not text:
                raise HostFault(
                    "the answer was cut before its first word (finish_reason 'length'); raise max_tokens"
                )
            usage["cut_at_length"] = 1
        calls = _tool_calls(reply.choices[0].message)
        if not isinstance(text, str) and not calls:
            raise HostFault(
                f"the reply has no text: choices[0].message.content is null (finish_reason {finish!r})"
            )
        text = text if isinstance(text, str) else ""
        return Answer(text=text, usage=usage, cost_usd=self._cost(usage), tool_calls=calls)

    async def _refuse_other_origin(self, request: Any) -> None:
        """Refuse a redirect to another origin, which would get the prompt and the configured headers.

        Args:
            request: of the HTTP library of the openai package, which is not the same in all its versions.

        Raises:
            HostFault: names the origin; the client calls this for each request, redirected ones too.
        """
        base = self._client.base_url
        if (request.url.scheme, request.url.host, request.url.port) != (base.scheme, base.host, base.port):
            target = f"{request.url.scheme}://{request.url.netloc.decode()}"
            raise HostFault(
                f"{self.url} redirects to {target}, which gets no request; if it is the service, set"
                " its address as url"
            )

    def _status_fault(self, exc: APIStatusError) -> HostFault:
        status = exc.status_code
        body = exc.body if isinstance(exc.body, Mapping) else {}
        said = self._quote(str(body.get("message") or exc.response.text or exc.response.reason_phrase))
        if status == 429 and body.get("code") == "insufficient_quota":
            return HostFault(f"HTTP 429: {said}; the account has no credit left", ends_asking=True)
        retry = status in RETRIED or status >= 500
        remedy = REMEDIES.get(status, "")
        return HostFault(
            f"HTTP {status}: {said}" + (f"; {remedy}" if remedy else ""),
            retry=retry,
            retry_after_s=retry_after_s(exc.response.headers) if retry else None,
            ends_asking=status in NO_KEY,
        )

    def _refused_parameters(self, exc: APIStatusError, optional: frozenset[str]) -> frozenset[str]:
        body = exc.body if isinstance(exc.body, Mapping) else {}
        return refused_parameters(exc.status_code, body, exc.response.text, optional)

    def _leave_out(self, names: frozenset[str]) -> None:
        """Send no more requests with these parameters, and say so once."""
        for name in sorted(names & self._optional):
            self._note(
                f"{self.llm_model_name} does not take {name} = {getattr(self, name):g}; it is asked without"
            )
        for name in names:
            setattr(self, name, None)
        self._optional -= names

    def _innermost(self, exc: BaseException) -> str:
        while exc.__cause__ is not None:
            exc = exc.__cause__
        return self._quote(str(exc) or type(exc).__name__)

    def _quote(self, text: str) -> str:
        """Return a text of the service on one line, masked before it is shortened.

        No part of a secret is left.
        """
        line = " ".join(self._mask(text).split())
        return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + " …"

    def _cost(self, usage: Mapping[str, int]) -> float | None:
        if (
            self.input_usd_per_million is None
            or self.output_usd_per_million is None
            or "input_tokens" not in usage
            or "output_tokens" not in usage
        ):
            return None
        return (
            usage["input_tokens"] * self.input_usd_per_million
            + usage["output_tokens"] * self.output_usd_per_million
        ) / 1_000_000


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a `Retry-After` header asks to wait, or None without a valid one.

    The header is a number or an HTTP date.

    >>> retry_after_s({"retry-after": "2.5"})
    2.5
    """
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None  # not a NaN


def _response_format(form: str, prompt: Prompt) -> dict[str, Any]:
    if form == "json_schema" and prompt.reply_schema is not None:
        return {
            "response_format": {
                "type": form,
                "json_schema": {"name": "reply", "strict": True, "schema": _strict(prompt.reply_schema)},
            }
        }
    return {"response_format": {"type": form}} if form == "json_object" else {}


def _strict(schema: Any) -> Any:
    """Return a schema without the keywords that strict structured output does not support.

    Replies are still validated against all of the schema.
    """
    if isinstance(schema, Mapping):
        return {key: _strict(value) for key, value in schema.items() if key not in _BOUNDS}
    return [_strict(item) for item in schema] if isinstance(schema, list) else schema


def _refuses_form(exc: APIStatusError) -> bool:
    """Return True if a service reports that it does not support the form of reply.

    Some services do so with a status of their own (501).
    """
    said = str(exc.body or exc.response.text).lower()
    return exc.status_code in (400, 404, 422, 501) and any(
        word in said for word in ("response_format", "json_schema", "json_object", "structured")
    )


def _tool_calls(message: Any) -> tuple[dict[str, Any], ...]:
    """Return the called tools of a message as JSON objects, () where there are none or they are malformed."""
    calls = getattr(message, "tool_calls", None)
    if not isinstance(calls, list):
        return ()
    plain = (call.model_dump(mode="json") if hasattr(call, "model_dump") else call for call in calls)
    return tuple(dict(call) for call in plain if isinstance(call, Mapping))


def _usage(reply: Any) -> dict[str, int]:
    usage = getattr(reply, "usage", None)
    details = {
        "input_tokens": getattr(usage, "prompt_tokens", None),
        "output_tokens": getattr(usage, "completion_tokens", None),
    }
    return {name: count for name, count in details.items() if isinstance(count, int)}
