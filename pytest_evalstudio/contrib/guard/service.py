"""The HTTP service of a guard."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from pytest_evalstudio.contrib.guard.batching import Busy
from pytest_evalstudio.contrib.guard.journal import Journal
from pytest_evalstudio.contrib.guard.limits import RequestLimits
from pytest_evalstudio.contrib.guard.measuring import Measures
from pytest_evalstudio.contrib.guard.pool import GuardPool, ReadSource
from pytest_evalstudio.contrib.guard.results import BatchRequest, BatchVerdicts, CheckRequest, GuardVerdict
from pytest_evalstudio.contrib.guard.watching import Watched
from pytest_evalstudio.contrib.guard.worker_group import CheckLost, CheckTimeout, GroupOptions
from pytest_evalstudio.contrib.guard.worker_process import EncodedVerdict
from pytest_evalstudio.contrib.guard.workers import CheckFailed

DEFAULT_WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """Limits of the service.

    Attributes:
        most_bytes: of a request's body.
        body_s: seconds in which a body must arrive.
        check_s: seconds that a check may take, waiting included.
        workers: processes that check.
    """

    most_bytes: int = 1_000_000
    body_s: float = 10.0
    check_s: float = 30.0
    workers: int = DEFAULT_WORKERS


def create_app(
    read_source: ReadSource,
    watched: Watched,
    *,
    journal: Journal,
    measures: Measures | None = None,
    token: str = "",
    limits: ServiceLimits | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> FastAPI:
    """Return the application.

    Args:
        read_source: reads the configuration; called again when its file has changed.
        watched: the configuration's file.
        journal: receives lines about the configuration, reloaded or refused, and about faults.
        measures: figures of the service.
        token: bearer token that requests must carry; "" for none.
        limits: limits of requests.
        on_ready: called once the models are warm.
    """
    allowed = limits or ServiceLimits()
    figures = measures or Measures()
    options = GroupOptions(workers=allowed.workers, check_s=allowed.check_s)
    pool = GuardPool(
        read_source, watched, options=options, measures=figures, journal=journal, on_ready=on_ready
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with pool.running():
            yield

    app = FastAPI(
        title="pytest-evalstudio guard",
        description="Checks answers of language models against a guardrail configuration.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(RequestLimits, token=token, most_bytes=allowed.most_bytes, body_s=allowed.body_s)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(Exception, _broken)
    _add_checks(app, _Checker(pool, figures, allowed.check_s))
    _add_operations(app, pool, figures)
    return app


class _Refused(Exception):
    """A request gets no verdict.

    Args:
        response: what the client gets.
    """

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


@dataclass(frozen=True, slots=True)
class _Checker:
    """Checks requests, and counts the outcomes."""

    pool: GuardPool
    figures: Measures
    check_s: float

    async def check(self, requests: list[CheckRequest]) -> list[EncodedVerdict]:
        """Return the verdicts.

        Raises:
            _Refused: if there are none.
        """
        if not self.pool.is_ready:
            raise _Refused(_loading())
        started = time.perf_counter()
        try:
            verdicts = await asyncio.wait_for(self.pool.check(requests), self.check_s)
        except (TimeoutError, CheckTimeout):
            raise self._refused("timeout", 504, f"the check took more than {self.check_s:g} s") from None
        except Busy:
            raise self._refused("busy", 503, "too many answers wait to be checked") from None
        except CheckLost:
            raise self._refused("lost", 503, "the process that checked the answer ended") from None
        except CheckFailed as exc:
            raise self._refused("error", 500, f"the check failed: {exc.error}") from None
        self.figures.checked([verdict.word for verdict in verdicts], time.perf_counter() - started)
        return verdicts

    def _refused(self, reason: str, status: int, text: str) -> _Refused:
        self.figures.failed(reason)
        return _Refused(_problem(status, text))


def _add_checks(app: FastAPI, checker: _Checker) -> None:
    @app.exception_handler(_Refused)
    async def refused(_: Request, exc: _Refused) -> Response:
        return exc.response

    @app.post("/v1/check", response_model=GuardVerdict)
    async def check(request: CheckRequest) -> Any:
        """Check one answer."""
        [verdict] = await checker.check([request])
        # Encoded by the worker: FastAPI sends a response as it is, and has the model for the schema only.
        return _json(verdict.content)

    @app.post("/v1/check/batch", response_model=BatchVerdicts)
    async def check_batch(request: BatchRequest) -> Any:
        """Check several answers; the verdicts are in the order of the request."""
        verdicts = await checker.check(request.checks)
        return _json(b'{"results":[' + b",".join(verdict.content for verdict in verdicts) + b"]}")


def _add_operations(app: FastAPI, pool: GuardPool, figures: Measures) -> None:
    @app.get("/healthz")
    async def health() -> dict[str, str]:
        """Say that the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", response_model=None)
    async def ready() -> Any:
        """Say whether the models are loaded."""
        if not pool.is_ready:
            return _loading()
        return {"status": "ready", "evaluators": pool.evaluators}

    @app.get("/metrics", response_model=None)
    async def metrics() -> Response:
        """Return the service's figures for Prometheus."""
        return Response(figures.render(), media_type=CONTENT_TYPE_LATEST)


async def _malformed(_: Request, exc: Exception) -> Response:
    """Say what is wrong without repeating the request, which may be private."""
    assert isinstance(exc, RequestValidationError)
    faults = [f"{'.'.join(str(step) for step in error['loc'])}: {error['msg']}" for error in exc.errors()[:5]]
    return JSONResponse({"error": "; ".join(faults)}, status_code=422)


async def _broken(_: Request, exc: Exception) -> Response:
    # The message may quote the request.
    return JSONResponse({"error": f"the check failed: {type(exc).__name__}"}, status_code=500)


def _loading() -> Response:
    return _problem(503, "the models are being loaded")


def _problem(status: int, reason: str) -> Response:
    headers = {"Retry-After": "1"} if status == 503 else {}
    return Response(
        json.dumps({"error": reason}), status_code=status, headers=headers, media_type="application/json"
    )


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")
