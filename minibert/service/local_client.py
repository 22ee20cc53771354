"""The service in this process, without a network: its responses, their timing, and many clients at once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.applications import Starlette

from minibert.finetune.predictor import Predictor
from minibert.service.server import Limits, Service, application, application_of
from minibert.text.json_values import json_value

Result = TypeVar("Result")


@dataclass(frozen=True)
class LocalRequest:
    """A request: method, path, body."""

    method: str = "POST"
    path: str = "/predict"
    body: bytes = b""


@dataclass(frozen=True)
class LocalResponse:
    """status, the JSON body, headers, and the seconds since `begun` (time.perf_counter)."""

    status: int
    body: Any
    headers: dict[str, str]
    seconds: float
    begun: float = 0.0


def ask(app: Starlette, *requests: LocalRequest, warm_up: int = 0) -> list[LocalResponse]:
    """Start the application, send all requests at once, stop it; return the responses in order.

    warm_up: rounds of all requests sent before, uncounted: the first through a new thread pays for its start. Use an
    application only once: its lifespan ends with this call. Exceptions in it are raised.
    """
    return _run(_ask(app, requests, warm_up))


def _run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    with ThreadPoolExecutor(1) as thread:  # the caller's thread may already run an event loop, as in a notebook
        return thread.submit(asyncio.run, coroutine).result()


async def _ask(app: Starlette, requests: Sequence[LocalRequest], warm_up: int) -> list[LocalResponse]:
    async with app.router.lifespan_context(app):
        for _round in range(warm_up):
            await asyncio.gather(*(_one(app, request) for request in requests))
        return await asyncio.gather(*(_one(app, request) for request in requests))


async def _one(app: Starlette, request: LocalRequest) -> LocalResponse:
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
    status, parts = 500, []
    headers: dict[str, str] = {}

    async def receive() -> dict:
        return {"type": "http.request", "body": request.body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update((name.decode(), value.decode()) for name, value in message["headers"])
        else:
            parts.append(message.get("body", b""))

    begun = time.perf_counter()
    await app(scope, receive, send)
    content = b"".join(parts).decode()
    body = json_value(content) if headers.get("content-type", "").startswith("application/json") else content
    return LocalResponse(status, body, headers, time.perf_counter() - begun, begun)


# --- one request, part by part ----------------------------------------------------------------------------------------

STAGES = ("check", "wait", "tokens", "model", "answer")


@dataclass(frozen=True)
class TimedResponse:
    """stages: name → (seconds after the request was sent, duration in seconds), in the order of STAGES. A refused
    request has not passed all of them."""

    response: LocalResponse
    stages: dict[str, tuple[float, float]]


class RecordingPredictor:
    """A Predictor that records, of its last batch, when each stage ended, and of every batch, when it began and its
    number of inputs."""

    def __init__(self, predictor: Predictor):
        self.predictor = predictor
        self.ends: dict[str, float] = {}
        self.batches: list[tuple[float, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.predictor, name)

    def answers(self, examples: Sequence) -> tuple[list[dict], float]:
        self.ends["wait"] = time.perf_counter()
        self.batches.append((self.ends["wait"], len(examples)))
        features = self.predictor.features(examples)
        self.ends["tokens"] = time.perf_counter()
        outputs, loss = self.predictor.outputs(features)
        self.ends["model"] = time.perf_counter()
        return self.predictor.decoded(outputs, features, examples), loss


class RecordingService(Service):
    def examples(self, body: bytes) -> list:
        try:
            return super().examples(body)
        finally:
            self.predictor.ends["check"] = time.perf_counter()


def timed(
    predictor: Predictor, body: bytes, limits: Limits | None = None, *, warm_up: int = 3, rounds: int = 9
) -> TimedResponse:
    """Time one request stage by stage: the fastest of `rounds` sequential requests, after `warm_up` uncounted ones. The
    fastest, because other load on the machine can only add time."""
    recorder = RecordingPredictor(predictor)
    service = RecordingService(recorder, limits or Limits())
    return _run(_timed(application_of(service), recorder, LocalRequest(body=body), warm_up, rounds))


async def _timed(
    app: Starlette, recorder: RecordingPredictor, request: LocalRequest, warm_up: int, rounds: int
) -> TimedResponse:
    responses = []
    async with app.router.lifespan_context(app):
        for number in range(warm_up + rounds):
            recorder.ends.clear()
            response = await _one(app, request)
            ends = {**recorder.ends, "answer": response.begun + response.seconds}
            stages, begun = {}, response.begun
            for name in STAGES:
                if name in ends:
                    stages[name] = (begun - response.begun, ends[name] - begun)
                    begun = ends[name]
            if number >= warm_up:
                responses.append(TimedResponse(response, stages))
    return min(responses, key=lambda timed: timed.response.seconds)


# --- many clients -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoadResult:
    """One input from each of many clients at once. seconds: until the last response · sizes: of the batches, in order ·
    waits: seconds per client."""

    seconds: float
    sizes: tuple[int, ...]
    waits: tuple[float, ...]

    @property
    def per_second(self) -> float:
        return len(self.waits) / self.seconds


def load(predictor: Predictor, inputs: Sequence[Any], limits: Limits) -> LoadResult:
    """Measure that on a warm service: every client has sent its input once before. Raises RuntimeError unless every
    status is 200."""
    recorder = RecordingPredictor(predictor)
    requests = [LocalRequest(body=json.dumps({"inputs": [value]}).encode()) for value in inputs]
    responses = ask(application(recorder, limits), *requests, warm_up=1)
    begun = min(response.begun for response in responses)
    seconds = max(response.begun + response.seconds for response in responses) - begun
    for response in responses:
        if response.status != 200:
            raise RuntimeError(f"the service answered {response.status}: {response.body}")
    sizes = tuple(size for when, size in recorder.batches if when >= begun)
    return LoadResult(seconds, sizes, tuple(response.seconds for response in responses))
