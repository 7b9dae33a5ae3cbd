"""Clients of the guard service, and a decorator that guards a function."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar

from pytest_evalstudio.contrib.guard.results import BatchRequest, BatchVerdicts, CheckRequest, GuardVerdict
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError

if TYPE_CHECKING:
    import httpx

P = ParamSpec("P")
R = TypeVar("R", bound="str | Mapping[str, object]")
RETRIED = (408, 429, 502, 503, 504)
"""Statuses after which a request is repeated: a check has no effect of its own."""


class GuardError(EvalStudioError):
    """The service gave no verdict.

    Args:
        message: what happened.
        status: of HTTP; 0 where the service was not reached.
    """

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class UnreliableAnswer(EvalStudioError):
    """An answer that a guard does not let through.

    Args:
        verdict: of the guard.
    """

    def __init__(self, verdict: GuardVerdict) -> None:
        super().__init__(f"the answer is {verdict.verdict}: {'; '.join(verdict.reasons)}")
        self.verdict = verdict


class GuardClient:
    """A client of the service.

    Args:
        url: address of the service, e.g. "http://127.0.0.1:8100".
        token: bearer token, "" for none.
        timeout_s: seconds that a request may take.
        retries: further tries after a fault that may pass.

    Raises:
        ConfigurationError: if httpx is not installed.
    """

    def __init__(self, url: str, *, token: str = "", timeout_s: float = 30.0, retries: int = 2) -> None:
        self._client = _httpx().Client(**_settings(url, token, timeout_s))
        self._retries = retries

    def check(self, question: str, answer: str, context: Sequence[str] = ()) -> GuardVerdict:
        """Return the verdict on an answer.

        Raises:
            GuardError: if the service gives none.
        """
        body = CheckRequest(question=question, answer=answer, context=list(context))
        return GuardVerdict.model_validate_json(self._post("/v1/check", body))

    def check_batch(self, requests: Sequence[CheckRequest]) -> list[GuardVerdict]:
        """Return the verdicts on several answers, in their order."""
        body = BatchRequest(checks=list(requests))
        return BatchVerdicts.model_validate_json(self._post("/v1/check/batch", body)).results

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _post(self, path: str, body: CheckRequest | BatchRequest) -> bytes:
        import tenacity

        for attempt in tenacity.Retrying(**_retrying(self._retries)):
            with attempt:
                try:
                    return _content(self._client.post(path, json=body.model_dump()))
                except _httpx().HTTPError as exc:
                    raise _unreached(exc) from None
        raise AssertionError("tenacity raises the last fault")


class AsyncGuardClient:
    """The same for asyncio; see `GuardClient`."""

    def __init__(self, url: str, *, token: str = "", timeout_s: float = 30.0, retries: int = 2) -> None:
        self._client = _httpx().AsyncClient(**_settings(url, token, timeout_s))
        self._retries = retries

    async def check(self, question: str, answer: str, context: Sequence[str] = ()) -> GuardVerdict:
        """Return the verdict on an answer.

        Raises:
            GuardError: if the service gives none.
        """
        body = CheckRequest(question=question, answer=answer, context=list(context))
        return GuardVerdict.model_validate_json(await self._post("/v1/check", body))

    async def check_batch(self, requests: Sequence[CheckRequest]) -> list[GuardVerdict]:
        """Return the verdicts on several answers, in their order."""
        body = BatchRequest(checks=list(requests))
        return BatchVerdicts.model_validate_json(await self._post("/v1/check/batch", body)).results

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _post(self, path: str, body: CheckRequest | BatchRequest) -> bytes:
        import tenacity

        async for attempt in tenacity.AsyncRetrying(**_retrying(self._retries)):
            with attempt:
                try:
                    return _content(await self._client.post(path, json=body.model_dump()))
                except _httpx().HTTPError as exc:
                    raise _unreached(exc) from None
        raise AssertionError("tenacity raises the last fault")


class Checks(Protocol):
    """Interface of a client that checks an answer; `GuardClient` is one."""

    def check(self, question: str, answer: str, context: Sequence[str] = ()) -> GuardVerdict: ...


def guarded_by(
    guard: Checks,
    *,
    instead: Callable[[GuardVerdict], R] | None = None,
    lets_uncertain_pass: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Guard a function that answers a question; its first argument is the question.

    The function returns a text, or a mapping with `answer` and `context`, the retrieved chunks, as a function
    of the host `python` does. Without the context, evaluators that compare the answer with it do not apply.

    Args:
        guard: checks each answer.
        instead: returns what is answered in place of an answer that is not let through; without it the
            function raises.
        lets_uncertain_pass: whether an uncertain answer is let through.

    Raises:
        UnreliableAnswer: by the function, for an answer that is not let through.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            answer = function(*args, **kwargs)
            verdict = guard.check(_question(args, kwargs), *_answer_and_context(answer))
            passes = verdict.verdict == "reliable" or (lets_uncertain_pass and verdict.verdict == "uncertain")
            if passes:
                return answer
            if instead is None:
                raise UnreliableAnswer(verdict)
            return instead(verdict)

        return guarded

    return decorate


def _question(args: tuple[object, ...], kwargs: dict[str, object]) -> str:
    return str(args[0] if args else next(iter(kwargs.values()), ""))


def _answer_and_context(result: str | Mapping[str, object]) -> tuple[str, list[str]]:
    if isinstance(result, str):
        return result, []
    context = result.get("context") or []
    return str(result.get("answer") or ""), [str(chunk) for chunk in context] if isinstance(
        context, list
    ) else []


def _httpx() -> Any:
    try:
        import httpx
    except ModuleNotFoundError:
        raise ConfigurationError(
            'the guard client needs httpx: pip install "pytest-evalstudio[guard]"'
        ) from None
    return httpx


def _settings(url: str, token: str, timeout_s: float) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return {"base_url": url, "headers": headers, "timeout": timeout_s}


def _retrying(retries: int) -> dict[str, Any]:
    import tenacity

    return {
        "stop": tenacity.stop_after_attempt(retries + 1),
        "wait": tenacity.wait_random_exponential(multiplier=0.1, max=2.0),
        "retry": tenacity.retry_if_exception(_may_pass),
        "reraise": True,
    }


def _may_pass(fault: BaseException) -> bool:
    return isinstance(fault, GuardError) and (fault.status == 0 or fault.status in RETRIED)


def _content(response: httpx.Response) -> bytes:
    """Return the body of a response.

    Raises:
        GuardError: if it is an error.
    """
    if response.status_code == 200:
        return response.content
    try:
        reason = str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        reason = "no reason is given"
    raise GuardError(f"the guard answered {response.status_code}: {reason}", status=response.status_code)


def _unreached(fault: Exception) -> GuardError:
    return GuardError(f"the guard was not reached: {type(fault).__name__}: {fault}")
