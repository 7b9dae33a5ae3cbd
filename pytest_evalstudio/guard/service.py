"""The HTTP service of a guard."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.guard.batching import Batcher, Busy
from pytest_evalstudio.guard.checking import Guard
from pytest_evalstudio.guard.limits import RequestLimits
from pytest_evalstudio.guard.results import BatchRequest, BatchVerdicts, CheckRequest, GuardVerdict
from pytest_evalstudio.guard.watching import Watched

if TYPE_CHECKING:
    from fastapi import FastAPI

MISSING = 'the guard service needs FastAPI: pip install "pytest-evalstudio[guard]"'
WATCH_S = 1.0
"""Interval at which the configuration's file is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """Limits of the service.

    Attributes:
        most_bytes: of a request's body.
        body_s: seconds in which a body must arrive.
        check_s: seconds that a check may take, waiting included.
    """

    most_bytes: int = 1_000_000
    body_s: float = 10.0
    check_s: float = 30.0


def create_app(
    open_guard: Callable[[], Guard],
    watched: Watched,
    *,
    token: str = "",
    limits: ServiceLimits | None = None,
    on_ready: Callable[[], None] = lambda: None,
    on_note: Callable[[str], None] = lambda text: None,
) -> FastAPI:
    """Return the application.

    Args:
        open_guard: opens the guard; called again when the configuration has changed.
        watched: the configuration's file.
        token: bearer token that requests must carry; "" for none.
        limits: limits of requests.
        on_ready: called once the models are warm.
        on_note: called with a line about the configuration: reloaded, or refused. It holds no text of a
            request.

    Raises:
        ConfigurationError: if FastAPI is not installed.
    """
    try:
        from fastapi import FastAPI, Request, Response
        from fastapi.exceptions import RequestValidationError
        from fastapi.responses import JSONResponse
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    except ModuleNotFoundError:
        raise ConfigurationError(MISSING) from None
    from pytest_evalstudio.guard.measuring import Measures

    allowed = limits or ServiceLimits()
    numbers = CollectorRegistry()
    measures = Measures(numbers)
    service = _Service(open_guard, watched, measures, on_ready, on_note)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="pytest-evalstudio guard",
        description="Checks answers of language models against a guardrail configuration.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(
        RequestLimits,
        token=token,
        most_bytes=allowed.most_bytes,
        body_s=allowed.body_s,
    )

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, exc: RequestValidationError) -> JSONResponse:
        """Say what is wrong without repeating the request, which may be private."""
        faults = [
            f"{'.'.join(str(step) for step in error['loc'])}: {error['msg']}" for error in exc.errors()[:5]
        ]
        return JSONResponse({"error": "; ".join(faults)}, status_code=422)

    @app.exception_handler(Exception)
    async def broken(_: Request, exc: Exception) -> JSONResponse:
        return JSONResponse({"error": f"the check failed: {type(exc).__name__}"}, status_code=500)

    def problem(status: int, reason: str) -> JSONResponse:
        headers = {"Retry-After": "1"} if status == 503 else None
        return JSONResponse({"error": reason}, status_code=status, headers=headers)

    async def checked(requests: list[CheckRequest]) -> list[GuardVerdict] | JSONResponse:
        if not service.is_ready:
            return problem(503, "the models are being loaded")
        started = time.perf_counter()
        try:
            verdicts = await asyncio.wait_for(service.check(requests), allowed.check_s)
        except TimeoutError:
            measures.failed("timeout")
            return problem(504, f"the check took more than {allowed.check_s:g} s")
        except Busy:
            measures.failed("busy")
            return problem(503, "too many answers wait to be checked")
        measures.checked([verdict.verdict for verdict in verdicts], time.perf_counter() - started)
        return verdicts

    @app.post("/v1/check", response_model=GuardVerdict)
    async def check(request: CheckRequest) -> Any:
        """Check one answer."""
        verdicts = await checked([request])
        return verdicts[0] if isinstance(verdicts, list) else verdicts

    @app.post("/v1/check/batch", response_model=BatchVerdicts)
    async def check_batch(request: BatchRequest) -> Any:
        """Check several answers; the verdicts are in the order of the request."""
        verdicts = await checked(request.checks)
        return BatchVerdicts(results=verdicts) if isinstance(verdicts, list) else verdicts

    @app.get("/healthz")
    async def health() -> dict[str, str]:
        """Say that the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", response_model=None)
    async def ready() -> Any:
        """Say whether the models are loaded."""
        if not service.is_ready:
            return problem(503, "the models are being loaded")
        return {"status": "ready", "evaluators": service.evaluators}

    @app.get("/metrics", response_model=None)
    async def metrics() -> Response:
        """Return the service's figures for Prometheus."""
        return Response(generate_latest(numbers), media_type=CONTENT_TYPE_LATEST)

    return app


class _Service:
    """The guard behind the application, and its reloading."""

    def __init__(
        self,
        open_guard: Callable[[], Guard],
        watched: Watched,
        measures: Any,
        on_ready: Callable[[], None],
        on_note: Callable[[str], None],
    ) -> None:
        self._open_guard = open_guard
        self._watched = watched
        self._measures = measures
        self._on_ready = on_ready
        self._on_note = on_note
        self._guard: Guard | None = None
        self.is_ready = False

    @property
    def evaluators(self) -> list[str]:
        """Return the ids of the evaluators."""
        return self._guard.evaluators if self._guard is not None else []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the models, check answers and watch the configuration until the context ends."""
        self._guard = self._open_guard()
        self._batcher = Batcher(self._guard.check_all, self._measures.batched)
        self._batcher.start()
        task = asyncio.create_task(self._warm_and_watch())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await self._batcher.close()
            self._guard.close()

    async def check(self, requests: list[CheckRequest]) -> list[GuardVerdict]:
        """Return the verdicts on answers."""
        return list(await asyncio.gather(*(self._batcher.check(request) for request in requests)))

    async def _warm_and_watch(self) -> None:
        assert self._guard is not None
        await asyncio.to_thread(self._guard.warm)
        self.is_ready = True
        self._on_ready()
        while True:
            await asyncio.sleep(WATCH_S)
            if await asyncio.to_thread(self._watched.has_changed):
                await self._reload()

    async def _reload(self) -> None:
        def opened() -> Guard:
            guard = self._open_guard()
            try:
                guard.warm()
            except BaseException:
                guard.close()
                raise
            return guard

        try:
            guard = await asyncio.to_thread(opened)
        except (EvalStudioError, OSError) as exc:
            self._measures.reloaded(accepted=False)
            self._on_note(f"the changed configuration is refused, the earlier one stays in force: {exc}")
            return
        former, self._guard = self._guard, guard
        self._batcher.check_all = guard.check_all
        self._measures.reloaded(accepted=True)
        self._on_note(f"the configuration was reloaded: {', '.join(guard.evaluators)}")
        if former is not None:
            # A batch of the former guard may still run; it is one at a time, in one thread.
            await self._batcher.settled()
            former.close()
