"""Any HTTP service that answers in JSON or in plain text, described by the configuration alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import structs

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.core.restored import RestorablePart
from pytest_evalstudio.core.states import ApplicationState, state_text
from pytest_evalstudio.core.tracing import TRACEPARENT
from pytest_evalstudio.hosts._attachments import template_values
from pytest_evalstudio.hosts._bodies import reply_limit
from pytest_evalstudio.hosts._connected import Connected, check_url, require_package, send_traceparent
from pytest_evalstudio.hosts._costs import note_cost
from pytest_evalstudio.hosts._faults import is_transport_error, quoted, status_fault
from pytest_evalstudio.hosts._http_streams import Event, StreamReader, events_in, json_lines_in
from pytest_evalstudio.hosts._malformed import broken_off, connection_fault, reply_fault
from pytest_evalstudio.hosts._messages import messages
from pytest_evalstudio.hosts._replies import POINTERS, joined_parts, parts_of, read_reply
from pytest_evalstudio.hosts._templates import LISTS, check_template, filled, filled_text, names_in
from pytest_evalstudio.hosts._tools import HostTools

REMEDIES: Mapping[int, str] = {
    400: "check body",
    401: "check api_key and headers",
    403: "check that the key may use this service",
    404: "check url",
    405: "check method",
    422: "check body",
}

_WHOLE: Mapping[str, str] = {"answer": "/answer"}
"""Default of `reply`."""
_OF_JSON: Mapping[str, Callable[[AsyncIterator[str]], AsyncIterator[Event]]] = {
    "events": events_in,
    "ndjson": json_lines_in,
}
_HTML = "text/html"


@host(
    "http",
    name="HTTP service",
    kind="both",
    extra="http",
    client="httpx",
    takes_system=True,
    media_types=MEDIA_TYPES,
)
@dataclass(kw_only=True)
class HttpService(Connected):
    """A service that takes a prompt and answers with JSON or plain text.

    The names prompt, key (of the test case), system, conversation, messages, corpus, model, run, session (id
    of the conversation) and context in double braces are replaced in `url`, `headers`, `query` and `body`,
    e.g. `{{ prompt }}`. The context is null in an ordinary run, by which the service retrieves; in a search
    for causes it is the list of texts that the service is to answer from. In `body`, `{{ images }}` and
    `{{ files }}` are lists of objects with name, media_type, base64 and data_url, and `{{ images.base64 }}`
    is the list of one of these values.

    Attributes:
        url: address that the requests go to.
        api_key: sent as a bearer token; other headers belong into `headers`.
        body: template of the JSON body; a text is sent as it is.
        reply: JSON Pointers (RFC 6901) of the parts of the reply: answer, context, sources, scores,
            tool_calls, steps, cost, usage, error, served_model, request_id, finish_reason, session, state;
            `*` stands for every item of a list. The session of a reply is that of the conversation's next
            request.
        cookies: whether cookies of the service are sent with the later turns of a conversation. Other
            requests never share cookies.
        state_url: address that is read before and after a question or conversation, for `final_state`: the
            state of the application as JSON.
        format: form of the reply: "json"; "text" (plain text, which is the answer); "events" (server-sent
            events with JSON), "text_events" (with plain text) or "ndjson" (lines of JSON), whose answers are
            joined. "" is "events" with `stream`, else "json".
        stream: whether the reply consists of server-sent events; the same as `format = "events"`.
    """

    url: str
    method: Literal["POST", "GET", "PUT"] = "POST"
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = field(default_factory=lambda: {"prompt": "{{ prompt }}"})
    reply: Mapping[str, str] = field(default_factory=lambda: dict(_WHOLE))
    format: Literal["", "json", "text", "events", "text_events", "ndjson"] = ""
    stream: bool = False
    cookies: bool = False
    state_url: str = ""
    llm_model_name: str = ""
    system_prompt: str = ""
    _client: Any = field(default=None, init=False, repr=False)
    _cookies: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if httpx is not installed, or a template or pointer cannot be right.
        """
        require_package("http", "httpx", "http")
        check_url("url", self.url)
        self.check_connection(tools)
        if self.state_url:
            check_url("state_url", self.state_url)
            if unknown := names_in(self.state_url) - {"session"}:
                raise ConfigurationError(f"state_url: {min(unknown)!r} is unknown; it may have session")
        for field_name in ("url", "headers", "query", "body"):
            has_lists = field_name == "body" and self.method != "GET"
            check_template(getattr(self, field_name), field_name, has_lists=has_lists)
        self._check_format()
        for name, pointer in self.reply.items():
            if name not in POINTERS:
                hint = nearest(name, POINTERS) or f"Known keys: {', '.join(POINTERS)}"
                raise ConfigurationError(f"reply.{name}: unknown key. {hint}")
            if pointer and not pointer.startswith("/"):
                raise ConfigurationError(f"reply.{name} = {pointer!r}: a JSON Pointer begins with /")
        if not {"answer", "tool_calls"} & set(self.reply):
            raise ConfigurationError('reply: has no answer; add answer = "/POINTER"')

    def _check_format(self) -> None:
        """Check that format, stream and reply go together.

        Raises:
            ConfigurationError: if they do not.
        """
        if self.stream and self.format == "json":
            raise ConfigurationError(
                'stream = true: a reply of the format "json" cannot be streamed; leave stream out'
            )
        if self._format in ("text", "text_events") and self.reply != dict(_WHOLE):
            raise ConfigurationError(
                f"reply: with the format {self._format!r} the whole reply is the answer; leave reply out"
            )

    @property
    def _format(self) -> str:
        return self.format or ("events" if self.stream else "json")

    async def answer(self, prompt: Prompt) -> Answer:
        try:
            before = await self._state(prompt) if self.state_url and not prompt.conversation else None
            answer = await self._replied(prompt)
            if self.state_url:
                after = await self._state(prompt)
                answer = structs.replace(answer, state=ApplicationState(after=after, before=before))
            if answer.session and prompt.session in self._cookies:  # the next turn names this session
                self._cookies[answer.session] = self._cookies[prompt.session]
            return answer
        except HostFault:
            raise
        except Exception as exc:
            raise self._fault(exc) from exc

    @property
    def keeps_sessions(self) -> bool:
        """Return True if the service remembers a conversation: by its id, or by cookies."""
        return self.cookies or "session" in self.reply or self._names("session")

    @property
    def restores(self) -> frozenset[RestorablePart]:
        """Return the chunks where a request has a place for them."""
        return frozenset({"chunks"}) if self._names("context") else frozenset()

    @property
    def recorded_tools(self) -> frozenset[str]:
        """Return none: the tools of a service are out of reach."""
        return frozenset()

    @property
    def composes(self) -> bool:
        """Return True: a request with chunks goes to the same service."""
        return True

    @property
    def reads_case(self) -> bool:
        """Return True if a request names the test case."""
        return self._names("key")

    def _names(self, name: str) -> bool:
        return name in names_in([self.url, self.headers, self.query, self.body])

    def holds_session(self, session: str) -> bool:
        """Return True if the service knows a conversation; cookies are known to this process alone."""
        return not self.cookies or session in self._cookies

    async def end_session(self, session: str) -> None:
        """Forget the cookies of a conversation."""
        self._cookies.pop(session, None)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _opened_client(self) -> Any:
        if self._client is None:
            from http.cookiejar import CookieJar, DefaultCookiePolicy

            import httpx

            # By default twenty connections stay open, and all further requests open their own.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            self._client = httpx.AsyncClient(
                timeout=None,
                limits=limits,
                follow_redirects=False,
                event_hooks={
                    "request": [send_traceparent],
                    "response": [reply_limit(self.url, self._max_text_chars), note_cost],
                },
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                **self.http_options(),
            )
        return self._client

    def _request(self, prompt: Prompt) -> Any:
        """Return the request for a prompt."""
        system = "\n\n".join(filter(None, (self.system_prompt, prompt.system)))
        turns = messages(prompt)
        restored = prompt.restored
        system_messages = [{"role": "system", "content": system}] if system else []
        values = {
            "prompt": turns[-1]["content"],
            "key": json.loads(prompt.case)["key"] if prompt.case else "",
            "system": system,
            "conversation": turns[:-1],
            "messages": [*system_messages, *turns],
            "corpus": list(prompt.corpus),
            "model": self.llm_model_name,
            "run": prompt.run,
            "session": prompt.session,
            "context": None if restored is None or restored.chunks is None else list(restored.chunks),
        }
        self._check_attachments(prompt)
        values |= {name: self._attached(prompt, name) for name in names_in(self.body) if name in LISTS}
        headers = {name: filled_text(value, values) for name, value in self.headers.items()}
        if self.api_key:
            headers = {"Authorization": f"Bearer {self.api_key}", **headers}
        body = filled(self.body, values) if self.method != "GET" else None
        content: dict[str, Any] = {}
        if isinstance(body, str):
            content = {"content": body.encode()}
        elif body is not None:
            content = {"json": body}
        # A value in the address is a part of its path: it is encoded, so that it names no other place.
        quoted_values = {name: _in_url(value) for name, value in values.items() if name not in LISTS}
        request = self._opened_client().build_request(
            self.method,
            filled_text(self.url, quoted_values),
            headers=headers,
            params={name: filled_text(value, values) for name, value in self.query.items()} or None,
            **content,
        )
        if prompt.disturbance is not None:
            named = request.headers.get("baggage")
            request.headers["baggage"] = ",".join(filter(None, (named, prompt.disturbance.baggage)))
        if prompt.session in self._cookies:
            self._cookies[prompt.session].set_cookie_header(request)
        return request

    def _attached(self, prompt: Prompt, name: str) -> list[Any]:
        """Return the value of a list of images or files; a service without sessions gets earlier ones too."""
        kind, _, field_name = name.partition(".")
        attachments = prompt.attachments if self.keeps_sessions else prompt.media
        return template_values(
            (each for each in attachments if each.is_image == (kind == "images")), field_name
        )

    def _check_attachments(self, prompt: Prompt) -> None:
        """Refuse images and files that the body has no place for.

        Raises:
            HostFault: names the placeholder that is missing.
        """
        names = {name.partition(".")[0] for name in names_in(self.body)} if self.method != "GET" else set()
        for each in prompt.media:
            kind = "images" if each.is_image else "files"
            if kind not in names:
                raise HostFault(
                    f"the question comes with {kind}, and body has no {{{{ {kind} }}}}; add it to body",
                    not_supported=True,
                )

    async def _sent(self, prompt: Prompt) -> Any:
        """Send a prompt; the cookies of the response are those of the conversation."""
        response = await self._opened_client().send(self._request(prompt), stream=True)
        if self.cookies and prompt.session:
            self._cookies.setdefault(prompt.session, type(response.cookies)()).extract_cookies(response)
        return response

    async def _state(self, prompt: Prompt) -> str:
        """Return the state of the application as JSON text."""
        url = filled_text(self.state_url, {"session": _in_url(prompt.session)})
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        token = TRACEPARENT.set("")  # it is no part of the question
        try:
            response = await self._opened_client().get(url, headers=headers)
        finally:
            TRACEPARENT.reset(token)
        self._check_status(response)
        try:
            return state_text(response.json())
        except ValueError as exc:
            text = quoted(response.text, self._mask)
            raise HostFault(f"{self.state_url} sent a state that is not JSON but {text!r}; check it") from exc

    async def _replied(self, prompt: Prompt) -> Answer:
        """Send a prompt and read the reply in its format.

        Raises:
            HostFault: if the status is an error, or the reply breaks off or is not in its format.
        """
        reader = StreamReader(self.url, self._mask)
        response = await self._sent(prompt)
        try:
            if response.status_code >= 300:
                await response.aread()
            self._check_status(response)
            return await self._read(response, reader)
        except Exception as exc:
            if is_transport_error(exc):  # the headers had arrived: the connection was there
                raise broken_off(self.url) from exc
            raise
        finally:
            await response.aclose()

    async def _read(self, response: Any, reader: StreamReader) -> Answer:
        texts = response.aiter_text()
        if self._format == "json":
            await response.aread()
            return self._answer(parts_of(self._document(response), self.reply))
        if self._format in _OF_JSON:
            values = await reader.values(_OF_JSON[self._format](texts))
            return self._answer(joined_parts(values, self.reply), reader.first_part_s)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == _HTML:
            await response.aread()
            text = quoted(response.text, self._mask)
            raise HostFault(f"{self.url} sent a page of HTML and no text: {text}; check url")
        if self._format == "text":
            text = await reader.text(texts)
        else:
            text = await reader.text_of_events(events_in(texts))
        return self._answer({"answer": text}, reader.first_part_s)

    def _document(self, response: Any) -> Any:
        try:
            return response.json()
        except ValueError as exc:
            text = quoted(response.text, self._mask)
            fact = f"is not JSON but {text!r}" if text else "is empty"
            hint = " and format" if text else ""
            raise HostFault(f"{self.url} sent a reply that {fact}; check url{hint}") from exc

    def _answer(self, parts: Mapping[str, Any], first_token_s: float | None = None) -> Answer:
        answer = read_reply(parts, self.reply, self.url, self._mask, first_token_s=first_token_s)
        if answer.cost_usd is not None:
            return answer
        models = (answer.served_model, self.llm_model_name)
        return structs.replace(answer, cost_usd=self.reported_cost(models, parts.get("usage")))

    def _check_status(self, response: Any) -> None:
        """Raise the fault of a status that is no success; redirects are not followed."""
        if response.status_code >= 300:
            text = quoted(response.text or response.reason_phrase, self._mask)
            body = response.text
            raise status_fault(
                response.status_code, text, REMEDIES, response.headers, url=self.url, body=body
            )

    def _fault(self, exc: Exception) -> HostFault:
        if is_transport_error(exc):
            return connection_fault(self.url, exc, self._mask)
        return reply_fault(self.url, exc, self._mask)


def _in_url(value: Any) -> str:
    from urllib.parse import quote

    return quote(value if isinstance(value, str) else json.dumps(value), safe="")
