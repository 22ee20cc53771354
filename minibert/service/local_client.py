"""The service without a network: what a client would get, and what clients who ask together cost, in this process."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from minibert.finetune.predictor import Predictor
from minibert.service.server import Limits, application


@dataclass(frozen=True)
class LocalRequest:
    """A request: method, path, body."""

    method: str = "POST"
    path: str = "/predict"
    body: bytes = b""


@dataclass(frozen=True)
class LocalResponse:
    """status, the answer's JSON, its headers, and the seconds it took."""

    status: int
    body: Any
    headers: dict[str, str]
    seconds: float


def ask(app, *requests: LocalRequest) -> list[LocalResponse]:
    """Start the application, send all requests at once, stop it; the answers in order.

    An application is asked once: its lifespan ends with this. What fails in it is raised.
    """
    with ThreadPoolExecutor(1) as thread:  # the caller's may have an event loop that runs, as a notebook's has
        return thread.submit(asyncio.run, _ask(app, requests)).result()


async def _ask(app, requests: Sequence[LocalRequest]) -> list[LocalResponse]:
    async with app.router.lifespan_context(app):
        return await asyncio.gather(*(_one(app, request) for request in requests))


async def _one(app, request: LocalRequest) -> LocalResponse:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-length", str(len(request.body)).encode())],
        "client": None,
        "server": None,
    }
    status, headers, parts = 500, {}, []

    async def receive() -> dict:
        return {"type": "http.request", "body": request.body, "more_body": False}

    async def send(message: dict) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update((name.decode(), value.decode()) for name, value in message["headers"])
        else:
            parts.append(message.get("body", b""))

    begun = time.perf_counter()
    await app(scope, receive, send)
    content = b"".join(parts).decode()
    body = json.loads(content) if headers.get("content-type", "").startswith("application/json") else content
    return LocalResponse(status, body, headers, time.perf_counter() - begun)


# --- many clients -----------------------------------------------------------------------------------------------------


class CountingPredictor:
    """A Predictor, and how many inputs each of its batches had."""

    def __init__(self, predictor: Predictor):
        self.predictor, self.sizes = predictor, []

    def __getattr__(self, name: str):
        return getattr(self.predictor, name)

    def answers(self, examples: Sequence) -> tuple[list[dict], float]:
        self.sizes.append(len(examples))
        return self.predictor.answers(examples)


@dataclass(frozen=True)
class LoadResult:
    """One input from each of many clients at once. seconds: until the last had an answer · sizes: of the batches, in
    order · waits: seconds of each client."""

    seconds: float
    sizes: tuple[int, ...]
    waits: tuple[float, ...]

    @property
    def per_second(self) -> float:
        return len(self.waits) / self.seconds


def load(predictor: Predictor, inputs: Sequence[Any], limits: Limits) -> LoadResult:
    """What that costs. Raises RuntimeError unless every answer is one."""
    counting = CountingPredictor(predictor)
    app = application(counting, limits)
    asked = [LocalRequest(body=json.dumps({"inputs": [given]}).encode()) for given in inputs]
    begun = time.perf_counter()
    answers = ask(app, *asked)
    seconds = time.perf_counter() - begun
    bad = next((answer for answer in answers if answer.status != 200), None)
    if bad is not None:
        raise RuntimeError(f"the service answered {bad.status}: {bad.body}")
    return LoadResult(seconds, tuple(counting.sizes), tuple(answer.seconds for answer in answers))
